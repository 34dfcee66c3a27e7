//! Events of responses. Much is told several times: in pieces, when a text is done, with its item, and with the whole response.

use super::sight::{Ends, Field, Form, Key, See, Sight, foreign, number, piece, whole};
use crate::wire::json::{Kind, Member, Value, elements, members};

/// The members of an event that say what it is about.
#[derive(Default)]
struct Event<'d> {
    kind: &'d [u8],
    group: u32,
    part: u32,
    item: Option<Member<'d>>,
    response: Option<Member<'d>>,
    logprobs: Option<Member<'d>>,
}

pub(super) fn read<'d>(data: &'d [u8], see: See<'_, 'd>) {
    let mut event = Event::default();
    for member in members(data) {
        match &*member.name() {
            b"type" => event.kind = member.value(),
            b"output_index" => event.group = number(member.json()).unwrap_or_default(),
            b"content_index" | b"summary_index" => event.part = number(member.json()).unwrap_or_default(),
            b"item" => event.item = Some(member),
            b"response" => event.response = Some(member),
            b"logprobs" if member.value() != b"[]" => event.logprobs = Some(member),
            _ => {}
        }
    }
    if let Some(response) = &event.response {
        return outcome(&event, response, see);
    }
    match (&event.item, event.field()) {
        (Some(one), _) => {
            if event.kind.ends_with(b".done\"") {
                see(Sight::Ends(Ends::Group(event.group)));
            }
            item(event.group, one.value(), see);
        }
        (None, Some((field, form))) => event.text(data, field, form, see),
        (None, None) => event.other(data, see),
    }
}

impl<'d> Event<'d> {
    /// Which text it is about, and how that is written.
    fn field(&self) -> Option<(Field, Form)> {
        let field = spoken(self.kind.strip_prefix(b"\"")?.strip_suffix(b"\"")?)?;
        Some((field, if field == Field::Arguments { Form::Json } else { Form::Text }))
    }

    fn text(&self, data: &'d [u8], field: Field, form: Form, see: See<'_, 'd>) {
        let key = Key { group: self.group, part: self.part, field };
        let done = self.kind.ends_with(b".done\"");
        if done {
            see(Sight::Ends(Ends::One(key)));
        }
        for member in members(data) {
            match &*member.name() {
                b"delta" if !done => piece(&member, key, form, see),
                b"text" | b"refusal" | b"arguments" | b"input" | b"code" | b"transcript" if done => whole(&member, key, form, see),
                _ => {}
            }
        }
        if let Some(logprobs) = &self.logprobs {
            see(Sight::Shadow { value: logprobs.value(), with: b"[]" });
        }
    }

    /// A part of a message or of a summary, or an event that nobody knows.
    fn other(&self, data: &'d [u8], see: See<'_, 'd>) {
        let summary = self.kind.starts_with(b"\"response.reasoning_summary_part");
        for member in members(data) {
            match &*member.name() {
                b"part" if member.kind == Kind::Object => part(self.group, self.part, summary, member.value(), see),
                b"annotation" => foreign(self.other_key(), member.value(), false, see),
                b"delta" if !self.kind.ends_with(b"audio.delta\"") => {
                    let key = Key { part: super::sight::hash(self.kind), ..self.other_key() };
                    piece(&member, key, Form::Text, see);
                }
                b"delta" | b"partial_image_b64" => see(Sight::Content),
                _ => {}
            }
        }
    }

    const fn other_key(&self) -> Key {
        Key { group: self.group, part: self.part, field: Field::Other }
    }
}

/// Which text the deltas of this type, and the event of its end, are about.
pub(super) fn spoken(kind: &[u8]) -> Option<Field> {
    let kind = kind.strip_prefix(b"response.")?;
    Some(match kind.strip_suffix(b".delta").or_else(|| kind.strip_suffix(b".done"))? {
        b"output_text" => Field::Text,
        b"refusal" => Field::Refusal,
        b"reasoning_summary_text" => Field::Summary,
        b"reasoning_text" => Field::Reasoning,
        b"function_call_arguments" | b"mcp_call_arguments" => Field::Arguments,
        b"custom_tool_call_input" | b"code_interpreter_call_code" => Field::Input,
        b"audio.transcript" | b"audio_transcript" => Field::Transcript,
        _ => return None,
    })
}

/// A part of a message, or of the reasoning.
fn part<'d>(group: u32, at: u32, summary: bool, part: &'d [u8], see: See<'_, 'd>) {
    let reasoning = Value::of(part).get("type").is_str("reasoning_text");
    let field = match (summary, reasoning) {
        (true, _) => Field::Summary,
        (false, true) => Field::Reasoning,
        (false, false) => Field::Text,
    };
    for member in members(part) {
        match &*member.name() {
            b"text" => whole(&member, Key { group, part: at, field }, Form::Text, see),
            b"refusal" => whole(&member, Key { group, part: at, field: Field::Refusal }, Form::Text, see),
            b"annotations" => foreign(Key { group, part: at, field: Field::Other }, member.value(), true, see),
            b"logprobs" if member.value() != b"[]" => see(Sight::Shadow { value: member.value(), with: b"[]" }),
            _ => {}
        }
    }
}

/// An item of the output, whole.
fn item<'d>(group: u32, item: &'d [u8], see: See<'_, 'd>) {
    let parts = |member: Member<'d>, summary: bool, see: See<'_, 'd>| {
        (0..).zip(elements(member.value())).for_each(|(at, one)| part(group, at, summary, one.value, see));
    };
    let key = |field| Key { group, part: 0, field };
    for member in members(item) {
        match &*member.name() {
            b"type" | b"id" | b"status" | b"role" | b"call_id" | b"encrypted_content" | b"container_id" | b"server_label" => {}
            b"name" | b"result" => see(Sight::Content),
            b"content" => parts(member, false, see),
            b"summary" => parts(member, true, see),
            b"arguments" => whole(&member, key(Field::Arguments), Form::Json, see),
            b"input" | b"code" => whole(&member, key(Field::Input), Form::Text, see),
            _ => foreign(Key { group, part: super::sight::hash(&member.name()), field: Field::Other }, member.value(), false, see),
        }
    }
}

/// The whole response. At its end, all texts end before its output is looked at.
fn outcome<'d>(event: &Event<'d>, response: &Member<'d>, see: See<'_, 'd>) {
    if !matches!(event.kind, b"\"response.created\"" | b"\"response.in_progress\"" | b"\"response.queued\"") {
        see(Sight::Ends(Ends::All));
    }
    for output in members(response.value()).filter(|member| member.is("output")) {
        (0..).zip(elements(output.value())).for_each(|(group, one)| item(group, one.value, see));
    }
}
