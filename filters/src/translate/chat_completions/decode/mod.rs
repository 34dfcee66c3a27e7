//! Reading a client's request.

mod assistant;
mod options;
mod parts;
mod reasoning;
#[cfg(test)]
mod tests;
mod tools;
mod turns;

use self::object::{Extras, Path, boolean, count, fields, number, text};
use crate::canonical::{Refusal, Request, Text, Weight};
use crate::shape::Shape;
use crate::translate::object;
use crate::wire::json::{Kind, Member, Value};

/// Reads a request of this shape.
///
/// # Errors
/// When a field is missing or of the wrong kind.
pub fn decode_request(body: &[u8]) -> Result<Request<'_>, Refusal> {
    let mut reader = Reader { request: Request::new(Shape::ChatCompletions), extras: Extras::default(), said: Said::default() };
    fields(body, |member| reader.field(&member))?;
    reader.finish()
}

struct Reader<'a> {
    request: Request<'a>,
    extras: Extras<'a>,
    said: Said<'a>,
}

/// Fields of which one wins over the other, wherever they stand.
#[derive(Default)]
struct Said<'a> {
    messages: bool,
    tools: bool,
    functions: bool,
    max_tokens: Option<u64>,
    user: Option<Text<'a>>,
    safety_identifier: Option<Text<'a>>,
}

impl<'a> Reader<'a> {
    fn finish(self) -> Result<Request<'a>, Refusal> {
        let Self { mut request, extras, said } = self;
        if !said.messages {
            return Err(Path::Root.key("messages").invalid("is required"));
        }
        request.max_output = request.max_output.or(said.max_tokens);
        request.user = said.safety_identifier.or(said.user);
        request.legacy_calls = said.functions && !said.tools;
        if request.legacy_calls {
            // The old form has room for one.
            request.parallel_tool_calls = Some(false);
        }
        request.extras = extras.into_list();
        Ok(request)
    }

    fn field(&mut self, member: &Member<'a>) -> Result<(), Refusal> {
        let (name, value) = (member.key(), member.json());
        let path = Path::Key(&Path::Root, &name);
        let request = &mut self.request;
        match &*name {
            "model" => drop(text(value, path)?),
            "messages" => {
                self.said.messages = true;
                request.turns = turns::read(value, path, &mut self.extras)?;
            }
            "max_completion_tokens" => request.max_output = Some(count(value, path)?),
            "max_tokens" => self.said.max_tokens = Some(count(value, path)?),
            "stop" => request.stop = options::stop(value, path)?,
            "stream" => request.stream = boolean(value, path)?,
            "stream_options" => request.include_usage = options::stream_options(value, path, &mut self.extras)?,
            "tools" => {
                self.said.tools = true;
                tools::read(value, path, &mut request.tools, &mut self.extras)?;
            }
            "functions" => {
                self.said.functions = true;
                tools::functions(value, path, &mut request.tools, &mut self.extras)?;
            }
            "tool_choice" => request.tool_choice = tools::choice(value, path)?,
            "function_call" => request.tool_choice = tools::function_call(value, path)?.or(request.tool_choice.take()),
            "parallel_tool_calls" => request.parallel_tool_calls = Some(boolean(value, path)?),
            "response_format" => request.format = options::format(value, path, &mut self.extras)?,
            "verbosity" => request.verbosity = Some(text(value, path)?),
            "web_search_options" => request.tools.push(tools::web_search(value, path, &mut self.extras)?),
            "service_tier" => request.service_tier = Some(text(value, path)?),
            "user" => self.said.user = Some(text(value, path)?),
            "safety_identifier" => self.said.safety_identifier = Some(text(value, path)?),
            "reasoning_effort" => options::effort(value, path, &mut request.thinking, &mut self.extras)?,
            "reasoning" => options::reasoning(value, path, &mut request.thinking, &mut self.extras)?,
            "thinking" => options::thinking(value, path, &mut request.thinking, &mut self.extras)?,
            _ => return self.sampling(&name, value, path),
        }
        Ok(())
    }

    fn sampling(&mut self, name: &str, value: Value<'a>, path: Path<'_>) -> Result<(), Refusal> {
        let sampling = &mut self.request.sampling;
        match name {
            "temperature" => sampling.temperature = Some(number(value, path)?),
            "top_p" => sampling.top_p = Some(number(value, path)?),
            "top_k" => sampling.top_k = Some(number(value, path)?),
            "presence_penalty" => sampling.presence_penalty = Some(number(value, path)?),
            "frequency_penalty" => sampling.frequency_penalty = Some(number(value, path)?),
            "seed" => sampling.seed = Some(number(value, path)?),
            "n" => {
                sampling.n = Some(count(value, path)?);
                if sampling.n == Some(0) {
                    return Err(path.invalid("must be at least 1"));
                }
            }
            "logprobs" => sampling.logprobs = boolean(value, path)?,
            "top_logprobs" => sampling.top_logprobs = Some(count(value, path)?),
            _ => self.extras.add(name.to_owned(), value, weight(name, value)),
        }
        Ok(())
    }
}

/// What the loss of a top-level field means that has no neutral meaning.
fn weight(name: &str, value: Value<'_>) -> Weight {
    let empty = value.bool() == Some(false) || (value.members().next().is_none() && value.kind() == Kind::Object);
    match name {
        _ if empty => Weight::Silent,
        "prompt_cache_key" | "prompt_cache_options" | "prompt_cache_retention" | "cache_control" => Weight::Silent,
        "modalities" if value.elements().all(|element| element.json().is_str("text")) => Weight::Silent,
        // Without these the answer would lack what was asked for.
        "modalities" | "audio" | "moderation" => Weight::Major,
        _ => Weight::Minor,
    }
}
