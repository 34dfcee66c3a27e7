//! Serde types and incremental framing, exactly as on the wire.
