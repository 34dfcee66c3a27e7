//! One file per phase of a request's life.

pub mod body;
pub mod failure;
pub mod logging;
pub mod request;
pub mod response;
pub mod stream;
pub mod upstream;
