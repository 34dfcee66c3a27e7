//! The vendor's own dialect of schemas, in which an unknown keyword is refused.

use std::borrow::Cow;

use super::build::Builder;
use crate::wire::json::{Value, Writer};

/// A schema in the vendor's dialect.
#[derive(Clone, Debug, Default)]
pub(super) struct Proto<'s> {
    pub(super) kind: Option<&'static str>,
    pub(super) nullable: bool,
    pub(super) title: Option<Cow<'s, str>>,
    pub(super) description: Option<String>,
    pub(super) format: Option<Cow<'s, str>>,
    pub(super) choices: Vec<String>,
    pub(super) items: Option<Box<Proto<'s>>>,
    pub(super) properties: Vec<(String, Proto<'s>)>,
    pub(super) required: Vec<String>,
    pub(super) ordering: Vec<String>,
    pub(super) any_of: Vec<Proto<'s>>,
    pub(super) numbers: Vec<(&'static str, Cow<'s, str>)>,
    pub(super) pattern: Option<Cow<'s, str>>,
    pub(super) example: Option<&'s [u8]>,
}

/// The arguments of a function; none where it takes none.
pub(super) fn of_arguments(root: Value<'_>) -> Option<Vec<u8>> {
    let mut proto = Builder::new(root).convert(root, &[], 0);
    proto.become_object();
    (!proto.properties.is_empty()).then(|| written(&proto))
}

/// The form of an answer.
pub(super) fn of_answer(root: Value<'_>) -> Vec<u8> {
    written(&Builder::new(root).convert(root, &[], 0))
}

fn written(proto: &Proto<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    proto.write(&mut Writer::new(&mut out));
    out
}

impl Proto<'_> {
    /// Makes the root the object that arguments must be. Alternatives become one object that demands what all of them demand.
    fn become_object(&mut self) {
        for (index, branch) in std::mem::take(&mut self.any_of).into_iter().enumerate() {
            let required: Vec<String> = branch.required;
            if index == 0 {
                self.required = required;
            } else {
                self.required.retain(|name| required.contains(name));
            }
            for (name, schema) in branch.properties {
                if !self.properties.iter().any(|(known, _)| *known == name) {
                    self.properties.push((name, schema));
                }
            }
            self.description = self.description.take().or(branch.description);
        }
        self.kind = Some("OBJECT");
        self.nullable = false;
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.begin_object();
        if let Some(kind) = self.kind.filter(|_| self.any_of.is_empty()) {
            w.str_field("type", kind);
        }
        let texts = [("title", self.title.as_deref()), ("description", self.description.as_deref()), ("format", self.format.as_deref())];
        for (name, text) in texts {
            if let Some(text) = text {
                w.str_field(name, text);
            }
        }
        if self.nullable {
            w.bool_field("nullable", true);
        }
        list("enum", &self.choices, w);
        if let Some(items) = &self.items {
            w.key("items");
            items.write(w);
        }
        self.write_object(w);
        for (name, number) in &self.numbers {
            w.key(name);
            w.raw(number.as_bytes());
        }
        if let Some(pattern) = &self.pattern {
            w.str_field("pattern", pattern);
        }
        if let Some(example) = self.example {
            w.key("example");
            w.raw(example);
        }
        w.end_object();
    }

    fn write_object(&self, w: &mut Writer<'_>) {
        if !self.properties.is_empty() {
            w.object("properties", |w| {
                for (name, schema) in &self.properties {
                    w.key(name);
                    schema.write(w);
                }
            });
        }
        list("required", &self.required, w);
        list("propertyOrdering", &self.ordering, w);
        if !self.any_of.is_empty() {
            w.array("anyOf", |w| self.any_of.iter().for_each(|branch| branch.write(w)));
        }
    }
}

fn list(name: &str, texts: &[String], w: &mut Writer<'_>) {
    if !texts.is_empty() {
        w.array(name, |w| texts.iter().for_each(|text| w.str(text)));
    }
}
