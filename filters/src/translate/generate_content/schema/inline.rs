//! JSON Schema for the vendor's fields of that name: as the client wrote it, with local references put in place. What refers to
//! itself stays in `$defs`.

use std::borrow::Cow;

use memchr::memmem::find;

use super::pointer::{name, resolve};
use crate::wire::json::{Kind, Value, Writer};

/// Nesting below which references are no longer put in place.
const DEEPEST: usize = 64;
/// Growth at which references are no longer put in place, in bytes beyond four times the schema.
const GROWTH: usize = 64 << 10;

/// The schema with references put in place; itself where there is nothing to do. The root of `arguments` must be an object.
pub(super) fn inlined(root: Value<'_>, arguments: bool) -> Cow<'_, [u8]> {
    let bytes = root.bytes();
    let untyped = arguments && root.get("type").is_null();
    let odd = [&b"\"$ref\""[..], b"\"$schema\"", b"\"$id\"", b"\"strict\""];
    if !untyped && !odd.iter().any(|word| find(bytes, word).is_some()) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let mut inliner = Inliner { root, active: Vec::new(), kept: Vec::new(), limit: bytes.len() * 4 + GROWTH };
    inliner.document(untyped, &mut Writer::new(&mut out));
    Cow::Owned(out)
}

struct Inliner<'s> {
    root: Value<'s>,
    /// References being put in place at the moment.
    active: Vec<String>,
    /// References that stay, and the names of their definitions.
    kept: Vec<(String, String)>,
    limit: usize,
}

impl<'s> Inliner<'s> {
    fn document(&mut self, untyped: bool, w: &mut Writer<'_>) {
        let mut layers = vec![self.root];
        if self.root.members().any(|member| member.is("$ref")) {
            self.follow(&mut layers);
        }
        w.begin_object();
        if untyped && layers.iter().all(|layer| layer.get("type").is_null()) {
            w.str_field("type", "object");
        }
        self.layers(&layers, 1, w);
        self.definitions(w);
        w.end_object();
    }

    /// The definitions of what refers to itself. Writing one may ask for another.
    fn definitions(&mut self, w: &mut Writer<'_>) {
        let mut at = 0;
        if self.kept.is_empty() {
            return;
        }
        w.key("$defs");
        w.begin_object();
        while let Some((reference, name)) = self.kept.get(at).cloned() {
            at += 1;
            w.key(&name);
            self.active = vec![reference.clone()];
            match resolve(self.root, &reference) {
                Some(target) => self.schema(target, 1, w),
                None => w.raw(b"{}"),
            }
        }
        w.end_object();
    }

    fn schema(&mut self, value: Value<'s>, depth: usize, w: &mut Writer<'_>) {
        if value.kind() != Kind::Object {
            return w.raw(value.bytes());
        }
        let before = self.active.len();
        let mut layers = vec![value];
        if value.members().any(|member| member.is("$ref"))
            && let Some(kept) = self.chain(&mut layers, depth, w)
        {
            w.begin_object();
            w.str_field("$ref", &format!("#/$defs/{kept}"));
            w.end_object();
            self.active.truncate(before);
            return;
        }
        w.begin_object();
        self.layers(&layers, depth, w);
        w.end_object();
        self.active.truncate(before);
    }

    /// Follows a chain of references, outermost first; the name of the definition where one has to stay.
    fn chain(&mut self, layers: &mut Vec<Value<'s>>, depth: usize, w: &mut Writer<'_>) -> Option<String> {
        while let Some(reference) = layers.last().and_then(|layer| layer.get("$ref").str()) {
            let target = resolve(self.root, &reference)?;
            let again = self.active.iter().any(|active| *active == reference);
            if again || depth > DEEPEST || w.buffer().len() > self.limit {
                return Some(self.keep(&reference));
            }
            self.active.push(reference.into_owned());
            layers.push(target);
        }
        None
    }

    /// As [`Self::chain`], for the root, which cannot be a reference.
    fn follow(&mut self, layers: &mut Vec<Value<'s>>) {
        while let Some(reference) = layers.last().and_then(|layer| layer.get("$ref").str()) {
            let Some(target) = resolve(self.root, &reference) else { return };
            if self.active.iter().any(|active| *active == reference) {
                return;
            }
            self.active.push(reference.into_owned());
            layers.push(target);
        }
    }

    fn keep(&mut self, reference: &str) -> String {
        if let Some((_, name)) = self.kept.iter().find(|(kept, _)| kept == reference) {
            return name.clone();
        }
        let mut name = name(reference);
        while self.kept.iter().any(|(_, taken)| *taken == name) {
            name.push('_');
        }
        self.kept.push((reference.to_owned(), name.clone()));
        name
    }

    /// The members of a schema and of what it refers to; its own win.
    fn layers(&mut self, layers: &[Value<'s>], depth: usize, w: &mut Writer<'_>) {
        for (index, layer) in layers.iter().enumerate() {
            for member in layer.members() {
                let name = member.key();
                let hidden = layers.iter().take(index).any(|outer| outer.members().any(|known| known.is(&name)));
                if !hidden {
                    self.member(&name, member.json(), depth, w);
                }
            }
        }
    }

    fn member(&mut self, name: &str, value: Value<'s>, depth: usize, w: &mut Writer<'_>) {
        match (name, value.kind()) {
            ("$ref" | "$schema" | "$id" | "strict" | "$defs" | "definitions", _) => {}
            ("properties" | "patternProperties" | "dependentSchemas", Kind::Object) => {
                w.key(name);
                w.begin_object();
                for member in value.members() {
                    w.key(&member.key());
                    self.schema(member.json(), depth + 1, w);
                }
                w.end_object();
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Kind::Array) => {
                w.key(name);
                w.begin_array();
                for element in value.elements() {
                    self.schema(element.json(), depth + 1, w);
                }
                w.end_array();
            }
            (
                "items"
                | "additionalProperties"
                | "additionalItems"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Kind::Object,
            ) => {
                w.key(name);
                self.schema(value, depth + 1, w);
            }
            _ => {
                w.key(name);
                w.raw(value.bytes());
            }
        }
    }
}
