use proptest::prelude::*;

use super::*;

fn split(pieces: &[&[u8]]) -> (Vec<(String, String)>, String) {
    let mut splitter = Splitter::new();
    let mut seen = Vec::new();
    for piece in pieces {
        splitter.push(Bytes::copy_from_slice(piece));
        while let Some(item) = splitter.next_item().unwrap() {
            let element = item.element.map_or_else(String::new, |span| String::from_utf8_lossy(span.of(&item.raw)).into_owned());
            seen.push((String::from_utf8_lossy(&item.raw).into_owned(), element));
        }
    }
    (seen, String::from_utf8_lossy(splitter.pending()).into_owned())
}

#[test]
fn elements_come_with_what_precedes_them() {
    let (items, rest) = split(&[b"[{\"a\":\"]\\\"}\"}\r\n, [1] ,\"x,]\", 7 \n]\n"]);
    let expected =
        [("[{\"a\":\"]\\\"}\"}", "{\"a\":\"]\\\"}\"}"), ("\r\n, [1]", "[1]"), (" ,\"x,]\"", "\"x,]\""), (", 7", "7"), (" \n]", "")];
    assert_eq!(items, expected.map(|(raw, element)| (raw.to_owned(), element.to_owned())));
    assert_eq!(rest, "\n");
}

#[test]
fn a_document_that_is_no_array_is_one_element() {
    let (items, rest) = split(&[b" {\"error\":{}", b"} \n"]);
    assert_eq!(items, [(" {\"error\":{}}".to_owned(), "{\"error\":{}}".to_owned())]);
    assert_eq!(rest, " \n");
}

#[test]
fn nested_first_elements_are_not_mistaken_for_the_array() {
    assert_eq!(split(&[b"[[1],[]]"]).0.iter().map(|(_, element)| element.as_str()).collect::<Vec<_>>(), ["[1]", "[]", ""]);
}

#[test]
fn an_element_beyond_the_bound_is_an_error() {
    let mut splitter = Splitter::with_limit(16);
    splitter.push(Bytes::from_static(b"[\"aaaaaaaa"));
    assert_eq!(splitter.next_item().unwrap(), None);
    splitter.push(Bytes::from_static(b"aaaaaaaaaa"));
    assert_eq!(splitter.next_item(), Err(FrameTooLarge { limit: 16 }));
}

fn cut(bytes: &[u8], at: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = at.iter().map(|index| index.index(bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_same_items_and_loses_nothing(text in "[ \n]?[\\[{]?[\\[\\]{}:,\"\\\\ \n a1é]{0,60}", at in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let bytes = text.as_bytes();
        let whole = split(&[bytes]);
        let pieces = cut(bytes, &at);
        prop_assert_eq!(&split(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>()).0.len(), &whole.0.len());
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let raws: usize = split(&single).0.len();
        prop_assert_eq!(raws, whole.0.len());
        let joined: String = whole.0.iter().map(|(raw, _)| raw.as_str()).chain([whole.1.as_str()]).collect();
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn elements_are_those_serde_json_sees(values in prop::collection::vec("[a-z\"\\\\\\[\\]{},]{0,8}", 0..6), at in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let values: Vec<serde_json::Value> = values.into_iter().map(|text| serde_json::json!({"t": text, "n": [1, {"x": null}]})).collect();
        let text = serde_json::to_string_pretty(&values).unwrap();
        let pieces = cut(text.as_bytes(), &at);
        let (items, rest) = split(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let seen: Vec<serde_json::Value> = items.iter().filter(|(_, e)| !e.is_empty()).map(|(_, e)| serde_json::from_str(e).unwrap()).collect();
        prop_assert_eq!(seen, values);
        prop_assert_eq!(rest, "");
    }
}
