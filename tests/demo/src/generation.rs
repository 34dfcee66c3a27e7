//! Generations of models, told from their names; a name that says nothing has none and gets the most patient rules.

/// Major and minor version.
pub(crate) type Version = (u32, u32);

/// Version of a chat model of the fifth generation or later; models of the o series count as the fourth and reason too.
pub(crate) fn gpt(model: &str) -> Option<Version> {
    let o_series = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    if o_series {
        return Some((4, 9));
    }
    after(model, "gpt-").filter(|(major, _)| *major >= 5)
}

/// Version of a messages model.
pub(crate) fn claude(model: &str) -> Option<Version> {
    let families = ["opus-", "sonnet-", "haiku-", "fable-", "mythos-"];
    families.iter().find_map(|family| after(model, family)).or_else(|| after(model, "claude-"))
}

/// Version of a generate-content model.
pub(crate) fn gemini(model: &str) -> Option<Version> {
    after(model, "gemini-")
}

/// The version behind `prefix`. A number of more than two digits is a date.
fn after(name: &str, prefix: &str) -> Option<Version> {
    let rest = name.get(name.find(prefix)? + prefix.len()..)?;
    let mut numbers = rest.split(['.', '-', '@', ':']);
    let number = |text: Option<&str>| text.filter(|text| !text.is_empty() && text.len() <= 2)?.parse::<u32>().ok();
    let leading = |text: &str| text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let major = numbers.next().and_then(|text| number(text.get(..leading(text))))?;
    Some((major, number(numbers.next()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_the_names_vendors_give() {
        assert_eq!(gpt("gpt-5.4-mini"), Some((5, 4)));
        assert_eq!(gpt("gpt-4o"), None);
        assert_eq!((gpt("o3-mini"), gpt("upstream-chat")), (Some((4, 9)), None));
        assert_eq!(claude("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), Some((4, 5)));
        assert_eq!(claude("claude-sonnet-4-20250514"), Some((4, 0)));
        assert_eq!(claude("claude-opus-5-5@20261001"), Some((5, 5)));
        assert_eq!(gemini("gemini-3.1-pro-preview"), Some((3, 1)));
        assert_eq!(gemini("upstream-gemini"), None);
    }
}
