//! Chunks of chat completions and of legacy completions.

use super::sight::{Ends, Field, Form, Key, See, Sight, foreign, index, inner, piece, unknown};
use crate::wire::json::{Kind, Member, elements, members};

/// The part of the only call of the old form.
const LEGACY_CALL: u32 = u32::MAX;

pub(super) fn read<'d>(data: &'d [u8], see: See<'_, 'd>) {
    for member in members(data).filter(|member| member.is("choices")) {
        elements(member.value()).enumerate().for_each(|(at, one)| choice(index(one.value, "index", at), one.value, see));
    }
}

fn choice<'d>(group: u32, choice: &'d [u8], see: See<'_, 'd>) {
    let mut ends = false;
    for member in members(choice) {
        match &*member.name() {
            b"delta" | b"message" => delta(group, member.value(), see),
            b"text" => piece(&member, Key { group, part: 0, field: Field::Text }, Form::Text, see),
            b"logprobs" if member.kind == Kind::Object => see(Sight::Shadow { value: member.value(), with: b"null" }),
            b"finish_reason" if member.kind == Kind::String => {
                see(Sight::Reason(member.value()));
                ends = true;
            }
            _ => {}
        }
    }
    if ends {
        see(Sight::Ends(Ends::Group(group)));
    }
}

fn delta<'d>(group: u32, delta: &'d [u8], see: See<'_, 'd>) {
    let key = |field| Key { group, part: 0, field };
    let mut reasoned = false;
    for member in members(delta) {
        match &*member.name() {
            b"role" | b"obfuscation" | b"id" | b"name" => {}
            b"content" if member.kind == Kind::Array => elements(member.value()).for_each(|one| part(group, one.value, see)),
            b"content" => piece(&member, key(Field::Text), Form::Text, see),
            b"refusal" => piece(&member, key(Field::Refusal), Form::Text, see),
            name @ (b"reasoning_content" | b"reasoning") if member.kind == Kind::String => {
                let field = if name == b"reasoning" { Field::Twin } else { Field::Reasoning };
                // Some services tell the same under both names.
                let quiet = std::mem::replace(&mut reasoned, true);
                if let Some(text) = inner(&member) {
                    see(Sight::Piece { key: key(field), form: Form::Text, text, quiet });
                }
            }
            b"reasoning_details" => details(group, &member, reasoned, see),
            b"thinking_blocks" => repeated_thoughts(key(Field::Reasoning), &member, see),
            b"tool_calls" => elements(member.value()).enumerate().for_each(|(at, one)| {
                call(group, index(one.value, "index", at), one.value, see);
            }),
            b"function_call" => function(group, LEGACY_CALL, member.value(), see),
            b"audio" => members(member.value()).filter(|member| member.is("transcript")).for_each(|member| {
                piece(&member, key(Field::Transcript), Form::Text, see);
            }),
            b"images" => see(Sight::Content),
            _ => unknown(group, &member, false, see),
        }
    }
}

/// A part of a content that is a list: a text, or a list of thoughts that are texts.
fn part<'d>(group: u32, part: &'d [u8], see: See<'_, 'd>) {
    let key = |field| Key { group, part: 0, field };
    for member in members(part) {
        match &*member.name() {
            b"type" => {}
            b"text" => piece(&member, key(Field::Text), Form::Text, see),
            b"refusal" => piece(&member, key(Field::Refusal), Form::Text, see),
            b"thinking" if member.kind == Kind::Array => elements(member.value()).for_each(|thought| {
                members(thought.value).filter(|member| member.is("text")).for_each(|member| {
                    piece(&member, key(Field::Reasoning), Form::Text, see);
                });
            }),
            b"thinking" => piece(&member, key(Field::Reasoning), Form::Text, see),
            b"image_url" | b"input_audio" => see(Sight::Content),
            _ => unknown(group, &member, false, see),
        }
    }
}

fn details<'d>(group: u32, details: &Member<'d>, quiet: bool, see: See<'_, 'd>) {
    for (at, one) in elements(details.value()).enumerate() {
        let key = Key { group, part: index(one.value, "index", at), field: Field::Details };
        for member in members(one.value).filter(|member| member.is("text") || member.is("summary")) {
            if let Some(text) = inner(&member) {
                see(Sight::Piece { key, form: Form::Text, text, quiet });
            }
        }
    }
}

/// Reasoning that was told before, whole, beside its signature.
fn repeated_thoughts<'d>(key: Key, blocks: &Member<'d>, see: See<'_, 'd>) {
    for one in elements(blocks.value()) {
        for member in members(one.value).filter(|member| member.is("thinking")) {
            if let Some(text) = inner(&member) {
                see(Sight::Whole { key, form: Form::Text, text, quiet: true });
            }
        }
    }
}

fn call<'d>(group: u32, part: u32, call: &'d [u8], see: See<'_, 'd>) {
    members(call)
        .filter(|member| member.is("function") || member.is("custom"))
        .for_each(|member| function(group, part, member.value(), see));
}

fn function<'d>(group: u32, part: u32, function: &'d [u8], see: See<'_, 'd>) {
    for member in members(function) {
        match &*member.name() {
            b"name" => see(Sight::Content),
            b"arguments" if member.kind == Kind::String => piece(&member, Key { group, part, field: Field::Arguments }, Form::Json, see),
            b"arguments" => {
                let key = Key { group, part, field: Field::Arguments };
                see(Sight::Whole { key, form: Form::Raw, text: member.value(), quiet: false });
            }
            b"input" => piece(&member, Key { group, part, field: Field::Input }, Form::Text, see),
            _ => foreign(Key { group, part, field: Field::Input }, member.value(), false, see),
        }
    }
}
