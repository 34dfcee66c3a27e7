//! Guardrails for which a model looks: the sidecar is asked, within a deadline and behind circuits of its own.
//!
//! [`GuardrailModels::ask`] gives what each guardrail found, or why its model could not look. What is done about it is decided in
//! `phases/judging.rs`.

mod answer;
mod client;
mod failure;
mod join;

use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_filters::guardrails::{Judgement, ModelFinding, ModelRule, Place, Places};
use svc_filters::period::Period;
use svc_filters::screening::Prompt;

use self::client::{Calls, Client};
pub use self::failure::Failure;
use crate::conf;
use crate::fetch::FetchError;
use crate::providers::{Breakers, Position};

/// Failures in a row after which a model is not asked for a while.
const FAILURES: u32 = 5;
/// How long that is the first time; it doubles each time after.
const REST: Period = Period::secs(5);
/// The longest it is.
const LONGEST_REST: Period = Period::secs(60);
/// Bytes up to which a call that is late tells something about the model. Longer texts may take long where nothing is wrong, and one
/// caller who sends them must not keep the model from all others.
const ORDINARY: usize = 8 << 10;

/// The models of guardrails.
pub struct GuardrailModels {
    client: Option<Client>,
    breakers: Breakers,
}

/// What a model was shown for a guardrail, and what it found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looked {
    /// Texts it was shown.
    pub texts: usize,
    /// Their bytes.
    pub bytes: usize,
    /// How long it took.
    pub took: Duration,
    /// What it found.
    pub findings: Vec<ModelFinding>,
}

/// Guardrails that ask one model.
struct Group {
    model: Arc<str>,
    rules: Vec<usize>,
    places: Places,
    /// The lowest threshold: what reaches none is not needed.
    threshold: f64,
}

impl GuardrailModels {
    /// The models that a configuration names a sidecar for.
    ///
    /// # Errors
    /// When its address is none.
    pub fn new(conf: &conf::GuardrailModels) -> Result<Self, FetchError> {
        let breaker = conf::Breaker {
            enabled: true,
            consecutive_failures: FAILURES,
            failure_ratio: 1.0,
            min_requests: u32::MAX,
            open: REST,
            max_open: LONGEST_REST,
            ..conf::Breaker::default()
        };
        let client = conf.url().map(|url| Client::new(url, conf)).transpose()?;
        Ok(Self { client, breakers: Breakers::new(breaker) })
    }

    /// Whether there is a sidecar to ask.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.client.is_some()
    }

    /// Shows the texts to the models of the guardrails. Gives for each guardrail what was found, or why it could not look.
    pub async fn ask(&self, rules: &[Arc<ModelRule>], prompt: &Prompt) -> Vec<Result<Looked, Arc<Failure>>> {
        self.look(rules, prompt, true).await
    }

    /// The same for an operator who tries guardrails: whatever the circuits say, and without telling them.
    pub async fn try_out(&self, rules: &[Arc<ModelRule>], prompt: &Prompt) -> Vec<Result<Looked, Arc<Failure>>> {
        self.look(rules, prompt, false).await
    }

    async fn look(&self, rules: &[Arc<ModelRule>], prompt: &Prompt, circuits: bool) -> Vec<Result<Looked, Arc<Failure>>> {
        let began = Instant::now();
        let groups = groups(rules);
        let asked = groups.iter().map(|group| async move {
            let texts: Vec<(usize, Place, &str)> = prompt.at(group.places).collect();
            let judged = self.judge(group, &texts, began, circuits).await;
            (group, texts, judged.map_err(Arc::new), began.elapsed())
        });
        let mut all: Vec<Result<Looked, Arc<Failure>>> = rules.iter().map(|_| Ok(Looked::default())).collect();
        for (group, texts, judged, took) in join::all(asked).await {
            for index in &group.rules {
                let (Some(slot), Some(rule)) = (all.get_mut(*index), rules.get(*index)) else { continue };
                *slot = judged.as_ref().map_err(Arc::clone).and_then(|judged| looked(*index, rule, &texts, judged, took));
            }
        }
        all
    }

    async fn judge(
        &self,
        group: &Group,
        texts: &[(usize, Place, &str)],
        began: Instant,
        circuits: bool,
    ) -> Result<Vec<Judgement>, Failure> {
        let client = self.client.as_ref().ok_or(Failure::NoSidecar)?;
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let calls = client.calls(&group.model, group.threshold, texts.iter().map(|(_, _, text)| *text))?;
        if !circuits {
            return client.make(calls, began, false).await;
        }
        let breaker = self.breakers.of(&group.model);
        let pass = breaker.enter(Instant::now()).map_err(|_| Failure::Resting)?;
        let ordinary = is_ordinary(&calls);
        let judged = client.make(calls, began, true).await;
        let turn = match &judged {
            Err(failure) if failure.tells_nothing(ordinary) => None,
            Err(failure) if failure.is_the_models() => pass.failed(Instant::now()),
            _ => pass.succeeded(Instant::now()),
        };
        if let Some(turn) = turn {
            let reason = judged.as_ref().err().map(|failure| format!(": failed to {failure}")).unwrap_or_default();
            let level = if turn.to == Position::Closed { log::Level::Info } else { log::Level::Warn };
            log::log!(level, "the circuit of the guardrail model `{}` is {}{reason}", group.model, turn.to.as_str());
        }
        judged
    }
}

fn is_ordinary(calls: &Calls) -> bool {
    matches!(calls.list.as_slice(), [only] if only.body.len() <= ORDINARY)
}

/// The guardrails by the model they ask.
fn groups(rules: &[Arc<ModelRule>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        match groups.iter_mut().find(|group| group.model == rule.model) {
            Some(group) => {
                group.rules.push(index);
                group.places = group.places.union(rule.places);
                group.threshold = group.threshold.min(rule.threshold);
            }
            None => groups.push(Group { model: rule.model.clone(), rules: vec![index], places: rule.places, threshold: rule.threshold }),
        }
    }
    groups
}

/// What one guardrail makes of its model's judgements.
fn looked(
    index: usize,
    rule: &ModelRule,
    texts: &[(usize, Place, &str)],
    judged: &[Judgement],
    took: Duration,
) -> Result<Looked, Arc<Failure>> {
    let mut looked = Looked { took, ..Looked::default() };
    for ((text_index, place, text), judgement) in texts.iter().zip(judged).filter(|((_, place, _), _)| rule.places.contains(*place)) {
        looked.texts += 1;
        looked.bytes += text.len();
        let findings = rule.findings(judgement, text, (index, *text_index, *place));
        looked.findings.extend(findings.ok_or_else(|| Arc::new(Failure::Unclear))?);
    }
    Ok(looked)
}
