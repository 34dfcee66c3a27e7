//! Chunks of generate content.

use super::sight::{Ends, Field, Form, Key, See, Sight, foreign, hash, index, piece, unknown, whole};
use crate::wire::json::{Kind, Member, Value, elements, members};

pub(super) fn read<'d>(data: &'d [u8], see: See<'_, 'd>) {
    for member in members(data).filter(|member| member.is("candidates")) {
        for (at, one) in elements(member.value()).enumerate() {
            candidate(index(one.value, "index", at), one.value, see);
        }
    }
}

fn candidate<'d>(group: u32, candidate: &'d [u8], see: See<'_, 'd>) {
    let key = Key { group, part: 0, field: Field::Other };
    let mut ends = false;
    for member in members(candidate) {
        match &*member.name() {
            b"content" => {
                for parts in members(member.value()).filter(|member| member.is("parts")) {
                    elements(parts.value()).for_each(|one| part(group, one.value, see));
                }
            }
            b"finishReason" if member.kind == Kind::String && member.value() != b"\"FINISH_REASON_UNSPECIFIED\"" => {
                see(Sight::Reason(member.value()));
                ends = true;
            }
            b"finishMessage" => whole(&member, key, Form::Text, see),
            b"logprobsResult" => see(Sight::Shadow { value: member.value(), with: b"null" }),
            // What it rests on quotes the answer.
            b"groundingMetadata" | b"citationMetadata" => foreign(key, member.value(), true, see),
            _ => {}
        }
    }
    if ends {
        see(Sight::Ends(Ends::Group(group)));
    }
}

fn part<'d>(group: u32, part: &'d [u8], see: See<'_, 'd>) {
    let thought = Value::of(part).get("thought").bool() == Some(true);
    let field = if thought { Field::Reasoning } else { Field::Text };
    for member in members(part) {
        match &*member.name() {
            b"text" => piece(&member, Key { group, part: 0, field }, Form::Text, see),
            b"functionCall" => members(member.value()).for_each(|member| call(group, &member, see)),
            b"executableCode" => members(member.value()).filter(|member| member.is("code")).for_each(|member| {
                whole(&member, Key { group, part: 0, field: Field::Input }, Form::Text, see);
            }),
            b"codeExecutionResult" => members(member.value()).filter(|member| member.is("output")).for_each(|member| {
                whole(&member, Key { group, part: 0, field: Field::Other }, Form::Text, see);
            }),
            b"inlineData" | b"fileData" => see(Sight::Content),
            b"thought" | b"thoughtSignature" | b"videoMetadata" => {}
            _ => unknown(group, &member, false, see),
        }
    }
}

fn call<'d>(group: u32, member: &Member<'d>, see: See<'_, 'd>) {
    match &*member.name() {
        b"name" => see(Sight::Content),
        b"args" => {
            let key = Key { group, part: 0, field: Field::Arguments };
            see(Sight::Whole { key, form: Form::Raw, text: member.value(), quiet: false });
        }
        b"partialArgs" => elements(member.value()).for_each(|one| partial(group, one.value, see)),
        _ => {}
    }
}

/// A piece of one argument, which says where it belongs.
fn partial<'d>(group: u32, argument: &'d [u8], see: See<'_, 'd>) {
    let path = Value::of(argument).get("jsonPath");
    let key = Key { group, part: hash(path.bytes()), field: Field::Input };
    for member in members(argument) {
        match &*member.name() {
            b"stringValue" => piece(&member, key, Form::Text, see),
            b"numberValue" => see(Sight::Whole { key, form: Form::Raw, text: member.value(), quiet: false }),
            b"willContinue" if member.as_bool() == Some(false) => see(Sight::Ends(Ends::One(key))),
            _ => {}
        }
    }
}
