//! The messages dialect.
