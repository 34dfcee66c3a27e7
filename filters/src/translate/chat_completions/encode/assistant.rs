//! The model's messages.

use super::conversation::{joined, misplaced};
use super::tools::Plan;
use crate::canonical::{Arguments, Block, Signature, Text, ToolCall, Weight};
use crate::shape::Shape;
use crate::translate::map::context::Context;
use crate::translate::map::ids;
use crate::translate::map::search::summary;
use crate::wire::json::{Value, Writer, compact, outline};

/// Deepest nesting of a part of reasoning.
const DEPTH: usize = 128;

/// What one message holds, sorted by the fields it goes into.
#[derive(Default)]
struct Said<'a> {
    texts: Vec<Text<'a>>,
    refusals: Vec<Text<'a>>,
    calls: Vec<ToolCall<'a>>,
    reasoning: Vec<Text<'a>>,
    /// Sealed reasoning of this provider, with the text it seals.
    sealed: Vec<(Text<'a>, Text<'a>)>,
}

impl Said<'_> {
    /// Begins a paragraph of the text where `needed`: a search that is told in words is one, whatever [`content`] does with texts.
    fn paragraph(&mut self, needed: bool, context: &Context<'_>) {
        if needed && between(context).is_empty() && !self.texts.is_empty() {
            self.texts.push(Text::from("\n\n"));
        }
    }
}

pub(super) fn write(blocks: Vec<Block<'_>>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let said = sort(blocks, context);
    if said.texts.is_empty() && said.refusals.is_empty() && said.calls.is_empty() {
        // Providers refuse a message that says nothing.
        return;
    }
    w.begin_object();
    w.str_field("role", "assistant");
    content(&said, context, w);
    reasoning(&said, context, w);
    if !said.calls.is_empty() {
        w.key("tool_calls");
        w.begin_array();
        for call in &said.calls {
            write_call(call, tools, context, w);
        }
        w.end_array();
    }
    w.end_object();
}

fn sort<'a>(blocks: Vec<Block<'a>>, context: &mut Context<'_>) -> Said<'a> {
    let mut said = Said::default();
    let mut token = None;
    let mut searched = false;
    for block in blocks {
        match block {
            Block::Text(text) if text.is_empty() => {}
            Block::Text(text) => {
                said.paragraph(std::mem::take(&mut searched), context);
                said.texts.push(text);
            }
            Block::Refusal(text) => said.refusals.push(text),
            Block::ToolCall(mut call) => {
                call.signature = call.signature.or(token.take());
                said.calls.push(call);
            }
            Block::Reasoning { text, signature } => {
                match context.own(signature.as_ref()) {
                    Some(seal) if is_object(seal) => said.sealed.push((seal.clone(), text.clone())),
                    // A client without a place for it at the call was shown it in the block before.
                    Some(_) => token = signature,
                    None => {}
                }
                said.reasoning.push(text);
            }
            Block::Redacted(signature) => redacted(&signature, &mut said, context),
            Block::WebSearch { query, hits, .. } => {
                said.paragraph(true, context);
                said.texts.push(summary(&query, &hits));
                searched = true;
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::Video(_) | Block::ToolResult(_) | Block::Unknown { .. } => {
                misplaced(&block, context);
            }
        }
    }
    said
}

fn redacted<'a>(signature: &Signature<'a>, said: &mut Said<'a>, context: &mut Context<'_>) {
    match context.own(Some(signature)) {
        Some(seal) if is_object(seal) => said.sealed.push((seal.clone(), Text::from(""))),
        Some(_) | None => context.lose(
            ["messages.reasoning_details", "messages.content.redacted_thinking", "contents.parts.thoughtSignature", "input.reasoning"],
            Weight::Silent,
            "only its own provider can read it",
        ),
    }
}

