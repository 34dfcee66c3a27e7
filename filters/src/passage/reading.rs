//! What is learnt from an answer on its way through, and what is to change in it.

use super::error::InBandError;
use super::hearing::Ear;
use super::{BodyKind, chat, generate, messages, plain, responses};
use crate::tokens::{Heard, Hearing};
use crate::usage::{MessagesUsage, Usage, read_chat, read_generate_content};
use crate::wire::json::{self, Document, Kind, Member, Span};

/// Longest prefix remembered, in bytes.
const PREFIX_LIMIT: usize = 1024;

/// Longest usage object remembered, in bytes.
const USAGE_LIMIT: usize = 64 << 10;

/// What was learnt so far.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    // In boxes, since most of the time a stream knows none of them.
    chat_usage: Option<Box<Usage>>,
    messages_usage: Option<Box<MessagesUsage>>,
    /// The last usage object of generate content, which comes with most chunks and is read when it is asked for.
    generate_usage: Vec<u8>,
    pub(super) error: Option<Box<InBandError>>,
    pub(super) content_started: bool,
    pub(super) terminal: bool,
    pub(super) finish_reason: Option<Box<str>>,
}

impl Learnt {
    pub(super) fn usage(&self) -> Option<Usage> {
        let generated = || read_generate_content(&self.generate_usage);
        let merged = || self.messages_usage.as_ref()?.usage();
        self.chat_usage.as_deref().copied().or_else(merged).or_else(generated)
    }

    /// Whether the usage told is that of the whole answer, as far as it has come. Chat completions and responses tell theirs once
    /// it is known, the others from the start.
    fn usage_is_final(&self) -> bool {
        self.chat_usage.is_some() || ((self.finish_reason.is_some() || self.terminal) && self.usage().is_some())
    }

    /// Remembers the usage object of a dialect that tells it once, or anew each time.
    pub(super) fn chat_usage(&mut self, usage: &[u8]) {
        if let Some(usage) = read_chat(usage) {
            **self.chat_usage.get_or_insert_default() = usage;
        }
    }

    /// Adds what a usage object of messages tells.
    pub(super) fn messages_usage(&mut self, usage: &[u8]) {
        self.messages_usage.get_or_insert_default().merge(usage);
    }

    /// Remembers the last usage object that is not empty.
    pub(super) fn generate_usage(&mut self, usage: &Member<'_>) {
        if usage.kind == Kind::Object && usage.span.len() > 2 && usage.span.len() <= USAGE_LIMIT {
            self.generate_usage.clear();
            self.generate_usage.extend_from_slice(usage.value());
        }
    }

    /// Remembers the first finish reason.
    pub(super) fn finish(&mut self, value: &[u8]) {
        if self.finish_reason.is_none() {
            self.finish_reason = Some(json::decode_string(value).into());
        }
    }

    /// Remembers the first error, unless `value` says there is none.
    pub(super) fn fail(&mut self, value: &[u8], kind: Kind) {
        let truthy = !matches!(value, b"null" | b"false" | b"\"\"" | b"0" | b"{}");
        if truthy && self.error.is_none() {
            self.error = Some(Box::new(InBandError::read(value, kind)));
        }
    }
}

/// What to change.
#[derive(Debug)]
pub(super) struct Rules {
    model: Option<Box<[u8]>>,
    pub(super) hide_usage: bool,
}

impl Rules {
    pub(super) fn new(model: Option<&str>, hide_usage: bool) -> Self {
        let encoded = model.map(|model| {
            let mut bytes = Vec::new();
            json::encode_string(model, &mut bytes);
            bytes.into_boxed_slice()
        });
        Self { model: encoded, hide_usage }
    }
}

/// One change to the bytes of an event's data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patch {
    pub(super) span: Span,
    pub(super) with: With,
}

/// What takes the place of the patched bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    Model,
    Nothing,
}

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    Drop,
}

/// Reads data and notes the patches it needs.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) body: BodyKind,
    pub(super) facts: Learnt,
    pub(super) events: u64,
    rules: Rules,
    patches: Vec<Patch>,
    prefix: Prefix,
    pub(super) hearing: Hearing,
    ear: Option<Box<Ear>>,
}

