//! The contents of a generate-content request: parts, function calls and their results.

use serde_json::{Map, Value};

use crate::generate_content::{SHAPE, list, object};
use crate::media::Media;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind, field};

const CONTENT: Fields = Fields { known: &[("role", Kind::Text), ("parts", Kind::List)], required: &[] };
const PART: Fields = Fields {
    known: &[
        ("text", Kind::Text),
        ("codeExecutionResult", Kind::Object),
        ("executableCode", Kind::Object),
        ("fileData", Kind::Object),
        ("functionCall", Kind::Object),
        ("functionResponse", Kind::Object),
        ("inlineData", Kind::Object),
        ("mediaResolution", Kind::Any),
        ("thought", Kind::Bool),
        ("thoughtSignature", Kind::Text),
        ("videoMetadata", Kind::Object),
    ],
    required: &[],
};
const NEEDS_SIGNATURES: &str = "gemini-3";

/// What the contents come down to.
#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) text: String,
    pub(super) results: Vec<String>,
    pub(super) media: Vec<Media>,
    /// Names of the calls the previous turn made.
    open: Vec<String>,
    signed: bool,
}

pub(super) fn read(contents: &[Value], model: &str) -> Result<Turns, Refusal> {
    if contents.is_empty() {
        return Err(Refusal::invalid("* GenerateContentRequest.contents: contents is not specified\n"));
    }
    let mut turns = Turns { signed: model.starts_with(NEEDS_SIGNATURES), ..Turns::default() };
    for (at, content) in contents.iter().enumerate() {
        turns.add(at, content)?;
    }
    if turns.open.is_empty() { Ok(turns) } else { Err(unbalanced()) }
}

impl Turns {
    fn add(&mut self, at: usize, content: &Value) -> Result<(), Refusal> {
        let path = format!("contents[{at}]");
        let content =
            content.as_object().ok_or_else(|| Refusal::invalid(format!("Invalid value at '{path}' (type.googleapis.com/Content)")))?;
        CONTENT.check(SHAPE, &path, content)?;
        let parts = parts(content, &path)?;
        match field(SHAPE, content, "role").and_then(Value::as_str).unwrap_or("user") {
            "user" | "function" => self.user(&parts, &path),
            "model" => self.model(at, &parts),
            _ => Err(Refusal::invalid("Please use a valid role: user, model.")),
        }
    }

    fn user(&mut self, parts: &[&Map<String, Value>], path: &str) -> Result<(), Refusal> {
        let responses: Vec<_> = parts.iter().filter_map(|part| object(part, "functionResponse")).collect();
        let names: Vec<String> = responses.iter().map(|response| name(response)).collect();
        if names != self.open {
            return Err(unbalanced());
        }
        self.open.clear();
        self.results = responses.iter().map(|response| result(response)).collect();
        let text: String = parts.iter().filter_map(|part| field(SHAPE, part, "text")?.as_str()).collect();
        let media = parts.iter().filter_map(|part| self::media(part, path)).collect::<Result<Vec<_>, _>>()?;
        if !text.is_empty() || !media.is_empty() {
            (self.text, self.media) = (text, media);
        }
        Ok(())
    }

    fn model(&mut self, at: usize, parts: &[&Map<String, Value>]) -> Result<(), Refusal> {
        if !self.open.is_empty() {
            return Err(unbalanced());
        }
        self.results.clear();
        let calls: Vec<_> = parts.iter().filter(|part| object(part, "functionCall").is_some()).collect();
        self.open = calls.iter().filter_map(|part| object(part, "functionCall")).map(name).collect();
        let unsigned = calls.first().is_some_and(|part| field(SHAPE, part, "thoughtSignature").is_none());
        if self.signed && unsigned {
            let called = self.open.first().map(String::as_str).unwrap_or_default();
            let message = format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Missing \
                 signature in function call `default_api:{called}`, position {}.",
                at + 1
            );
            return Err(Refusal::invalid(message));
        }
        Ok(())
    }
}

fn parts<'a>(content: &'a Map<String, Value>, path: &str) -> Result<Vec<&'a Map<String, Value>>, Refusal> {
    let parts: Vec<_> = list(content, "parts").iter().filter_map(Value::as_object).collect();
    for (at, part) in parts.iter().enumerate() {
        PART.check(SHAPE, &format!("{path}.parts[{at}]"), part)?;
    }
    let filled = |part: &&Map<String, Value>| part.keys().any(|key| !matches!(key.as_str(), "thought" | "thoughtSignature"));
    if parts.is_empty() || !parts.iter().all(filled) {
        let message = format!("* GenerateContentRequest.{path}.parts: contents.parts must not be empty.\n");
        return Err(Refusal::invalid(message));
    }
    Ok(parts)
}

fn name(call: &Map<String, Value>) -> String {
    field(SHAPE, call, "name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn result(response: &Map<String, Value>) -> String {
    let value = field(SHAPE, response, "response").cloned().unwrap_or_default();
    let inner = ["result", "output"].iter().find_map(|key| value.get(*key)?.as_str());
    inner.map_or_else(|| value.to_string(), str::to_owned)
}

fn media(part: &Map<String, Value>, path: &str) -> Option<Result<Media, Refusal>> {
    let text = |object: &Map<String, Value>, name: &str| field(SHAPE, object, name).and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(data) = object(part, "inlineData") {
        // Proto JSON takes both base64 alphabets, and SDKs send the one for URLs.
        let encoded = text(data, "data").replace('-', "+").replace('_', "/");
        return Some(Media::inline(&text(data, "mimeType"), &encoded, path));
    }
    let data = object(part, "fileData")?;
    Some(Ok(Media::Remote { url: text(data, "fileUri") }))
}

fn unbalanced() -> Refusal {
    Refusal::invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    )
}
