//! Serde types and incremental framing, exactly as on the wire.

pub mod event_stream;
pub mod framing;
pub(crate) mod groove;
pub mod json;
pub mod json_array;
pub mod pieces;
pub mod sse;
