//! What a JSON Schema says, with references followed and `allOf` merged: the input of the conversion to the vendor's dialect.

use super::pointer::resolve;
use crate::wire::json::{Kind, Value};

/// Times one reference may stand inside itself before it is cut.
const RECURSION: usize = 4;
/// Layers of one schema; more are ignored.
const LAYERS: usize = 64;

/// The schemas that together describe one value, the later ones weigh more.
#[derive(Clone, Debug)]
pub(super) struct Applied<'s> {
    layers: Vec<Value<'s>>,
    /// References that were followed to get here.
    pub(super) active: Vec<String>,
}

impl<'s> Applied<'s> {
    /// Everything `schema` says.
    pub(super) fn new(root: Value<'s>, schema: Value<'s>, active: &[String]) -> Self {
        let mut applied = Self { layers: Vec::new(), active: active.to_vec() };
        applied.add(root, schema);
        applied
    }

    /// Adds what another schema says of the same value.
    pub(super) fn add(&mut self, root: Value<'s>, schema: Value<'s>) {
        if self.layers.len() >= LAYERS {
            return;
        }
        if let Some(reference) = schema.get("$ref").str() {
            let times = self.active.iter().filter(|active| **active == reference).count();
            // What leads outside, or goes on for ever, is any object.
            if let Some(target) = resolve(root, &reference).filter(|_| times < RECURSION) {
                self.active.push(reference.into_owned());
                self.add(root, target);
            }
        }
        for part in schema.get("allOf").elements() {
            self.add(root, part.json());
        }
        self.layers.push(schema);
    }

    /// The last value of a keyword; `null` where no layer has it.
    pub(super) fn last(&self, name: &str) -> Value<'s> {
        self.layers.iter().rev().map(|layer| layer.get(name)).find(|value| !value.is_null()).unwrap_or(Value::NULL)
    }

    /// Every value of a keyword.
    pub(super) fn all(&self, name: &'static str) -> impl Iterator<Item = Value<'s>> {
        self.layers.iter().map(move |layer| layer.get(name)).filter(|value| !value.is_null())
    }

    /// Whether any layer has the keyword.
    pub(super) fn has(&self, name: &str) -> bool {
        !self.last(name).is_null()
    }

    /// The alternatives of `anyOf` and `oneOf`.
    pub(super) fn alternatives(&self) -> Vec<Value<'s>> {
        ["anyOf", "oneOf"].iter().flat_map(|name| self.last(name).elements()).map(|element| element.json()).collect()
    }

    /// The named types, null left out, and whether null is one of them.
    pub(super) fn types(&self) -> (Vec<&'static str>, bool) {
        let told = self.last("type");
        let mut nullable = self.last("nullable").bool() == Some(true);
        let names: Vec<Value<'s>> = match told.kind() {
            Kind::Array => told.elements().map(|element| element.json()).collect(),
            Kind::Null => Vec::new(),
            _ => vec![told],
        };
        let mut types = Vec::new();
        for name in names.iter().filter_map(|name| name.str()) {
            match upper(&name) {
                Some("NULL") => nullable = true,
                Some(kind) if !types.contains(&kind) => types.push(kind),
                _ => {}
            }
        }
        (types, nullable)
    }
}

/// The vendor's word for a type.
fn upper(name: &str) -> Option<&'static str> {
    const TYPES: [&str; 7] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
    TYPES.into_iter().find(|kind| kind.eq_ignore_ascii_case(name))
}
