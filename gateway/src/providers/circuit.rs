//! How providers stand, as operators and metrics are told: circuits, those held by an operator included, and who is up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use super::{Position, Provider};
use crate::store::Snapshot;

/// Where the circuit between the gateway and one model of a provider stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    /// The model's name at the provider.
    pub model: Arc<str>,
    /// The position that counts: an operator's, else the breaker's own.
    pub position: Position,
    /// When the position may change: the end of a pause, or of an operator's order.
    pub until: Option<Instant>,
    /// Why an operator holds it; `None` where nobody does.
    pub held: Option<Arc<str>>,
    /// Whether a request would pass now.
    pub passes: bool,
}

impl Circuit {
    /// The circuit of a provider's model. Nothing is changed by looking.
    #[must_use]
    pub fn of(snapshot: &Snapshot, provider: &Provider, model: &Arc<str>, now: Instant) -> Self {
        let model = model.clone();
        if let Some(held) = snapshot.held(provider.name(), &model, now) {
            let passes = held.position == Position::Closed;
            return Self { model, position: held.position, until: held.until, held: Some(held.reason.clone()), passes };
        }
        match provider.breakers.find(&model) {
            Some(breaker) => {
                let (position, until) = breaker.standing(now);
                Self { model, position, until, held: None, passes: breaker.would_pass(now) }
            }
            // Nobody has asked this model yet.
            None => Self { model, position: Position::Closed, until: None, held: None, passes: true },
        }
    }

    /// The word of answers.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match (self.position, self.held.is_some()) {
            (Position::Open, true) => "forced_open",
            (_, true) => "forced_closed",
            (position, false) => position.as_str(),
        }
    }
}

/// How one provider stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The provider.
    pub provider: Arc<Provider>,
    /// Whether it takes requests: not every circuit is open, and not every credential rests.
    pub up: bool,
    /// The circuits of every model it serves, by the model's name there.
    pub circuits: Vec<Circuit>,
}

impl Standing {
    /// How every provider of a snapshot stands, by name. `now_ms` is on the clock credentials rest by.
    #[must_use]
    pub fn all(snapshot: &Snapshot, now: Instant, now_ms: u64) -> Vec<Self> {
        let mut served: BTreeMap<&str, BTreeSet<&Arc<str>>> = BTreeMap::new();
        for target in snapshot.policy.models.iter().flat_map(|model| &model.targets) {
            served.entry(&target.provider).or_default().insert(&target.upstream_model);
        }
        let mut providers: Vec<&Arc<Provider>> = snapshot.providers.values().collect();
        providers.sort_by_key(|provider| provider.name());
        let stand = |provider: &Arc<Provider>| {
            let models = served.remove(&**provider.name()).unwrap_or_default();
            let circuits: Vec<Circuit> = models.into_iter().map(|model| Circuit::of(snapshot, provider, model, now)).collect();
            Self { up: is_up(provider, &circuits, now_ms), provider: provider.clone(), circuits }
        };
        providers.into_iter().map(stand).collect()
    }
}

