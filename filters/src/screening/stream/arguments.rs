//! The texts inside JSON that comes in pieces, cut anywhere: every string that is no key by itself, escapes replaced, and every number.
//!
//! What turns out to be no JSON is one text from there on.

use super::escape::{decoded, escape_len};
use super::grammar::{Grammar, Token};
use super::number::Number;
use super::outlet::{Bench, Outlet};
use super::runs::Runs;
use super::scan::Scan;
use crate::guardrails::Place;
use crate::wire::json::string_mark;

/// The longest key that is compared with known ones.
const LONGEST_KEY: usize = 24;
/// Keys whose strings are no texts, where little is known of the JSON.
const NO_TEXTS: [&[u8]; 32] = [
    b"type",
    b"id",
    b"role",
    b"status",
    b"name",
    b"model",
    b"object",
    b"index",
    b"call_id",
    b"item_id",
    b"tool_use_id",
    b"file_id",
    b"container_id",
    b"signature",
    b"thoughtSignature",
    b"encrypted_content",
    b"encrypted_index",
    b"data",
    b"result",
    b"b64_json",
    b"url",
    b"uri",
    b"file_url",
    b"image_url",
    b"file_data",
    b"media_type",
    b"mime_type",
    b"mimeType",
    b"format",
    b"obfuscation",
    b"partial_image_b64",
    b"fileUri",
];

/// JSON that comes in pieces. Offsets count from its start.
pub(super) struct Arguments {
    place: Place,
    /// The JSON is of a form nobody knows: only strings are texts, and only some.
    foreign: bool,
    grammar: Grammar,
    state: State,
    /// The start of an escape whose rest is to come.
    carry: String,
    /// Bytes that came, what is carried left out.
    len: usize,
    key: Vec<u8>,
    decoded: String,
}

enum State {
    Between,
    Key,
    /// A string that is no text.
    Skipped,
    Text(Box<Scan>, Runs),
    Number(Number),
    /// No JSON any more: one text.
    Plain(Box<Scan>, usize),
}

impl Arguments {
    pub(super) fn new(place: Place, foreign: bool) -> Self {
        Self {
            place,
            foreign,
            grammar: Grammar::default(),
            state: State::Between,
            carry: String::new(),
            len: 0,
            key: Vec::new(),
            decoded: String::new(),
        }
    }

    /// Takes the next piece in.
    pub(super) fn push(&mut self, bench: &mut Bench<'_>, out: &mut Outlet, piece: &str) {
        if self.carry.is_empty() {
            self.read(bench, out, piece);
        } else {
            let joined = std::mem::take(&mut self.carry) + piece;
            self.read(bench, out, &joined);
        }
    }

    /// What came of it so far is settled, whole or not; what follows is looked at by itself.
    pub(super) fn end(&mut self, bench: &mut Bench<'_>, out: &mut Outlet) {
        match &mut self.state {
            State::Text(scan, runs) => {
                out.take(bench, scan.end(bench.rules), true, |at| runs.outer(at));
                (**scan, *runs) = (Scan::new(bench.rules, self.place), Runs::at(self.len));
            }
            State::Number(_) if self.foreign => {}
            State::Number(number) => number.settle(self.place, self.len, bench, out),
            State::Plain(scan, base) => {
                out.take(bench, scan.end(bench.rules), false, |at| *base + at);
                (**scan, *base) = (Scan::new(bench.rules, self.place), self.len);
            }
            State::Between | State::Key | State::Skipped => {}
        }
    }

    /// Up to where no finding changes it any more.
    pub(super) fn upto(&self) -> usize {
        match &self.state {
            State::Text(scan, runs) => runs.outer(scan.upto()),
            State::Number(number) if !number.changed => number.start,
            State::Plain(scan, base) => base + scan.upto(),
            State::Between | State::Key | State::Skipped | State::Number(_) => self.len + self.carry.len(),
        }
    }

    fn read(&mut self, bench: &mut Bench<'_>, out: &mut Outlet, text: &str) {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let length = match &mut self.state {
                State::Between => self.between(bench, rest),
                State::Key | State::Skipped => self.untold(rest),
                State::Text(..) => self.text(bench, out, rest),
                State::Number(_) => self.number(bench, out, rest),
                State::Plain(scan, base) => {
                    let told = scan.push(bench.rules, rest);
                    out.take(bench, told, false, |at| *base + at);
                    Some(rest.len())
                }
            };
            let Some(length) = length else {
                self.carry.push_str(rest);
                return;
            };
            self.len += length;
            at += length;
        }
    }
}

