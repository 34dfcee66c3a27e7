//! The turns of a messages request: block types, tool results, order.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::call::Call;
use crate::conversation::Conversation;
use crate::generation::claude;
use crate::media::Media;
use crate::messages::blocks::{self, kind};
use crate::messages::{Version, signed, source};
use crate::refusal::Refusal;

const LONGEST_ID: usize = 64;

struct Turns<'a> {
    call: &'a Call,
    version: Version,
    model: &'a str,
    conversation: Conversation,
    /// Calls of the turn before that have no result yet.
    open: Vec<String>,
    ids: HashSet<String>,
}

pub(super) fn read(call: &Call, version: Version, model: &str, messages: &[Value]) -> Result<Conversation, Refusal> {
    let mut turns = Turns { call, version, model, conversation: Conversation::default(), open: Vec::new(), ids: HashSet::new() };
    for (at, message) in messages.iter().enumerate() {
        turns.add(at, message, at + 1 == messages.len())?;
    }
    if messages.is_empty() {
        return Err(Refusal::invalid("messages: at least one message is required"));
    }
    turns.all_answered(messages.len())?;
    Ok(turns.conversation)
}

impl Turns<'_> {
    fn add(&mut self, at: usize, message: &Value, last: bool) -> Result<(), Refusal> {
        let role = message.get("role").and_then(Value::as_str);
        let mut fields = message.as_object().into_iter().flat_map(Map::keys);
        if let Some(name) = fields.find(|name| !matches!(name.as_str(), "role" | "content")) {
            return Err(Refusal::invalid(format!("messages.{at}.{name}: Extra inputs are not permitted")));
        }
        match role {
            Some("user") => {}
            Some("assistant") if at > 0 => self.all_answered(at)?,
            Some("system") if at > 0 && self.takes_system() => self.all_answered(at)?,
            Some("assistant") => return Err(Refusal::invalid("messages: first message must use the \"user\" role")),
            Some(other) => {
                return Err(Refusal::invalid(format!(
                    "messages: Unexpected role \"{other}\". The Messages API accepts a top-level `system` parameter, not \"system\" as an \
                     input message role."
                )));
            }
            None => return Err(Refusal::invalid(format!("messages.{at}.role: Field required"))),
        }
        let blocks = blocks::of(at, message)?;
        match role {
            Some("user") => self.user(at, &blocks),
            Some("system") => blocks.iter().try_for_each(|block| {
                self.conversation.instruct(blocks::text(block, &format!("messages.{at}"))?);
                Ok(())
            }),
            _ => self.assistant(at, &blocks, last),
        }
    }

    /// Instructions in the middle are for newer models only.
    fn takes_system(&self) -> bool {
        claude(self.model).is_none_or(|version| version >= (4, 8) && self.model.contains("opus"))
    }

    fn user(&mut self, at: usize, blocks: &[Map<String, Value>]) -> Result<(), Refusal> {
        if blocks.is_empty() {
            return Err(Refusal::invalid(format!("messages.{at}: user messages must have non-empty content")));
        }
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        let (mut results, mut pictures) = (Vec::new(), Vec::new());
        for (nth, block) in blocks.iter().enumerate() {
            let path = format!("messages.{at}.content.{nth}");
            if kind(block) != "tool_result" {
                self.all_answered(at)?;
            }
            match kind(block) {
                "text" => texts.push(self.said(block, &path)?.to_owned()),
                "image" | "document" => media.push(source::read(self.call, block, &path)?),
                "tool_result" => results.push(self.result(block, &path, &mut pictures)?),
                "search_result" | "container_upload" => {}
                other => return Err(bad_tag(&path, other)),
            }
        }
        self.all_answered(at)?;
        self.conversation.results(results, pictures);
        self.conversation.ask(texts, media);
        Ok(())
    }

    fn said<'b>(&self, block: &'b Map<String, Value>, path: &str) -> Result<&'b str, Refusal> {
        let cites = block.get("citations").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        if self.version == Version::V20261021 && cites {
            return Err(Refusal::invalid(format!("{path}.citations: citations are not supported in user text blocks")));
        }
        blocks::text(block, path)
    }

    fn result(&mut self, block: &Map<String, Value>, path: &str, pictures: &mut Vec<Media>) -> Result<String, Refusal> {
        let id = block.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
        let Some(found) = self.open.iter().position(|open| open == id) else {
            let message = format!(
                "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding \
                 `tool_use` block in the previous message."
            );
            return Err(Refusal::invalid(message));
        };
        self.open.remove(found);
        let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let said = match block.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => self.parts(parts, path, pictures)?,
            _ => String::new(),
        };
        Ok(if failed && !said.starts_with("Error: ") { format!("Error: {said}") } else { said })
    }

    fn parts(&self, parts: &[Value], path: &str, pictures: &mut Vec<Media>) -> Result<String, Refusal> {
        let mut said = Vec::new();
        for (nth, part) in parts.iter().enumerate() {
            let path = format!("{path}.tool_result.content.{nth}");
            let part = part.as_object().ok_or_else(|| Refusal::invalid(format!("{path}: Input should be a valid dictionary")))?;
            blocks::check(part, &path)?;
            match kind(part) {
                "text" => said.push(blocks::text(part, &path)?.to_owned()),
                "image" | "document" => pictures.push(source::read(self.call, part, &path)?),
                "search_result" | "tool_reference" => {}
                other => return Err(bad_tag(&path, other)),
            }
        }
        Ok(said.join("\n"))
    }

    fn assistant(&mut self, at: usize, blocks: &[Map<String, Value>], last: bool) -> Result<(), Refusal> {
        let mut texts = Vec::new();
        for (nth, block) in blocks.iter().enumerate() {
            let path = format!("messages.{at}.content.{nth}");
            match kind(block) {
                "text" => texts.push(blocks::text(block, &path)?.to_owned()),
                "tool_use" => self.tool_use(block, &path)?,
                "thinking" | "redacted_thinking" => signed::check(self.call, block, &path)?,
                "document" if self.version == Version::V20261021 => {
                    return Err(Refusal::invalid(format!("{path}: document blocks are not supported in assistant turns")));
                }
                "web_search_tool_result" => searched(block, &path)?,
                "" | "image" | "tool_result" | "search_result" => return Err(bad_tag(&path, kind(block))),
                _ => {}
            }
        }
        if blocks.is_empty() && !last {
            return Err(Refusal::invalid(format!(
                "messages.{at}: all messages must have non-empty content except for the optional final assistant message"
            )));
        }
        if last && texts.last().is_some_and(|text| text.ends_with(char::is_whitespace)) {
            return Err(Refusal::invalid("messages: final assistant content cannot end with trailing whitespace"));
        }
        self.conversation.reply(texts);
        Ok(())
    }

    fn tool_use(&mut self, block: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
        let id = block.get("id").and_then(Value::as_str).unwrap_or_default();
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        if id.is_empty() || id.len() > LONGEST_ID || !id.chars().all(plain) {
            return Err(Refusal::invalid(format!("{path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")));
        }
        if !self.ids.insert(id.to_owned()) {
            return Err(Refusal::invalid(format!("{path}: `tool_use` ids must be unique")));
        }
        self.open.push(id.to_owned());
        Ok(())
    }

    fn all_answered(&self, at: usize) -> Result<(), Refusal> {
        if self.open.is_empty() {
            return Ok(());
        }
        let message = format!(
            "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a \
             corresponding `tool_result` block in the next message.",
            at.saturating_sub(1),
            self.open.join(", ")
        );
        Err(Refusal::invalid(message))
    }
}

/// What the vendor found on the web comes back encrypted, and nothing else is taken.
fn searched(block: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
    let found = block.get("content").and_then(Value::as_array).into_iter().flatten();
    let empty = |result: &Value| result.get("encrypted_content").and_then(Value::as_str).is_none_or(str::is_empty);
    if found.clone().any(empty) {
        return Err(Refusal::invalid(format!("{path}.web_search_tool_result.content.0.encrypted_content: Invalid encrypted content")));
    }
    Ok(())
}

fn bad_tag(path: &str, tag: &str) -> Refusal {
    Refusal::invalid(format!("{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags"))
}
