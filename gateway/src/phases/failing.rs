//! Error statuses. Their bodies are collected, since only the whole tells whether the client can read it.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use svc_filters::canonical::Failure;
use svc_filters::shape::Shape;
use svc_filters::translate::{fit_to_tell, is_failure, read_failure, write_failure_as};

use super::way::Way;
use super::{failure, response};
use crate::exchange::Exchange;
use crate::rescue;

/// The most that is kept of an error's body.
const LIMIT: usize = 1 << 20;
/// The most that is read of an error another try follows.
const REASON: usize = 64 * 1024;

/// An error of a provider on its way.
#[derive(Debug)]
pub struct Collected {
    dialect: Shape,
    status: u16,
    own: bool,
    body: BytesMut,
    /// Whether it was too large to be kept, and goes through as it comes.
    open: bool,
    /// Whether a part of it was too much to be kept, and was dropped.
    cut: bool,
}

impl Collected {
    /// An error with a status. `own` tells that the dialect is the client's too.
    #[must_use]
    pub fn new(dialect: Shape, status: u16, own: bool) -> Self {
        Self { dialect, status, own, body: BytesMut::new(), open: false, cut: false }
    }

    /// The status the client gets whatever the body says; `None` where the error is translated.
    #[must_use]
    pub fn own_status(&self) -> Option<u16> {
        self.own.then_some(self.status)
    }

    /// What is known of the error so far, in no vendor's words.
    #[must_use]
    pub fn failure(&self) -> Failure<'static> {
        read_failure(self.dialect, self.status, fit_to_tell(&self.body))
    }

    /// The body for a client of the dialect: the provider's own bytes where they are an error of it, else one made of what they tell.
    #[must_use]
    pub fn told(&mut self, request_id: &str) -> Bytes {
        if self.open {
            return Bytes::new();
        }
        if is_failure(self.dialect, &self.body) {
            return self.body.split().freeze();
        }
        write_failure_as(self.dialect, &self.failure(), self.status, request_id).into()
    }

    /// Takes a piece and returns what leaves at once, which is nothing but of a document beyond the bound.
    fn push(&mut self, piece: Bytes) -> Bytes {
        if self.open {
            return piece;
        }
        let room = LIMIT.saturating_sub(self.body.len());
        let document = matches!(self.body.trim_ascii_start().first(), Some(b'{' | b'['));
        if piece.len() > room && self.own && document {
            self.open = true;
            self.body.extend_from_slice(&piece);
            return self.body.split().freeze();
        }
        self.cut |= piece.len() > room;
        self.body.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
        Bytes::new()
    }
}

/// Takes a piece of an error's body and returns what the client gets now.
///
/// # Errors
/// When the error can only be told by another answer than the one that was begun.
pub fn piece(session: &Session, exchange: &mut Exchange, incoming: Bytes, end: bool) -> Result<Bytes> {
    let Some(Way::Failing(error)) = exchange.answer.way.as_mut() else { return Ok(incoming) };
    let early = error.push(incoming);
    let enough = end || error.cut || exchange.answer.passed_over && error.body.len() > REASON;
    if !enough {
        return Ok(early);
    }
    let failure = error.failure();
    correct_rest(exchange, &failure);
    if exchange.answer.passed_over {
        return Err(go_on(session, exchange, failure));
    }
    if !end {
        exchange.answer.failure = Some(Box::new(failure));
        return Err(Error::explain(ErrorType::ReadError, "the body of the provider's error has no end").into_up());
    }
    let Some(Way::Failing(error)) = exchange.answer.way.as_mut() else { return Ok(early) };
    if error.own {
        return Ok(if early.is_empty() { error.told(exchange.id.as_str()) } else { early });
    }
    translated(session, exchange, failure)
}

/// Lets the credential rest as long as the body asks, where the head has asked for nothing.
fn correct_rest(exchange: &mut Exchange, failure: &Failure<'_>) {
    let (Some(until), Some(seconds)) = (exchange.answer.guess.take(), failure.retry_after) else { return };
    if let (Some(provider), Some(key)) = (exchange.attempts.provider(), exchange.attempts.key()) {
        provider.keys().correct(key.index, until, exchange.now(), Duration::from_secs(seconds));
    }
}

/// Ends a try another one was to follow. Where nobody is left to ask after all, the client gets the error.
fn go_on(session: &Session, exchange: &mut Exchange, failure: Failure<'static>) -> Box<Error> {
    exchange.answer.passed_over = false;
    if exchange.start_over(session) {
        return failure::taken_back();
    }
    exchange.attempts.deliver();
    exchange.answer.failure = Some(Box::new(failure));
    Error::explain(ErrorType::ReadError, "no other candidate is left").into_up()
}

/// Notes what is to be told of an error whose body was cut off: its status says enough. Returns whether another try follows all the
/// same; `None` where the answer is no error.
pub fn cut_off(session: &Session, exchange: &mut Exchange) -> Option<bool> {
    let Some(Way::Failing(error)) = &exchange.answer.way else { return None };
    let failure = error.failure();
    if exchange.answer.passed_over {
        return Some(go_on(session, exchange, failure).retry());
    }
    exchange.answer.failure = (!error.open).then(|| Box::new(failure));
    Some(false)
}

/// Puts a translated error in place of the answer, nothing of whose body was written yet: only the head is another one, and the
/// connection goes on. Where the head has left already, the body says what it can.
fn translated(session: &Session, exchange: &mut Exchange, failure: Failure<'static>) -> Result<Bytes> {
    exchange.answer.failed_inside = true;
    let before = exchange.answer.status;
    let (head, body) = response::failed(exchange, failure.clone())?;
    if rescue::replace_head(session, &head) || !rescue::can_replace(session) {
        exchange.answer.replaced = true;
        return Ok(body);
    }
    exchange.answer.status = before;
    exchange.answer.failure = Some(Box::new(failure));
    Err(Error::explain(ErrorType::ReadError, "the provider failed before its answer began").into_up())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(error: &mut Collected, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for piece in body.chunks(1000) {
            out.extend_from_slice(&error.push(Bytes::copy_from_slice(piece)));
        }
        out.extend_from_slice(&error.told("r1"));
        out
    }

    fn own(status: u16) -> Collected {
        Collected::new(Shape::ChatCompletions, status, true)
    }

    #[test]
    fn an_error_of_the_dialect_passes_byte_for_byte_however_large_it_is() {
        for length in [1, 5_000, LIMIT, 3 * LIMIT] {
            let body = format!("{{\"error\" : {{\"message\": \"{}\", \"more\": 1.50}}}}\n", "m".repeat(length));
            assert_eq!(all_of(&mut own(400), body.as_bytes()), body.as_bytes(), "{length}");
        }
    }

    #[test]
    fn a_page_never_passes_however_large_it_is() {
        for length in [0, 5_000, 3 * LIMIT] {
            let body = format!("<html>{}</html>", "secret ".repeat(length));
            let told = all_of(&mut own(502), body.as_bytes());
            assert!(is_failure(Shape::ChatCompletions, &told) && !String::from_utf8_lossy(&told).contains("secret"), "{length}");
        }
    }
}
