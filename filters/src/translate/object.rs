//! Objects of a request read field by field, with the place of each for the sentences of refusals.

use std::borrow::Cow;
use std::fmt;

use crate::canonical::{Extra, Number, Refusal, Text, Weight};
use crate::wire::json::{Kind, Member, Value};

/// Where a value stands in the client's body. Written out only when something is wrong.
#[derive(Clone, Copy, Debug)]
pub(in crate::translate) enum Path<'p> {
    /// The body itself.
    Root,
    /// A member.
    Key(&'p Path<'p>, &'p str),
    /// An element.
    Index(&'p Path<'p>, usize),
}

impl<'p> Path<'p> {
    pub(in crate::translate) const fn key(&'p self, name: &'p str) -> Self {
        Path::Key(self, name)
    }

    pub(in crate::translate) const fn index(&'p self, index: usize) -> Self {
        Path::Index(self, index)
    }

    pub(in crate::translate) fn invalid(&self, message: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::invalid(self.to_string(), message)
    }

    pub(in crate::translate) fn expected(&self, what: &str, found: Kind) -> Refusal {
        self.invalid(format!("must be {what}, not {}", found.described()))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Path::Root, name) => f.write_str(name),
            Self::Key(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Hands every field of a request's body to `take`, those that are null left out.
pub(in crate::translate) fn fields<'a>(body: &'a [u8], take: impl FnMut(Member<'a>) -> Result<(), Refusal>) -> Result<(), Refusal> {
    let body = Value::of(body);
    if body.kind() != Kind::Object {
        return Err(Path::Root.expected("an object", body.kind()));
    }
    body.members().filter(|member| member.kind != Kind::Null).try_for_each(take)
}

/// A string.
pub(in crate::translate) fn text<'a>(value: Value<'a>, path: Path<'_>) -> Result<Text<'a>, Refusal> {
    value.text().ok_or_else(|| path.expected("a string", value.kind()))
}

/// A boolean.
pub(in crate::translate) fn boolean(value: Value<'_>, path: Path<'_>) -> Result<bool, Refusal> {
    value.bool().ok_or_else(|| path.expected("a boolean", value.kind()))
}

/// A number as written.
pub(in crate::translate) fn number<'a>(value: Value<'a>, path: Path<'_>) -> Result<Number<'a>, Refusal> {
    value.number().ok_or_else(|| path.expected("a number", value.kind()))
}

/// A whole number that is not negative.
pub(in crate::translate) fn count(value: Value<'_>, path: Path<'_>) -> Result<u64, Refusal> {
    match value.kind() {
        Kind::Number => value.u64().ok_or_else(|| path.invalid("must be a whole number that is not negative")),
        kind => Err(path.expected("a number", kind)),
    }
}

/// An array of strings.
pub(in crate::translate) fn texts<'a>(value: Value<'a>, path: Path<'_>) -> Result<Vec<Text<'a>>, Refusal> {
    array(value, path)?.enumerate().map(|(index, element)| text(element, path.index(index))).collect()
}

/// The elements of an array.
pub(in crate::translate) fn array<'a>(value: Value<'a>, path: Path<'_>) -> Result<impl Iterator<Item = Value<'a>> + use<'a>, Refusal> {
    match value.kind() {
        Kind::Array => Ok(value.elements().map(|element| element.json())),
        kind => Err(path.expected("an array", kind)),
    }
}

/// An object whose members were found in one walk.
pub(in crate::translate) struct Object<'p, 'a> {
    pub(in crate::translate) path: Path<'p>,
    members: Vec<Member<'a>>,
}

impl<'p, 'a> Object<'p, 'a> {
    pub(in crate::translate) fn read(value: Value<'a>, path: Path<'p>) -> Result<Self, Refusal> {
        match value.kind() {
            Kind::Object => Ok(Self { path, members: value.members().collect() }),
            kind => Err(path.expected("an object", kind)),
        }
    }

    /// The last member of that name that is not null.
    pub(in crate::translate) fn get(&self, name: &str) -> Option<Value<'a>> {
        self.members.iter().rev().find(|member| member.is(name)).map(Member::json).filter(|value| !value.is_null())
    }

    pub(in crate::translate) fn required(&self, name: &str) -> Result<Value<'a>, Refusal> {
        self.get(name).ok_or_else(|| self.path.key(name).invalid("is required"))
    }

    pub(in crate::translate) fn text(&self, name: &str) -> Result<Option<Text<'a>>, Refusal> {
        self.get(name).map(|value| text(value, self.path.key(name))).transpose()
    }

    pub(in crate::translate) fn required_text(&self, name: &str) -> Result<Text<'a>, Refusal> {
        text(self.required(name)?, self.path.key(name))
    }

    pub(in crate::translate) fn boolean(&self, name: &str) -> Result<Option<bool>, Refusal> {
        self.get(name).map(|value| boolean(value, self.path.key(name))).transpose()
    }

    pub(in crate::translate) fn number(&self, name: &str) -> Result<Option<Number<'a>>, Refusal> {
        self.get(name).map(|value| number(value, self.path.key(name))).transpose()
    }

    pub(in crate::translate) fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.get(name).map(|value| count(value, self.path.key(name))).transpose()
    }

    pub(in crate::translate) fn texts(&self, name: &str) -> Result<Vec<Text<'a>>, Refusal> {
        self.get(name).map_or(Ok(Vec::new()), |value| texts(value, self.path.key(name)))
    }

    /// Puts every member that is not one of `known` among the extras, named below `place`.
    pub(in crate::translate) fn leave(&self, known: &[&str], place: &str, extras: &mut Extras<'a>) {
        for member in self.members.iter().filter(|member| member.kind != Kind::Null) {
            if member.is("cache_control") {
                extras.add("cache_control", member.json(), Weight::Silent);
            } else if member.is("prompt_cache_breakpoint") {
                extras.add("prompt_cache_breakpoint", member.json(), Weight::Silent);
            } else if !known.iter().any(|name| member.is(name)) {
                extras.add(format!("{place}.{}", member.key()), member.json(), Weight::Minor);
            }
        }
    }
}

/// Fields without a neutral meaning, each name once.
#[derive(Default)]
pub(in crate::translate) struct Extras<'a> {
    list: Vec<Extra<'a>>,
}

impl<'a> Extras<'a> {
    pub(in crate::translate) fn add(&mut self, field: impl Into<Cow<'a, str>>, value: Value<'a>, weight: Weight) {
        let field = Text::Plain(field.into());
        match self.list.iter_mut().find(|extra| extra.field == field) {
            Some(known) => known.weight = known.weight.max(weight),
            None => self.list.push(Extra { field, value: value.raw(), weight }),
        }
    }

    pub(in crate::translate) fn into_list(self) -> Vec<Extra<'a>> {
        self.list
    }
}
