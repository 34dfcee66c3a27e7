//! A provider's words without what is nobody else's business: keys, accounts and addresses.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Keys by their beginnings, bearer tokens, accounts and projects, addresses of machines.
static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?P<key>\b(?:sk|pk|gsk|xai|rk)[-_][\w*.-]{6,}|\bAIza[\w*-]{6,}|\bbearer\s+[\w*.-]{6,})",
        r"|(?P<account>\b(?:org|proj|acct)[-_][a-z0-9]{8,}\b)",
        r"|(?P<address>\bhttps?://[^\s)>\]'\x22]+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b",
        r"|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|local|svc|lan|corp|intranet)\b(?::\d+)?|\blocalhost(?::\d+)?\b)",
    ))
    .ok()
});

/// The text with each of them replaced by a word for it.
pub(super) fn cleaned(text: &str) -> Cow<'_, str> {
    let Some(secret) = &*SECRET else { return Cow::Borrowed(text) };
    secret.replace_all(text, |found: &regex::Captures<'_>| {
        if found.name("key").is_some() {
            "[key]"
        } else if found.name("account").is_some() {
            "[account]"
        } else {
            "[address]"
        }
    })
}

/// The words of a page, without its tags, at most `longest` characters.
pub(super) fn words(page: &str, longest: usize) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cleaned(&text).chars().take(longest).collect()
}
