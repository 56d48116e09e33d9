//! Laws, generators and a naive second implementation for the tests of fuseval
