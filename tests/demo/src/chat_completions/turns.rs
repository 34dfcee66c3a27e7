//! The messages of a chat-completions request and the rules of their order.

use serde_json::{Map, Value};

use crate::call::Shape;
use crate::chat_completions::rules;
use crate::conversation::Conversation;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind};

const LONGEST_CALL_ID: usize = 40;
const CALL: Fields = Fields {
    known: &[("id", Kind::Text), ("type", Kind::Text), ("function", Kind::Object), ("custom", Kind::Object), ("index", Kind::Integer)],
    required: &["id", "type"],
};

/// Fields of a message, by its role.
fn fields(role: &str) -> Fields {
    let known: &'static [(&'static str, Kind)] = match role {
        "assistant" => &[
            ("role", Kind::Text),
            ("content", Kind::TextOrList),
            ("name", Kind::Text),
            ("refusal", Kind::Text),
            ("audio", Kind::Object),
            ("annotations", Kind::Any),
            ("function_call", Kind::Object),
            ("tool_calls", Kind::List),
        ],
        "tool" => &[("role", Kind::Text), ("content", Kind::TextOrList), ("tool_call_id", Kind::Text)],
        _ => &[("role", Kind::Text), ("content", Kind::TextOrList), ("name", Kind::Text)],
    };
    Fields { known, required: &[] }
}

#[derive(Debug, Default)]
struct Turns {
    conversation: Conversation,
    open: Vec<String>,
    results: Vec<String>,
    /// Whether messages may hold what the vendor itself does not know.
    lenient: bool,
}

pub(super) fn read(messages: &[Value], model: &str) -> Result<Conversation, Refusal> {
    if messages.is_empty() {
        let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Refusal::invalid(message).param("messages").code("empty_array"));
    }
    let mut turns = Turns { lenient: rules::compatible(model), ..Turns::default() };
    for (at, message) in messages.iter().enumerate() {
        turns.add(message, &format!("messages[{at}]"))?;
    }
    turns.all_answered("messages")?;
    turns.settle();
    Ok(turns.conversation)
}

pub(super) fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, Refusal> {
    let wrong = || Refusal::invalid(format!("Invalid type for '{path}': expected an object.")).param(path).code("invalid_type");
    value.as_object().ok_or_else(wrong)
}

impl Turns {
    fn add(&mut self, message: &Value, path: &str) -> Result<(), Refusal> {
        let message = object(message, path)?;
        let role = message.get("role").and_then(Value::as_str);
        if !self.lenient {
            fields(role.unwrap_or_default()).check(Shape::ChatCompletions, path, message)?;
        }
        if role != Some("tool") {
            self.all_answered(path)?;
            self.settle();
        }
        match role {
            Some("user") => {
                let read = content(message, path, &["text", "image_url", "input_audio", "file"])?;
                self.conversation.ask(read.texts, read.media);
                Ok(())
            }
            Some("assistant") => self.assistant(message, path),
            Some("tool") => self.tool(message, path),
            Some("developer") if self.lenient => Err(bad_role("developer", path)),
            Some("system" | "developer") => {
                let read = content(message, path, &["text"])?;
                read.texts.iter().for_each(|text| self.conversation.instruct(text));
                Ok(())
            }
            Some("function") => {
                content(message, path, &["text"]).map(|read| self.conversation.results(vec![read.texts.concat()], Vec::new()))
            }
            Some(other) => Err(bad_role(other, path)),
            None => Err(missing(&format!("{path}.role"))),
        }
    }

