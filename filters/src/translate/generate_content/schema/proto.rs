//! The vendor's own dialect of schemas, in which an unknown keyword is refused.

use std::borrow::Cow;

use super::applied::Applied;
use crate::wire::json::{Kind, Value, Writer};

/// Deepest nesting the vendor takes.
const DEEPEST: usize = 32;
/// Most schemas one schema may unfold to.
const MOST: usize = 4_096;
/// Counts kept as they are.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength"];

/// A schema in the vendor's dialect.
#[derive(Clone, Debug, Default)]
struct Proto<'s> {
    kind: Option<&'static str>,
    nullable: bool,
    title: Option<Cow<'s, str>>,
    description: Option<String>,
    format: Option<Cow<'s, str>>,
    choices: Vec<String>,
    items: Option<Box<Proto<'s>>>,
    properties: Vec<(String, Proto<'s>)>,
    required: Vec<String>,
    ordering: Vec<String>,
    any_of: Vec<Proto<'s>>,
    numbers: Vec<(&'static str, Cow<'s, str>)>,
    pattern: Option<Cow<'s, str>>,
    example: Option<&'s [u8]>,
}

/// The arguments of a function; none where it takes none.
pub(super) fn of_arguments(root: Value<'_>) -> Option<Vec<u8>> {
    let mut proto = Builder { root, left: MOST }.convert(root, &[], 0);
    proto.become_object();
    (!proto.properties.is_empty()).then(|| written(&proto))
}

/// The form of an answer.
pub(super) fn of_answer(root: Value<'_>) -> Vec<u8> {
    written(&Builder { root, left: MOST }.convert(root, &[], 0))
}

fn written(proto: &Proto<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    proto.write(&mut Writer::new(&mut out));
    out
}

struct Builder<'s> {
    root: Value<'s>,
    /// Schemas that may still be made.
    left: usize,
}

impl<'s> Builder<'s> {
    fn convert(&mut self, schema: Value<'s>, active: &[String], depth: usize) -> Proto<'s> {
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

/// Whether an alternative says nothing about the value but which members it must have.
fn only_demands(branch: Value<'_>) -> bool {
    branch.kind() == Kind::Object
        && branch.members().all(|member| matches!(&*member.name(), b"required" | b"not" | b"minProperties" | b"maxProperties"))
}

/// The type of a schema that names none.
fn guessed(applied: &Applied<'_>) -> &'static str {
    let has = |names: &[&str]| names.iter().any(|name| applied.has(name));
    match () {
        () if has(&["enum", "const", "minLength", "maxLength", "pattern"]) => "STRING",
        () if has(&["items", "prefixItems", "minItems", "maxItems"]) => "ARRAY",
        () if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => "NUMBER",
        () => "OBJECT",
    }
}

/// Choices are texts, whatever they were.
fn choices(proto: &mut Proto<'_>, applied: &Applied<'_>) {
    let constant = applied.last("const");
    let listed = applied.last("enum");
    let values = listed.elements().map(|element| element.json()).chain((!constant.is_null()).then_some(constant));
    let mut any = false;
    for value in values {
        any = true;
        let text = match value.kind() {
            Kind::String => value.str().unwrap_or_default().into_owned(),
            Kind::Null => {
                proto.nullable = true;
                continue;
            }
            _ => String::from_utf8_lossy(value.bytes()).into_owned(),
        };
        if !text.is_empty() && !proto.choices.contains(&text) {
            proto.choices.push(text);
        }
    }
    if any && !proto.choices.is_empty() {
        proto.kind = Some("STRING");
    }
}

/// The least and the greatest value. Bounds that are not reached move by one where values are whole.
fn range(proto: &mut Proto<'_>, applied: &Applied<'_>, whole: bool) {
    for (name, exclusive, step) in [("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)] {
        let (inclusive, open) = (applied.last(name), applied.last(exclusive));
        // An older draft marks the bound beside it as not reached.
        let (bound, open) = match open.kind() {
            Kind::Number => (open, true),
            Kind::Bool => (inclusive, open.bool() == Some(true)),
            _ => (inclusive, false),
        };
        let Some(bound) = bound.number() else { continue };
        let text = match bound.whole().filter(|_| open && whole) {
            Some(bound) => bound.saturating_add(step).to_string(),
            None => bound.0.to_owned(),
        };
        proto.numbers.push((name, Cow::Owned(text)));
    }
}

fn format_fits(kind: &str, format: &str) -> bool {
    match kind {
        "STRING" => matches!(format, "enum" | "date-time" | "date" | "time" | "duration"),
        "INTEGER" => matches!(format, "int32" | "int64"),
        "NUMBER" => matches!(format, "float" | "double"),
        _ => false,
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

/// Title, description and example. Where there are alternatives, they carry the words. What cannot be said otherwise is said
/// in words.
fn describe<'s>(proto: &mut Proto<'s>, applied: &Applied<'s>) {
    let title = applied.last("title").str();
    let mut description = applied.last("description").str().map(Cow::into_owned);
    let unsaid = unsaid(applied);
    if !unsaid.is_empty() {
        let unsaid = unsaid.join(", ");
        description = Some(description.map_or_else(|| unsaid.clone(), |words| format!("{words} ({unsaid})")));
    }
    if proto.any_of.is_empty() {
        proto.title = title;
        proto.description = description;
        let example = applied.last("example");
        let first = applied.last("examples").elements().next().map(|element| element.json());
        proto.example = Some(example).filter(|value| !value.is_null()).or(first).map(Value::bytes);
        return;
    }
    for branch in &mut proto.any_of {
        branch.title = branch.title.take().or_else(|| title.clone());
        branch.description = branch.description.take().or_else(|| description.clone());
    }
}

/// Constraints the dialect has no words for, in short.
fn unsaid(applied: &Applied<'_>) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(number) = applied.last("multipleOf").number() {
        words.push(format!("a multiple of {}", number.0));
    }
    if applied.last("uniqueItems").bool() == Some(true) {
        words.push("no item twice".to_owned());
    }
    let whole = applied.types().0 == ["INTEGER"];
    for (name, word) in [("exclusiveMinimum", "greater than"), ("exclusiveMaximum", "less than")] {
        if let Some(number) = applied.last(name).number().filter(|_| !whole) {
            words.push(format!("{word} {}", number.0));
        }
    }
    let default = applied.last("default");
    if !matches!(default.kind(), Kind::Null | Kind::Object | Kind::Array) {
        words.push(format!("default {}", String::from_utf8_lossy(default.bytes())));
    }
    words
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
