//! The strict validator: RFC 8259, UTF-8 included, in one pass over bytes.

use std::collections::HashMap;

use super::fault::{Fault, Problem};
use super::text::{hex4, string_part};
use super::{Document, Kind, Member, Span, skip_space};

/// Nesting that is refused whatever the caller allows.
pub const DEEPEST: usize = 1024;
/// Objects with at most this many members are checked for duplicates pair by pair.
const FEW_MEMBERS: usize = 24;
/// Most top-level members, so that many short ones take no memory out of proportion to the body.
const MEMBERS_LIMIT: usize = 4096;
/// Longest part of a key quoted in an error.
const KEY_SHOWN: usize = 64;

/// Checks the whole document and returns its top level, which must be an object without duplicate keys (compared decoded).
/// The top-level object is the first of `max_depth` levels. `see` is shown every string, keys too, as written between its quotes.
///
/// # Errors
/// The first [`Fault`] met.
pub fn scan<'a>(body: &'a [u8], max_depth: usize, see: impl FnMut(&'a [u8])) -> Result<Document<'a>, Fault> {
    let document = check(body, max_depth, see)?;
    match duplicate(&document) {
        None => Ok(document),
        Some(member) => {
            let key = member.key().chars().take(KEY_SHOWN).collect::<String>();
            Err(Fault { offset: member.key_span.start, problem: Problem::DuplicateKey(key.into()) })
        }
    }
}

/// As [`scan`], but accepts duplicate keys and shows nobody the strings.
///
/// # Errors
/// The first [`Fault`] met.
pub fn outline(body: &[u8], max_depth: usize) -> Result<Document<'_>, Fault> {
    check(body, max_depth, |_| {})
}

fn check<'a>(body: &'a [u8], max_depth: usize, see: impl FnMut(&'a [u8])) -> Result<Document<'a>, Fault> {
    if body.starts_with(b"\xef\xbb\xbf") {
        return Err(Fault { offset: 0, problem: Problem::ByteOrderMark });
    }
    let mut scanner = Scanner { body, at: 0, max_depth: max_depth.min(DEEPEST), see };
    scanner.document().map_err(|problem| {
        if let Err(error) = std::str::from_utf8(body) {
            return Fault { offset: error.valid_up_to(), problem: Problem::NotUtf8 };
        }
        let problem = if scanner.at >= body.len() { Problem::UnexpectedEnd } else { problem };
        Fault { offset: scanner.at.min(body.len()), problem }
    })
}

fn duplicate<'a, 'd>(document: &'d Document<'a>) -> Option<&'d Member<'a>> {
    let members = document.members();
    if members.len() > FEW_MEMBERS {
        let mut seen = HashMap::with_capacity(members.len());
        return members.iter().find(|member| seen.insert(member.name(), ()).is_some());
    }
    let same = |one: &Member<'_>, other: &Member<'_>| match one.escaped || other.escaped {
        false => one.raw_key == other.raw_key,
        true => one.name() == other.name(),
    };
    members.iter().enumerate().find(|(at, member)| members.iter().take(*at).any(|earlier| same(earlier, member))).map(|(_, member)| member)
}

struct Scanner<'a, F> {
    body: &'a [u8],
    at: usize,
    max_depth: usize,
    see: F,
}

