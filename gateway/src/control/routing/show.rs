//! A decision as the answer shows it.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_filters::endpoint::Endpoint;
use svc_filters::routing::Target;
use svc_filters::routing::rules::{Decision, Denial, Outcome, Tested, Tried};
use svc_filters::translate::keep_carried;
use svc_filters::verdict::Code;

use super::Trial;
use crate::control::problem::{add, object};
use crate::providers::Circuit;

/// A decision and what it was made under.
pub(super) struct Decided<'a> {
    pub(super) trial: &'a Trial,
    pub(super) decision: &'a Decision<'a>,
    pub(super) endpoint: Endpoint,
    /// Why the request would be refused before any rule is asked.
    pub(super) refused: Option<Code>,
}

impl Decided<'_> {
    pub(super) fn shown(&self) -> Value {
        let decision = self.decision;
        let (word, model, plan, denied) = match &decision.outcome {
            Outcome::Route { model, plan } => ("route", Some(&*model.name), self.carried(plan), None),
            Outcome::Deny { rule, denial } => ("deny", None, Vec::new(), Some((&**rule, denial))),
            Outcome::ModelNotFound => ("model_not_found", None, Vec::new(), None),
        };
        let rule = denied.map(|(rule, _)| rule).or(decision.rule.map(|rule| &*rule.name));
        let mut shown = object([
            ("outcome", word.into()),
            ("model", model.into()),
            ("rule", rule.into()),
            ("arm", decision.arm.map(|arm| &**arm).into()),
            ("refused", self.refused(&plan).map(Code::as_str).into()),
            ("certain", decision.certain.into()),
            ("tags", decision.tags.iter().map(|tag| Value::from(&***tag)).collect()),
            ("pins", decision.pins.iter().map(|rule| json!({"rule": &*rule.name, "region": rule.region.as_deref()})).collect()),
            ("rules", decision.tried.iter().map(tried).collect()),
            ("targets", plan.iter().map(|target| self.target(target)).collect()),
        ]);
        if let Some((_, denial)) = denied {
            add(&mut shown, "denial", self::denial(denial));
        }
        shown
    }

    /// The targets the request can be carried to.
    fn carried(&self, plan: &[Arc<Target>]) -> Vec<Arc<Target>> {
        let mut plan = plan.to_vec();
        keep_carried(self.endpoint, self.endpoint.shape(), &mut plan);
        plan
    }

    /// The code of a refusal that is not the rules'.
    fn refused(&self, plan: &[Arc<Target>]) -> Option<Code> {
        let Outcome::Route { plan: whole, .. } = &self.decision.outcome else { return self.refused };
        let stranded = match (plan.is_empty(), whole.is_empty()) {
            (false, _) => None,
            (true, true) => Some(Code::UpstreamUnavailable),
            (true, false) => Some(Code::UnsupportedTranslation),
        };
        self.refused.or(stranded)
    }

    fn target(&self, target: &Target) -> Value {
        let (snapshot, trial) = (&self.trial.snapshot, self.trial);
        let provider = snapshot.providers.get(&target.provider);
        let circuit = provider.map(|provider| Circuit::of(snapshot, provider, &target.upstream_model, trial.now));
        let rested = provider.is_some_and(|provider| provider.is_rested(0, trial.ticks));
        object([
            ("provider", (&*target.provider).into()),
            ("model", (&*target.upstream_model).into()),
            ("region", target.region.as_deref().into()),
            ("priority", target.priority.into()),
            ("breaker", circuit.as_ref().map(Circuit::as_str).into()),
            ("available", (rested && circuit.is_some_and(|circuit| circuit.passes)).into()),
        ])
    }
}

fn denial(denial: &Denial) -> Value {
    match denial {
        Denial::Rule => json!({"reason": "rule"}),
        Denial::Spend => json!({"reason": "spend"}),
        Denial::Region(region) => json!({"reason": "region", "region": &**region}),
    }
}

fn tried(tried: &Tried<'_>) -> Value {
    let (result, condition) = match tried.result {
        Tested::Decided => ("decided", None),
        Tested::Applied => ("applied", None),
        Tested::LogOnly => ("log_only", None),
        Tested::SpendUnknown => ("spend_unknown", None),
        Tested::UnknownModel(_) => ("unknown_model", None),
        Tested::Unmet(condition) => ("unmet", Some(condition)),
        Tested::Unknown(condition) => ("unknown", Some(condition)),
        Tested::Failed(condition, _) => ("failed", Some(condition)),
    };
    let mut shown = json!({"rule": tried.rule, "result": result});
    if let Some(condition) = condition {
        add(&mut shown, "condition", json!(condition));
    }
    match tried.result {
        Tested::UnknownModel(model) => add(&mut shown, "model", model),
        Tested::Failed(_, reason) => add(&mut shown, "reason", reason),
        _ => {}
    }
    shown
}
