//! Rows in: files, formats, SQL expressions
