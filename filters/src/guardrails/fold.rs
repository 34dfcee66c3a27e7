//! Folding against evasion: characters that cannot be seen vanish, and compatibility forms (full width, mathematical letters, circled
//! digits and the like) become what they stand for.
//!
//! Each character is folded by itself (its NFKC form), so that a text may be folded piece by piece. Letters of other scripts that
//! look alike are left alone.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::map::Map;

/// Characters that are drawn as nothing: soft hyphen, joiners, marks and isolates of direction, fillers, variation selectors, tags.
/// Unicode calls them `Default_Ignorable_Code_Point`.
const UNSEEN: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Wide ranges of everyday characters that are their own form, so that texts of these scripts are not looked up one by one.
const STABLE: [(char, char); 6] = [
    ('\u{370}', '\u{373}'),
    ('\u{400}', '\u{52f}'),
    ('\u{3041}', '\u{3096}'),
    ('\u{30a1}', '\u{30fa}'),
    ('\u{4e00}', '\u{9fff}'),
    ('\u{ac00}', '\u{d7a3}'),
];

/// The folded text; borrowed where folding changes nothing.
#[must_use]
pub fn fold(text: &str) -> Cow<'_, str> {
    match first_change(text) {
        None => Cow::Borrowed(text),
        Some(at) => {
            let mut out = String::with_capacity(text.len());
            let (same, rest) = text.split_at_checked(at).unwrap_or(("", text));
            out.push_str(same);
            fold_into(rest, &mut out, &mut Map::at(at));
            Cow::Owned(out)
        }
    }
}

/// Whether the character is drawn as nothing.
pub(super) fn is_unseen(character: char) -> bool {
    character > '\u{ac}' && within(&UNSEEN, character)
}

/// The offset of the first character that folding changes.
pub(super) fn first_change(text: &str) -> Option<usize> {
    if text.is_ascii() {
        return None;
    }
    text.char_indices().find(|(_, character)| changes(*character)).map(|(at, _)| at)
}

/// Appends the folded `text`, and to `map` where its characters came from.
pub(super) fn fold_into(text: &str, out: &mut String, map: &mut Map) {
    let mut rest = text;
    while let Some(at) = first_change(rest) {
        let (same, changed) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(same);
        map.same(same.len());
        let mut characters = changed.chars();
        if let Some(character) = characters.next() {
            fold_char(character, out, map);
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    map.same(rest.len());
}

fn fold_char(character: char, out: &mut String, map: &mut Map) {
    let before = out.len();
    if !is_unseen(character) {
        out.extend(std::iter::once(character).nfkc());
    }
    map.changed(out.len() - before, character.len_utf8());
}

fn changes(character: char) -> bool {
    if character < '\u{a0}' || within(&STABLE, character) {
        return false;
    }
    is_unseen(character) || !std::iter::once(character).nfkc().eq(std::iter::once(character))
}

fn within(ranges: &[(char, char)], character: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unseen_characters_vanish_and_compatibility_forms_become_plain() {
        assert_eq!(fold("plain — text, naïve 漢字 кириллица"), "plain — text, naïve 漢字 кириллица");
        assert!(matches!(fold("naïve 漢字"), Cow::Borrowed(_)));
        assert_eq!(fold("4\u{200b}1\u{ad}1\u{2060}1"), "4111");
        assert_eq!(fold("４１１１　ＡＢＣ＠"), "4111 ABC@");
        assert_eq!(fold("𝐢𝗀𝓃𝕠𝚛ⓔ ①² ﬁ"), "ignore 12 fi");
        assert_eq!(fold("a\u{202e}b\u{fe0f}c\u{e0041}d"), "abcd");
    }

    #[test]
    fn ranges_taken_for_stable_are_stable() {
        for (first, last) in STABLE {
            for character in first..=last {
                assert!(!is_unseen(character), "{character:?}");
                assert!(std::iter::once(character).nfkc().eq(std::iter::once(character)), "{character:?}");
            }
        }
    }

    #[test]
    fn a_folded_character_folds_to_itself() {
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let text = character.to_string();
            let once = fold(&text);
            assert_eq!(fold(&once), once, "{character:?}");
        }
    }
}
