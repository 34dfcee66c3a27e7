//! The moving parts of `make bench`: a mock provider and a load generator that checks what it receives.
//!
//! Both speak plain HTTP/1.1 on loopback and do as little as they can, so that what is measured is the proxy between
//! them. The runner in `tests/bench/run` starts them, pins them and turns their figures into tables.

pub mod framing;
pub mod head;
pub mod histogram;
pub mod load;
pub mod mock;
pub mod options;
pub mod stamp;
pub mod stream_shape;
