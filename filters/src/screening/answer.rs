//! An answer on its way to the client, screened: a document once it is whole, a stream event by event.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::report::Report;
use super::stream::{AnswerScreen, Closing, Stop};
use super::whole::screen_answer;
use crate::guardrails::{Decision, RuleSet};
use crate::passage::{ANSWER_LIMIT, BodyKind, Framing, PassageKind};
use crate::wire::framing::FrameTooLarge;

/// Screens one answer in the client's own dialect.
#[derive(Debug)]
pub struct Screen {
    rules: Arc<RuleSet>,
    kind: PassageKind,
    closing: Option<Closing>,
    cut: Cut,
    /// The one that ends the answer.
    decision: Option<Decision>,
    /// The one that decides about a whole answer.
    strictest: Option<Decision>,
    took: Duration,
    report: Report,
}

#[derive(Debug)]
enum Cut {
    /// Holds the bytes that do not tell the framing yet, or a whole document.
    Held(BytesMut),
    Stream(Box<AnswerScreen>),
    /// Passes everything: it is no answer that can be looked at, or was decided about.
    Open,
}

impl Screen {
    /// Screens an answer with fields of `body`, as a stream where the client asked for one. `closing` is what the end of a stream
    /// that is cut off needs to know.
    #[must_use]
    pub fn new(rules: Arc<RuleSet>, body: BodyKind, stream: bool, closing: Closing) -> Self {
        let kind = PassageKind { body, framing: if stream { Framing::Unknown } else { Framing::Json } };
        let cut = Cut::Held(BytesMut::new());
        Self { rules, kind, closing: Some(closing), cut, decision: None, strictest: None, took: Duration::ZERO, report: Report::default() }
    }

    /// Takes the next piece and returns what may leave now.
    ///
    /// # Errors
    /// When an event exceeds its bound.
    pub fn push(&mut self, piece: Bytes, end: bool) -> Result<Bytes, FrameTooLarge> {
        let began = Instant::now();
        let out = self.take(piece, end);
        self.took += began.elapsed();
        out
    }

    fn take(&mut self, piece: Bytes, end: bool) -> Result<Bytes, FrameTooLarge> {
        let piece = match &mut self.cut {
            Cut::Open => return Ok(piece),
            Cut::Stream(stream) => return Self::advance(stream, &mut self.decision, piece, end),
            Cut::Held(held) => {
                held.extend_from_slice(&piece);
                if self.kind.framing == Framing::Unknown {
                    self.kind.framing = self.kind.sniffed(held, end).unwrap_or(Framing::Unknown);
                }
                match self.kind.framing {
                    Framing::Unknown => return Ok(Bytes::new()),
                    Framing::Json if !end && held.len() <= ANSWER_LIMIT => return Ok(Bytes::new()),
                    _ => std::mem::take(held).freeze(),
                }
            }
        };
        self.cut = Cut::Open;
        match (self.kind.framing, self.closing.take()) {
            (framing @ (Framing::Sse | Framing::JsonArray), Some(closing)) => {
                let mut stream = Box::new(AnswerScreen::new(self.rules.clone(), self.kind.body, framing, closing));
                let out = Self::advance(&mut stream, &mut self.decision, piece, end);
                self.cut = Cut::Stream(stream);
                out
            }
            (Framing::Json, _) if piece.len() <= ANSWER_LIMIT => Ok(self.whole(piece)),
            _ => {
                log::warn!("an answer was not looked at by guardrails: it is longer than a document may be, or of no known form");
                Ok(piece)
            }
        }
    }

    fn advance(stream: &mut AnswerScreen, decision: &mut Option<Decision>, piece: Bytes, end: bool) -> Result<Bytes, FrameTooLarge> {
        let out = stream.push(piece, end)?;
        if decision.is_none() {
            *decision = stream.stopped().cloned();
        }
        Ok(out)
    }

    fn whole(&mut self, body: Bytes) -> Bytes {
        let screened = screen_answer(&self.rules, self.kind.body, &body);
        self.decision = screened.decision.clone().filter(|decision| Stop::of(decision.action()).is_some());
        self.strictest = screened.decision.clone();
        let masked = screened.apply(&body);
        self.report = screened.report;
        masked.map_or(body, Bytes::from)
    }

    /// The guardrail that ended the answer, once one has: it blocks, or puts a text in place of the rest.
    #[must_use]
    pub const fn stopped(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// Whether the answer is a stream, whose end after a stop is already among what [`Self::push`] returned.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(self.cut, Cut::Stream(_))
    }

    /// What the request log keeps: JSON text. `None` where nothing was looked at.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let report = match &self.cut {
            Cut::Stream(stream) => stream.report(),
            Cut::Held(_) | Cut::Open => &self.report,
        };
        (!report.places.is_empty()).then(|| report.told(&self.rules, self.strictest.as_ref().or(self.decision.as_ref()), self.took))
    }
}