/// What stands between texts: the messages dialect has blocks of their own sense, the others cut one text into parts.
fn between(context: &Context<'_>) -> &'static str {
    if context.from == Shape::Messages { "\n\n" } else { "" }
}

fn content(said: &Said<'_>, context: &Context<'_>, w: &mut Writer<'_>) {
    let between = between(context);
    let own_field = context.target.quirks.vendor && !said.refusals.is_empty();
    w.key("content");
    match (said.texts.is_empty(), own_field) {
        (true, true) => w.null(),
        (true, false) if said.refusals.is_empty() => w.null(),
        (_, true) => joined(&said.texts, between, w),
        (_, false) => joined(&[said.texts.as_slice(), said.refusals.as_slice()].concat(), between, w),
    }
    if own_field {
        w.key("refusal");
        joined(&said.refusals, "", w);
    }
}

fn reasoning(said: &Said<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    if !said.sealed.is_empty() {
        for (name, blocks) in [("thinking_blocks", true), ("reasoning_details", false)] {
            let of_this = said.sealed.iter().filter(|(seal, _)| is_thinking_block(seal) == blocks);
            if of_this.clone().next().is_some() {
                w.array(name, |w| of_this.for_each(|(seal, text)| unseal(seal, text, w)));
            }
        }
    }
    let has_text = said.reasoning.iter().any(|text| !text.is_empty());
    if has_text && context.target.quirks.echo_reasoning {
        w.key("reasoning_content");
        joined(&said.reasoning, "", w);
    } else if has_text && said.sealed.is_empty() {
        context.lose(
            ["messages.reasoning_content", "messages.content.thinking", "contents.parts.thought", "input.reasoning"],
            Weight::Silent,
            "the provider does not take earlier reasoning",
        );
    }
}

/// Whether the token is a whole part of reasoning, as those of this dialect are, rather than that of a call.
fn is_object(seal: &Text<'_>) -> bool {
    outline(seal.decode().as_bytes(), DEPTH).is_ok()
}

fn is_thinking_block(seal: &Text<'_>) -> bool {
    let json = seal.decode();
    Value::of(json.as_bytes()).get("type").str().is_some_and(|kind| kind.ends_with("thinking"))
}

/// Writes a part of reasoning as its provider gave it, with the whole text in place of the piece that came with the signature.
fn unseal(seal: &Text<'_>, text: &Text<'_>, w: &mut Writer<'_>) {
    let json = seal.decode();
    w.begin_object();
    for member in Value::of(json.as_bytes()).members() {
        let name = member.key();
        w.key(&name);
        match &*name {
            "thinking" | "text" | "summary" => w.text(text),
            _ => w.raw(member.value()),
        }
    }
    w.end_object();
}

fn write_call(call: &ToolCall<'_>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let name = context.name(&call.name);
    w.begin_object();
    w.text_field("id", &ids::for_chat(call.id.clone()));
    if call.custom && tools.native_custom {
        w.str_field("type", "custom");
        w.object("custom", |w| {
            w.text_field("name", &name);
            w.key("input");
            free_text(&call.arguments, w);
        });
    } else {
        w.str_field("type", "function");
        w.object("function", |w| {
            w.text_field("name", &name);
            w.key("arguments");
            if call.custom { wrapped(&call.arguments, w) } else { arguments(&call.arguments, w) }
        });
    }
    if let Some(token) = context.own(call.signature.as_ref()) {
        w.object("extra_content", |w| w.object("google", |w| w.text_field("thought_signature", token)));
    }
    w.end_object();
}

fn free_text(arguments: &Arguments<'_>, w: &mut Writer<'_>) {
    match arguments {
        Arguments::Text(text) => w.text(text),
        Arguments::Json(raw) => w.str(&raw.as_text()),
    }
}

/// Free text as the one argument `input`.
fn wrapped(arguments: &Arguments<'_>, w: &mut Writer<'_>) {
    let mut object = Vec::new();
    let mut inner = Writer::new(&mut object);
    inner.begin_object();
    inner.key("input");
    free_text(arguments, &mut inner);
    inner.end_object();
    w.str(&String::from_utf8_lossy(&object));
}

/// Arguments as a string that holds JSON without spare white space.
fn arguments(arguments: &Arguments<'_>, w: &mut Writer<'_>) {
    match arguments {
        Arguments::Text(text) if text.is_blank() => w.str("{}"),
        Arguments::Text(text) => w.text(text),
        Arguments::Json(raw) => w.str(&String::from_utf8_lossy(&compact(&raw.0))),
    }
}
