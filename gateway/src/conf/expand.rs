//! Replaces `${VAR}` and `${VAR:-default}` inside values. Because the tree exists already, no value can change the
//! document's structure or its line numbers. `$${` stands for `${`.

use super::error::Problem;
use super::node::{Node, Path, Value};

/// Looks up an environment variable.
pub type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Sections whose entries may depend on a variable with `when_set`.
const CONDITIONAL: [&str; 3] = ["providers", "models", "keys"];

/// Why a text could not be expanded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpandError {
    #[error("the environment variable {0} is not set and has no default; set it or write ${{{0}:-default}}")]
    Unset(String),
    #[error("a ${{ without its closing brace; write $${{ for the characters themselves")]
    Unclosed,
    #[error("{0:?} is not the name of an environment variable; write $${{ for the characters ${{ themselves")]
    NotAName(String),
}

/// Expands every value of a document; all that is wrong is returned together.
pub(super) fn expand_tree(root: &mut Node, origin: &str, env: &Lookup<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    walk(root, &Path::default(), &mut |text, mark, path| match expand(text, env) {
        Ok(expanded) => expanded,
        Err(error) => {
            problems.push(Problem {
                origin: origin.to_owned(),
                line: mark.line,
                column: mark.column,
                path: path.to_string(),
                message: error.to_string(),
            });
            None
        }
    });
    problems
}

/// Makes the entries whose `when_set` names an empty variable readable: in them an unset variable is empty.
pub(super) fn blank_undeclared(root: &mut Node, env: &Lookup<'_>) {
    let Value::Map(sections) = &mut root.value else { return };
    for section in sections.iter_mut().filter(|section| CONDITIONAL.contains(&section.key.as_str())) {
        let Value::List(entries) = &mut section.value.value else { continue };
        for entry in entries.iter_mut().filter(|entry| !is_declared(entry, env)) {
            let lenient = |name: &str| Some(env(name).unwrap_or_default());
            walk(entry, &Path::default(), &mut |text, _, _| expand(text, &lenient).ok().flatten());
        }
    }
}

fn is_declared(entry: &Node, env: &Lookup<'_>) -> bool {
    entry.get("when_set").and_then(Node::text).is_none_or(|name| super::declared::is_set(name, env))
}

type Visit<'a> = dyn FnMut(&str, super::node::Mark, &Path) -> Option<String> + 'a;

fn walk(node: &mut Node, path: &Path, visit: &mut Visit<'_>) {
    let mark = node.mark;
    match &mut node.value {
        Value::Scalar(scalar) if scalar.expanded || !scalar.text.contains("${") => {}
        Value::Scalar(scalar) => {
            if let Some(text) = visit(&scalar.text, mark, path) {
                scalar.text = text;
                scalar.expanded = true;
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, &path.index(index), visit);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                walk(&mut entry.value, &path.key(&entry.key), visit);
            }
        }
    }
}

/// The text with its variables replaced, or `None` where it has none.
fn expand(text: &str, env: &Lookup<'_>) -> Result<Option<String>, ExpandError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(literal) = before.strip_suffix('$') {
            out.push_str(literal);
            out.push_str("${");
            rest = after;
            continue;
        }
        out.push_str(before);
        let (inner, behind) = closing(after).ok_or(ExpandError::Unclosed)?;
        out.push_str(&variable(inner, env)?);
        rest = behind;
    }
    if rest.len() == text.len() {
        return Ok(None);
    }
    out.push_str(rest);
    Ok(Some(out))
}

/// What stands before the brace that closes, and what behind it. A default may contain variables itself.
fn closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        let opens = byte == b'{' && text.get(..at).is_some_and(|before| before.ends_with('$'));
        match byte {
            _ if opens => depth += 1,
            b'}' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn variable(inner: &str, env: &Lookup<'_>) -> Result<String, ExpandError> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    if !is_variable_name(name) {
        return Err(ExpandError::NotAName(name.to_owned()));
    }
    match (env(name), default) {
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(expand(default, env)?.unwrap_or_else(|| default.to_owned())),
        (Some(value), None) => Ok(value),
        (None, None) => Err(ExpandError::Unset(name.to_owned())),
    }
}

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "A" => Some("alpha".to_owned()),
            "EMPTY" => Some(String::new()),
            "ODD" => Some("${A} }".to_owned()),
            _ => None,
        }
    }

    fn expanded(text: &str) -> Result<Option<String>, ExpandError> {
        expand(text, &env)
    }

    #[test]
    fn variables_and_defaults_are_replaced() {
        for (text, expected) in [
            ("${A}", "alpha"),
            ("x${A}y${A}z", "xalphayalphaz"),
            ("${EMPTY}", ""),
            ("${EMPTY:-fallback}", "fallback"),
            ("${NONE:-}", ""),
            ("${NONE:-a:-b}", "a:-b"),
            ("${NONE:-${A}!}", "alpha!"),
            ("${NONE:-${ALSO_NONE:-deep}}", "deep"),
            ("$${A}", "${A}"),
            ("$${A} ${A}", "${A} alpha"),
            ("{${A}}", "{alpha}"),
            ("${ODD}", "${A} }"),
        ] {
            assert_eq!(expanded(text), Ok(Some(expected.to_owned())), "{text}");
        }
    }

    #[test]
    fn texts_without_variables_stay() {
        for text in ["", "plain", "$A", "a $ b", "{13,16}", "$"] {
            assert_eq!(expanded(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn unset_and_malformed_variables_are_refused() {
        assert_eq!(expanded("${NONE}"), Err(ExpandError::Unset("NONE".to_owned())));
        assert_eq!(expanded("${A"), Err(ExpandError::Unclosed));
        assert_eq!(expanded("${}"), Err(ExpandError::NotAName(String::new())));
        assert_eq!(expanded("${A-b}"), Err(ExpandError::NotAName("A-b".to_owned())));
        assert_eq!(expanded("${1A}"), Err(ExpandError::NotAName("1A".to_owned())));
    }
}
