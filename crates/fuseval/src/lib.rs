//! One-pass evaluation of ranking and recommendation models
