//! The texts of a request seen through a few windows that lie evenly over them.

use super::{PICTURE, Part, TURN, count, in_proportion, part};
use crate::wire::json::{Span, Text, skip_space, string_end};

/// How far after its place a window may begin or end, to do so between two words.
const NEAR: usize = 24;

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// How many windows.
    pub(super) count: usize,
    /// How much text each shows.
    pub(super) bytes: usize,
}

/// What was seen of a request.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Texts as they are escaped in the body, each followed by a zero byte, which no valid JSON text holds.
    text: Box<[u8]>,
    /// Bytes of them.
    seen: u64,
    /// Bytes of all texts.
    total: u64,
    turns: u64,
    pictures: u64,
}

impl Sample {
    /// Looks at the validated JSON `body` in one pass.
    pub(super) fn of(body: &[u8], windows: Windows) -> Self {
        let mut sample = Self::default();
        let texts = sample.texts(body);
        sample.look(body, &texts, windows);
        sample
    }

    /// Finds the texts, and counts what is none.
    fn texts(&mut self, body: &[u8]) -> Vec<Span> {
        let mut texts = Vec::new();
        let (mut at, mut name) = (0, &b""[..]);
        while let Some(quote) = body.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
            let start = at + quote + 1;
            let Some((after, _)) = string_end(body, start) else { break };
            let span = Span { start, end: after - 1 };
            let next = skip_space(body, after);
            if body.get(next) == Some(&b':') {
                name = span.of(body);
                at = next + 1;
                continue;
            }
            at = after;
            match part(name) {
                Part::Turn => self.turns += 1,
                Part::Picture => self.pictures += 1,
                Part::Nothing => {}
                Part::Text if span.is_empty() => {}
                Part::Text => {
                    self.total += span.len() as u64;
                    texts.push(span);
                }
            }
        }
        texts
    }

    /// Takes what the windows show; all of it where they would show as much.
    fn look(&mut self, body: &[u8], texts: &[Span], windows: Windows) {
        let total = usize::try_from(self.total).unwrap_or(usize::MAX);
        let all = total <= windows.count * windows.bytes;
        let mut seen = Vec::with_capacity(if all { total + texts.len() } else { 0 });
        let stride = total / windows.count.max(1);
        let (mut before, mut window) = (0, 0);
        for span in texts {
            let text = span.of(body);
            let end = before + text.len();
            if all {
                self.take(text, &mut seen);
            }
            while !all && window < windows.count {
                let from = window * stride + astray(window, stride - windows.bytes);
                let to = from + windows.bytes;
                if from >= end {
                    break;
                }
                let first = between(text, from.saturating_sub(before));
                let last = between(text, (to - before).min(text.len()));
                self.take(text.get(first..last).unwrap_or_default(), &mut seen);
                if to > end {
                    break;
                }
                window += 1;
            }
            before = end;
        }
        // A copy is as large as it needs to be; what a vector shrinks by, its allocator may keep.
        self.text = Box::from(seen.as_slice());
    }

    fn take(&mut self, text: &[u8], seen: &mut Vec<u8>) {
        if !text.is_empty() {
            seen.extend_from_slice(text);
            seen.push(0);
            self.seen += text.len() as u64;
        }
    }

    /// Memory held, in bytes.
    pub(super) fn held(&self) -> usize {
        self.text.len() + size_of::<Self>()
    }

    /// Tokens of the whole request, in proportion to those of what was seen.
    pub(super) fn count(&self, model: &str) -> u64 {
        let counted = self.text.split(|byte| *byte == 0).map(|text| count(model, &Text::Escaped(text).decode())).sum();
        in_proportion(counted, self.total, self.seen) + TURN * self.turns + PICTURE * self.pictures
    }
}

/// Where in its share of the text a window lies: another place in each, since what repeats would else show the same part of itself
/// in all of them. Below or at `most`.
fn astray(window: usize, most: usize) -> usize {
    /// The golden ratio's fraction, of 2^16: its multiples spread evenly.
    const STEP: usize = 40_503;
    let share = window.wrapping_add(1).wrapping_mul(STEP) & 0xffff;
    (most >> 16) * share + (((most & 0xffff) * share) >> 16)
}

/// A place at or shortly after `at` that divides neither a word, where there are spaces, nor a character, nor an escape.
fn between(text: &[u8], at: usize) -> usize {
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    let near = text.get(at..(at + NEAR).min(text.len())).unwrap_or_default();
    if let Some(space) = memchr::memchr(b' ', near) {
        return at + space;
    }
    let open = text.get(at.saturating_sub(5)..at).unwrap_or_default();
    if let Some(slash) = memchr::memrchr(b'\\', open) {
        let start = at - open.len() + slash;
        let length = if text.get(start + 1) == Some(&b'u') { 6 } else { 2 };
        return (start + length).max(at).min(text.len());
    }
    near.iter().position(|byte| byte & 0xc0 != 0x80).map_or(text.len(), |ahead| at + ahead)
}
