//! The `guardrails` filter: what rules find in a request, and what is done about it before it goes anywhere.

use std::borrow::Cow;
use std::time::Instant;

use super::action::Action;
use crate::filter::{Filter, Notice, Place, Request};
use crate::screening::{Body, screen_request};
use crate::verdict::{Code, Rejection, Verdict};

/// Under which name the request log keeps what was looked for in a prompt.
const NOTE: &str = "guardrails_prompt";

/// Screens requests. Answers are screened where they pass, by the rules this filter chose.
#[derive(Clone, Copy, Debug)]
pub struct GuardrailsFilter;

impl Filter for GuardrailsFilter {
    fn name(&self) -> &'static str {
        super::FILTER
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")?;
        // What is masked has to be masked before anything is decided by it.
        let routing = place.names.iter().position(|name| *name == "routing");
        if routing.is_some_and(|routing| routing < place.position) { Err("it has to come before `routing`".to_owned()) } else { Ok(()) }
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        let rules = match request.policy.guardrails.of(request.key.as_deref()) {
            Ok(None) => return Verdict::Continue,
            Ok(Some(rules)) => rules,
            Err(error) => {
                log::error!("a request is refused since its guardrails cannot be applied: {error}");
                let message = "The gateway cannot apply its guardrails to this request.";
                return Rejection::new(Code::UpstreamUnavailable, message).with_status(500).into();
            }
        };
        request.guardrails = Some(rules.clone());
        let Some(facts) = request.facts else { return Verdict::Continue };
        let began = Instant::now();
        let screened = screen_request(&rules, Body::of(request.endpoint.body_kind(), facts, request.body));
        request.notes.push((Cow::Borrowed(NOTE), screened.report.told(&rules, screened.decision.as_ref(), began.elapsed())));
        let Some(decision) = &screened.decision else { return Verdict::Continue };
        match decision.action() {
            Action::Block => {
                let guardrail = decision.rule.name().clone();
                let message = format!("The guardrail `{guardrail}` refuses this request.");
                request.notices.push(Notice::GuardrailBlocked { guardrail, place: decision.finding.place });
                return Rejection::new(Code::ContentGuardrailBlocked, message).into();
            }
            Action::Redirect(detour) => {
                request.detour = Some(detour.clone());
                request.detour_priority = decision.rule.priority();
            }
            Action::Mask(_) | Action::LogOnly => {}
        }
        request.masked = screened.apply(request.body);
        Verdict::Continue
    }
}
