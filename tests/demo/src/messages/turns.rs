//! The turns of a messages request: block types, tool results, order.

use serde_json::{Map, Value};

use crate::media::Media;
use crate::refusal::Refusal;

/// What the turns come down to.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) text: String,
    pub(super) results: Vec<String>,
    pub(super) media: Vec<Media>,
    open: Vec<String>,
    /// Whether the rules of version 2026-10-21 hold.
    newest: bool,
}

pub(super) fn read(messages: &[Value], newest: bool) -> Result<Turns, Refusal> {
    let mut turns = Turns { newest, ..Turns::default() };
    for (at, message) in messages.iter().enumerate() {
        turns.add(at, message)?;
    }
    if messages.is_empty() {
        return Err(Refusal::invalid("messages: at least one message is required"));
    }
    turns.all_answered(messages.len())?;
    Ok(turns)
}

impl Turns {
    fn add(&mut self, at: usize, message: &Value) -> Result<(), Refusal> {
        let role = message.get("role").and_then(Value::as_str);
        match role {
            Some("user") => {}
            Some("assistant" | "system") if at > 0 => self.all_answered(at)?,
            Some("assistant") => return Err(Refusal::invalid("messages: first message must use the \"user\" role")),
            Some(other) => return Err(Refusal::invalid(format!("messages: Unexpected role \"{other}\"."))),
            None => return Err(Refusal::invalid(format!("messages.{at}.role: Field required"))),
        }
        let blocks = blocks(at, message)?;
        if role == Some("user") { self.user(at, &blocks) } else { self.assistant(at, &blocks) }
    }

    fn user(&mut self, at: usize, blocks: &[Map<String, Value>]) -> Result<(), Refusal> {
        self.results.clear();
        let (mut text, mut media) = (String::new(), Vec::new());
        for (nth, block) in blocks.iter().enumerate() {
            let path = format!("messages.{at}.content.{nth}");
            match kind(block) {
                "text" => text.push_str(self.said(block, &path)?),
                "image" => media.push(source(block, &path, true)?),
                "document" => media.push(source(block, &path, false)?),
                "tool_result" => self.result(block, &path)?,
                "search_result" | "container_upload" => {}
                other => return Err(bad_tag(&path, other)),
            }
            if kind(block) != "tool_result" {
                self.all_answered(at)?;
            }
        }
        self.all_answered(at)?;
        if !text.is_empty() || !media.is_empty() {
            (self.text, self.media) = (text, media);
        }
        Ok(())
    }

    fn said<'b>(&self, block: &'b Map<String, Value>, path: &str) -> Result<&'b str, Refusal> {
        let cites = block.get("citations").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        if self.newest && cites {
            return Err(Refusal::invalid(format!("{path}.citations: citations are not supported in user text blocks")));
        }
        non_empty(block, path)
    }

    fn result(&mut self, block: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
        let id = block.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
        let Some(found) = self.open.iter().position(|open| open == id) else {
            let message = format!(
                "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding \
                 `tool_use` block in the previous message."
            );
            return Err(Refusal::invalid(message));
        };
        self.open.remove(found);
        self.results.push(match block.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
            _ => String::new(),
        });
        Ok(())
    }

    fn assistant(&mut self, at: usize, blocks: &[Map<String, Value>]) -> Result<(), Refusal> {
        self.results.clear();
        for (nth, block) in blocks.iter().enumerate() {
            let path = format!("messages.{at}.content.{nth}");
            match kind(block) {
                "text" => non_empty(block, &path).map(|_| ())?,
                "tool_use" => self.open.push(tool_use(block, &path)?),
                "document" if self.newest => {
                    return Err(Refusal::invalid(format!("{path}: document blocks are not supported in assistant turns")));
                }
                "" => return Err(bad_tag(&path, "")),
                _ => {}
            }
        }
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

fn blocks(at: usize, message: &Value) -> Result<Vec<Map<String, Value>>, Refusal> {
    let text = |text: &str| Map::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), text.into())]);
    match message.get("content") {
        Some(Value::String(said)) => Ok(vec![text(said)]),
        Some(Value::Array(blocks)) => {
            let object = |(nth, block): (usize, &Value)| {
                let wrong = || Refusal::invalid(format!("messages.{at}.content.{nth}: Input should be a valid dictionary"));
                block.as_object().cloned().ok_or_else(wrong)
            };
            blocks.iter().enumerate().map(object).collect()
        }
        Some(_) => Err(Refusal::invalid(format!("messages.{at}.content: Input should be a valid list"))),
        None => Err(Refusal::invalid(format!("messages.{at}.content: Field required"))),
    }
}

fn kind(block: &Map<String, Value>) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn non_empty<'b>(block: &'b Map<String, Value>, path: &str) -> Result<&'b str, Refusal> {
    match block.get("text").and_then(Value::as_str) {
        Some("") => Err(Refusal::invalid("messages: text content blocks must be non-empty")),
        Some(text) => Ok(text),
        None => Err(Refusal::invalid(format!("{path}.text.text: Field required"))),
    }
}

fn source(block: &Map<String, Value>, path: &str, image: bool) -> Result<Media, Refusal> {
    let source = block.get("source").ok_or_else(|| Refusal::invalid(format!("{path}.source: Field required")))?;
    let text = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "base64" => {
            let mime = text("media_type");
            let known = matches!(mime, "image/jpeg" | "image/png" | "image/gif" | "image/webp") || (!image && mime == "application/pdf");
            let wrong = || Refusal::invalid(format!("{path}.source.base64.media_type: Input should be a supported media type"));
            if known { Media::inline(mime, text("data"), &format!("{path}.source.base64.data")) } else { Err(wrong()) }
        }
        "url" => Media::url(text("url"), path),
        "file" => Ok(Media::Remote { url: text("file_id").to_owned() }),
        "text" | "content" if !image => Ok(Media::Inline { mime: "text/plain".to_owned(), bytes: text("data").len() }),
        other => Err(bad_tag(&format!("{path}.source"), other)),
    }
}

fn tool_use(block: &Map<String, Value>, path: &str) -> Result<String, Refusal> {
    let id = block.get("id").and_then(Value::as_str).unwrap_or_default();
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if id.is_empty() || !id.chars().all(plain) {
        return Err(Refusal::invalid(format!("{path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")));
    }
    if !block.get("input").is_some_and(Value::is_object) {
        return Err(Refusal::invalid(format!("{path}.tool_use.input: Input should be a valid dictionary")));
    }
    Ok(id.to_owned())
}

fn bad_tag(path: &str, tag: &str) -> Refusal {
    Refusal::invalid(format!("{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags"))
}