impl Arguments {
    fn between(&mut self, bench: &Bench<'_>, rest: &str) -> Option<usize> {
        for (at, byte) in rest.bytes().enumerate() {
            let start = self.len + at;
            match self.grammar.step(byte) {
                Token::Structure => continue,
                Token::Key => {
                    self.key.clear();
                    self.state = State::Key;
                }
                Token::Text if self.foreign && NO_TEXTS.contains(&&*self.key) => self.state = State::Skipped,
                Token::Text => self.state = State::Text(Box::new(Scan::new(bench.rules, self.place)), Runs::at(start + 1)),
                Token::Number => {
                    self.state = State::Number(Number::at(start));
                    return Some(at);
                }
                Token::Broken => {
                    self.state = State::Plain(Box::new(Scan::new(bench.rules, self.place)), start);
                    return Some(at);
                }
            }
            return Some(at + 1);
        }
        Some(rest.len())
    }

    /// A key, or a string that is no text.
    fn untold(&mut self, rest: &str) -> Option<usize> {
        let bytes = rest.as_bytes();
        let keeps = self.foreign && matches!(self.state, State::Key);
        let mut at = 0;
        loop {
            let stop = string_mark(bytes, at);
            if keeps && self.key.len() <= LONGEST_KEY {
                self.key.extend_from_slice(bytes.get(at..stop).unwrap_or_default());
            }
            at = stop;
            match bytes.get(at) {
                None => return Some(at),
                Some(b'"') => {
                    self.state = State::Between;
                    return Some(at + 1);
                }
                Some(_) => match escape_len(bytes.get(at..)?) {
                    None if at == 0 => return None,
                    None => return Some(at),
                    Some(length) => {
                        if keeps && self.key.len() <= LONGEST_KEY {
                            self.key.extend_from_slice(decoded(bytes.get(at..at + length)?).as_bytes());
                        }
                        at += length;
                    }
                },
            }
        }
    }

    fn text(&mut self, bench: &mut Bench<'_>, out: &mut Outlet, rest: &str) -> Option<usize> {
        let State::Text(scan, runs) = &mut self.state else { return Some(rest.len()) };
        let bytes = rest.as_bytes();
        let mut at = string_mark(bytes, 0);
        let mut text = rest.get(..at)?;
        if bytes.get(at) == Some(&b'\\') {
            let Some(end) = unescape(rest, at, self.len, scan.len(), runs, &mut self.decoded) else {
                // Only the start of an escape came.
                return None;
            };
            at = end;
            text = &self.decoded;
        }
        let told = scan.push(bench.rules, text);
        out.take(bench, told, true, |at| runs.outer(at));
        if bytes.get(at) == Some(&b'"') {
            out.take(bench, scan.end(bench.rules), true, |at| runs.outer(at));
            self.state = State::Between;
            return Some(at + 1);
        }
        runs.forget(scan.upto());
        Some(at)
    }

    fn number(&mut self, bench: &mut Bench<'_>, out: &mut Outlet, rest: &str) -> Option<usize> {
        let State::Number(number) = &mut self.state else { return Some(rest.len()) };
        let (length, over) = number.push(rest, self.len, out);
        if over && self.grammar.is_outside() && number.is_held_whole() {
            // What begins with a number and goes on is no JSON.
            let mut scan = Box::new(Scan::new(bench.rules, self.place));
            let (start, told) = (number.start, scan.push(bench.rules, &number.token));
            out.take(bench, told, false, |at| start + at);
            self.state = State::Plain(scan, start);
        } else if over || number.is_full() {
            if !self.foreign {
                number.settle(self.place, self.len + length, bench, out);
            }
            if over {
                self.state = State::Between;
            }
        }
        Some(length)
    }
}

/// Decodes the string that goes on in `rest`, of which the first escape is at `from`, up to its quote or what is there of it, and returns
/// where that is. `outer` and `inner` are where `rest` begins. `None` where nothing but the start of an escape is there.
fn unescape(rest: &str, from: usize, outer: usize, inner: usize, runs: &mut Runs, out: &mut String) -> Option<usize> {
    let bytes = rest.as_bytes();
    out.clear();
    out.push_str(rest.get(..from)?);
    let mut at = from;
    while bytes.get(at) == Some(&b'\\') {
        let Some(length) = escape_len(bytes.get(at..)?) else { return (at > 0).then_some(at) };
        let text = decoded(bytes.get(at..at + length)?);
        runs.escape(inner + out.len(), outer + at, text.len(), length);
        out.push_str(&text);
        let stop = string_mark(bytes, at + length);
        out.push_str(rest.get(at + length..stop)?);
        at = stop;
    }
    Some(at)
}
