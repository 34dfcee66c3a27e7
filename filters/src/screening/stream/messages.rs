//! Events of messages.

use super::sight::{Ends, Field, Form, Key, See, Sight, foreign, number, piece, unknown};
use crate::wire::json::{Kind, Member, members};

pub(super) fn read<'d>(data: &'d [u8], see: See<'_, 'd>) {
    let mut group = 0;
    let mut body = None;
    let mut event: Option<Member<'d>> = None;
    for member in members(data) {
        match &*member.name() {
            b"type" => event = Some(member),
            b"index" => group = number(member.json()).unwrap_or_default(),
            b"delta" | b"content_block" | b"message" => body = Some(member),
            _ => {}
        }
    }
    let parts = body.map(|body| members(body.value())).into_iter().flatten();
    match event.map(|event| event.value()) {
        Some(b"\"content_block_delta\"") => parts.for_each(|member| part(group, &member, see)),
        Some(b"\"content_block_start\"") => parts.for_each(|member| part(group, &member, see)),
        Some(b"\"content_block_stop\"") => see(Sight::Ends(Ends::Group(group))),
        Some(b"\"message_start\"") => parts.filter(|member| member.is("content")).for_each(|member| unknown(group, &member, true, see)),
        Some(b"\"message_delta\"") => {
            parts.filter(|member| member.is("stop_details")).for_each(|member| unknown(group, &member, true, see));
            see(Sight::Ends(Ends::All));
        }
        Some(b"\"message_stop\"") => see(Sight::Ends(Ends::All)),
        _ => {}
    }
}

/// A member of a block or of a delta.
fn part<'d>(group: u32, member: &Member<'d>, see: See<'_, 'd>) {
    let key = |field| Key { group, part: 0, field };
    match &*member.name() {
        b"type" | b"id" | b"tool_use_id" | b"signature" | b"caller" => {}
        b"name" | b"data" => see(Sight::Content),
        b"text" => piece(member, key(Field::Text), Form::Text, see),
        b"thinking" => piece(member, key(Field::Reasoning), Form::Text, see),
        b"partial_json" => piece(member, key(Field::Arguments), Form::Json, see),
        b"input" if matches!(member.kind, Kind::Object | Kind::Array) => {
            if member.value() != b"{}" {
                see(Sight::Whole { key: key(Field::Arguments), form: Form::Raw, text: member.value(), quiet: false });
            }
        }
        b"source" => see(Sight::Content),
        b"citation" | b"citations" => foreign(key(Field::Other), member.value(), false, see),
        _ => unknown(group, member, true, see),
    }
}
