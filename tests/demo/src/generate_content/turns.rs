//! The contents of a generate-content request: parts, function calls and their results.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::conversation::Conversation;
use crate::generate_content::{SHAPE, list, object, signed};
use crate::generation::gemini;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::validate::{self, Fields, Kind, field};
use crate::vendor::Vendor;

pub(super) const CONTENT: Fields = Fields { known: &[("role", Kind::Text), ("parts", Kind::List)], required: &[] };
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
        ("toolCall", Kind::Object),
        ("toolResponse", Kind::Object),
        ("videoMetadata", Kind::Object),
    ],
    required: &[],
};
/// The fields of a part of which it has exactly one.
const DATA: [&str; 9] = [
    "text",
    "codeExecutionResult",
    "executableCode",
    "fileData",
    "functionCall",
    "functionResponse",
    "inlineData",
    "toolCall",
    "toolResponse",
];
const CALL: Fields = Fields { known: &[("id", Kind::Text), ("name", Kind::Text), ("args", Kind::Object)], required: &["name"] };
const RESPONSE: Fields = Fields {
    known: &[
        ("id", Kind::Text),
        ("name", Kind::Text),
        ("parts", Kind::List),
        ("response", Kind::Object),
        ("scheduling", Kind::Text),
        ("willContinue", Kind::Bool),
    ],
    required: &["name", "response"],
};
const INLINE: Fields =
    Fields { known: &[("mimeType", Kind::Text), ("data", Kind::Text), ("displayName", Kind::Text)], required: &["mimeType", "data"] };
const FILE: Fields =
    Fields { known: &[("mimeType", Kind::Text), ("fileUri", Kind::Text), ("displayName", Kind::Text)], required: &["fileUri"] };

struct Turns<'a> {
    call: &'a Call,
    model: &'a str,
    conversation: Conversation,
    /// Calls of the turn before: ids, where there are any, and names.
    open: Vec<(String, String)>,
    /// The first unsigned call since the user last spoke, and its position.
    unsigned: Option<(String, usize)>,
}

pub(super) fn read(call: &Call, contents: &[Value], model: &str) -> Result<Conversation, Refusal> {
    if contents.is_empty() {
        return Err(Refusal::invalid("* GenerateContentRequest.contents: contents is not specified\n"));
    }
    let mut turns = Turns { call, model, conversation: Conversation::default(), open: Vec::new(), unsigned: None };
    for (at, content) in contents.iter().enumerate() {
        turns.add(at, content)?;
    }
    if !turns.open.is_empty() {
        return Err(unbalanced());
    }
    match turns.unsigned {
        Some((name, at)) if signed::signs(model) => Err(signed::missing(&name, at)),
        _ => Ok(turns.conversation),
    }
}

impl Turns<'_> {
    fn add(&mut self, at: usize, content: &Value) -> Result<(), Refusal> {
        let path = format!("contents[{at}]");
        let wrong = || Refusal::invalid(format!("Invalid value at '{path}' (type.googleapis.com/Content)"));
        let content = content.as_object().ok_or_else(wrong)?;
        CONTENT.check(SHAPE, &path, content)?;
        let parts = parts(content, &path)?;
        for part in &parts {
            signed::check(self.call, self.model, part)?;
        }
        match field(SHAPE, content, "role").and_then(Value::as_str).unwrap_or("user") {
            "user" | "function" => self.user(&parts, &path),
            "model" => self.model(at, &parts, &path),
            _ => Err(Refusal::invalid("Please use a valid role: user, model.")),
        }
    }

    fn user(&mut self, parts: &[&Map<String, Value>], path: &str) -> Result<(), Refusal> {
        let responses: Vec<_> = parts.iter().filter_map(|part| object(part, "functionResponse")).collect();
        for (nth, response) in responses.iter().enumerate() {
            RESPONSE.check(SHAPE, &format!("{path}.parts[{nth}].functionResponse"), response)?;
            self.identified(response, &format!("{path}.parts[{nth}].functionResponse"))?;
        }
        self.paired(&responses)?;
        if self.third() && !responses.is_empty() && responses.len() != parts.len() {
            return Err(Refusal::invalid("Function response parts must not be mixed with other parts in one turn."));
        }
        self.open.clear();
        let mut pictures = Vec::new();
        for response in &responses {
            for part in list(response, "parts").iter().filter_map(Value::as_object) {
                pictures.extend(media(self.call, part, path).transpose()?);
            }
        }
        self.conversation.results(responses.iter().map(|response| result(response)).collect(), pictures);
        let texts: Vec<String> = parts.iter().filter_map(|part| text(part)).collect();
        let media = parts.iter().filter_map(|part| media(self.call, part, path)).collect::<Result<Vec<_>, _>>()?;
        if texts.iter().any(|text| !text.is_empty()) || !media.is_empty() {
            self.unsigned = None;
        }
        self.conversation.ask(texts, media);
        Ok(())
    }

    /// As many results as calls, in their order, each with the call's name and, where it has one, its id.
    fn paired(&self, responses: &[&Map<String, Value>]) -> Result<(), Refusal> {
        if responses.len() != self.open.len() {
            return Err(unbalanced());
        }
        let fits = responses.iter().zip(&self.open).all(|(response, (id, called))| {
            let answered = word(response, "id");
            name(response) == *called && (answered.is_empty() || id.is_empty() || answered == *id)
        });
        if fits { Ok(()) } else { Err(Refusal::invalid("Function response name does not match the function call it answers.")) }
    }

    fn third(&self) -> bool {
        gemini(self.model).is_some_and(|version| version >= (3, 0))
    }

    /// Ids came with the third generation.
    fn identified(&self, object: &Map<String, Value>, path: &str) -> Result<(), Refusal> {
        let earlier = gemini(self.model).is_some_and(|version| version < (3, 0));
        if earlier && object.contains_key("id") { Err(validate::unknown(SHAPE, path, "id")) } else { Ok(()) }
    }

    fn model(&mut self, at: usize, parts: &[&Map<String, Value>], path: &str) -> Result<(), Refusal> {
        if !self.open.is_empty() {
            return Err(unbalanced());
        }
        for (nth, call) in parts.iter().filter_map(|part| object(part, "functionCall")).enumerate() {
            let path = format!("{path}.parts[{nth}].functionCall");
            CALL.check(SHAPE, &path, call)?;
            self.identified(call, &path)?;
            self.open.push((word(call, "id"), name(call)));
        }
        let first = parts.iter().find(|part| object(part, "functionCall").is_some());
        let unsigned = first.filter(|part| field(SHAPE, part, "thoughtSignature").and_then(Value::as_str).is_none());
        if let (None, Some(part)) = (&self.unsigned, unsigned) {
            self.unsigned = object(part, "functionCall").map(|call| (name(call), at + 1));
        }
        let thought = |part: &&&Map<String, Value>| field(SHAPE, part, "thought").and_then(Value::as_bool) != Some(true);
        self.conversation.go_on(parts.iter().filter(thought).filter_map(|part| text(part)).collect());
        Ok(())
    }
}

