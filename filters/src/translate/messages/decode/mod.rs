//! Reading a client's request.

mod blocks;
mod media;
mod search;
#[cfg(test)]
mod tests;
mod tools;
mod turns;

pub(super) use self::search::hits;

use self::object::{Extras, Object, Path, boolean, count, fields, number, text, texts};
use crate::canonical::{OutputFormat, Refusal, Request, Role, Turn, Weight};
use crate::shape::Shape;
use crate::translate::object;
use crate::wire::json::{Kind, Member, Value};

/// Reads a request of this shape. Instructions come first among the turns, wherever they stand in the body.
///
/// # Errors
/// When a field is missing or of the wrong kind.
pub fn decode_request(body: &[u8]) -> Result<Request<'_>, Refusal> {
    let mut reader = Reader { request: Request::new(Shape::Messages), system: Vec::new(), extras: Extras::default(), said: false };
    fields(body, |member| reader.field(&member))?;
    reader.finish()
}

struct Reader<'a> {
    request: Request<'a>,
    system: Vec<Turn<'a>>,
    extras: Extras<'a>,
    /// The body has messages.
    said: bool,
}

impl<'a> Reader<'a> {
    fn finish(mut self) -> Result<Request<'a>, Refusal> {
        if !self.said {
            return Err(Path::Root.key("messages").invalid("is required"));
        }
        self.request.turns.splice(0..0, self.system);
        self.request.extras = self.extras.into_list();
        Ok(self.request)
    }

    fn field(&mut self, member: &Member<'a>) -> Result<(), Refusal> {
        let (name, value) = (member.key(), member.json());
        let path = Path::Key(&Path::Root, &name);
        let request = &mut self.request;
        match &*name {
            "model" => drop(text(value, path)?),
            "messages" => {
                self.said = true;
                request.turns = turns::read(value, path, &mut self.extras)?;
            }
            "system" => {
                let blocks = turns::system(value, path, &mut self.extras)?;
                self.system.extend((!blocks.is_empty()).then_some(Turn { role: Role::System, blocks }));
            }
            "max_tokens" => request.max_output = Some(count(value, path)?),
            "temperature" => request.sampling.temperature = Some(number(value, path)?),
            "top_p" => request.sampling.top_p = Some(number(value, path)?),
            "top_k" => request.sampling.top_k = Some(number(value, path)?),
            "stop_sequences" => request.stop = texts(value, path)?,
            "stream" => request.stream = boolean(value, path)?,
            "service_tier" => request.service_tier = Some(text(value, path)?),
            "thread" => return Err(Refusal::unsupported("thread", "this provider keeps no conversations")),
            "metadata" => self.metadata(value, path)?,
            "thinking" => self.thinking(value, path)?,
            "output_config" => self.output_config(value, path)?,
            "output_format" => self.format(value, path)?,
            "tools" => request.tools = tools::read(value, path, &mut self.extras)?,
            "tool_choice" => (request.tool_choice, request.parallel_tool_calls) = tools::choice(value, path, &mut self.extras)?,
            _ => self.extras.add(name.clone(), value, weight(&name, value)),
        }
        Ok(())
    }

    fn metadata(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let object = Object::read(value, path)?;
        self.request.user = object.text("user_id")?;
        object.leave(&["user_id"], "metadata", &mut self.extras);
        Ok(())
    }

    fn thinking(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let object = Object::read(value, path)?;
        let thinking = &mut self.request.thinking;
        let kind = object.required_text("type")?;
        match &*kind.decode() {
            "enabled" => {
                let budget = object.required("budget_tokens").and_then(|budget| count(budget, path.key("budget_tokens")))?;
                thinking.budget = Some(i64::try_from(budget).unwrap_or(i64::MAX));
            }
            "adaptive" => thinking.adaptive = true,
            "disabled" => thinking.disabled = true,
            other => {
                // Such as `between_tools`: some thinking is wanted, in a way only this vendor's models know.
                thinking.adaptive = true;
                self.extras.add(format!("thinking.type.{other}"), value, Weight::Minor);
            }
        }
        let hidden = object.text("display")?.is_some_and(|display| display.is("omitted"));
        thinking.shown = (!thinking.disabled).then_some(!hidden);
        object.leave(&["type", "budget_tokens", "display"], "thinking", &mut self.extras);
        Ok(())
    }

    fn output_config(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let object = Object::read(value, path)?;
        self.request.thinking.effort = object.text("effort")?;
        if let Some(format) = object.get("format") {
            self.format(format, path.key("format"))?;
        }
        object.leave(&["effort", "format"], "output_config", &mut self.extras);
        Ok(())
    }

    fn format(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let object = Object::read(value, path)?;
        let kind = object.required_text("type")?;
        if !kind.is("json_schema") {
            return Err(path.key("type").invalid("must be `json_schema`"));
        }
        let schema = object.required("schema")?;
        if schema.kind() != Kind::Object {
            return Err(path.key("schema").expected("an object", schema.kind()));
        }
        self.request.format =
            OutputFormat::Schema { name: None, description: None, schema: schema.raw(), vendor_schema: false, strict: Some(true) };
        object.leave(&["type", "schema"], "output_config.format", &mut self.extras);
        Ok(())
    }
}

/// What the loss of a top-level field means that has no neutral meaning.
fn weight(name: &str, value: Value<'_>) -> Weight {
    let empty = value.kind() == Kind::Array && value.elements().next().is_none();
    match name {
        "cache_control" | "anthropic_version" | "anthropic_beta" => Weight::Silent,
        // Without these the answer would lack what was asked for.
        "container" | "mcp_servers" | "fallbacks" if !empty => Weight::Major,
        _ => Weight::Minor,
    }
}
