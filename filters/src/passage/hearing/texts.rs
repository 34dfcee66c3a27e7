//! Where the text of an answer lies in each dialect: what the model has written, and neither frames nor what others have.

use crate::passage::BodyKind;
use crate::wire::json::{Kind, Member, elements, members};

/// A part of an answer's text.
pub(super) enum Piece<'v> {
    /// What stands between the quotes of a string.
    Text(&'v [u8]),
    /// A value that is text to the model: the arguments of a call.
    Json(&'v [u8]),
}

/// Takes the parts one by one.
pub(super) type Give<'g, 'v> = &'g mut dyn FnMut(Piece<'v>);

/// The texts of a whole answer.
pub(super) fn document<'v>(body: BodyKind, data: &'v [u8], give: Give<'_, 'v>) {
    match body {
        BodyKind::ChatCompletions | BodyKind::Completions => each(data, "choices", give, |member, give| choices(member.value(), give)),
        BodyKind::Messages => each(data, "content", give, |member, give| elements(member.value()).for_each(|one| block(one.value, give))),
        BodyKind::GenerateContent => each(data, "candidates", give, |member, give| candidates(member.value(), give)),
        BodyKind::Responses => each(data, "output", give, |member, give| elements(member.value()).for_each(|one| item(one.value, give))),
        BodyKind::CountTokens | BodyKind::Embeddings | BodyKind::Images | BodyKind::Audio | BodyKind::Moderations => {}
    }
}

/// The name of a responses item.
pub(super) fn name<'v>(item: &'v [u8], give: Give<'_, 'v>) {
    each(item, "name", give, |member, give| text(&member, give));
}

/// The text of a responses delta.
pub(super) fn delta<'v>(event: &'v [u8], give: Give<'_, 'v>) {
    each(event, "delta", give, |member, give| text(&member, give));
}

/// Does `with` for the members of `object` that are called `name`.
fn each<'v>(object: &'v [u8], name: &str, give: Give<'_, 'v>, with: impl Fn(Member<'v>, Give<'_, 'v>)) {
    for member in members(object).filter(|member| member.is(name)) {
        with(member, give);
    }
}

/// Gives a member that is a text.
fn text<'v>(member: &Member<'v>, give: Give<'_, 'v>) {
    if let (Kind::String, [b'"', inner @ .., b'"']) = (member.kind, member.value())
        && !inner.is_empty()
    {
        give(Piece::Text(inner));
    }
}

/// Gives arguments: a text of JSON, or the JSON itself where it is not empty.
fn arguments<'v>(member: &Member<'v>, give: Give<'_, 'v>) {
    match member.kind {
        Kind::Object if member.value() != b"{}" => give(Piece::Json(member.value())),
        _ => text(member, give),
    }
}

pub(super) fn choices<'v>(choices: &'v [u8], give: Give<'_, 'v>) {
    for choice in elements(choices) {
        for member in members(choice.value) {
            match &*member.name() {
                b"delta" | b"message" => message(member.value(), give),
                b"text" => text(&member, give),
                _ => {}
            }
        }
    }
}

fn message<'v>(message: &'v [u8], give: Give<'_, 'v>) {
    let mut reasoned = false;
    for member in members(message) {
        match &*member.name() {
            b"content" if member.kind == Kind::Array => elements(member.value()).for_each(|part| part_of_message(part.value, give)),
            b"content" | b"refusal" => text(&member, give),
            // Some services tell the same under both names.
            b"reasoning_content" | b"reasoning" if !reasoned => {
                reasoned = member.kind == Kind::String && member.value() != b"\"\"";
                text(&member, give);
            }
            b"tool_calls" => elements(member.value()).for_each(|call| tool_call(call.value, give)),
            b"function_call" => function(member.value(), give),
            _ => {}
        }
    }
}

/// A part of a content that is a list: a text, or a list of thoughts that are texts.
fn part_of_message<'v>(part: &'v [u8], give: Give<'_, 'v>) {
    for member in members(part) {
        match &*member.name() {
            b"text" => text(&member, give),
            b"thinking" => {
                elements(member.value()).for_each(|thought| each(thought.value, "text", give, |member, give| text(&member, give)))
            }
            _ => {}
        }
    }
}

fn tool_call<'v>(call: &'v [u8], give: Give<'_, 'v>) {
    members(call).filter(|member| member.is("function") || member.is("custom")).for_each(|member| function(member.value(), give));
}

/// A call: the name, and the arguments as each dialect calls them.
fn function<'v>(function: &'v [u8], give: Give<'_, 'v>) {
    for member in members(function) {
        match &*member.name() {
            b"name" => text(&member, give),
            b"arguments" | b"input" | b"args" => arguments(&member, give),
            b"partialArgs" => {
                elements(member.value()).for_each(|one| each(one.value, "stringValue", give, |member, give| text(&member, give)));
            }
            _ => {}
        }
    }
}

pub(super) fn block_event<'v>(event: &'v [u8], give: Give<'_, 'v>) {
    members(event).filter(|member| member.is("delta") || member.is("content_block")).for_each(|member| block(member.value(), give));
}

fn block<'v>(block: &'v [u8], give: Give<'_, 'v>) {
    for member in members(block) {
        match &*member.name() {
            b"text" | b"thinking" | b"partial_json" | b"name" => text(&member, give),
            b"input" => arguments(&member, give),
            _ => {}
        }
    }
}

pub(super) fn candidates<'v>(candidates: &'v [u8], give: Give<'_, 'v>) {
    for candidate in elements(candidates) {
        each(candidate.value, "content", give, |content, give| {
            each(content.value(), "parts", give, |parts, give| elements(parts.value()).for_each(|one| part_of_content(one.value, give)));
        });
    }
}

fn part_of_content<'v>(part: &'v [u8], give: Give<'_, 'v>) {
    for member in members(part) {
        match &*member.name() {
            b"text" => text(&member, give),
            b"functionCall" => function(member.value(), give),
            b"executableCode" => each(member.value(), "code", give, |member, give| text(&member, give)),
            _ => {}
        }
    }
}

/// An item of a responses answer.
fn item<'v>(item: &'v [u8], give: Give<'_, 'v>) {
    for member in members(item) {
        match &*member.name() {
            b"content" | b"summary" => elements(member.value()).for_each(|part| {
                members(part.value).filter(|member| member.is("text") || member.is("refusal")).for_each(|member| text(&member, give));
            }),
            b"name" => text(&member, give),
            b"arguments" | b"input" => arguments(&member, give),
            _ => {}
        }
    }
}
