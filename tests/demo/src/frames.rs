//! Event-stream frames as Bedrock sends them: big-endian lengths, headers, payload and two checksums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const PADDING: usize = 24;
const CHECKSUMS_AND_LENGTHS: usize = 16;

/// One event of the model's stream. The padding hides its length from who listens on the line.
pub(crate) fn chunk(event: &Value, number: usize) -> Bytes {
    let padding = ALPHABET.get(..1 + number % PADDING).unwrap_or_default();
    let payload = json!({"bytes": STANDARD.encode(event.to_string()), "p": padding}).to_string();
    let headers = [(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload.as_bytes())
}

/// An exception that ends the stream.
pub(crate) fn exception(name: &str, message: &str) -> Bytes {
    let mut name = name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let payload = json!({"message": message}).to_string();
    let headers = [(":exception-type", name.as_str()), (":content-type", "application/json"), (":message-type", "exception")];
    frame(&headers, payload.as_bytes())
}

/// A frame whose last checksum is wrong.
pub(crate) fn broken() -> Bytes {
    let mut bytes = chunk(&json!({"type": "ping"}), 0).to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 0xff;
    }
    bytes.into()
}

fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Bytes {
    let mut head = Vec::new();
    for (name, value) in headers {
        head.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let total = head.len() + payload.len() + CHECKSUMS_AND_LENGTHS;
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(&length(total));
    out.extend_from_slice(&length(head.len()));
    out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(payload);
    out.extend_from_slice(&crc32fast::hash(&out).to_be_bytes());
    out.into()
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_its_length_and_ends_with_its_checksum() {
        let bytes = chunk(&json!({"type": "ping"}), 3);
        let (before, checksum) = bytes.split_at(bytes.len() - 4);
        assert_eq!(bytes.get(..4), Some(length(bytes.len()).as_slice()));
        assert_eq!(checksum, crc32fast::hash(before).to_be_bytes());
        assert_ne!(broken().last(), chunk(&json!({"type": "ping"}), 0).last());
    }
}
