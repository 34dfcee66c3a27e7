//! One file per phase of a request's life.

pub mod bodiless;
pub mod body;
pub mod counting;
pub mod failing;
pub mod failure;
pub mod head;
pub mod judging;
pub mod logging;
pub mod outgoing;
pub mod request;
pub mod response;
pub mod said;
pub mod screening;
pub mod status;
pub mod stream;
pub mod translation;
pub mod upstream;
pub mod way;
