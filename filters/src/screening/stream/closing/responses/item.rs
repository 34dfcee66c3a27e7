//! One item of the output, and its closing.

use super::super::super::sight::Field;
use super::{object, told};
use crate::wire::json::{Text, Value, Writer, members};

/// Members of an item that are told anew.
const ANEW: [&str; 6] = ["status", "content", "summary", "arguments", "input", "code"];

/// An item that was sent, in part or whole.
pub(super) struct Item {
    pub(super) place: u32,
    /// As it was when it began.
    raw: Vec<u8>,
    parts: Vec<Part>,
    /// As it was in the end.
    finished: Option<Vec<u8>>,
}

/// One text of an item.
#[derive(Clone)]
pub(super) struct Part {
    index: u32,
    field: Field,
    /// Its beginning was told as an event of its own.
    pub(super) added: bool,
    /// Its whole text was told.
    pub(super) said: bool,
    /// Its end was told.
    pub(super) done: bool,
    /// Escaped.
    pub(super) text: Vec<u8>,
}

impl Part {
    pub(super) const fn new(index: u32, field: Field) -> Self {
        Self { index, field, added: false, said: false, done: false, text: Vec::new() }
    }

    /// The words of its events, the member with its text, and the number beside that of the item.
    const fn words(&self) -> (&'static str, &'static str, Option<&'static str>) {
        match self.field {
            Field::Refusal => ("response.refusal", "refusal", Some("content_index")),
            Field::Summary => ("response.reasoning_summary_text", "text", Some("summary_index")),
            Field::Reasoning => ("response.reasoning_text", "text", Some("content_index")),
            Field::Arguments => ("response.function_call_arguments", "arguments", None),
            Field::Input => ("response.custom_tool_call_input", "input", None),
            _ => ("response.output_text", "text", Some("content_index")),
        }
    }

    fn write(&self, w: &mut Writer<'_>) {
        let (kind, field) = match self.field {
            Field::Refusal => ("refusal", "refusal"),
            Field::Summary => ("summary_text", "text"),
            Field::Reasoning => ("reasoning_text", "text"),
            _ => ("output_text", "text"),
        };
        w.begin_object();
        w.str_field("type", kind);
        w.text_field(field, &Text::Escaped(&self.text));
        if kind == "output_text" {
            w.array("annotations", |_| {});
            w.array("logprobs", |_| {});
        }
        w.end_object();
    }
}

impl Item {
    pub(super) fn new(place: u32, raw: &[u8]) -> Self {
        Self { place, raw: raw.to_vec(), parts: Vec::new(), finished: None }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.finished.is_none()
    }

    /// The item as the client saw it in the end; none where that was not kept.
    pub(super) fn finished(&self) -> Option<&Vec<u8>> {
        self.finished.as_ref().filter(|item| !item.is_empty())
    }

    pub(super) fn finish(&mut self, raw: &[u8]) {
        self.finished = Some(raw.to_vec());
        self.parts = Vec::new();
        self.raw = Vec::new();
    }

    /// Whether a part of text is open.
    pub(super) fn speaks(&self) -> bool {
        self.parts.iter().any(|part| part.field == Field::Text && !part.said && !part.done)
    }

    /// Changes a part, which is made where it is new.
    pub(super) fn part(&mut self, index: u32, field: Field, change: impl FnOnce(&mut Part)) {
        match self.parts.iter_mut().find(|part| part.index == index && part.field == field) {
            Some(part) => change(part),
            None => {
                let mut part = Part::new(index, field);
                change(&mut part);
                self.parts.push(part);
            }
        }
    }

    /// Says more in the open part of text.
    pub(super) fn say(&mut self, text: &str, sequence: &mut u64, out: &mut Vec<u8>) {
        let Some(at) = self.parts.iter().position(|part| part.field == Field::Text && !part.said) else { return };
        let Some(part) = self.parts.get_mut(at) else { return };
        let mut escaped = Vec::new();
        Text::from(text).escape_into(&mut escaped);
        part.text.extend_from_slice(&escaped);
        let part = part.clone();
        self.tell(&part, "response.output_text.delta", sequence, out, |w| {
            w.text_field("delta", &Text::Escaped(&escaped));
            w.array("logprobs", |_| {});
        });
    }

    /// Tells the end of all that is open, and of the item.
    pub(super) fn close(&mut self, incomplete: bool, sequence: &mut u64, out: &mut Vec<u8>) {
        for part in self.parts.iter().filter(|part| !part.done) {
            let (kind, field, _) = part.words();
            if !part.said {
                self.tell(part, &format!("{kind}.done"), sequence, out, |w| {
                    w.text_field(field, &Text::Escaped(&part.text));
                    if part.field == Field::Text {
                        w.array("logprobs", |_| {});
                    }
                });
            }
            if part.added {
                self.tell_part(part, "done", sequence, out);
            }
        }
        let item = self.written(incomplete);
        told("response.output_item.done", *sequence, out, |w| {
            w.whole_field("output_index", self.place);
            w.key("item");
            w.raw(&item);
        });
        *sequence += 1;
        self.finish(&item);
    }

    /// Tells that a part begins or ends.
    pub(super) fn tell_part(&self, part: &Part, what: &str, sequence: &mut u64, out: &mut Vec<u8>) {
        let kind = if part.field == Field::Summary { "reasoning_summary_part" } else { "content_part" };
        self.tell(part, &format!("response.{kind}.{what}"), sequence, out, |w| {
            w.key("part");
            part.write(w);
        });
    }

    /// Writes an event about a part.
    fn tell(&self, part: &Part, kind: &str, sequence: &mut u64, out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
        told(kind, *sequence, out, |w| {
            w.key("item_id");
            w.raw(id(&self.raw).bytes());
            w.whole_field("output_index", self.place);
            if let (_, _, Some(index)) = part.words() {
                w.whole_field(index, part.index);
            }
            write(w);
        });
        *sequence += 1;
    }

    /// The item with what was sent of it. A call that was cut off is not complete, whatever follows it.
    fn written(&self, incomplete: bool) -> Vec<u8> {
        let called = self.parts.iter().any(|part| matches!(part.field, Field::Arguments | Field::Input));
        let mut out = Vec::new();
        object(&mut out, |w| {
            for member in members(&self.raw).filter(|member| !ANEW.iter().any(|name| member.is(name))) {
                w.key(&member.key());
                w.raw(member.value());
            }
            w.str_field("status", if incomplete || called { "incomplete" } else { "completed" });
            self.write_parts(w);
        });
        out
    }

    fn write_parts(&self, w: &mut Writer<'_>) {
        for (name, list) in [("content", true), ("summary", true), ("arguments", false), ("input", false), ("code", false)] {
            let Some(began) = members(&self.raw).find(|member| member.is(name)) else { continue };
            let parts = || self.parts.iter().filter(|part| part.member() == name);
            match parts().next() {
                Some(_) if list => w.array(name, |w| parts().for_each(|part| part.write(w))),
                Some(part) => w.text_field(name, &Text::Escaped(&part.text)),
                None => {
                    w.key(name);
                    w.raw(began.value());
                }
            }
        }
    }
}

impl Part {
    /// The member of the item it stands in.
    const fn member(&self) -> &'static str {
        match self.field {
            Field::Summary => "summary",
            Field::Arguments => "arguments",
            Field::Input => "input",
            _ => "content",
        }
    }
}

fn id(item: &[u8]) -> Value<'_> {
    Value::of(item).get("id")
}
