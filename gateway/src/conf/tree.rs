//! Reads the text of a document into a tree. Anchors are resolved; duplicate keys, tags and endless nesting are refused.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};

use super::error::Problem;
use super::node::{Entry, Mark, Node, Path, Scalar, Value};

/// Deeper than any configuration.
const MAX_DEPTH: usize = 32;
/// More values than any configuration has, aliases counted each time they are used.
const MAX_NODES: usize = 100_000;

/// Reads one document. An empty one is an empty mapping.
pub(super) fn read(text: &str, origin: &str) -> Result<Node, Box<Problem>> {
    let mut builder = Builder { origin, open: Vec::new(), anchors: BTreeMap::new(), root: None, nodes: 0 };
    for event in Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        let (event, span) = event.map_err(|error| builder.problem(mark_of(error.marker()), format!("not valid YAML: {}", error.info())))?;
        builder.event(event, mark_of(&span.start))?;
    }
    Ok(builder.root.unwrap_or(Node { mark: Mark { line: 1, column: 1 }, value: Value::Map(Vec::new()) }))
}

fn mark_of(marker: &Marker) -> Mark {
    Mark { line: marker.line(), column: marker.col() + 1 }
}

/// A list or mapping whose end has not been read.
struct Open {
    anchor: usize,
    mark: Mark,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(Vec<Entry>, Option<(String, Mark)>),
}

struct Builder<'a> {
    origin: &'a str,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    root: Option<Node>,
    nodes: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, mark: Mark) -> Result<(), Box<Problem>> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && !self.is_text_tag(tag.as_deref(), mark)?;
                self.add(Node { mark, value: Value::Scalar(Scalar { text: text.into_owned(), plain, expanded: false }) }, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.start(anchor, tag.as_deref(), mark, Content::List(Vec::new())),
            Event::MappingStart(anchor, tag) => self.start(anchor, tag.as_deref(), mark, Content::Map(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor, mark),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(self.problem(mark, "a second document; the configuration is one".to_owned()))
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => Ok(()),
        }
    }

    fn start(&mut self, anchor: usize, tag: Option<&Tag>, mark: Mark, content: Content) -> Result<(), Box<Problem>> {
        if tag.is_some() {
            return Err(self.problem(mark, "tags are not supported".to_owned()));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.problem(mark, format!("nested deeper than {MAX_DEPTH} levels")));
        }
        if let Some(Open { content: Content::Map(_, None), .. }) = self.open.last() {
            return Err(self.problem(mark, "a key must be a single word or text".to_owned()));
        }
        self.open.push(Open { anchor, mark, content });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Box<Problem>> {
        let Some(Open { anchor, mark, content }) = self.open.pop() else { return Ok(()) };
        let value = match content {
            Content::List(items) => Value::List(items),
            Content::Map(entries, _) => Value::Map(entries),
        };
        self.add(Node { mark, value }, anchor)
    }

    fn alias(&mut self, anchor: usize, mark: Mark) -> Result<(), Box<Problem>> {
        let Some(mut node) = self.anchors.get(&anchor).cloned() else {
            return Err(self.problem(mark, "an alias inside the value it stands for".to_owned()));
        };
        self.nodes = self.nodes.saturating_add(count(&node));
        if self.open.len() + height(&node) > MAX_DEPTH || self.nodes > MAX_NODES {
            return Err(self.problem(mark, "aliases make the document too large".to_owned()));
        }
        node.mark = mark;
        self.add(node, 0)
    }

    /// Puts a finished value where it belongs: into what is open, as a key or as a value.
    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Box<Problem>> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MAX_NODES {
            return Err(self.problem(node.mark, format!("more than {MAX_NODES} values")));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let is_key = matches!(self.open.last(), Some(Open { content: Content::Map(_, None), .. }));
        if is_key {
            return self.add_key(node);
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map(entries, key)) => {
                if let Some((key, key_mark)) = key.take() {
                    entries.push(Entry { key, key_mark, value: node });
                }
            }
        }
        Ok(())
    }

    fn add_key(&mut self, node: Node) -> Result<(), Box<Problem>> {
        let mark = node.mark;
        let Value::Scalar(Scalar { text, .. }) = node.value else {
            return Err(self.problem(mark, "a key must be a single word or text".to_owned()));
        };
        let Some(Open { content: Content::Map(entries, key), .. }) = self.open.last_mut() else { return Ok(()) };
        let earlier = entries.iter().find(|entry| entry.key == text).map(|entry| entry.key_mark.line);
        *key = Some((text, mark));
        match earlier {
            Some(line) => Err(self.problem(mark, format!("this key was already given in line {line}"))),
            None => Ok(()),
        }
    }

    fn is_text_tag(&self, tag: Option<&Tag>, mark: Mark) -> Result<bool, Box<Problem>> {
        match tag {
            None => Ok(false),
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(true),
            Some(_) => Err(self.problem(mark, "tags are not supported".to_owned())),
        }
    }

    fn problem(&self, mark: Mark, message: String) -> Box<Problem> {
        let path = self.open.iter().fold(Path::default(), |path, open| match &open.content {
            Content::List(items) => path.index(items.len()),
            Content::Map(_, Some((key, _))) => path.key(key),
            Content::Map(_, None) => path,
        });
        Box::new(Problem { origin: self.origin.to_owned(), line: mark.line, column: mark.column, path: path.to_string(), message })
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 1,
        Value::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|entry| count(&entry.value)).sum::<usize>(),
    }
}

fn height(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 0,
        Value::List(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|entry| height(&entry.value)).max().unwrap_or(0),
    }
}
