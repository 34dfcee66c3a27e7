//! The members of a chunk, or of a whole answer, found in one walk.

use super::cursor::Cursor;
use crate::wire::json::{Kind, Value};

/// Longest beginning that is remembered.
const PREFIX_LONGEST: usize = 1024;

/// What was found.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) id: Value<'a>,
    pub(super) created: Value<'a>,
    pub(super) usage: Value<'a>,
    /// The choices; all but the first are rare.
    pub(super) first: Option<Part<'a>>,
    pub(super) more: Vec<Part<'a>>,
    error: Value<'a>,
    detail: Value<'a>,
    /// The chunk calls itself an error.
    is_error: bool,
    whole: Value<'a>,
}

/// One choice of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) index: Value<'a>,
    pub(super) finish_reason: Value<'a>,
    pub(super) stop_reason: Value<'a>,
    pub(super) logprobs: Value<'a>,
    pub(super) error: Value<'a>,
    pub(super) content: Value<'a>,
    pub(super) refusal: Value<'a>,
    pub(super) reasoning_content: Value<'a>,
    pub(super) reasoning: Value<'a>,
    pub(super) reasoning_details: Value<'a>,
    pub(super) thinking_blocks: Value<'a>,
    pub(super) tool_calls: Value<'a>,
    pub(super) function_call: Value<'a>,
    pub(super) annotations: Value<'a>,
    pub(super) images: Value<'a>,
    pub(super) audio: Value<'a>,
    /// It is a whole message rather than a piece of one.
    pub(super) is_whole: bool,
}

impl Part<'_> {
    const EMPTY: Self = Self {
        index: Value::NULL,
        finish_reason: Value::NULL,
        stop_reason: Value::NULL,
        logprobs: Value::NULL,
        error: Value::NULL,
        content: Value::NULL,
        refusal: Value::NULL,
        reasoning_content: Value::NULL,
        reasoning: Value::NULL,
        reasoning_details: Value::NULL,
        thinking_blocks: Value::NULL,
        tool_calls: Value::NULL,
        function_call: Value::NULL,
        annotations: Value::NULL,
        images: Value::NULL,
        audio: Value::NULL,
        is_whole: false,
    };
}

impl<'a> Chunk<'a> {
    /// The error it tells, if it does.
    pub(super) fn failure(&self) -> Option<Value<'a>> {
        let told = match self.error.kind() {
            Kind::Object | Kind::Array | Kind::Number => true,
            Kind::String => self.error.text().is_some_and(|text| !text.is_empty()),
            Kind::Bool => self.error.bool() == Some(true),
            Kind::Null => false,
        };
        // Some frameworks tell errors of theirs in one member.
        let detailed = !self.detail.is_null() && self.first.is_none();
        (told || detailed || self.is_error).then_some(self.whole)
    }

    /// Whether the answer proper begins with it: some send frames of their own before.
    pub(super) fn begins(&self) -> bool {
        self.first.is_some() || self.usage.kind() == Kind::Object
    }
}

/// Reads `data`; `None` where it is no JSON object. `prefix` is what earlier chunks began with.
pub(super) fn read<'a>(data: &'a [u8], prefix: &mut Vec<u8>) -> Option<Chunk<'a>> {
    let mut chunk = Chunk {
        id: Value::NULL,
        created: Value::NULL,
        usage: Value::NULL,
        first: None,
        more: Vec::new(),
        error: Value::NULL,
        detail: Value::NULL,
        is_error: false,
        whole: Value::of(data),
    };
    let known = !prefix.is_empty() && data.starts_with(prefix);
    let mut choices_at = None;
    let mut cursor = if known { Cursor::within(data, prefix.len()) } else { Cursor::new(data) };
    let member = |cursor: &mut Cursor<'a>, key: &'a [u8], begins: usize| {
        if key == b"choices" && choices_at.is_none() {
            choices_at = Some(begins);
        }
        chunk.member(cursor, key)
    };
    if known {
        cursor.members(member)?
    } else {
        cursor.object(member)?
    }
    if !cursor.is_over() {
        return None;
    }
    if prefix.is_empty()
        && chunk.first.is_some()
        && chunk.usage.is_null()
        && let Some(beginning) = choices_at.filter(|at| (2..PREFIX_LONGEST).contains(at)).and_then(|at| data.get(..at))
    {
        prefix.extend_from_slice(beginning);
    }
    Some(chunk)
}

impl<'a> Chunk<'a> {
    #[inline]
    fn member(&mut self, cursor: &mut Cursor<'a>, key: &'a [u8]) -> Option<()> {
        match key {
            b"choices" if cursor.kind() == Some(Kind::Array) => cursor.array(|cursor| self.choice(cursor))?,
            b"id" => self.id = cursor.value()?,
            b"created" => self.created = cursor.value()?,
            b"usage" => self.usage = cursor.value()?,
            b"error" => self.error = cursor.value()?,
            b"object" | b"type" => self.is_error |= cursor.value()?.is_str("error"),
            b"detail" => self.detail = cursor.value()?,
            // Where one service tells its usage.
            b"x_groq" => {
                let usage = cursor.value()?.get("usage");
                self.usage = if usage.is_null() { self.usage } else { usage };
            }
            _ => drop(cursor.value()?),
        }
        Some(())
    }

    #[inline]
    fn choice(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.kind() != Some(Kind::Object) {
            return cursor.value().map(drop);
        }
        let mut part = Part::EMPTY;
        cursor.object(|cursor, key, _| part.member(cursor, key))?;
        match self.first {
            None => self.first = Some(part),
            Some(_) => self.more.push(part),
        }
        Some(())
    }
}

impl<'a> Part<'a> {
    #[inline]
    fn member(&mut self, cursor: &mut Cursor<'a>, key: &'a [u8]) -> Option<()> {
        match key {
            b"delta" | b"message" if cursor.kind() == Some(Kind::Object) => {
                self.is_whole = key == b"message";
                cursor.object(|cursor, key, _| self.said(cursor, key))?;
            }
            b"index" => self.index = cursor.value()?,
            b"finish_reason" => self.finish_reason = cursor.value()?,
            b"logprobs" => self.logprobs = cursor.value()?,
            b"stop_reason" | b"matched_stop" => self.stop_reason = cursor.value()?,
            b"error" => self.error = cursor.value()?,
            _ => drop(cursor.value()?),
        }
        Some(())
    }

    #[inline]
    fn said(&mut self, cursor: &mut Cursor<'a>, key: &'a [u8]) -> Option<()> {
        let value = cursor.value()?;
        match key {
            b"content" => self.content = value,
            b"refusal" => self.refusal = value,
            b"reasoning_content" => self.reasoning_content = value,
            b"reasoning" => self.reasoning = value,
            b"reasoning_details" => self.reasoning_details = value,
            b"thinking_blocks" => self.thinking_blocks = value,
            b"tool_calls" => self.tool_calls = value,
            b"function_call" => self.function_call = value,
            b"annotations" => self.annotations = value,
            b"images" => self.images = value,
            b"audio" => self.audio = value,
            _ => {}
        }
        Some(())
    }
}
