//! Arguments of calls: whole ones without white space, and those that arrive in pieces.

use crate::canonical::Text;
use crate::wire::json::{Kind, Value, Writer};

/// Deepest place a piece may name.
const DEPTH: usize = 64;
/// Longest array pieces may build.
const LONGEST: usize = 65_536;

/// A call whose arguments arrive in pieces.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) signature: Option<String>,
    root: Node,
}

/// A value that grows.
#[derive(Debug)]
enum Node {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Text(String),
    /// A value that came whole.
    Json(Vec<u8>),
}

/// A step of a path such as `$.places[0].name`.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
}

impl Partial {
    pub(super) const fn new(id: String, name: String) -> Self {
        Self { id, name, signature: None, root: Node::Object(Vec::new()) }
    }

    /// Takes the next pieces.
    pub(super) fn add(&mut self, whole: Value<'_>, pieces: Value<'_>, signature: Option<&Text<'_>>) {
        if let Some(signature) = signature {
            self.signature = Some(signature.decode().into_owned());
        }
        if whole.kind() == Kind::Object && whole.members().next().is_some() {
            self.root = Node::Json(whole.bytes().to_vec());
        }
        for piece in pieces.elements() {
            let piece = piece.json();
            let Some(steps) = piece.get("jsonPath").str().and_then(|path| steps(&path)) else { continue };
            self.put(&steps, piece);
        }
    }

    fn put(&mut self, steps: &[Step], piece: Value<'_>) {
        let mut node = &mut self.root;
        for step in steps {
            let Some(next) = node.child(step) else { return };
            node = next;
        }
        for member in piece.members() {
            match &*member.name() {
                b"stringValue" => node.say(&member.as_str().unwrap_or_default()),
                b"numberValue" | b"boolValue" => *node = Node::Json(member.value().to_vec()),
                b"nullValue" => *node = Node::Json(b"null".to_vec()),
                _ => {}
            }
        }
    }

    /// The arguments put together.
    pub(super) fn arguments(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.root.write(&mut Writer::new(&mut out));
        out
    }
}

impl Node {
    /// Adds to a text.
    fn say(&mut self, text: &str) {
        match self {
            Self::Text(known) => known.push_str(text),
            _ => *self = Self::Text(text.to_owned()),
        }
    }

    /// The place a step leads to, made where it is new.
    fn child(&mut self, step: &Step) -> Option<&mut Self> {
        let fresh = || Self::Json(b"null".to_vec());
        match step {
            Step::Member(name) => {
                if !matches!(self, Self::Object(_)) {
                    *self = Self::Object(Vec::new());
                }
                let Self::Object(members) = self else { return None };
                if !members.iter().any(|(known, _)| known == name) {
                    members.push((name.clone(), fresh()));
                }
                members.iter_mut().find(|(known, _)| known == name).map(|(_, node)| node)
            }
            Step::Element(index) => {
                if !matches!(self, Self::Array(_)) {
                    *self = Self::Array(Vec::new());
                }
                let Self::Array(elements) = self else { return None };
                // A piece further on than the next one cannot be told from a mistake.
                let index = (*index).min(elements.len());
                if index == elements.len() {
                    if index >= LONGEST {
                        return None;
                    }
                    elements.push(fresh());
                }
                elements.get_mut(index)
            }
        }
    }

    fn write(&self, w: &mut Writer<'_>) {
        match self {
            Self::Object(members) => {
                w.begin_object();
                for (name, node) in members {
                    w.key(name);
                    node.write(w);
                }
                w.end_object();
            }
            Self::Array(elements) => {
                w.begin_array();
                elements.iter().for_each(|node| node.write(w));
                w.end_array();
            }
            Self::Text(text) => w.str(text),
            Self::Json(json) => w.raw(json),
        }
    }
}

/// The steps of a path; none where it cannot be read.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() >= DEPTH {
            return None;
        }
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            let (name, tail) = tail.split_at_checked(end)?;
            steps.push(Step::Member(name.to_owned()));
            rest = tail;
            continue;
        }
        let tail = rest.strip_prefix('[')?;
        let (step, tail) = match tail.chars().next()? {
            quote @ ('\'' | '"') => {
                let (name, tail) = tail.get(1..)?.split_once(quote)?;
                (Step::Member(name.to_owned()), tail.strip_prefix(']')?)
            }
            _ => {
                let (index, tail) = tail.split_once(']')?;
                (Step::Element(index.parse().ok()?), tail)
            }
        };
        steps.push(step);
        rest = tail;
    }
    (!steps.is_empty()).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_by_their_paths() {
        let mut call = Partial::new("1".into(), "f".into());
        let pieces = br#"[{"jsonPath":"$.places[0].name","stringValue":"New "},{"jsonPath":"$.places[0].name","stringValue":"York"},
            {"jsonPath":"$.places[1]['x.y']","numberValue":1.50},{"jsonPath":"$.ok","boolValue":true},{"jsonPath":"$.none","nullValue":"NULL_VALUE"}]"#;
        call.add(Value::NULL, Value::of(pieces), None);
        assert_eq!(String::from_utf8(call.arguments()).unwrap(), r#"{"places":[{"name":"New York"},{"x.y":1.50}],"ok":true,"none":null}"#);
    }

    #[test]
    fn paths_that_make_no_sense_are_passed_over() {
        for path in ["", "a", "$", "$[", "$[x]", "$['a", "$[-1]"] {
            assert_eq!(steps(path), None, "{path}");
        }
        let mut call = Partial::new("1".into(), "f".into());
        call.add(Value::NULL, Value::of(br#"[{"jsonPath":"$.a[99999999]","numberValue":1}]"#), None);
        assert_eq!(call.arguments(), br#"{"a":[1]}"#);
    }
}
