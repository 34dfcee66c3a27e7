//! The conversation as a messages provider takes it: what cannot be said there is left out or said otherwise.

use super::media;
use super::terms::{Place, Terms};
use crate::canonical::{Arguments, Block, Losses, Raw, Refusal, Role, Signature, Source, Text, ToolCall, ToolResult, Turn, Weight};
use crate::shape::Shape;
use crate::translate::Target;
use crate::translate::map::search::summary;
use crate::translate::map::{Conversation, conversation};
use crate::wire::json::{Kind, Value, Writer, compact};

/// What every step needs to know.
pub(super) struct Context<'t> {
    pub(super) from: Shape,
    pub(super) target: &'t Target<'t>,
    pub(super) terms: &'static Terms,
}

impl Context<'_> {
    /// Whether a continuity token goes back to the provider and model that minted it.
    fn returns(&self, signature: &Signature<'_>) -> bool {
        let own = signature.origin.map_or(self.from == Shape::Messages, |origin| origin == self.target.origin);
        signature.shape == Shape::Messages && own
    }
}

/// Checks and changes every block, pairs calls with results, and brings the turns into alternation.
pub(super) fn conversation<'a>(turns: Vec<Turn<'a>>, context: &Context<'_>, losses: &mut Losses) -> Result<Conversation<'a>, Refusal> {
    let shift = usize::from(context.from != Shape::ChatCompletions && turns.first().is_some_and(|turn| turn.role == Role::System));
    let mut prepared = Vec::with_capacity(turns.len());
    for (index, turn) in turns.into_iter().enumerate() {
        let counted = (context.from != Shape::Responses).then(|| index.saturating_sub(shift));
        prepared.push(prepare(turn, counted, context, losses)?);
    }
    conversation::pair(&mut prepared, losses)?;
    let mut conversation = conversation::alternate(prepared, losses)?;
    order_results(&mut conversation.turns);
    trim_prefill(&mut conversation);
    Ok(conversation)
}

fn prepare<'a>(turn: Turn<'a>, index: Option<usize>, context: &Context<'_>, losses: &mut Losses) -> Result<Turn<'a>, Refusal> {
    let role = turn.role;
    let mut blocks = Vec::with_capacity(turn.blocks.len());
    for (place, block) in turn.blocks.into_iter().enumerate() {
        let place = Place { terms: context.terms, turn: index, block: place };
        blocks.extend(Blocks { context, role, place }.block(block, losses)?);
    }
    Ok(Turn { role, blocks })
}

/// One place in the conversation.
struct Blocks<'c, 't> {
    context: &'c Context<'t>,
    role: Role,
    place: Place,
}