impl<'a, F: FnMut(&'a [u8])> Scanner<'a, F> {
    fn document(&mut self) -> Result<Document<'a>, Problem> {
        self.space();
        let start = self.at;
        if self.peek() != Some(b'{') {
            return Err(Problem::NotAnObject);
        }
        if self.max_depth == 0 {
            return Err(Problem::TooDeep(0));
        }
        self.at += 1;
        let members = self.top_members()?;
        let span = Span { start, end: self.at };
        self.space();
        match self.at < self.body.len() {
            true => Err(Problem::TrailingData),
            false => Ok(Document { members, span }),
        }
    }

    fn top_members(&mut self) -> Result<Vec<Member<'a>>, Problem> {
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        members.reserve(16);
        loop {
            self.space();
            members.push(self.top_member()?);
            self.space();
            match self.peek() {
                Some(b',') if members.len() >= MEMBERS_LIMIT => return Err(Problem::TooManyMembers(MEMBERS_LIMIT)),
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(members);
                }
                _ => return Err(Problem::ExpectedComma),
            }
        }
    }

    fn top_member(&mut self) -> Result<Member<'a>, Problem> {
        let key_start = self.at;
        let (key_end, escaped) = self.key()?;
        let start = self.at;
        let kind = self.value()?;
        Ok(Member {
            raw_key: self.body.get(key_start + 1..key_end - 1).unwrap_or_default(),
            value: self.body.get(start..self.at).unwrap_or_default(),
            escaped,
            key_span: Span { start: key_start, end: key_end },
            span: Span { start, end: self.at },
            kind,
        })
    }

    /// Reads a key and its colon up to the value; returns the key's end and whether it holds escapes.
    fn key(&mut self) -> Result<(usize, bool), Problem> {
        if self.peek() != Some(b'"') {
            return Err(Problem::ExpectedKey);
        }
        let escaped = self.string()?;
        let end = self.at;
        self.space();
        if self.peek() != Some(b':') {
            return Err(Problem::ExpectedColon);
        }
        self.at += 1;
        self.space();
        Ok((end, escaped))
    }

    /// Reads one value of the top-level object, however deep, without recursion.
    fn value(&mut self) -> Result<Kind, Problem> {
        let kind = self.peek().and_then(Kind::of).ok_or(Problem::ExpectedValue)?;
        let mut open = Nesting::default();
        loop {
            if self.value_start(&mut open)? {
                continue;
            }
            if !self.value_after(&mut open)? {
                return Ok(kind);
            }
        }
    }

    /// Reads a scalar, or opens a container; true when another value follows inside it.
    fn value_start(&mut self, open: &mut Nesting) -> Result<bool, Problem> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| false),
            Some(b'{') => {
                self.open(open, true)?;
                if self.peek() == Some(b'}') {
                    self.at += 1;
                    open.pop();
                    return Ok(false);
                }
                self.key().map(|_| true)
            }
            Some(b'[') => {
                self.open(open, false)?;
                if self.peek() == Some(b']') {
                    self.at += 1;
                    open.pop();
                    return Ok(false);
                }
                Ok(true)
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| false),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            _ => Err(Problem::ExpectedValue),
        }
    }

    /// Reads what follows a value inside its containers; true when it is another value.
    fn value_after(&mut self, open: &mut Nesting) -> Result<bool, Problem> {
        while let Some(object) = open.top() {
            self.space();
            match (self.peek(), object) {
                (Some(b','), true) => {
                    self.at += 1;
                    self.space();
                    return self.key().map(|_| true);
                }
                (Some(b','), false) => {
                    self.at += 1;
                    self.space();
                    return Ok(true);
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    self.at += 1;
                    open.pop();
                }
                _ => return Err(Problem::ExpectedComma),
            }
        }
        Ok(false)
    }

    fn open(&mut self, open: &mut Nesting, object: bool) -> Result<(), Problem> {
        // The top-level object is not on this stack.
        if open.depth + 2 > self.max_depth {
            return Err(Problem::TooDeep(self.max_depth));
        }
        open.push(object);
        self.at += 1;
        self.space();
        Ok(())
    }

    /// Reads a string from its opening quote; true when it holds escapes.
    #[inline]
    fn string(&mut self) -> Result<bool, Problem> {
        let mut escaped = false;
        let mut ascii = true;
        self.at += 1;
        let start = self.at;
        loop {
            let (stop, plain) = string_part(self.body, self.at);
            self.at = stop;
            ascii &= plain;
            match self.peek() {
                Some(b'"') => {
                    let content = self.body.get(start..stop).unwrap_or_default();
                    if !ascii && std::str::from_utf8(content).is_err() {
                        return Err(Problem::NotUtf8);
                    }
                    (self.see)(content);
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(Problem::ControlCharacter),
                None => return Err(Problem::UnexpectedEnd),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Problem> {
        match self.body.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') if hex4(self.body, self.at + 2).is_some() => self.at += 6,
            _ => return Err(Problem::InvalidEscape),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Problem> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        match self.peek() {
            Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'+' | b'-') => Err(Problem::InvalidNumber),
            _ => Ok(()),
        }
    }

    fn digits(&mut self) -> Result<(), Problem> {
        let rest = self.body.get(self.at..).unwrap_or_default();
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        if count == 0 { Err(Problem::InvalidNumber) } else { Ok(()) }
    }

    fn literal(&mut self, word: &[u8]) -> Result<bool, Problem> {
        if !self.body.get(self.at..).unwrap_or_default().starts_with(word) {
            return Err(Problem::ExpectedValue);
        }
        self.at += word.len();
        Ok(false)
    }

    #[inline]
    fn space(&mut self) {
        self.at = skip_space(self.body, self.at);
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }
}

/// The containers open around a value, one bit each: set for objects.
#[derive(Default)]
struct Nesting {
    words: [u64; DEEPEST / 64],
    depth: usize,
}

impl Nesting {
    #[inline]
    fn push(&mut self, object: bool) {
        if let Some(word) = self.words.get_mut(self.depth / 64) {
            let bit = 1 << (self.depth % 64);
            *word = if object { *word | bit } else { *word & !bit };
        }
        self.depth += 1;
    }

    #[inline]
    const fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether the innermost container is an object; none when all are closed.
    #[inline]
    fn top(&self) -> Option<bool> {
        let last = self.depth.checked_sub(1)?;
        self.words.get(last / 64).map(|word| word >> (last % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests;
