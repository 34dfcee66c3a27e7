//! The provider's status, before anything of its answer is sent on: deliver it, or go on to the next candidate.

use http::HeaderMap;
use pingora::http::ResponseHeader;
use pingora::{Error, ErrorType, Result};
use svc_filters::shape::Shape;
use time::OffsetDateTime;

use super::head::{is_empty, is_json};
use crate::attempts::{CREDENTIAL, Judgement, judge, retry_after};
use crate::exchange::Exchange;

/// Judges the provider's answer before anything of it is sent on.
///
/// # Errors
/// A retryable error where the next candidate is to be tried; a final one where the provider refused our credential and no
/// candidate is left.
pub fn run(exchange: &mut Exchange, head: &ResponseHeader) -> Result<()> {
    if head.status.is_informational() {
        return Ok(());
    }
    let status = head.status.as_u16();
    if renewed(exchange, status, &head.headers) {
        return again(status, "the same credential is tried anew");
    }
    if status == 400 && signed(exchange) && exchange.attempts.bare(&exchange.gateway, status) {
        return again(status, "the same is asked without signatures");
    }
    let judgement = judge(status);
    let guess = rest_credential(exchange, judgement, &head.headers);
    let guess = guess.filter(|_| may_tell_pause(exchange, head));
    exchange.answer.guess = guess;
    if judgement == Judgement::Deliver {
        exchange.attempts.conclude(&exchange.gateway, status, "");
        return Ok(());
    }
    exchange.attempts.conclude(&exchange.gateway, status, if judgement == Judgement::CredentialRefused { CREDENTIAL } else { "status" });
    let next = exchange.has_next();
    exchange.answer.passed_over = next && guess.is_some();
    if exchange.answer.passed_over {
        // The next candidate is tried as soon as the body has told what the credential needs.
        return Ok(());
    }
    if next {
        return again(status, "the provider's answer leads to the next candidate");
    }
    if judgement == Judgement::CredentialRefused {
        exchange.attempts.credential_refused();
        return Error::e_explain(ErrorType::HTTPStatus(502), "the provider refused our credential");
    }
    exchange.attempts.deliver();
    Ok(())
}

/// Ends the try, so that Pingora makes another.
fn again(status: u16, why: &'static str) -> Result<()> {
    let mut error = Error::explain(ErrorType::HTTPStatus(status), why);
    error.set_retry(true);
    Err(error)
}

/// Whether the refused credential is to be used once more, after a token was dropped or the clock put right.
fn renewed(exchange: &mut Exchange, status: u16, headers: &HeaderMap) -> bool {
    let (Some(provider), Some(key), Some(used)) = (exchange.attempts.provider(), exchange.attempts.key(), &exchange.authorisation) else {
        return false;
    };
    (400..404).contains(&status) && provider.renew(key, used, status, headers) && exchange.attempts.renew(&exchange.gateway, status)
}

/// Whether what was refused held signatures of the provider's own shape: another of its models, or another cloud, may have made
/// them, or what they sign was masked, which only its refusal tells.
fn signed(exchange: &Exchange) -> bool {
    let Some(asking) = &exchange.asking else { return false };
    let trace: &[u8] = match asking.dialect {
        Shape::GenerateContent => b"houghtSignature",
        Shape::Messages => b"\"signature\"",
        Shape::ChatCompletions | Shape::Responses => return false,
    };
    exchange.upstream_body.as_ref().is_some_and(|sent| memchr::memmem::find(&sent.body().whole(), trace).is_some())
}

/// Lets the credential rest where the status asks for it. Returns until when, where the provider does not say.
fn rest_credential(exchange: &Exchange, judgement: Judgement, headers: &HeaderMap) -> Option<u64> {
    let (provider, key) = (exchange.attempts.provider()?, exchange.attempts.key()?);
    let now = exchange.now();
    match judgement {
        Judgement::CredentialRefused => {
            log::error!(
                request_id = exchange.id.as_str(), trace_id = exchange.trace_id();
                "the provider `{}` refused its credential number {}", provider.name(), key.index + 1
            );
            exchange.quarantine(provider, key);
            None
        }
        Judgement::Limited => {
            let told = retry_after(headers, OffsetDateTime::now_utc());
            let until = provider.keys().limit(key.index, now, told);
            told.is_none().then_some(until)
        }
        Judgement::Deliver | Judgement::Next => None,
    }
}

/// Whether the body that follows is one in which vendors say how long they want to be left alone.
fn may_tell_pause(exchange: &Exchange, head: &ResponseHeader) -> bool {
    let dialect = exchange.asking.as_ref().map(|asking| asking.dialect);
    is_json(head) && !is_empty(head) && dialect.is_some_and(|dialect| dialect != Shape::Messages)
}