fn text(part: &Map<String, Value>) -> Option<String> {
    field(SHAPE, part, "text")?.as_str().map(str::to_owned)
}

fn parts<'a>(content: &'a Map<String, Value>, path: &str) -> Result<Vec<&'a Map<String, Value>>, Refusal> {
    let parts: Vec<_> = list(content, "parts").iter().filter_map(Value::as_object).collect();
    for (at, part) in parts.iter().enumerate() {
        let path = format!("{path}.parts[{at}]");
        PART.check(SHAPE, &path, part)?;
        let held: Vec<&str> = DATA.into_iter().filter(|name| field(SHAPE, part, name).is_some()).collect();
        if let [_, second, ..] = held.as_slice() {
            let message = format!("Invalid value at '{path}' (oneof), oneof field 'data' is already set. Cannot set '{second}'");
            return Err(Refusal::invalid(message));
        }
        if held.is_empty() {
            return Err(Refusal::invalid(format!(
                "* GenerateContentRequest.{path}.data: required oneof field 'data' must have one initialized field\n"
            )));
        }
    }
    if parts.is_empty() {
        return Err(Refusal::invalid(format!("* GenerateContentRequest.{path}.parts: contents.parts must not be empty.\n")));
    }
    Ok(parts)
}

fn word(object: &Map<String, Value>, name: &str) -> String {
    field(SHAPE, object, name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn name(call: &Map<String, Value>) -> String {
    word(call, "name")
}

fn result(response: &Map<String, Value>) -> String {
    let value = field(SHAPE, response, "response").cloned().unwrap_or_default();
    if let Some(error) = value.get("error").and_then(Value::as_str) {
        return format!("Error: {error}");
    }
    let inner = ["result", "output"].iter().find_map(|key| value.get(*key)?.as_str());
    inner.map_or_else(|| value.to_string(), str::to_owned)
}

fn media(call: &Call, part: &Map<String, Value>, path: &str) -> Option<Result<Media, Refusal>> {
    if let Some(data) = object(part, "inlineData") {
        // Proto JSON takes both base64 alphabets, and SDKs send the one for URLs.
        let encoded = word(data, "data").replace('-', "+").replace('_', "/");
        let checked = INLINE.check(SHAPE, &format!("{path}.inlineData"), data);
        return Some(checked.and_then(|()| concrete(&word(data, "mimeType"))).and_then(|mime| Media::inline(&mime, &encoded, path)));
    }
    let data = object(part, "fileData")?;
    let url = word(data, "fileUri");
    let checked = FILE.check(SHAPE, &format!("{path}.fileData"), data).and_then(|()| reachable(call, &url));
    Some(checked.map(|()| Media::Remote { url }))
}

fn concrete(mime: &str) -> Result<String, Refusal> {
    if mime.contains('*') || !mime.contains('/') {
        return Err(Refusal::invalid(format!("Unsupported MIME type: {mime}")));
    }
    Ok(mime.to_owned())
}

/// Files of a bucket are for Vertex.
fn reachable(call: &Call, url: &str) -> Result<(), Refusal> {
    if url.starts_with("gs://") && call.vendor != Vendor::Vertex {
        return Err(Refusal::invalid("Invalid or unsupported file uri: gs:// uris are not supported by this API."));
    }
    Ok(())
}

fn unbalanced() -> Refusal {
    Refusal::invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    )
}
