//! From what a JSON Schema says to the vendor's own dialect.

use std::borrow::Cow;

use super::applied::Applied;
use super::proto::Proto;
use super::words::{choices, describe, format_fits, guessed, only_demands, range};
use crate::wire::json::{Kind, Value};

/// Deepest nesting the vendor takes.
const DEEPEST: usize = 32;
/// Most schemas one schema may unfold to.
const MOST: usize = 4_096;
/// Counts kept as they are.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"];

/// Makes schemas of the vendor's dialect.
pub(super) struct Builder<'s> {
    root: Value<'s>,
    /// Schemas that may still be made.
    left: usize,
}

impl<'s> Builder<'s> {
    pub(super) const fn new(root: Value<'s>) -> Self {
        Self { root, left: MOST }
    }

    /// Converts a schema that stands `depth` levels below the root, inside the `active` references.
    pub(super) fn convert(&mut self, schema: Value<'s>, active: &[String], depth: usize) -> Proto<'s> {
        if depth >= DEEPEST || self.left == 0 {
            return Proto { kind: Some("OBJECT"), ..Proto::default() };
        }
        self.left -= 1;
        let mut applied = Applied::new(self.root, schema, active);
        let (mut types, mut nullable) = applied.types();
        let mut branches = applied.alternatives();
        let count = branches.len();
        branches.retain(|branch| !branch.get("type").is_str("null"));
        nullable |= branches.len() < count;
        // Alternatives that only demand members cannot be said.
        branches.retain(|branch| !only_demands(*branch));
        if let [only] = branches.as_slice() {
            applied.add(self.root, *only);
            types = applied.types().0;
            branches.clear();
        }
        let mut proto = if branches.is_empty() {
            self.of_types(&applied, &types, depth)
        } else {
            let any_of = branches.into_iter().map(|branch| self.convert(branch, &applied.active, depth + 1)).collect();
            Proto { any_of, ..Proto::default() }
        };
        proto.nullable |= nullable;
        describe(&mut proto, &applied);
        proto
    }

    /// One type, or one alternative for each.
    fn of_types(&mut self, applied: &Applied<'s>, types: &[&'static str], depth: usize) -> Proto<'s> {
        match types {
            [] => {
                let kind = guessed(applied);
                self.of_type(applied, kind, depth)
            }
            [kind] => self.of_type(applied, kind, depth),
            kinds => {
                let any_of = kinds.iter().map(|kind| self.of_type(applied, kind, depth + 1)).collect();
                Proto { any_of, ..Proto::default() }
            }
        }
    }

    fn of_type(&mut self, applied: &Applied<'s>, kind: &'static str, depth: usize) -> Proto<'s> {
        let mut proto = Proto { kind: Some(kind), ..Proto::default() };
        choices(&mut proto, applied);
        let kind = proto.kind.unwrap_or(kind);
        match kind {
            "OBJECT" => self.object(&mut proto, applied, depth),
            "ARRAY" => proto.items = Some(Box::new(self.items(applied, depth))),
            "INTEGER" | "NUMBER" => range(&mut proto, applied, kind == "INTEGER"),
            "STRING" => proto.pattern = applied.last("pattern").str(),
            _ => {}
        }
        proto.format = applied.last("format").str().filter(|format| format_fits(kind, format));
        for name in COUNTS.into_iter().filter(|name| counts(kind, name)) {
            if let Some(count) = applied.last(name).u64() {
                proto.numbers.push((name, Cow::Owned(count.to_string())));
            }
        }
        proto
    }

    fn object(&mut self, proto: &mut Proto<'s>, applied: &Applied<'s>, depth: usize) {
        for properties in applied.all("properties") {
            for member in properties.members() {
                let child = self.convert(member.json(), &applied.active, depth + 1);
                let name = member.key().into_owned();
                match proto.properties.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => *known = child,
                    None => proto.properties.push((name, child)),
                }
            }
        }
        let names = |keyword: &'static str| applied.all(keyword).flat_map(|list| list.elements()).filter_map(|name| name.json().str());
        let known = |name: &str| proto.properties.iter().any(|(known, _)| known == name);
        for (keyword, list) in [("required", &mut proto.required), ("propertyOrdering", &mut proto.ordering)] {
            for name in names(keyword) {
                if known(&name) && !list.iter().any(|seen| *seen == name) {
                    list.push(name.into_owned());
                }
            }
        }
    }

    fn items(&mut self, applied: &Applied<'s>, depth: usize) -> Proto<'s> {
        let items = applied.last("items");
        let tuple = if items.kind() == Kind::Array { items } else { applied.last("prefixItems") };
        let mut places: Vec<Value<'s>> = tuple.elements().map(|element| element.json()).collect();
        if items.kind() == Kind::Object {
            places.push(items);
        }
        match places.as_slice() {
            [] => Proto { kind: Some("STRING"), ..Proto::default() },
            [only] => self.convert(*only, &applied.active, depth + 1),
            several => {
                let any_of = several.iter().map(|place| self.convert(*place, &applied.active, depth + 1)).collect();
                Proto { any_of, ..Proto::default() }
            }
        }
    }
}

fn counts(kind: &str, name: &str) -> bool {
    match kind {
        "ARRAY" => name.ends_with("Items"),
        "OBJECT" => name.ends_with("Properties"),
        "STRING" => name.ends_with("Length"),
        _ => false,
    }
}