fn is_up(provider: &Provider, circuits: &[Circuit], now_ms: u64) -> bool {
    let cut_off = !circuits.is_empty() && circuits.iter().all(|circuit| circuit.position == Position::Open);
    !cut_off && provider.is_rested(0, now_ms)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sea_orm::{ConnectionTrait, DatabaseConnection};
    use svc_filters::auth::Pepper;

    use super::*;
    use crate::conf::Conf;
    use crate::store::testing::{Db, conf, databases};
    use crate::store::{Sealer, declare, load};

    const YAML: &str = "
breaker: {consecutive_failures: 2}
providers:
  - {name: one, kind: openai, base_url: 'http://127.0.0.1:1/v1', keys: [sk-one, sk-other]}
  - {name: idle, kind: gemini, base_url: 'http://127.0.0.1:2', keys: [sk-two]}
models:
  - {name: m, targets: [{provider: one, model: m1}, {provider: one, model: m2}]}
  - {name: n, targets: [{provider: one, model: m1}]}
";

    async fn snapshot(db: &DatabaseConnection, previous: Option<&Snapshot>) -> Snapshot {
        let (conf, pepper, sealer): (Conf, _, _) = (conf(YAML), Pepper::new(b"a pepper of at least 32 bytes for tests"), Sealer::new(b"m"));
        declare(db, &conf, &pepper, &sealer).await.unwrap();
        load(db, &conf, &pepper, &sealer, previous).await.unwrap()
    }

    fn told(snapshot: &Snapshot, now: Instant, now_ms: u64) -> Vec<(String, bool, String)> {
        let words = |standing: &Standing| standing.circuits.iter().map(|c| format!("{} {}", c.model, c.as_str())).collect::<Vec<_>>();
        let all = Standing::all(snapshot, now, now_ms);
        all.iter().map(|standing| (standing.provider.name().to_string(), standing.up, words(standing).join(", "))).collect()
    }

    fn open(snapshot: &Snapshot, model: &str, now: Instant) {
        for _ in 0..2 {
            let breaker = snapshot.providers["one"].breaker(&model.into());
            breaker.enter(now).expect("it is closed").failed(now);
        }
    }

    fn expected(up: bool, circuits: &str) -> Vec<(String, bool, String)> {
        vec![("idle".to_owned(), true, String::new()), ("one".to_owned(), up, circuits.to_owned())]
    }

    #[tokio::test]
    async fn a_provider_is_down_once_every_model_of_it_is_cut_off() {
        for Db { db, _folder, .. } in databases().await {
            let (snapshot, now) = (snapshot(&db, None).await, Instant::now());
            assert_eq!(told(&snapshot, now, 0), expected(true, "m1 closed, m2 closed"));
            open(&snapshot, "m1", now);
            assert_eq!(told(&snapshot, now, 0), expected(true, "m1 open, m2 closed"), "nobody has asked the other yet");
            open(&snapshot, "m2", now);
            assert_eq!(told(&snapshot, now, 0), expected(false, "m1 open, m2 open"));
            let later = now + Duration::from_secs(600);
            assert_eq!(told(&snapshot, later, 0), expected(true, "m1 half_open, m2 half_open"));
        }
    }

    #[tokio::test]
    async fn a_provider_is_down_while_all_its_credentials_rest() {
        for Db { db, _folder, .. } in databases().await {
            let (snapshot, now) = (snapshot(&db, None).await, Instant::now());
            let keys = snapshot.providers["one"].keys();
            keys.refuse(0, 1_000);
            assert_eq!(told(&snapshot, now, 1_000), expected(true, "m1 closed, m2 closed"));
            keys.limit(1, 1_000, Some(Duration::from_secs(5)));
            assert_eq!(told(&snapshot, now, 1_000), expected(false, "m1 closed, m2 closed"));
            assert_eq!(told(&snapshot, now, 6_001), expected(true, "m1 closed, m2 closed"));
        }
    }

    #[tokio::test]
    async fn what_an_operator_holds_goes_before_the_breaker() {
        for Db { db, _folder, .. } in databases().await {
            let first = snapshot(&db, None).await;
            let now = Instant::now();
            open(&first, "m1", now);
            let insert = |id: &str, model: &str, position: &str| {
                format!(
                    "INSERT INTO breaker_override (id, provider_id, upstream_model, position, reason, created_by, created_at)
                     SELECT '{id}', id, {model}, '{position}', 'because of {id}', 'ann', 0 FROM provider WHERE name = 'one'"
                )
            };
            db.execute_unprepared(&insert("o1", "NULL", "open")).await.unwrap();
            let second = snapshot(&db, Some(&first)).await;
            assert_eq!(told(&second, now, 0), expected(false, "m1 forced_open, m2 forced_open"));
            db.execute_unprepared(&insert("o2", "'m1'", "closed")).await.unwrap();
            let third = snapshot(&db, Some(&second)).await;
            assert_eq!(told(&third, now, 0), expected(true, "m1 forced_closed, m2 forced_open"));
            let circuit = Circuit::of(&third, &third.providers["one"], &"m1".into(), now);
            assert_eq!((circuit.held.as_deref(), circuit.passes, circuit.until), (Some("because of o2"), true, None));
        }
    }
}
