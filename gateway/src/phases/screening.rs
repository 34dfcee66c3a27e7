//! Guardrails on answers: what is about to leave is looked at in the client's own dialect, whoever made it.

use std::sync::Arc;

use bytes::Bytes;
use pingora::proxy::Session;
use pingora::{Error, ErrorType, Result};
use svc_filters::endpoint::Endpoint;
use svc_filters::guardrails::{Action, Decision, Detour};
use svc_filters::screening::{AnswerScreen, Closing, Screen};
use svc_filters::translate;
use svc_filters::verdict::{Code, Rejection};

use super::translation;
use crate::edge::Connection;
use crate::events::{Event, Ruled};
use crate::exchange::{Exchange, Screening, Unwritten};

/// Under which name the request log keeps what was looked for in an answer.
const NOTE: &str = "guardrails_answer";

/// Looks at the answer from now on, where it is one that a model writes and guardrails look at those.
pub fn watch(exchange: &mut Exchange) {
    let Some(rules) = exchange.guardrails.as_ref().filter(|rules| AnswerScreen::is_needed(rules)) else { return };
    let Some(endpoint) = exchange.endpoint.filter(|endpoint| endpoint.translates() || *endpoint == Endpoint::Completions) else { return };
    let closing = Closing { request_id: exchange.id.as_str().into(), model: exchange.model_asked.clone().unwrap_or_else(|| Arc::from("")) };
    let screen = Screen::new(rules.clone(), endpoint.body_kind(), exchange.answer.stream, closing);
    exchange.answer.screening = Some(Box::new(Screening { screen, unwritten: Unwritten::default(), farewell: None }));
}

/// Takes what would leave now and returns what may.
///
/// # Errors
/// When a guardrail ends the answer, or an event is beyond all bounds.
pub fn screen(session: &Session, exchange: &mut Exchange, bytes: Bytes, end: bool) -> Result<Bytes> {
    if exchange.answer.replaced {
        return Ok(bytes);
    }
    let Some(screening) = exchange.answer.screening.as_deref_mut() else { return Ok(bytes) };
    let Screening { screen, unwritten, farewell } = screening;
    let beyond = |fault| Error::because(ErrorType::InternalError, "the answer", fault);
    let out = screen.push(bytes, end).map_err(beyond)?;
    let is_stream = screen.is_stream();
    let writes = Connection::of(session).map_or(0, Connection::writes);
    let Some(decision) = screen.stopped().cloned() else {
        if is_stream && !out.is_empty() {
            unwritten.add(writes, out.clone());
        }
        return Ok(out);
    };
    match decision.action() {
        Action::Redirect(Detour::Text(text)) if !is_stream => Ok(instead(session, exchange, text)),
        action => {
            // A document never left: the error takes its place.
            *farewell = is_stream.then(|| unwritten.take(writes, out));
            if *action == Action::Block {
                exchange.answer.stopped = Some(Box::new(refuse(exchange, &decision)));
            }
            Error::e_explain(ErrorType::InternalError, "a guardrail ended the answer")
        }
    }
}

/// A text in place of a whole answer.
fn instead(session: &Session, exchange: &Exchange, text: &str) -> Bytes {
    let viewer = translation::viewer(exchange, session.req_header().uri.query());
    translate::said(viewer, false, false, text)
}

/// Tells operators of a block, and gives the error for a client that has seen nothing yet.
fn refuse(exchange: &Exchange, decision: &Decision) -> Rejection {
    let rule = decision.rule.name();
    let model = exchange.model_asked.as_deref().unwrap_or_default();
    let ruled = Ruled::of(exchange, rule, model);
    exchange.gateway.tell(&Event::GuardrailBlocked(ruled, decision.finding.place));
    Rejection::new(Code::ContentGuardrailBlocked, format!("The guardrail `{rule}` refuses this answer."))
}

/// Keeps what was looked for, for the record.
pub fn note(exchange: &mut Exchange) {
    let note = exchange.answer.screening.as_mut().and_then(|screening| screening.screen.note());
    exchange.notes.extend(note.map(|note| (NOTE.to_owned(), note)));
}
