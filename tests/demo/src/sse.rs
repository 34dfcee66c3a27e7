//! Events as bytes.

use bytes::Bytes;
use serde_json::Value;

/// An event with data only.
pub(crate) fn data(value: &Value) -> Bytes {
    format!("data: {value}\n\n").into()
}

/// An event with a name; the name is the data's `type`.
pub(crate) fn named(value: &Value) -> Bytes {
    let name = value.get("type").and_then(Value::as_str).unwrap_or("message");
    format!("event: {name}\ndata: {value}\n\n").into()
}
