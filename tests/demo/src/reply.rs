//! The answer to a prompt, before a shape puts it on the wire.

use serde_json::Value;

use crate::directive::Directives;
use crate::prompt::{Choice, Prompt, Tool};
use crate::sample;
use crate::usage::{Usage, tokens};

const PIECE_BYTES: usize = 4096;
const THOUGHT: &str = "The user wants an answer, so let me think of one.";
const ARGUMENT_CHARS: usize = 8;

/// Why the answer ends, in words every shape maps to its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
    Tools,
    Filter,
}

/// One tool call; `arguments` is an object.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

impl ToolCall {
    /// The arguments as JSON text, cut into the fragments a stream sends.
    pub(crate) fn fragments(&self) -> Vec<String> {
        let characters: Vec<char> = self.arguments.to_string().chars().collect();
        characters.chunks(ARGUMENT_CHARS).map(|chunk| chunk.iter().collect()).collect()
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) thinking: Option<String>,
    /// The text, in the pieces a stream sends. Empty when only tools are called.
    pub(crate) pieces: Vec<String>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) finish: Finish,
    /// None when the caller asked for an answer without usage.
    pub(crate) usage: Option<Usage>,
}

impl Reply {
    pub(crate) fn compose(prompt: &Prompt, directives: &Directives) -> Self {
        let calls = calls(prompt, directives);
        let mut pieces = if calls.is_empty() { pieces(prompt, directives) } else { Vec::new() };
        let mut finish = if calls.is_empty() { Finish::Stop } else { Finish::Tools };
        let sized = directives.has("bytes") || directives.has("chunks");
        if !sized && truncate(&mut pieces, prompt.limit) {
            finish = Finish::Length;
        }
        let thinking = prompt.thinking || directives.has("think");
        let reasoning = directives.number("reasoning").unwrap_or(if thinking { tokens(THOUGHT.len()) } else { 0 });
        let answered = pieces.iter().map(String::len).sum::<usize>() + calls.iter().map(call_bytes).sum::<usize>();
        let usage = Usage::of(directives, prompt.bytes, answered, reasoning);
        Self {
            thinking: thinking.then(|| THOUGHT.to_owned()),
            pieces,
            calls,
            finish: asked_finish(directives).unwrap_or(finish),
            usage: (directives.value("usage") != Some("none")).then_some(usage),
        }
    }

    pub(crate) fn text(&self) -> String {
        self.pieces.concat()
    }
}

fn asked_finish(directives: &Directives) -> Option<Finish> {
    match directives.value("finish")? {
        "length" => Some(Finish::Length),
        "filter" => Some(Finish::Filter),
        "stop" => Some(Finish::Stop),
        _ => None,
    }
}

fn call_bytes(call: &ToolCall) -> usize {
    call.name.len() + call.arguments.to_string().len()
}

fn calls(prompt: &Prompt, directives: &Directives) -> Vec<ToolCall> {
    let asked = directives.value("tool");
    if prompt.choice == Choice::Never || asked == Some("none") || !prompt.results.is_empty() {
        return Vec::new();
    }
    let named = match &prompt.choice {
        Choice::Named(name) => Some(name.as_str()),
        _ => asked,
    };
    let offered = prompt.tools.iter().filter(|tool| named.is_none_or(|name| tool.name == name));
    let most = if prompt.parallel && directives.has("parallel") { directives.count("parallel").unwrap_or(2) } else { 1 };
    let available = offered.clone().count();
    let wanted = if available == 0 { 0 } else { most };
    offered.cycle().take(wanted).map(|tool| call(tool, directives)).collect()
}

fn call(tool: &Tool, directives: &Directives) -> ToolCall {
    let given = directives.value("args").and_then(|text| serde_json::from_str(text).ok());
    let sampled = sample::value(&tool.schema);
    let arguments = given.unwrap_or(if sampled.is_object() { sampled } else { Value::Object(serde_json::Map::new()) });
    ToolCall { name: tool.name.clone(), arguments }
}

fn pieces(prompt: &Prompt, directives: &Directives) -> Vec<String> {
    if let Some(schema) = &prompt.schema {
        return vec![sample::value(schema).to_string()];
    }
    let text = sentence(prompt);
    if let Some(bytes) = directives.count("bytes") {
        return filled(&text, bytes);
    }
    let mut pieces: Vec<String> = text.split_inclusive(' ').map(str::to_owned).collect();
    if let Some(count) = directives.count("chunks") {
        let last = pieces.len();
        pieces.extend((last..count).map(|number| format!(" {number}")));
    }
    pieces
}

fn sentence(prompt: &Prompt) -> String {
    let mut sentences = Vec::new();
    if !prompt.results.is_empty() {
        sentences.push(format!("The tool answered: {}", prompt.results.join(", ")));
    }
    if prompt.results.is_empty() {
        sentences.push(format!("You said: {}", prompt.text));
    }
    sentences.extend(prompt.media.iter().map(crate::media::Media::describe));
    sentences.join(" ")
}

fn filled(start: &str, bytes: usize) -> Vec<String> {
    let mut text: String = start.chars().filter(char::is_ascii).take(bytes).collect();
    text.extend(std::iter::repeat_n('x', bytes.saturating_sub(text.len())));
    let bytes: Vec<char> = text.chars().collect();
    bytes.chunks(PIECE_BYTES).map(|piece| piece.iter().collect()).collect()
}

/// Cuts the text at the token limit; true when something was lost.
fn truncate(pieces: &mut Vec<String>, limit: Option<u64>) -> bool {
    let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { return false };
    let mut room = limit.saturating_mul(4);
    let total: usize = pieces.iter().map(String::len).sum();
    if total <= room {
        return false;
    }
    for piece in pieces.iter_mut() {
        let kept = piece.char_indices().map(|(at, character)| at + character.len_utf8()).take_while(|end| *end <= room).last().unwrap_or(0);
        room = if kept < piece.len() { 0 } else { room - kept };
        piece.truncate(kept);
    }
    pieces.retain(|piece| !piece.is_empty());
    true
}