impl Reader {
    pub(super) fn new(body: BodyKind, rules: Rules) -> Self {
        Self {
            body,
            facts: Learnt::default(),
            events: 0,
            rules,
            patches: Vec::new(),
            prefix: Prefix::default(),
            hearing: Hearing::Nothing,
            ear: None,
        }
    }

    pub(super) fn listen(&mut self, hearing: Hearing) {
        self.hearing = hearing;
    }

    /// What was heard; none where that is not to be counted.
    pub(super) fn take_heard(&mut self) -> Option<Heard> {
        let hearing = std::mem::take(&mut self.hearing);
        let ear = self.ear.take();
        (hearing != Hearing::Nothing).then(|| ear.map_or_else(|| Heard::new(hearing), |ear| ear.into_heard()))
    }

    /// Stops listening where what was used is told.
    #[inline]
    fn listen_on(&mut self) {
        if self.hearing == Hearing::Missing && self.facts.usage_is_final() {
            self.hearing = Hearing::Nothing;
            self.ear = None;
        }
    }

    /// Whether the client's readers fail on anything but data lines.
    pub(super) fn wants_only_data(&self) -> bool {
        self.body == BodyKind::GenerateContent
    }

    /// Reads the data of one event.
    #[inline]
    pub(super) fn event(&mut self, name: &[u8], data: &[u8]) -> Fate {
        self.patches.clear();
        if data.first() != Some(&b'{') && data.trim_ascii_start().starts_with(b"[DONE]") {
            self.facts.terminal = true;
            return if self.wants_only_data() { Fate::Drop } else { Fate::Keep };
        }
        self.events += 1;
        let fate = self.listening(data);
        if name == b"error" {
            self.facts.fail(data, Kind::of(*data.first().unwrap_or(&b' ')).unwrap_or(Kind::String));
        }
        if self.facts.error.is_some() { Fate::Keep } else { fate }
    }

    /// Reads one element of an array.
    pub(super) fn element(&mut self, data: &[u8]) {
        self.patches.clear();
        self.listening(data);
    }

    /// Reads a whole JSON answer, whose members were found already, and its text only if that is to be counted.
    pub(super) fn document(&mut self, data: &[u8], document: &Document<'_>) {
        self.patches.clear();
        let members = document.members().iter().copied();
        let body = self.body;
        let mut page = self.page();
        match body {
            BodyKind::ChatCompletions | BodyKind::Completions => chat::answer(&mut page, data, members),
            BodyKind::Messages | BodyKind::CountTokens => messages::read(&mut page, data, members),
            BodyKind::GenerateContent => generate::read(&mut page, members),
            BodyKind::Responses => responses::read(&mut page, data, members),
            BodyKind::Embeddings | BodyKind::Images | BodyKind::Audio | BodyKind::Moderations => plain::read(&mut page, data, members),
        }
        if self.hearing == Hearing::Missing && self.facts.usage().is_some() {
            self.hearing = Hearing::Nothing;
        }
        if self.hearing != Hearing::Nothing {
            self.ear.get_or_insert_with(|| Box::new(Ear::new(self.hearing))).document(self.body, data);
        }
    }

    /// Reads a part of an answer with an ear for its text.
    #[inline]
    fn listening(&mut self, data: &[u8]) -> Fate {
        if self.hearing == Hearing::Nothing {
            return self.dispatch(data);
        }
        self.ear.get_or_insert_with(|| Box::new(Ear::new(self.hearing)));
        let fate = self.dispatch(data);
        self.listen_on();
        fate
    }

    #[inline]
    fn dispatch(&mut self, data: &[u8]) -> Fate {
        let body = self.body;
        let mut page = self.page();
        match body {
            BodyKind::ChatCompletions | BodyKind::Completions => return chat::chunk(&mut page, data),
            BodyKind::Messages | BodyKind::CountTokens => messages::event(&mut page, data),
            BodyKind::GenerateContent => generate::read(&mut page, json::members(data)),
            BodyKind::Responses => responses::event(&mut page, data),
            BodyKind::Embeddings | BodyKind::Images | BodyKind::Audio | BodyKind::Moderations => plain::event(&mut page, data),
        }
        Fate::Keep
    }

