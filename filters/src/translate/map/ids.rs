//! Ids of tool calls: what each shape takes, and how an id that does not fit is replaced by the same one every time.

use rand::Rng;
use sha2::{Digest, Sha256};

use crate::canonical::Text;

/// Longest id the chat-completions vendor and its compatibles are safe with.
const CHAT_LONGEST: usize = 40;
/// Longest id of the messages vendor.
const MESSAGES_LONGEST: usize = 64;
/// Length of the part of an id made by us.
const MADE: usize = 24;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An id a chat-completions provider takes: itself, or one made from it.
#[must_use]
pub fn for_chat(id: Text<'_>) -> Text<'_> {
    fitting(id, "call_", CHAT_LONGEST)
}

/// An id a messages provider takes: itself, or one made from it.
#[must_use]
pub fn for_messages(id: Text<'_>) -> Text<'_> {
    fitting(id, "toolu_", MESSAGES_LONGEST)
}

fn fitting<'a>(id: Text<'a>, prefix: &str, longest: usize) -> Text<'a> {
    let fits = {
        let text = id.decode();
        !text.is_empty() && text.len() <= longest && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    if fits { id } else { Text::from(made_from(prefix, &id.decode())) }
}

/// The id that stands for `seed`: the same every time.
#[must_use]
pub fn made_from(prefix: &str, seed: &str) -> String {
    let digest = Sha256::digest(seed.as_bytes());
    let mut id = String::with_capacity(prefix.len() + MADE);
    id.push_str(prefix);
    id.extend(digest.iter().take(MADE).map(|byte| letter(*byte)));
    id
}

/// The id of a call in a history without ids. It depends on the call's place and name only, which do not change when the
/// conversation goes on.
#[must_use]
pub fn by_position(turn: usize, call: usize, name: &str) -> String {
    made_from("call_", &format!("{turn}/{call}/{name}"))
}

/// A new id.
#[must_use]
pub fn minted(prefix: &str) -> String {
    let mut random = rand::rng();
    let mut id = String::with_capacity(prefix.len() + MADE);
    id.push_str(prefix);
    id.extend(std::iter::repeat_with(|| letter(random.random::<u8>())).take(MADE));
    id
}

fn letter(byte: u8) -> char {
    BASE62.get(usize::from(byte) % BASE62.len()).map_or('0', |letter| char::from(*letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_fits_stays_and_others_are_replaced_the_same_way_every_time() {
        assert!(for_chat(Text::from("toolu_01A")).is("toolu_01A"));
        let long = "x".repeat(41);
        let made = for_chat(Text::from(long.as_str()));
        assert_eq!(made, for_chat(Text::from(long.as_str())));
        assert!(made.decode().starts_with("call_") && made.decode().len() == 29);
        assert!(for_messages(Text::from("fc:1/é")).decode().starts_with("toolu_"));
        assert!(for_messages(Text::from("")).decode().len() > 6);
    }

    #[test]
    fn two_new_ids_differ() {
        assert_ne!(minted("call_"), minted("call_"));
    }

    #[test]
    fn positions_tell_calls_of_one_name_apart() {
        assert_ne!(by_position(1, 0, "f"), by_position(1, 1, "f"));
        assert_eq!(by_position(1, 0, "f"), by_position(1, 0, "f"));
    }
}
