//! What must hold of one answer and of its record.

use serde_json::Value;
use svc_entity::Outcome;
use svc_entity::request_log::Model;
use svc_tests::faulty::answers;
use svc_tests::raw::Answer;
use svc_tests::shapes::events;

use super::{Alone, Cell, End};
use crate::view::{ends, ends_cleanly, is_error_body, is_error_event, looks_complete, said};

/// An answer with its record.
pub(super) struct Seen<'a> {
    pub(super) cell: &'a Cell,
    pub(super) answer: &'a Answer,
    pub(super) row: &'a Model,
    pub(super) strict: bool,
}

fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

impl Seen<'_> {
    pub(super) fn check(&self, end: End) -> Result<(), String> {
        match end {
            End::Next(alone) if self.cell.pair => self.served_by_the_next(alone),
            End::Next(alone) => self.refused(alone),
            End::Served(words) => self.served(words),
            End::Broken => self.broken(),
            End::Passed(status) => self.passed(status),
        }
    }

    fn served_by_the_next(&self, alone: Alone) -> Result<(), String> {
        self.answered_by(self.cell.good(), 2)?;
        self.complete("You said")?;
        let tries = self.tries();
        ensure(tries.len() == 2, "both tries are recorded")?;
        ensure(tries[0]["provider"] == self.cell.bad() && tries[1]["provider"] == self.cell.good(), "the record names who was tried")?;
        let word = tries[0]["failure"].as_str().unwrap_or_default();
        ensure(alone.words.contains(&word), &format!("the record says why the first failed: `{word}`, not one of {:?}", alone.words))?;
        ensure(tries[1]["status"] == 200 && tries[1]["failure"].as_str().unwrap_or_default().is_empty(), "the second try succeeded")
    }

    fn refused(&self, alone: Alone) -> Result<(), String> {
        let status = self.answer.status;
        let statuses = if self.cell.is_same() { alone.same } else { alone.other };
        ensure(!looks_complete(self.cell.client, self.answer, self.cell.stream), "a broken answer looks complete")?;
        ensure(statuses.contains(&status), &format!("the status is one of {statuses:?}"))?;
        ensure(self.answer.complete, "an error is sent to its end")?;
        self.error_of_the_shape()?;
        let origin = self.answer.header("x-svc-error-origin");
        ensure(
            status == 200 || origin.is_some() && (alone.origin.is_none() || origin == alone.origin),
            "the header tells whose error it is",
        )?;
        if origin == Some("gateway") {
            ensure(self.answer.header("x-svc-error-code") == Some("upstream_unavailable"), "the header names the reason")?;
            let soon = self.answer.header("retry-after").is_some_and(|after| after.parse::<u32>().is_ok());
            ensure(soon || status == 502, "the header tells when to come again")?;
            ensure(self.row.error_code.as_deref() == Some("upstream_unavailable"), "so does the record")?;
        }
        self.recorded(Outcome::UpstreamError, 1)?;
        let tries = self.tries();
        ensure(tries.len() == 1 && tries[0]["provider"] == self.cell.bad(), "the try is recorded")?;
        let word = tries[0]["failure"].as_str().unwrap_or_default();
        let delivered = word.is_empty() && tries[0]["status"].as_u64().is_some_and(|status| status >= 400);
        let named = if self.strict { alone.words.contains(&word) } else { !word.is_empty() };
        ensure(delivered || named, &format!("the record says why it failed: `{word}`, not one of {:?}", alone.words))
    }

    fn served(&self, words: &str) -> Result<(), String> {
        self.answered_by(&self.cell.bad(), 1)?;
        self.complete(words)
    }

    fn broken(&self) -> Result<(), String> {
        let (shape, text) = (self.cell.client, self.answer.text());
        self.answered_by(&self.cell.bad(), 1)?;
        ensure(!ends_cleanly(shape, &text), "a broken answer ends as a complete one")?;
        ensure(said(shape, self.answer, true).contains(answers::WORDS[0]), "what came before the break is delivered")?;
        let events = events(&text);
        ensure(events.last().is_some_and(|event| is_error_event(shape, event)), "the last event is an error of the shape")?;
        // The responses dialect says it twice: in an event of its own, and in what became of the response.
        let mut errors: Vec<&str> =
            events.iter().filter(|event| is_error_event(shape, event)).map(|event| event["type"].as_str().unwrap_or_default()).collect();
        let count = errors.len();
        errors.dedup();
        ensure(errors.len() == count, "it is told once")?;
        self.recorded(Outcome::UpstreamError, 1)?;
        let word = self.tries().first().and_then(|made| made["failure"].as_str().map(str::to_owned));
        ensure(word.is_some_and(|word| !word.is_empty()), "the record says what went wrong")
    }

    fn passed(&self, status: u16) -> Result<(), String> {
        ensure(self.answer.status == status, &format!("the status is {status}"))?;
        ensure(self.answer.header("x-svc-attempts") == Some("1"), "no other target is asked")?;
        ensure(self.answer.header("x-svc-error-origin") == Some("upstream"), "the header tells whose error it is")?;
        self.error_of_the_shape()?;
        self.recorded(Outcome::UpstreamError, 1)
    }

    fn error_of_the_shape(&self) -> Result<(), String> {
        let body = serde_json::from_slice::<Value>(&self.answer.body).map_err(|error| format!("the error is no JSON: {error}"))?;
        ensure(is_error_body(self.cell.client, &body), "the error is of the client's shape")?;
        let kind = self.answer.header("content-type").unwrap_or_default();
        ensure(kind.starts_with("application/json"), "SDKs parse errors by content type")
    }

    /// The head of an answer that is one.
    fn answered_by(&self, provider: &str, attempts: i32) -> Result<(), String> {
        ensure(self.answer.status == 200, "the status is 200")?;
        ensure(self.answer.header("x-svc-provider") == Some(provider), &format!("{provider} answers"))?;
        let told = self.answer.header("x-svc-attempts").and_then(|text| text.parse().ok());
        ensure(told == Some(attempts), &format!("the header tells of {attempts} attempts"))
    }

    fn complete(&self, words: &str) -> Result<(), String> {
        let (cell, answer) = (self.cell, self.answer);
        ensure(looks_complete(cell.client, answer, cell.stream), "the answer is complete")?;
        let once = cell.is_same() || !cell.stream || ends(cell.client, &answer.text()) == 1;
        ensure(once, "a stream that was translated ends once")?;
        let said = said(cell.client, answer, cell.stream);
        ensure(said.starts_with(words), &format!("it says `{words}`, nothing of another answer: `{said}`"))?;
        ensure(!answer.text().contains("vendor's own words"), "nothing of the failure is left in it")?;
        let attempts = answer.header("x-svc-attempts").and_then(|text| text.parse().ok()).unwrap_or_default();
        self.recorded(Outcome::Complete, attempts)?;
        ensure(self.row.provider.as_deref() == answer.header("x-svc-provider"), "record and header name the same provider")
    }

    fn recorded(&self, outcome: Outcome, attempts: i32) -> Result<(), String> {
        ensure(self.row.outcome == outcome, &format!("the outcome on record is {outcome:?}"))?;
        ensure(self.row.status == i32::from(self.answer.status), "record and client have the same status")?;
        ensure(self.row.attempts == attempts, &format!("{attempts} attempts are on record"))
    }

    fn tries(&self) -> Vec<Value> {
        let decision: Value = self.row.decision.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        decision["attempts"].as_array().cloned().unwrap_or_default()
    }
}
