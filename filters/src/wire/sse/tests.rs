use proptest::prelude::*;

use super::*;

type Seen = Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>;

fn split(pieces: &[&[u8]]) -> (Seen, Vec<u8>) {
    let mut splitter = Splitter::new();
    let mut seen = Vec::new();
    for piece in pieces {
        splitter.push(Bytes::copy_from_slice(piece));
        while let Some(event) = splitter.next_event().unwrap() {
            seen.push((event.raw.to_vec(), event.name().to_vec(), event.data().to_vec()));
        }
    }
    if let Some(event) = splitter.finish() {
        seen.push((event.raw.to_vec(), event.name().to_vec(), event.data().to_vec()));
    }
    (seen, splitter.pending().to_vec())
}

fn names_and_data(text: &str) -> Vec<(String, String)> {
    let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    split(&[text.as_bytes()]).0.iter().map(|(_, name, data)| (text_of(name), text_of(data))).collect()
}

fn pairs<const N: usize>(expected: [(&str, &str); N]) -> Vec<(String, String)> {
    expected.map(|(name, data)| (name.to_owned(), data.to_owned())).to_vec()
}

#[test]
fn line_ends_of_every_kind_end_lines_and_events() {
    let expected = pairs([("a", "1"), ("", "2\n3")]);
    for end in ["\n", "\r", "\r\n"] {
        let text = "event: a|data: 1||data:2|data: 3||".replace('|', end);
        assert_eq!(names_and_data(&text), expected, "line end {end:?}");
    }
}

#[test]
fn comments_marks_and_odd_fields_are_read_as_the_standard_says() {
    assert_eq!(names_and_data("\u{feff}data: x\n\n"), pairs([("", "x")]));
    assert_eq!(names_and_data(": ping\n\n"), pairs([("", "")]));
    assert_eq!(names_and_data("data\ndata\n\n"), pairs([("", "\n")]));
    assert_eq!(names_and_data("data:  two\nid: 7\nretry: 1\ndatax: no\n data: no\n\n"), pairs([("", " two")]));
    assert_eq!(names_and_data("event: a\nevent: b\ndata: \u{2028}\u{85}\n\n"), pairs([("b", "\u{2028}\u{85}")]));
    assert_eq!(names_and_data("data: unfinished\n"), pairs([]));
}

#[test]
fn an_event_inside_one_piece_shares_its_memory() {
    let piece = Bytes::from_static(b"data: a\n\ndata: b\n\ndata: c");
    let mut splitter = Splitter::new();
    splitter.push(piece.clone());
    assert_eq!(splitter.next_event().unwrap().unwrap().raw.as_ptr(), piece.as_ptr());
    assert_eq!(splitter.next_event().unwrap().unwrap().raw.as_ptr(), piece[9..].as_ptr());
    assert!(splitter.next_event().unwrap().is_none());
    assert_eq!(splitter.pending(), b"data: c");
}

#[test]
fn an_event_beyond_the_bound_is_an_error_however_it_is_cut() {
    for size in [1, 7, 64] {
        let mut splitter = Splitter::with_limit(32);
        let text = format!("data: {}\n\n", "x".repeat(40));
        let outcome = text.as_bytes().chunks(size).try_for_each(|piece| {
            splitter.push(Bytes::copy_from_slice(piece));
            splitter.next_event().map(|_| ())
        });
        assert_eq!(outcome, Err(FrameTooLarge { limit: 32 }), "pieces of {size}");
    }
}

#[test]
fn two_hundred_thousand_events_keep_the_carry_small() {
    let text = "event: delta\ndata: {\"text\":\"abcdefghijklmnopqrstuvwxyz\"}\n\n".repeat(1000);
    let mut splitter = Splitter::new();
    let mut events = 0;
    for _ in 0..200 {
        for piece in text.as_bytes().chunks(1447) {
            splitter.push(Bytes::copy_from_slice(piece));
            while splitter.next_event().unwrap().is_some() {
                events += 1;
            }
            assert!(splitter.carry_capacity() < 4096, "the carry holds one unfinished event at most");
        }
    }
    assert_eq!(events, 200_000);
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events_and_raws_join_to_the_input(
        text in "(\u{feff})?(data|event|id|:|: x|data: |data:é|[a: ]|\n|\r|\r\n){0,40}",
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let bytes = text.as_bytes();
        let whole = split(&[bytes]);
        let mut cuts: Vec<usize> = at.iter().map(|index| index.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(&split(&pieces), &whole);
        prop_assert_eq!(&split(&bytes.chunks(1).collect::<Vec<_>>()), &whole);
        let joined: Vec<u8> = whole.0.iter().flat_map(|(raw, _, _)| raw.clone()).chain(whole.1).collect();
        prop_assert_eq!(joined, bytes);
    }

    #[test]
    fn random_bytes_never_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
        split(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }
}
