//! The laws over the whole catalogue, the catalogue against the naive implementation, and the shape of the tree.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bounds;
mod laws;
mod layers;
