//! The `routing` filter: the model entry behind the asked name, what the rules make of it, and the order in which its targets
//! are tried.

use std::sync::Arc;

use super::rules::{Decision, Denial, NoSpends, Outcome, RuleKind, RuleSet, Sample, Spends, Unknown, explain};
use super::{Draw, ModelTable, plan};
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::filter::{Filter, Notice, Place, Request};
use crate::tokens;
use crate::verdict::{Code, Rejection, Verdict};

mod notes;

/// Turns the asked model into a plan of targets.
#[derive(Clone, Debug)]
pub struct RoutingFilter {
    spends: Arc<dyn Spends>,
}

impl RoutingFilter {
    /// The filter over what was spent.
    #[must_use]
    pub fn new(spends: Arc<dyn Spends>) -> Self {
        Self { spends }
    }
}

impl Default for RoutingFilter {
    fn default() -> Self {
        Self::new(Arc::new(NoSpends))
    }
}

impl Filter for RoutingFilter {
    fn name(&self) -> &'static str {
        "routing"
    }

    fn check(&self, place: &Place<'_>) -> Result<(), String> {
        place.after("auth")
    }

    fn on_request(&self, request: &mut Request<'_>) -> Verdict {
        if request.policy.rules.is_empty() { asked(request) } else { self.ruled(request) }
    }
}

/// Goes to the model that was asked for.
fn asked(request: &mut Request<'_>) -> Verdict {
    let Some(model) = request.policy.models.find(request.wanted()) else { return not_found(request.wanted()) };
    let key = request.key.as_ref().map_or("", |key| &key.id);
    let end_user = request.facts.and_then(|facts| facts.end_user.as_deref());
    request.plan = plan(model, &request.policy.models, &Draw { random: request.random, key, end_user });
    request.resolved = Some(model.clone());
    Verdict::Continue
}

impl RoutingFilter {
    /// Decides about a request by these rules, and changes nothing: a dry run asks the same as the gateway.
    #[must_use]
    pub fn decide<'r>(&self, request: &Request<'_>, rules: &'r RuleSet) -> Decision<'r> {
        let (body, facts, key) = (request.body, request.facts, request.key.as_ref());
        let nobody = Caller::default();
        let prompt_tokens = || tokens::estimate(body);
        let metadata = || facts.map(|facts| facts.metadata(body)).unwrap_or_default();
        let sample = Sample {
            endpoint: request.endpoint,
            shape: request.shape,
            model: request.wanted(),
            stream: request.endpoint == Endpoint::StreamGenerateContent || facts.is_some_and(|facts| facts.stream),
            tools: facts.is_some_and(|facts| facts.has_tools),
            images: facts.is_some_and(|facts| facts.has_images),
            max_tokens: facts.and_then(|facts| facts.max_output),
            end_user: facts.and_then(|facts| facts.end_user.as_deref()),
            headers: request.headers,
            key_id: key.map_or("", |key| &key.id),
            key_name: key.map_or("", |key| &key.name),
            caller: key.map_or(&nobody, |key| &key.caller),
            now: request.now,
            random: request.random,
            prompt_tokens: &prompt_tokens,
            metadata: &metadata,
            unknown: Unknown::NOTHING,
        };
        self.explain(&sample, rules, &request.policy.models)
    }

    /// The same for a request of which no more is left than a sample.
    #[must_use]
    pub fn explain<'r>(&self, sample: &Sample<'_>, rules: &'r RuleSet, models: &ModelTable) -> Decision<'r> {
        explain(rules, models, sample, &*self.spends)
    }

    /// Goes where the rules say.
    fn ruled(&self, request: &mut Request<'_>) -> Verdict {
        let decision = self.decide(request, &request.policy.rules);
        notes::write(&decision, &mut request.notes);
        request.rule = decision.rule.map(|rule| rule.name.clone());
        if let Some(rule) = decision.rule.filter(|rule| rule.kind == RuleKind::SpendCircuit) {
            request.notices.push(Notice::SpendCircuitTripped { rule: rule.name.clone() });
        }
        match decision.outcome {
            Outcome::Route { model, plan } => {
                request.plan = plan;
                request.resolved = Some(model);
                Verdict::Continue
            }
            Outcome::Deny { rule, denial } => {
                let rejection = Rejection::new(Code::RoutingDenied, refusal(&rule, &denial));
                request.notices.push(Notice::RoutingDenied { rule: rule.clone() });
                request.rule = Some(rule);
                rejection.into()
            }
            Outcome::ModelNotFound => not_found(request.wanted()),
        }
    }
}

fn refusal(rule: &str, denial: &Denial) -> String {
    match denial {
        Denial::Rule => format!("The routing rule `{rule}` refuses this request."),
        Denial::Spend => format!("The routing rule `{rule}` refuses this request: the amount it allows is spent."),
        Denial::Region(region) => {
            format!("The routing rule `{rule}` keeps this request in the region `{region}`, where nothing serves the model.")
        }
    }
}

fn not_found(model: &str) -> Verdict {
    let message = format!("The model `{model}` does not exist. `GET /v1/models` lists the models this key may call.");
    Rejection::new(Code::ModelNotFound, message).with_param("model").into()
}

#[cfg(test)]
mod tests;