    fn assistant(&mut self, message: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
        let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice);
        if calls.is_some_and(<[Value]>::is_empty) {
            let message = format!("Invalid '{path}.tool_calls': empty array. Expected an array with minimum length 1.");
            return Err(Refusal::invalid(message).param(format!("{path}.tool_calls")).code("empty_array"));
        }
        for (at, call) in calls.unwrap_or_default().iter().enumerate() {
            let id = self.call(call, &format!("{path}.tool_calls[{at}]"))?;
            self.open.push(id);
        }
        let says =
            ["content", "refusal", "audio", "function_call"].iter().any(|name| message.get(*name).is_some_and(|value| !value.is_null()));
        if calls.is_none() && !says {
            return Err(Refusal::invalid("Invalid value for 'content': expected a string, got null.").param(format!("{path}.content")));
        }
        let said = message.get("content").is_some_and(|content| !content.is_null());
        let texts = if said { content(message, path, &["text", "refusal"])?.texts } else { Vec::new() };
        self.conversation.reply(texts);
        Ok(())
    }

    fn call(&self, call: &Value, path: &str) -> Result<String, Refusal> {
        if !self.lenient {
            CALL.check(Shape::ChatCompletions, path, object(call, path)?)?;
        }
        call_id(call, path)
    }

    fn tool(&mut self, message: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
        let id = message.get("tool_call_id").and_then(Value::as_str).ok_or_else(|| missing(&format!("{path}.tool_call_id")))?;
        let Some(at) = self.open.iter().position(|open| open == id) else {
            let message = "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
            return Err(Refusal::invalid(message).param(format!("{path}.role")));
        };
        self.open.remove(at);
        self.results.push(content(message, path, &["text"])?.texts.join("\n"));
        Ok(())
    }

    /// The results of one turn have all been read.
    fn settle(&mut self) {
        self.conversation.results(std::mem::take(&mut self.results), Vec::new());
    }

    fn all_answered(&self, path: &str) -> Result<(), Refusal> {
        if self.open.is_empty() {
            return Ok(());
        }
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following \
             tool_call_ids did not have response messages: {}",
            self.open.join(", ")
        );
        Err(Refusal::invalid(message).param(path))
    }
}

fn call_id(call: &Value, path: &str) -> Result<String, Refusal> {
    let id = call.get("id").and_then(Value::as_str).ok_or_else(|| missing(&format!("{path}.id")))?;
    if id.len() > LONGEST_CALL_ID {
        let message = format!(
            "Invalid '{path}.id': string too long. Expected a string with maximum length {LONGEST_CALL_ID}, but got a string with length {} \
             instead.",
            id.len()
        );
        return Err(Refusal::invalid(message).param(format!("{path}.id")).code("string_above_max_length"));
    }
    let body = call.get("function").or_else(|| call.get("custom"));
    let arguments = body.and_then(|body| body.get("arguments").or_else(|| body.get("input")));
    match arguments {
        Some(Value::String(_)) => Ok(id.to_owned()),
        Some(_) => Err(Refusal::invalid(format!("Invalid type for '{path}.function.arguments': expected a string.")).code("invalid_type")),
        None => Err(missing(&format!("{path}.function.arguments"))),
    }
}

#[derive(Default)]
struct Content {
    texts: Vec<String>,
    media: Vec<Media>,
}

fn content(message: &Map<String, Value>, path: &str, allowed: &[&str]) -> Result<Content, Refusal> {
    let path = format!("{path}.content");
    match message.get("content") {
        Some(Value::String(text)) => Ok(Content { texts: vec![text.clone()], media: Vec::new() }),
        Some(Value::Array(parts)) => parts.iter().enumerate().try_fold(Content::default(), |mut read, (at, part)| {
            self::part(&mut read, part, &format!("{path}[{at}]"), allowed)?;
            Ok(read)
        }),
        _ => {
            let message = format!("Invalid value for '{path}': expected a string or an array of objects.");
            Err(Refusal::invalid(message).param(path).code("invalid_type"))
        }
    }
}

fn part(read: &mut Content, part: &Value, path: &str, allowed: &[&str]) -> Result<(), Refusal> {
    let kind = part.get("type").and_then(Value::as_str).ok_or_else(|| missing(&format!("{path}.type")))?;
    if !allowed.contains(&kind) {
        let list = allowed.iter().map(|kind| format!("'{kind}'")).collect::<Vec<_>>().join(", ");
        let message = format!("Invalid value: '{kind}'. Supported values are: {list}.");
        return Err(Refusal::invalid(message).param(path).code("invalid_value"));
    }
    let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str);
    let need = |pointer: &str| text(pointer).ok_or_else(|| missing(&format!("{path}{}", pointer.replace('/', "."))));
    match kind {
        "image_url" => read.media.push(Media::url(need("/image_url/url")?, path)?),
        "input_audio" => {
            read.media.push(Media::inline(&format!("audio/{}", need("/input_audio/format")?), need("/input_audio/data")?, path)?)
        }
        "file" if text("/file/file_data").is_some() => read.media.push(Media::url(need("/file/file_data")?, path)?),
        "file" => read.media.push(Media::Remote { url: need("/file/file_id")?.to_owned() }),
        "refusal" => {}
        _ => read.texts.push(need("/text")?.to_owned()),
    }
    Ok(())
}

fn missing(path: &str) -> Refusal {
    Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter")
}

fn bad_role(role: &str, path: &str) -> Refusal {
    let message =
        format!("Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.");
    Refusal::invalid(message).param(format!("{path}.role")).code("invalid_value")
}