impl Blocks<'_, '_> {
    fn block<'a>(&self, block: Block<'a>, losses: &mut Losses) -> Result<Option<Block<'a>>, Refusal> {
        let terms = self.context.terms;
        Ok(match block {
            Block::Text(text) | Block::Refusal(text) => Some(Block::Text(text)),
            Block::Image(_) if self.role == Role::Assistant => lost(losses, terms.image, "pictures of the model cannot be sent back"),
            Block::Document(_) if self.role == Role::Assistant => {
                lost(losses, terms.document, "documents of the model cannot be sent back")
            }
            Block::Image(picture) => media::image(picture, self.context, self.place, losses)?,
            Block::Document(document) => match media::document(document, self.context, self.place, losses)? {
                Some(Block::Document(mut document)) => {
                    if let Source::Blocks(blocks) = &mut document.source {
                        *blocks = self.blocks(std::mem::take(blocks), losses)?;
                    }
                    Some(Block::Document(document))
                }
                other => other,
            },
            Block::Audio(_) => lost(losses, terms.audio, "the messages dialect takes no sound"),
            Block::Video(_) => lost(losses, terms.video, "the messages dialect takes no films"),
            Block::ToolCall(call) => Some(Block::ToolCall(self.call(call)?)),
            Block::ToolResult(result) => Some(Block::ToolResult(self.result(result, losses)?)),
            Block::Reasoning { text, signature } => {
                let signature = signature.filter(|signature| self.context.returns(signature));
                if signature.is_none() {
                    losses.note(terms.reasoning, Weight::Silent, "only reasoning signed by this model can be sent back");
                }
                signature.map(|signature| Block::Reasoning { text, signature: Some(signature) })
            }
            Block::Redacted(signature) if self.context.returns(&signature) => Some(Block::Redacted(signature)),
            Block::Redacted(_) => {
                losses.note(terms.reasoning, Weight::Silent, "sealed reasoning goes back only to the model that sealed it");
                None
            }
            Block::WebSearch { query, hits, .. } => Some(Block::Text(summary(&query, &hits))),
            Block::Unknown { shape: Shape::Messages, kind, raw } => Some(Block::Unknown { shape: Shape::Messages, kind, raw }),
            Block::Unknown { kind, .. } => lost(losses, format!("{}.{}", self.place_name(), kind.decode()), "it has no counterpart"),
        })
    }

    fn blocks<'a>(&self, blocks: Vec<Block<'a>>, losses: &mut Losses) -> Result<Vec<Block<'a>>, Refusal> {
        let mut kept = Vec::with_capacity(blocks.len());
        for block in blocks {
            kept.extend(self.block(block, losses)?.filter(|block| !matches!(block, Block::Text(text) if text.is_blank())));
        }
        Ok(kept)
    }

    fn place_name(&self) -> String {
        Place { turn: None, ..self.place }.to_string()
    }

    fn call<'a>(&self, mut call: ToolCall<'a>) -> Result<ToolCall<'a>, Refusal> {
        if call.custom {
            call.arguments = Arguments::Json(free_text(&call.arguments));
        }
        let object = match &call.arguments {
            Arguments::Json(raw) if raw.value().kind() == Kind::Object => None,
            other => Some(other.object().map(std::borrow::Cow::into_owned)),
        };
        match object {
            None => Ok(call),
            Some(Ok(object)) => Ok(ToolCall { arguments: Arguments::Json(Raw::from(object)), ..call }),
            Some(Err(_)) => {
                let (place, field) = (self.place, self.context.terms.arguments);
                let message = format!("the arguments of the call of `{}` are no JSON object", call.name.decode());
                Err(Refusal::invalid(format!("{place}.{field}"), message))
            }
        }
    }

    fn result<'a>(&self, mut result: ToolResult<'a>, losses: &mut Losses) -> Result<ToolResult<'a>, Refusal> {
        result.content = self.blocks(std::mem::take(&mut result.content), losses)?;
        if let Some(object) = result.object.take() {
            let (text, failed) = returned(&object);
            result.failed |= failed;
            if !text.is_blank() {
                result.content.insert(0, Block::Text(text));
            }
        }
        Ok(result)
    }
}

fn lost<'a>(losses: &mut Losses, field: impl Into<std::borrow::Cow<'static, str>>, reason: &'static str) -> Option<Block<'a>> {
    losses.note(field, Weight::Major, reason);
    None
}

/// Free text as the one argument of a function.
fn free_text(arguments: &Arguments<'_>) -> Raw<'static> {
    let mut object = Vec::new();
    let mut w = Writer::new(&mut object);
    w.begin_object();
    match arguments {
        Arguments::Text(text) => w.text_field("input", text),
        Arguments::Json(raw) => w.raw_field("input", raw),
    }
    w.end_object();
    Raw::from(object)
}

/// What a tool returned as an object, as text, and whether the object says that it failed.
fn returned<'a>(object: &Raw<'a>) -> (Text<'a>, bool) {
    let value = object.value();
    let mut members = value.members();
    if let (Some(only), None) = (members.next(), members.next()) {
        let failed = only.is("error");
        match only.json().str() {
            Some(text) if failed || only.is("output") || only.is("result") => return (Text::from(text.into_owned()), failed),
            _ if failed => return (json_text(only.json()), true),
            _ => {}
        }
    }
    (json_text(value), false)
}

fn json_text<'a>(value: Value<'_>) -> Text<'a> {
    Text::from(String::from_utf8_lossy(&compact(value.bytes())).into_owned())
}

/// Brings results into the order of their calls. Everything else in their turn comes after them already.
fn order_results(turns: &mut [Turn<'_>]) {
    for place in 1..turns.len() {
        let (head, tail) = turns.split_at_mut(place);
        let (Some(called), Some(answered)) = (head.last(), tail.first_mut()) else { return };
        let calls = called.blocks.iter().filter_map(|block| if let Block::ToolCall(call) = block { Some(&call.id) } else { None });
        let calls: Vec<&Text<'_>> = calls.collect();
        answered.blocks.sort_by_key(|block| match block {
            Block::ToolResult(result) => calls.iter().position(|id| **id == result.id).unwrap_or(usize::MAX - 1),
            _ => usize::MAX,
        });
    }
}

/// The beginning of an answer may not end in white space.
fn trim_prefill(conversation: &mut Conversation<'_>) {
    let Some(last) = conversation.turns.last_mut().filter(|turn| turn.role == Role::Assistant) else { return };
    if let Some(Block::Text(text)) = last.blocks.last_mut() {
        let decoded = text.decode();
        let trimmed = decoded.trim_end();
        if trimmed.len() < decoded.len() {
            *text = Text::from(trimmed.to_owned());
        }
    }
}
