//! Names of tools: what each shape takes, and how a name that does not fit is changed and changed back.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::canonical::{Text, Tool};
use crate::shape::Shape;
use crate::translate::Adaptations;

/// Longest name of the chat and messages vendors.
const LONGEST: usize = 64;
/// Longest name of the generate-content vendor.
const GENERATE_LONGEST: usize = 128;
/// Characters of a long name that are kept before its hash.
const KEPT: usize = 55;

/// The name to send for a tool. A changed name is noted, so that the answer can be changed back; two names that become one
/// are told apart by a hash.
#[must_use]
pub fn sent<'a>(shape: Shape, name: &Text<'a>, adaptations: &mut Adaptations) -> Text<'a> {
    let original = name.decode();
    if let Some((sent, _)) = adaptations.renamed.iter().find(|(_, known)| *known == original) {
        return Text::from(sent.clone());
    }
    if fits(shape, &original) {
        return name.clone();
    }
    let mut candidate = cleaned(shape, &original);
    if adaptations.renamed.iter().any(|(sent, _)| *sent == candidate) {
        candidate = hashed(&candidate, &original);
    }
    adaptations.renamed.push((candidate.clone(), original.into_owned()));
    Text::from(candidate)
}

/// Settles the names of all declared tools before any is sent, so that no changed name takes that of another tool.
pub fn settle(shape: Shape, tools: &[Tool<'_>], adaptations: &mut Adaptations) {
    let declared = || tools.iter().filter_map(name_of);
    if declared().all(|name| fits(shape, &name.decode())) {
        return;
    }
    for name in declared().map(Text::decode).filter(|name| fits(shape, name)) {
        adaptations.renamed.push((name.to_string(), name.into_owned()));
    }
    for name in declared() {
        let _ = sent(shape, name, adaptations);
    }
}

/// The name under which calls of a tool arrive, where the client chose it.
#[must_use]
pub const fn name_of<'t, 'a>(tool: &'t Tool<'a>) -> Option<&'t Text<'a>> {
    match tool {
        Tool::Function(function) => Some(&function.name),
        Tool::Custom { name, .. } => Some(name),
        Tool::Computer(computer) => Some(&computer.name),
        Tool::Vendor(vendor) => Some(&vendor.name),
        Tool::WebSearch(_) | Tool::Unknown { .. } => None,
    }
}

fn longest(shape: Shape) -> usize {
    match shape {
        Shape::GenerateContent => GENERATE_LONGEST,
        Shape::ChatCompletions | Shape::Messages | Shape::Responses => LONGEST,
    }
}

fn allowed(shape: Shape, c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || (shape == Shape::GenerateContent && matches!(c, '.' | ':'))
}

fn starts_well(shape: Shape, name: &str) -> bool {
    shape != Shape::GenerateContent || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

fn fits(shape: Shape, name: &str) -> bool {
    !name.is_empty() && name.len() <= longest(shape) && name.chars().all(|c| allowed(shape, c)) && starts_well(shape, name)
}

fn cleaned(shape: Shape, name: &str) -> String {
    let mut clean: String = name.chars().map(|c| if allowed(shape, c) { c } else { '_' }).collect();
    if !starts_well(shape, &clean) {
        clean.insert(0, '_');
    }
    // What was lost by cleaning is kept apart by the hash as well.
    if clean.len() > longest(shape) { hashed(&clean, name) } else { clean }
}

fn hashed(clean: &str, original: &str) -> String {
    let mut name: String = clean.chars().take(KEPT).collect();
    name.push('_');
    for byte in Sha256::digest(original.as_bytes()).iter().take(4) {
        let _ = write!(name, "{byte:02x}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(shape: Shape, name: &str, adaptations: &mut Adaptations) -> String {
        sent(shape, &Text::from(name), adaptations).decode().into_owned()
    }

    #[test]
    fn a_fitting_name_stays_and_leaves_no_note() {
        let mut adaptations = Adaptations::default();
        assert_eq!(send(Shape::Messages, "get_rate-2", &mut adaptations), "get_rate-2");
        assert_eq!(send(Shape::GenerateContent, "a.b:c", &mut adaptations), "a.b:c");
        assert!(adaptations.renamed.is_empty());
    }

    #[test]
    fn long_names_with_one_beginning_stay_distinct_and_the_same_name_is_sent_the_same_way() {
        let mut adaptations = Adaptations::default();
        let (one, other) = ("x".repeat(64) + "1", "x".repeat(64) + "2");
        let sent = [&one, &other, &one].map(|name| send(Shape::ChatCompletions, name, &mut adaptations));
        assert!(sent[0] != sent[1] && sent[0] == sent[2] && sent.iter().all(|name| name.len() == 64));
        assert_eq!(adaptations.renamed, [(sent[0].clone(), one), (sent[1].clone(), other)]);
    }

    #[test]
    fn a_changed_name_does_not_take_that_of_another_tool() {
        let tools = ["a.b", "a_b"].map(|name| Tool::Custom { name: Text::from(name), description: None, format: None });
        let mut adaptations = Adaptations::default();
        settle(Shape::Messages, &tools, &mut adaptations);
        assert_eq!(send(Shape::Messages, "a_b", &mut adaptations), "a_b");
        assert!(send(Shape::Messages, "a.b", &mut adaptations).starts_with("a_b_"));
    }

    #[test]
    fn names_that_clean_to_the_same_are_told_apart() {
        let mut adaptations = Adaptations::default();
        let (one, other) = (send(Shape::Messages, "a.b", &mut adaptations), send(Shape::Messages, "a:b", &mut adaptations));
        assert_eq!(one, "a_b");
        assert!(other.starts_with("a_b_") && other != one);
        assert_eq!(send(Shape::GenerateContent, "1st", &mut Adaptations::default()), "_1st");
    }
}