    #[inline]
    fn page(&mut self) -> Page<'_> {
        let Self { facts, rules, patches, prefix, ear, .. } = self;
        Page { facts, rules, patches, prefix, ear: ear.as_deref_mut() }
    }

    pub(super) fn is_patched(&self) -> bool {
        !self.patches.is_empty()
    }

    /// Appends `data`, patched as the last reading demands.
    pub(super) fn write(&self, data: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        for patch in &self.patches {
            if patch.span.start < at {
                continue;
            }
            out.extend_from_slice(Span { start: at, end: patch.span.start }.of(data));
            if let (With::Model, Some(model)) = (patch.with, &self.rules.model) {
                out.extend_from_slice(model);
            }
            at = patch.span.end;
        }
        out.extend_from_slice(data.get(at..).unwrap_or_default());
    }
}

/// What a dialect's reader works on.
pub(super) struct Page<'p> {
    pub(super) facts: &'p mut Learnt,
    pub(super) rules: &'p Rules,
    patches: &'p mut Vec<Patch>,
    prefix: &'p mut Prefix,
    /// Where the text is to be counted.
    pub(super) ear: Option<&'p mut Ear>,
}

/// The members every chunk of a stream starts with, and the patches they need: what repeats is compared instead of walked.
#[derive(Debug, Default)]
struct Prefix {
    bytes: Vec<u8>,
    patches: Vec<Patch>,
    before: Option<usize>,
}

impl Page<'_> {
    /// Where to start walking `data`, and where the member before ends: after the prefix it shares with the last chunk.
    #[inline]
    pub(super) fn skip_prefix(&mut self, data: &[u8]) -> Option<(usize, Option<usize>)> {
        let prefix = &*self.prefix;
        if prefix.bytes.is_empty() || !data.starts_with(&prefix.bytes) {
            return None;
        }
        self.patches.extend_from_slice(&prefix.patches);
        Some((prefix.bytes.len(), prefix.before))
    }

    /// Remembers `bytes` as the prefix to skip; it ends where a key starts, and the member before it at `before`.
    pub(super) fn learn_prefix(&mut self, bytes: &[u8], before: Option<usize>) {
        self.prefix.bytes.clear();
        self.prefix.patches.clear();
        if bytes.len() <= PREFIX_LIMIT {
            self.prefix.bytes.extend_from_slice(bytes);
            self.prefix.patches.reserve_exact(self.patches.len());
            self.prefix.patches.extend_from_slice(self.patches);
            self.prefix.before = before;
        }
    }

    /// Puts the answer's model name into `member`, found in an object that starts `base` bytes into the data.
    pub(super) fn model(&mut self, member: &Member<'_>, base: usize) {
        if let Some(model) = &self.rules.model
            && member.kind == Kind::String
            && *member.value() != **model
        {
            self.patch(Patch { span: member.span.shifted(base), with: With::Model });
        }
    }

    /// Takes `member` out of `data` with one of its commas; the member before it ends at `before`.
    pub(super) fn remove(&mut self, data: &[u8], member: &Member<'_>, before: Option<usize>) {
        let after = json::skip_space(data, member.span.end);
        let span = match (data.get(after), before) {
            (Some(b','), _) => Span { start: member.key_span.start, end: json::skip_space(data, after + 1) },
            (_, Some(before)) => Span { start: before, end: member.span.end },
            (_, None) => Span { start: member.key_span.start, end: member.span.end },
        };
        self.patch(Patch { span, with: With::Nothing });
    }

    fn patch(&mut self, patch: Patch) {
        // Nearly always the only one.
        self.patches.reserve_exact(1);
        self.patches.push(patch);
    }
}

/// The value of a leading `type` member, which tells most events apart without a walk.
#[inline]
pub(super) fn leading_type(data: &[u8]) -> Option<&[u8]> {
    let value = data.strip_prefix(b"{\"type\":\"").or_else(|| data.strip_prefix(b"{\"type\": \""))?;
    value.get(..value.iter().position(|byte| *byte == b'"')?)
}
