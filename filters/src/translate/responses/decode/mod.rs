//! Reading a client's request.

mod content;
mod items;
#[cfg(test)]
mod tests;
mod tools;

use crate::canonical::{Block, OutputFormat, Refusal, Request, Role, Text, Turn, Weight};
use crate::shape::Shape;
use crate::translate::map::Effort;
use crate::translate::object::{Extras, Object, Path, boolean, count, fields, number, text, texts};
use crate::wire::json::{Kind, Member, Value};

/// Reads a request of this dialect.
///
/// # Errors
/// When a field is missing or of the wrong kind, or the request rests on state kept by the provider.
pub fn decode_request(body: &[u8]) -> Result<Request<'_>, Refusal> {
    let mut reader = Reader { request: Request::new(Shape::Responses), extras: Extras::default(), said: Said::default() };
    fields(body, |member| reader.field(&member))?;
    reader.finish()
}

struct Reader<'a> {
    request: Request<'a>,
    extras: Extras<'a>,
    said: Said<'a>,
}

/// Fields that count together with others.
#[derive(Default)]
struct Said<'a> {
    input: bool,
    instructions: Option<Text<'a>>,
    user: Option<Text<'a>>,
    safety_identifier: Option<Text<'a>>,
    max_tool_calls: Option<u64>,
}

/// What the sentence about state ends with.
const STATELESS: &str = "the gateway keeps no state of conversations; send the whole conversation in `input`";

impl<'a> Reader<'a> {
    fn finish(self) -> Result<Request<'a>, Refusal> {
        let Self { mut request, mut extras, said } = self;
        if !said.input {
            return Err(Path::Root.key("input").invalid("is required"));
        }
        if let Some(text) = said.instructions {
            request.turns.insert(0, Turn { role: Role::System, blocks: vec![Block::Text(text)] });
        }
        if let Some(most) = said.max_tool_calls {
            tools::bound(&mut request.tools, most, &mut extras);
        }
        request.user = said.safety_identifier.or(said.user);
        request.extras = extras.into_list();
        Ok(request)
    }

    fn field(&mut self, member: &Member<'a>) -> Result<(), Refusal> {
        let (name, value) = (member.key(), member.json());
        let path = Path::Key(&Path::Root, &name);
        let request = &mut self.request;
        match &*name {
            "model" => drop(text(value, path)?),
            "input" => {
                self.said.input = true;
                request.turns = items::read(value, path, &mut self.extras)?;
            }
            "instructions" => self.said.instructions = Some(text(value, path)?),
            "max_output_tokens" => request.max_output = Some(count(value, path)?),
            "max_tool_calls" => self.said.max_tool_calls = Some(count(value, path)?),
            "temperature" => request.sampling.temperature = Some(number(value, path)?),
            "top_p" => request.sampling.top_p = Some(number(value, path)?),
            "top_logprobs" => {
                request.sampling.top_logprobs = Some(count(value, path)?).filter(|count| *count > 0);
                request.sampling.logprobs |= request.sampling.top_logprobs.is_some();
            }
            "stream" => request.stream = boolean(value, path)?,
            "tools" => tools::read(value, path, &mut request.tools, &mut self.extras)?,
            "tool_choice" => request.tool_choice = Some(tools::choice(value, path)?),
            "parallel_tool_calls" => request.parallel_tool_calls = Some(boolean(value, path)?),
            "reasoning" => self.reasoning(value, path)?,
            "text" => self.text(value, path)?,
            "include" => self.include(value, path)?,
            "service_tier" => request.service_tier = Some(text(value, path)?),
            "user" => self.said.user = Some(text(value, path)?),
            "safety_identifier" => self.said.safety_identifier = Some(text(value, path)?),
            "previous_response_id" | "conversation" => return Err(Refusal::unsupported(path.to_string(), STATELESS)),
            "prompt" => return Err(Refusal::unsupported("prompt", "the gateway does not know the vendor's stored prompts")),
            "background" if value.bool() == Some(true) => {
                return Err(Refusal::unsupported("background", "the gateway answers only while the client waits"));
            }
            _ => self.extras.add(name.to_string(), value, weight(&name, value)),
        }
        Ok(())
    }

    fn reasoning(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let object = Object::read(value, path)?;
        let thinking = &mut self.request.thinking;
        if let Some(word) = object.text("effort")? {
            match Effort::parse(&word.decode()) {
                Some(effort) => thinking.effort = Some(Text::from(effort.as_str())),
                None => return Err(path.key("effort").invalid("must be none, minimal, low, medium, high, xhigh or max")),
            }
        }
        if object.text("summary")?.or(object.text("generate_summary")?).is_some() {
            thinking.shown = Some(true);
        }
        object.leave(&["effort", "summary", "generate_summary"], "reasoning", &mut self.extras);
        Ok(())
    }

    fn text(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let object = Object::read(value, path)?;
        self.request.verbosity = object.text("verbosity")?;
        if let Some(format) = object.get("format") {
            self.request.format = read_format(&Object::read(format, path.key("format"))?, &mut self.extras)?;
        }
        object.leave(&["format", "verbosity"], "text", &mut self.extras);
        Ok(())
    }

    fn include(&mut self, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        for word in texts(value, path)? {
            match &*word.decode() {
                "message.output_text.logprobs" => self.request.sampling.logprobs = true,
                // Both are given wherever there is something to give.
                "reasoning.encrypted_content" | "web_search_call.action.sources" => {}
                _ => self.extras.add("include", value, Weight::Minor),
            }
        }
        Ok(())
    }
}

fn read_format<'a>(format: &Object<'_, 'a>, extras: &mut Extras<'a>) -> Result<OutputFormat<'a>, Refusal> {
    match &*format.required_text("type")?.decode() {
        "text" => Ok(OutputFormat::Text),
        "json_object" => Ok(OutputFormat::JsonObject),
        "json_schema" => {
            let schema = format.required("schema")?;
            if schema.kind() != Kind::Object {
                return Err(format.path.key("schema").expected("an object", schema.kind()));
            }
            format.leave(&["type", "name", "description", "schema", "strict"], "text.format", extras);
            Ok(OutputFormat::Schema {
                name: format.text("name")?,
                description: format.text("description")?,
                schema: schema.raw(),
                vendor_schema: false,
                strict: format.boolean("strict")?,
            })
        }
        _ => Err(format.path.key("type").invalid("must be `text`, `json_object` or `json_schema`")),
    }
}

/// What the loss of a top-level field means that has no neutral meaning.
fn weight(name: &str, value: Value<'_>) -> Weight {
    let empty = value.bool() == Some(false) || (value.kind() == Kind::Object && value.members().next().is_none());
    match name {
        _ if empty => Weight::Silent,
        "store" | "stream_options" | "prompt_cache_key" | "prompt_cache_options" | "prompt_cache_retention" => Weight::Silent,
        // What an agent tells the vendor of itself.
        "client_metadata" => Weight::Silent,
        "truncation" if value.is_str("disabled") => Weight::Silent,
        _ => Weight::Minor,
    }
}
