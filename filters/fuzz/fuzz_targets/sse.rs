//! The way a stream is cut into pieces changes nothing, and its events put together are the stream.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use svc_filters::wire::sse::Splitter;

/// Raw events, what is left at the end, and the name and data of each event.
fn read(pieces: &[&[u8]]) -> (Vec<u8>, Vec<(Vec<u8>, Vec<u8>)>) {
    let mut splitter = Splitter::default();
    let (mut raw, mut told) = (Vec::new(), Vec::new());
    for piece in pieces {
        splitter.push(Bytes::copy_from_slice(piece));
        while let Ok(Some(event)) = splitter.next_event() {
            raw.extend_from_slice(&event.raw);
            told.push((event.name().to_vec(), event.data().to_vec()));
        }
    }
    if let Some(event) = splitter.finish() {
        raw.extend_from_slice(&event.raw);
        told.push((event.name().to_vec(), event.data().to_vec()));
    }
    raw.extend_from_slice(splitter.pending());
    (raw, told)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (size, bytes) = input;
    let pieces: Vec<&[u8]> = bytes.chunks(usize::from(size).max(1)).collect();
    let whole = read(&[bytes]);
    assert_eq!(whole.0, bytes);
    assert_eq!(whole, read(&pieces));
});
