//! Base64 as this shape's clients write it: bytes fields may use either alphabet, with or without padding.

use memchr::memchr3;

use crate::canonical::Text;

/// The text in the standard alphabet, padded; itself where it is so already.
pub(super) fn standard<'a>(text: &Text<'a>) -> Text<'a> {
    let fine = match text {
        Text::Escaped(inner) => is_standard(inner),
        Text::Plain(text) => is_standard(text.as_bytes()),
    };
    if fine {
        return text.clone();
    }
    let mut out: String = text
        .decode()
        .chars()
        .filter(|c| !c.is_ascii_whitespace() && *c != '=')
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            c => c,
        })
        .collect();
    while !out.len().is_multiple_of(4) {
        out.push('=');
    }
    Text::from(out)
}

fn is_standard(bytes: &[u8]) -> bool {
    bytes.len().is_multiple_of(4) && memchr3(b'-', b'_', b'\\', bytes).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_urlsafe_alphabet_and_missing_padding_are_normalised() {
        assert!(matches!(standard(&Text::Escaped(b"AB+/")), Text::Escaped(b"AB+/")));
        assert!(standard(&Text::from("AB-_CD")).is("AB+/CD=="));
        assert!(standard(&Text::Escaped(br"AB\/CDE==")).is("AB/CDE=="));
    }
}
