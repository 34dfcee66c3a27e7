//! The answer to a prompt, before a shape puts it on the wire.

mod pieces;

use serde_json::Value;

use crate::directive::Directives;
use crate::prompt::{Choice, Prompt, Tool};
use crate::sample;
use crate::usage::{Usage, tokens};

pub(crate) const THOUGHT: &str = "The user wants an answer, so let me think of one.";
const ARGUMENT_CHARS: usize = 8;

/// Why the answer ends, in words every shape maps to its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    /// At one of the caller's texts.
    Sequence(String),
    Length,
    Tools,
    Filter,
    /// A call the model could not put into words; only the generate-content vendor tells so.
    Malformed,
}

/// One tool call; `arguments` is an object.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    /// Of a tool that takes a free text.
    pub(crate) custom: bool,
}

impl ToolCall {
    /// The free text of a custom tool's call.
    pub(crate) fn input(&self) -> &str {
        self.arguments.get("input").and_then(Value::as_str).unwrap_or_default()
    }

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
    /// What the vendor looked up on the web, if it did.
    pub(crate) search: Option<String>,
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
        let speaks = calls.is_empty() || directives.has("talk");
        let mut pieces = if speaks { pieces::of(prompt, directives) } else { Vec::new() };
        let mut finish = if calls.is_empty() { Finish::Stop } else { Finish::Tools };
        if let Some(sequence) = pieces::stop(&mut pieces, &prompt.stops) {
            finish = Finish::Sequence(sequence);
        }
        let sized = directives.has("bytes") || directives.has("chunks");
        if !sized && pieces::truncate(&mut pieces, prompt.limit) {
            finish = Finish::Length;
        }
        let thinking = prompt.thinking || directives.has("think");
        let reasoning = directives.number("reasoning").unwrap_or(if thinking { tokens(THOUGHT.len()) } else { 0 });
        let answered = pieces.iter().map(String::len).sum::<usize>() + calls.iter().map(call_bytes).sum::<usize>();
        let usage = Usage::of(directives, prompt.bytes, answered, reasoning);
        Self {
            thinking: thinking.then(|| THOUGHT.to_owned()),
            search: directives.value("search").filter(|_| prompt.search).map(str::to_owned),
            pieces,
            calls,
            finish: asked_finish(directives).unwrap_or(finish),
            usage: (directives.value("usage") != Some("none")).then_some(usage),
        }
    }

    /// The reasoning, in the pieces a stream sends.
    pub(crate) fn thoughts(&self) -> impl Iterator<Item = &str> {
        self.thinking.iter().flat_map(|thinking| thinking.split_inclusive(' '))
    }

    pub(crate) fn text(&self) -> String {
        self.pieces.concat()
    }

    /// Whether the answer has a text, perhaps an empty one.
    pub(crate) fn speaks(&self) -> bool {
        self.calls.is_empty() || !self.pieces.is_empty()
    }
}

fn asked_finish(directives: &Directives) -> Option<Finish> {
    match directives.value("finish")? {
        "length" => Some(Finish::Length),
        "filter" => Some(Finish::Filter),
        "malformed" => Some(Finish::Malformed),
        "stop" => Some(Finish::Stop),
        _ => None,
    }
}

fn call_bytes(call: &ToolCall) -> usize {
    call.name.len() + call.arguments.to_string().len()
}

fn calls(prompt: &Prompt, directives: &Directives) -> Vec<ToolCall> {
    let asked = directives.value("tool");
    let forced = prompt.choice.forces();
    let steps = directives.count("steps").unwrap_or(1);
    let done = !prompt.conversation.results.is_empty() && prompt.conversation.rounds >= steps;
    if prompt.choice == Choice::Never || (!forced && (asked == Some("none") || done)) {
        return Vec::new();
    }
    let wanted = asked.filter(|name| *name != "none" && !forced);
    let offered = prompt.tools.iter().filter(|tool| prompt.choice.permits(&tool.name) && wanted.is_none_or(|name| tool.name == name));
    let most = if prompt.parallel && directives.has("parallel") { directives.count("parallel").unwrap_or(2) } else { 1 };
    let available = offered.clone().count();
    let wanted = if available == 0 { 0 } else { most };
    offered.cycle().take(wanted).map(|tool| call(tool, directives)).collect()
}

fn call(tool: &Tool, directives: &Directives) -> ToolCall {
    let given = directives.value("args").and_then(|text| serde_json::from_str(text).ok());
    let sampled = sample::value(&tool.schema);
    let arguments = given.unwrap_or(if sampled.is_object() { sampled } else { Value::Object(serde_json::Map::new()) });
    ToolCall { name: tool.name.clone(), arguments, custom: tool.custom }
}
