//! White space between tokens taken out.

use std::borrow::Cow;

use super::string_stop;

/// The JSON without white space between its tokens.
pub(crate) fn compact(json: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Vec<u8> = Vec::new();
    let (mut at, mut from) = (0, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = string_end(json, at + 1),
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.extend_from_slice(json.get(from..at).unwrap_or_default());
                at += 1;
                from = at;
            }
            _ => at += 1,
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(json.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

fn string_end(json: &[u8], mut at: usize) -> usize {
    loop {
        at = string_stop(json, at);
        match json.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at + 1,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_outside_of_texts_only() {
        let json = b"{\n  \"a b\": [1, \"x \\\" y\"],\t\"c\": { }\r\n}";
        assert_eq!(&*compact(json), br#"{"a b":[1,"x \" y"],"c":{}}"#);
        assert!(matches!(compact(br#"{"a":"b c"}"#), Cow::Borrowed(_)));
    }
}
