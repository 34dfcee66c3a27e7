//! Reading a client's request.

mod config;
mod contents;
mod media;
mod part;
mod result;
mod tools;

#[cfg(test)]
mod tests;

use super::fields::{Path, camel, text};
use crate::canonical::{Extra, Refusal, Request, Role, Text, Turn, Weight};
use crate::shape::Shape;
use crate::wire::json::{Member, Value, members};

/// Reads a request, whose fields may be in camel or snake case. The verb tells whether a stream is asked for.
///
/// # Errors
/// When the request breaks its own shape's rules.
pub fn decode_request(body: &[u8], stream: bool) -> Result<Request<'_>, Refusal> {
    let mut reader = Reader { request: Request::new(Shape::GenerateContent), system: None };
    reader.request.stream = stream;
    for member in members(body) {
        reader.field(&member)?;
    }
    reader.finish()
}

/// What has been read so far.
struct Reader<'a> {
    request: Request<'a>,
    system: Option<Turn<'a>>,
}

impl<'a> Reader<'a> {
    fn field(&mut self, member: &Member<'a>) -> Result<(), Refusal> {
        let (root, value) = (Path::Root, member.json());
        if value.is_null() {
            return Ok(());
        }
        match &*camel(member) {
            b"contents" => self.request.turns = contents::read(value, &root.key("contents"), &mut self.request.extras)?,
            b"systemInstruction" => self.system = Some(instruction(value, &root.key("systemInstruction"))?),
            b"tools" => tools::read(value, &root.key("tools"), &mut self.request)?,
            b"toolConfig" => tools::config(value, &root.key("toolConfig"), &mut self.request)?,
            b"generationConfig" => config::read(value, &root.key("generationConfig"), &mut self.request)?,
            b"serviceTier" => self.request.service_tier = text(value, &root.key("serviceTier"))?.filter(|tier| !tier.is("unspecified")),
            // The path names the model; the door has checked that the body agrees.
            b"model" => {}
            b"cachedContent" => self.request.extras.push(extra("cachedContent", value, Weight::Major)),
            b"safetySettings" if value.elements().next().is_none() => {}
            b"safetySettings" | b"labels" | b"store" | b"modelArmorConfig" => self.lose(member, Weight::Minor),
            _ => self.lose(member, Weight::Minor),
        }
        Ok(())
    }

    fn lose(&mut self, member: &Member<'a>, weight: Weight) {
        self.request.extras.push(named(None, member, weight));
    }

    fn finish(self) -> Result<Request<'a>, Refusal> {
        let Self { mut request, system } = self;
        if request.turns.is_empty() {
            return Err(Refusal::invalid("contents", "at least one content is required"));
        }
        if let Some(system) = system {
            request.turns.insert(0, system);
        }
        Ok(request)
    }
}

/// Instructions: parts of text, whatever role they name.
fn instruction<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Turn<'a>, Refusal> {
    contents::texts(value, path).map(|blocks| Turn { role: Role::System, blocks })
}

/// A field without a neutral place.
fn extra<'a>(field: &'static str, value: Value<'a>, weight: Weight) -> Extra<'a> {
    Extra { field: Text::from(field), value: value.raw(), weight }
}

/// A field without a neutral place, by the name the client gave it.
fn named<'a>(parent: Option<&str>, member: &Member<'a>, weight: Weight) -> Extra<'a> {
    let name = String::from_utf8_lossy(&camel(member)).into_owned();
    let field = match parent {
        Some(parent) => format!("{parent}.{name}"),
        None => name,
    };
    Extra { field: Text::from(field), value: member.json().raw(), weight }
}
