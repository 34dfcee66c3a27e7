//! `/admin/health`: whether this gateway can do its work.

use std::time::{Duration, Instant};

use http::StatusCode;
use sea_orm::{ConnectionTrait, DatabaseConnection};
use serde_json::{Value, json};

use super::list::moment;
use super::problem::{Answer, Problem, add};
use super::{Control, licence};
use crate::clock::Clock;
use crate::exchange::Exchange;
use crate::licence::state::Standing as LicenceStanding;
use crate::providers::{Circuit, Standing};
use crate::store::Snapshot;

/// How long the database may take to answer before it counts as unreachable.
const DATABASE_DEADLINE: Duration = Duration::from_secs(3);
/// A database slower than this degrades the gateway.
const SLOW_DATABASE: Duration = Duration::from_secs(1);

/// `GET /admin/health`
pub(super) async fn answer(exchange: &Exchange, control: &Control) -> Answer {
    let gateway = &exchange.gateway;
    let snapshot = gateway.live.hold();
    let has_room = gateway.journal.has_room();
    let gauges = json!({
        "journal": {"bytes": gateway.journal.bytes_waiting(), "accepting": has_room},
        "configuration": {
            "revision": snapshot.revision,
            "age_ms": millis(snapshot.loaded.elapsed()),
            "keys": snapshot.policy.keys.len(),
            "models": snapshot.policy.models.iter().count(),
        },
        "licence": licence::show(&gateway.licence, control.store.clock.unix_ms()),
        "providers": providers(&snapshot, &control.store.clock, exchange.now()),
        "active_requests": gateway.active.count(),
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_s": control.started.elapsed().as_secs(),
    });
    let db = control.store.db.clone();
    let standing = gateway.licence.resolved().standing;
    control.run(async move { Ok::<_, Problem>(report(ping(&db).await, has_room, standing, gauges)) }).await
}

fn report(latency: Option<Duration>, has_room: bool, licence: LicenceStanding, gauges: Value) -> Answer {
    let slow = latency.is_some_and(|latency| latency > SLOW_DATABASE);
    let (status, word) = match licence {
        _ if latency.is_none() => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        // Requests are served all the same; whoever runs the gateway has to see to the licence.
        LicenceStanding::Missing | LicenceStanding::Invalid | LicenceStanding::Expired => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        LicenceStanding::Cached => (StatusCode::OK, "degraded"),
        LicenceStanding::Valid | LicenceStanding::Expiring | LicenceStanding::Grace if slow || !has_room => (StatusCode::OK, "degraded"),
        LicenceStanding::Valid | LicenceStanding::Expiring | LicenceStanding::Grace => (StatusCode::OK, "ok"),
    };
    let mut body = json!({
        "status": word,
        "database": {"reachable": latency.is_some(), "latency_ms": latency.map(millis)},
    });
    if let (Some(body), Value::Object(gauges)) = (body.as_object_mut(), gauges) {
        body.extend(gauges);
    }
    Answer::json(status, body)
}

/// How long the database takes to answer; `None` where it does not.
async fn ping(db: &DatabaseConnection) -> Option<Duration> {
    let started = Instant::now();
    // A query on a table, since SQLite would answer anything else without looking at its file.
    let query = db.execute_unprepared("SELECT revision FROM config_revision");
    match tokio::time::timeout(DATABASE_DEADLINE, query).await {
        Ok(Ok(_)) => Some(started.elapsed()),
        Ok(Err(error)) => {
            log::warn!("the health check cannot reach the database: {error}");
            None
        }
        Err(_) => None,
    }
}

fn providers(snapshot: &Snapshot, clock: &Clock, now_ms: u64) -> Value {
    let (now, unix_ms) = (Instant::now(), clock.unix_ms());
    let shown = Standing::all(snapshot, now, now_ms).into_iter().map(|standing| {
        let provider = &standing.provider;
        let disturbed = standing.circuits.iter().filter(|circuit| circuit.as_str() != "closed");
        let circuits: Vec<Value> = disturbed.map(|circuit| self::circuit(circuit, now, unix_ms)).collect();
        json!({
            "name": &**provider.name(),
            "kind": provider.kind().as_str(),
            "credentials": provider.keys().len(),
            "up": standing.up,
            "circuits": circuits,
        })
    });
    shown.collect()
}

fn circuit(circuit: &Circuit, now: Instant, unix_ms: i64) -> Value {
    let mut shown = json!({"model": &*circuit.model, "position": circuit.as_str()});
    if let Some(until) = circuit.until {
        let left = i64::try_from(until.saturating_duration_since(now).as_millis()).unwrap_or(i64::MAX);
        add(&mut shown, "until", moment(unix_ms.saturating_add(left)));
    }
    if let Some(reason) = &circuit.held {
        add(&mut shown, "reason", &**reason);
    }
    shown
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_follows_the_database_the_journal_and_the_licence() {
        let licensed = |latency: Option<u64>, has_room, licence| {
            let answer = report(latency.map(Duration::from_millis), has_room, licence, json!({"version": "1"}));
            let body = answer.body.unwrap();
            assert_eq!(body["version"], "1");
            (answer.status.as_u16(), body["status"].as_str().unwrap().to_owned())
        };
        let word = |latency, has_room| licensed(latency, has_room, LicenceStanding::Valid);
        assert_eq!(word(Some(2), true), (200, "ok".into()));
        assert_eq!(word(Some(1_500), true), (200, "degraded".into()));
        assert_eq!(word(Some(2), false), (200, "degraded".into()), "requests are refused while the journal is full");
        assert_eq!(word(None, true), (503, "unavailable".into()));
        for (licence, expected) in [
            (LicenceStanding::Expiring, (200, "ok")),
            (LicenceStanding::Grace, (200, "ok")),
            (LicenceStanding::Cached, (200, "degraded")),
            (LicenceStanding::Missing, (503, "unavailable")),
            (LicenceStanding::Invalid, (503, "unavailable")),
            (LicenceStanding::Expired, (503, "unavailable")),
        ] {
            assert_eq!(licensed(Some(2), true, licence), (expected.0, expected.1.to_owned()), "{licence:?}");
        }
    }
}
