//! Tests of the whole engine.

mod deciding;
mod holding;
mod splits;
