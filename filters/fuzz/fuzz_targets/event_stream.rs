//! The way frames are cut into pieces changes nothing, and a frame that does not add up ends the stream.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use svc_filters::wire::event_stream::{EventStreamError, Message, Splitter};

fn read(pieces: &[&[u8]]) -> (Vec<Message>, Option<EventStreamError>) {
    let mut splitter = Splitter::new();
    let mut messages = Vec::new();
    for piece in pieces {
        splitter.push(Bytes::copy_from_slice(piece));
        loop {
            match splitter.next_message() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(fault) => return (messages, Some(fault)),
            }
        }
    }
    (messages, None)
}

/// Puts right the checksums, so that the fuzzer reaches what lies behind them.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = bytes.len();
    if length >= 16 {
        bytes[..4].copy_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
        let prelude = crc32fast::hash(&bytes[..8]).to_be_bytes();
        bytes[8..12].copy_from_slice(&prelude);
        let whole = crc32fast::hash(&bytes[..length - 4]).to_be_bytes();
        bytes[length - 4..].copy_from_slice(&whole);
    }
    bytes
}

fuzz_target!(|input: (bool, u8, Vec<u8>)| {
    let (sum, size, bytes) = input;
    let bytes = if sum { summed(bytes) } else { bytes };
    let pieces: Vec<&[u8]> = bytes.chunks(usize::from(size).max(1)).collect();
    let (whole, cut) = (read(&[&bytes]), read(&pieces));
    assert_eq!(whole, cut);
    for message in &whole.0 {
        let _ = (message.header(":message-type"), message.payload());
    }
});
