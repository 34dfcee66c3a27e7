//! `/admin/routing`: what the rules make of a request, without sending it anywhere.

mod logged;
mod question;
mod sample;
mod show;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use entity::request_log;
use http::StatusCode;
use sea_orm::EntityTrait;
use svc_entity as entity;
use svc_filters::auth::{Key, KeyStatus, may_call};
use svc_filters::routing::RoutingFilter;
use svc_filters::routing::rules::RuleSet;
use svc_filters::verdict::Code;

use super::Store;
use super::problem::{Answer, Problem, add};
use crate::licence::Feature;
use crate::store::Snapshot;
use question::{About, Question};

/// What requests are tried under: the configuration in force, as the gateway itself asks it.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) routing: RoutingFilter,
    /// The deepest JSON a request may have.
    pub(super) json_depth: usize,
    /// Unix milliseconds.
    pub(super) unix_ms: i64,
    /// Milliseconds of the clock credentials rest by.
    pub(super) ticks: u64,
    pub(super) now: Instant,
}

/// `POST /admin/routing/explain`
pub(super) async fn explain(store: &Store, trial: Trial, body: &Bytes) -> Result<Answer, Problem> {
    let (body, json_depth) = (body.clone(), trial.json_depth);
    let question = aside(move || Question::read(&body, json_depth)).await?;
    for rule in question.tried() {
        store.licence.require(Feature::of_rule(rule))?;
    }
    let row = match &question.about {
        About::Logged(id) => Some(find(store, id).await?),
        About::Sample(_) => None,
    };
    aside(move || trial.answer(&question, row.as_ref())).await
}

/// Works beside the store's one thread: expressions of candidate rules take a while to compile.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Problem::Internal)?
}

async fn find(store: &Store, id: &str) -> Result<request_log::Model, Problem> {
    let row = request_log::Entity::find_by_id(id).one(&store.db).await?;
    row.ok_or_else(|| Problem::field("request_id", "names no request of the log; rows appear there a moment after the answer"))
}

impl Trial {
    fn answer(&self, question: &Question, row: Option<&request_log::Model>) -> Result<Answer, Problem> {
        let candidates = question.candidates(&self.snapshot.policy.models)?;
        let rules = candidates.as_ref().unwrap_or(&self.snapshot.policy.rules);
        let shown = match (&question.about, row) {
            (About::Logged(_), Some(row)) => self.of_log(row, question.at, rules)?,
            (About::Sample(sample), _) => self.of_sample(sample, question.at.unwrap_or(self.unix_ms), rules)?,
            (About::Logged(_), None) => return Err(Problem::Internal),
        };
        Ok(Answer::json(StatusCode::OK, shown))
    }

    fn of_log(&self, row: &request_log::Model, at: Option<i64>, rules: &RuleSet) -> Result<serde_json::Value, Problem> {
        let logged = logged::Logged::new(row, &self.snapshot.policy)?;
        let decision = logged.sampled(at, |sample| self.routing.explain(sample, rules, &self.snapshot.policy.models));
        let refused = logged.key.as_ref().and_then(|key| refusal(key, logged.model, self.unix_ms, &self.snapshot));
        let mut shown = show::Decided { trial: self, decision: &decision, endpoint: logged.endpoint, refused }.shown();
        let unknown: Vec<&str> = logged.unknown.iter().map(svc_filters::routing::rules::Fact::as_str).collect();
        add(&mut shown, "unknown", unknown);
        Ok(shown)
    }

    fn of_sample(&self, sample: &sample::Sample, at: i64, rules: &RuleSet) -> Result<serde_json::Value, Problem> {
        let key = key_called(&self.snapshot, &sample.key)?;
        let request = sample.request(&self.snapshot.policy, key.clone(), at, self.ticks);
        let decision = self.routing.decide(&request, rules);
        let refused = refusal(&key, &sample.model, at, &self.snapshot);
        Ok(show::Decided { trial: self, decision: &decision, endpoint: sample.endpoint, refused }.shown())
    }
}

/// The one key of an id or name.
pub(super) fn key_called(snapshot: &Snapshot, name: &str) -> Result<Arc<Key>, Problem> {
    let mut found = snapshot.policy.keys.called(name);
    match (found.pop(), found.is_empty()) {
        (Some(key), true) => Ok(key),
        (Some(_), false) => Err(Problem::field("key", "names more than one key; give its id")),
        (None, _) => Err(Problem::field("key", "names no key")),
    }
}

/// Why a key would be refused before any rule is asked.
fn refusal(key: &Key, model: &str, now: i64, snapshot: &Snapshot) -> Option<Code> {
    let expired = key.expires_at.is_some_and(|expiry| now >= expiry);
    if key.status != KeyStatus::Active || expired {
        return Some(Code::KeyDisabled);
    }
    (!may_call(key, model, &snapshot.policy)).then_some(Code::ModelNotAllowed)
}
