//! The document as a tree that remembers where every part was written.

use std::fmt;

use super::resolve::{Resolved, resolve};

/// A place in the file; both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// One value and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) value: Value,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A single value as text.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) text: String,
    /// Written without quotes, so that its type follows from its text.
    pub(super) plain: bool,
    /// Contained a variable.
    pub(super) expanded: bool,
}

/// A key, where it is, and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_mark: Mark,
    pub(super) value: Node,
}

/// One step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The way from the document to a value, printed as `providers[1].base_url`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path(pub(super) Vec<Step>);

impl Node {
    /// The value of a key, where this is a mapping that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) => Some(&scalar.text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Where the value at the end of a path starts, or the last part of the way there that was written.
    pub(super) fn locate(&self, path: &Path) -> Mark {
        let mut node = self;
        let mut mark = self.mark;
        for step in &path.0 {
            let next = match (step, &node.value) {
                (Step::Key(key), _) => node.entry(key).map(|entry| (&entry.value, entry.key_mark)),
                (Step::Index(index), Value::List(items)) => items.get(*index).map(|item| (item, item.mark)),
                (Step::Index(_), _) => None,
            };
            match next {
                Some(found) => (node, mark) = found,
                None => break,
            }
        }
        mark
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Value::Scalar(_) | Value::List(_) => None,
        }
    }
}

impl Scalar {
    /// What the text stands for where nothing is known about the wanted type.
    pub(super) fn resolved(&self) -> Resolved<'_> {
        if self.plain { resolve(&self.text) } else { Resolved::Text(&self.text) }
    }

    /// Whether this is a null, or a variable that turned out empty.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.resolved(), Resolved::Null) || (self.expanded && self.text.is_empty())
    }
}

impl Path {
    /// This path and a key.
    pub(super) fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_owned()))
    }

    /// This path and a position in a list.
    pub(super) fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    let simple = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
                    if simple { f.write_str(key)? } else { write!(f, "{key:?}")? }
                }
            }
        }
        Ok(())
    }
}
