use proptest::prelude::*;

use super::*;

fn frame(headers: &[(&str, &str)], payload: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(u8::try_from(name.len()).unwrap());
        block.extend_from_slice(name.as_bytes());
        block.push(7);
        block.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
        block.extend_from_slice(value.as_bytes());
    }
    around(&block, payload)
}

fn around(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    raw.extend_from_slice(&u32::try_from(OVERHEAD + headers.len() + payload.len()).unwrap().to_be_bytes());
    raw.extend_from_slice(&u32::try_from(headers.len()).unwrap().to_be_bytes());
    raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
    raw.extend_from_slice(headers);
    raw.extend_from_slice(payload);
    raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
    raw
}

/// Payloads of the messages in `pieces`, and the fault that ended them.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Option<EventStreamError>) {
    let mut splitter = Splitter::new();
    let mut payloads = Vec::new();
    for piece in pieces {
        splitter.push(Bytes::copy_from_slice(piece));
        loop {
            match splitter.next_message() {
                Ok(Some(message)) => payloads.push(message.payload().to_vec()),
                Ok(None) => break,
                Err(fault) => return (payloads, Some(fault)),
            }
        }
    }
    (payloads, None)
}

#[test]
fn the_vendors_published_frame_without_headers_is_read() {
    // The empty message of the format's description: 16 bytes, both checksums given there.
    let raw = [0, 0, 0, 0x10, 0, 0, 0, 0, 0x05, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
    assert_eq!(read([&raw[..]]), (vec![Vec::new()], None));
}

#[test]
fn text_headers_are_found_among_all_types() {
    let mut headers = Vec::new();
    for (kind, value) in [(0, &b""[..]), (1, b""), (2, b"1"), (3, b"12"), (4, b"1234"), (5, b"12345678"), (8, b"12345678"), (9, &[7; 16])] {
        headers.extend_from_slice(&[1, b'a' + kind, kind]);
        headers.extend_from_slice(value);
    }
    headers.extend_from_slice(b"\x01g\x06\x00\x02xy");
    headers.extend_from_slice(b"\x0b:event-type\x07\x00\x05chunk");
    let message = Message::read(Bytes::from(around(&headers, b"payload"))).unwrap();
    assert_eq!(message.header(":event-type"), Some("chunk"));
    assert_eq!(message.header("g"), None, "bytes are no text");
    assert_eq!(message.payload(), b"payload");
}

#[test]
fn a_frame_that_does_not_add_up_ends_the_stream_for_ever() {
    let good = frame(&[(":message-type", "event")], b"first");
    for (place, fault) in [(0, EventStreamError::Checksum), (9, EventStreamError::Checksum), (20, EventStreamError::Checksum)] {
        let mut bad = frame(&[(":message-type", "event")], b"second");
        bad[place] ^= 1;
        let all = [&good[..], &bad, &good].concat();
        assert_eq!(read([&all[..]]), (vec![b"first".to_vec()], Some(fault)), "byte {place}");
    }
    let mut splitter = Splitter::new();
    splitter.push(Bytes::from(vec![0; 64]));
    assert!(splitter.next_message().is_err());
    splitter.push(Bytes::from(good));
    assert!(splitter.next_message().is_err(), "the same bytes are not tried again");
}

#[test]
fn impossible_lengths_and_headers_are_refused() {
    for (total, headers) in [(15_u32, 0_u32), (16, 1), (u32::MAX, 0), (1 << 20, 200 << 10)] {
        let mut raw = [total.to_be_bytes(), headers.to_be_bytes()].concat();
        raw.extend_from_slice(&crc32fast::hash(&raw).to_be_bytes());
        raw.extend_from_slice(&[0; 8]);
        assert_eq!(read([&raw[..]]).1, Some(EventStreamError::Length), "{total} {headers}");
    }
    for headers in [&b"\x05ab"[..], b"\x01a", b"\x01a\x07\x00\x09x", b"\x01a\x0a", b"\x01a\x05xx"] {
        assert_eq!(read([&around(headers, b"")[..]]).1, Some(EventStreamError::Headers), "{headers:?}");
    }
}

#[test]
fn a_frame_of_megabytes_in_small_pieces_is_put_together_once() {
    let payload = vec![b'x'; 3 << 20];
    let raw = frame(&[(":message-type", "event")], &payload);
    assert_eq!(read(raw.chunks(4096)), (vec![payload], None));
}

proptest! {
    #[test]
    fn any_split_gives_the_same_messages(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..64), 1..6),
        size in 1_usize..40,
    ) {
        let raw: Vec<u8> = payloads.iter().flat_map(|payload| frame(&[(":event-type", "chunk")], payload)).collect();
        prop_assert_eq!(read(raw.chunks(size)), (payloads, None));
    }

    #[test]
    fn foreign_bytes_never_panic_and_any_flipped_bit_is_found(
        noise in proptest::collection::vec(any::<u8>(), 0..256),
        bit in 0_usize..(8 * 40),
    ) {
        read(noise.chunks(7));
        let mut raw = frame(&[(":t", "e")], b"0123456789abcdef");
        let bit = bit % (8 * raw.len());
        raw[bit / 8] ^= 1 << (bit % 8);
        let (payloads, fault) = read([&raw[..]]);
        prop_assert!(payloads.is_empty());
        prop_assert!(fault.is_some());
    }
}
