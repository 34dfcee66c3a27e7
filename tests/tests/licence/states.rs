//! Every row of the table of states.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_entity::event_outbox;
use svc_tests::licence::{self, DAY};
use svc_tests::request_log::Database;
use svc_tests::upstream::runtime;
use svc_tests::wait;

use crate::stage::{Stage, corrupt, lasting};

const LICENSED: &str = "enterprise";
const MISSING: (u16, &str, &str, &str, &str, &str, Option<&str>, bool) =
    (503, "unavailable", "community", "recovery", "missing", "none", Some("B-3"), false);
const INVALID: (u16, &str, &str, &str, &str, &str, Option<&str>, bool) =
    (503, "unavailable", "community", "recovery", "invalid", "none", Some("B-3"), true);
const CACHED: (u16, &str, &str, &str, &str, &str, Option<&str>, bool) =
    (200, "degraded", LICENSED, LICENSED, "cached", "cache", Some("B-5"), true);

/// What the installation of a test gateway would have cached of a licence at a moment.
fn cached(token: &str, verified_at: i64) -> String {
    let master = Sha256::digest(b"m0123456789abcdefghijklmnopqrstuvwxyz");
    let mut key = [0; 32];
    Hkdf::<Sha256>::new(None, &master).expand(b"svc licence cache v1", &mut key).expect("32 bytes");
    let mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key").chain_update(format!("{token}\n{verified_at}")).finalize();
    format!("{token}\n{verified_at}\n{}\n", URL_SAFE_NO_PAD.encode(mac.into_bytes()))
}

#[test]
fn a_missing_or_blank_licence_is_recovery_mode_whatever_is_cached() {
    let mut stage = Stage::start(lasting(90 * DAY));
    assert!(stage.cache().exists());
    for missing in [None, Some(String::new()), Some("  ".to_owned())] {
        assert_eq!(stage.after(missing).row(), MISSING);
        let shown = stage.licence();
        assert_eq!((&shown["customer"], &shown["expires_at"], &shown["days_left"]), (&Value::Null, &Value::Null, &Value::Null), "{shown}");
        assert!(shown["banner"]["text"].as_str().is_some_and(|text| text.contains("SVC_LICENSE_KEY")), "{shown}");
    }
}

#[test]
fn a_licence_stands_by_the_days_it_has() {
    let mut stage = Stage::start(lasting(365 * DAY));
    let good = |state, banner| (200, "ok", LICENSED, LICENSED, state, "environment", banner, false);
    assert_eq!(stage.shown().row(), good("valid", None));
    let shown = stage.licence();
    assert_eq!((&shown["customer"], &shown["build"], &shown["days_left"]), (&json!("Tests"), &json!(LICENSED), &json!(365)), "{shown}");
    // A little is left for the start itself.
    assert_eq!(stage.after(lasting(30 * DAY + 60)).row(), good("valid", None));
    assert_eq!(stage.after(lasting(30 * DAY)).row(), good("expiring", Some("B-1")));
    assert_eq!(stage.licence()["banner"]["text"], "The licence expires in 30 days.");
    assert_eq!(stage.after(lasting(60)).row(), good("expiring", Some("B-1")));
    assert_eq!(stage.after(lasting(-1)).row(), good("grace", Some("B-2")));
    assert_eq!(stage.after(lasting(60 - 30 * DAY)).row(), good("grace", Some("B-2")));
    assert_eq!(stage.licence()["days_left"], 1);
    let expired = (503, "unavailable", "community", "recovery", "expired", "environment", Some("B-4"), false);
    assert_eq!(stage.after(lasting(-30 * DAY - 1)).row(), expired);
    assert_eq!(stage.licence()["customer"], "Tests", "it is told whose licence expired");
    assert_eq!(stage.after(lasting(365 * DAY)).row(), good("valid", None), "a renewed licence clears the banner");
}

#[test]
fn a_licence_in_its_grace_is_cached_but_serves_from_there_no_more() {
    let mut stage = Stage::start(lasting(-5 * DAY));
    assert!(stage.cache().exists());
    assert_eq!(stage.after(corrupt()).row(), INVALID);
}

#[test]
fn a_corrupt_licence_falls_to_the_last_good_one() {
    let mut stage = Stage::start(corrupt());
    assert_eq!(stage.shown().row(), INVALID, "there is none yet");
    stage.gateway.says("cannot be used");
    assert_eq!(stage.after(lasting(90 * DAY)).row().0, 200);
    assert_eq!(fs::metadata(stage.cache()).expect("a cache").permissions().mode() & 0o777, 0o600);
    for unusable in [corrupt(), Some("no licence".to_owned()), Some("A".repeat(9000))] {
        assert_eq!(stage.after(unusable).row(), CACHED);
    }
    let shown = stage.licence();
    assert!(shown["reason"].is_string() && shown["customer"] == "Tests", "{shown}");
    assert_eq!(stage.after(lasting(90 * DAY)).row().6, None, "a good licence clears the banner");
}

#[test]
fn a_cached_licence_serves_for_less_than_30_days_and_until_it_expires() {
    let mut stage = Stage::start(None);
    let (good, now) = (licence::enterprise(), licence::now());
    for (verified_at, expected) in [
        (now - 30 * DAY + 120, CACHED),
        (now - 30 * DAY, INVALID),
        (now, CACHED),
        (now + DAY / 2, CACHED),
        (now + 2 * DAY, INVALID),
        (0, INVALID),
        (i64::MAX, INVALID),
    ] {
        stage.write_cache(&cached(&good, verified_at));
        assert_eq!(stage.after(corrupt()).row(), expected, "verified {} s ago", now - verified_at);
    }
    for (left, expected) in [(120, CACHED), (0, INVALID), (-1, INVALID)] {
        stage.write_cache(&cached(&lasting(left).expect("a licence"), now));
        assert_eq!(stage.after(corrupt()).row(), expected, "expires in {left} s");
    }
}

#[test]
fn a_cached_licence_that_expires_is_no_use_at_the_next_start() {
    let expires_at = licence::now() + 3;
    let mut stage = Stage::start(Some(licence::expiring("enterprise", expires_at)));
    wait::until("the licence to expire", || (licence::now() >= expires_at).then_some(()));
    assert_eq!(stage.shown().tier, LICENSED, "what was decided at start holds until the next one");
    assert_eq!(stage.after(corrupt()).row(), INVALID);
}

#[test]
fn a_cache_that_is_not_this_installations_own_counts_as_none() {
    let mut stage = Stage::start(lasting(90 * DAY));
    let own = fs::read_to_string(stage.cache()).expect("a cache");
    let moment = own.lines().nth(1).expect("the moment").to_owned();
    let later = (moment.parse::<i64>().expect("a number") + 60).to_string();
    for changed in [String::new(), own.replace(&moment, &later), own.lines().next().expect("the licence").to_owned(), "A".repeat(100_000)] {
        stage.write_cache(&changed);
        assert_eq!(stage.after(corrupt()).row(), INVALID, "{changed:.60}");
        stage.gateway.says("the cached licence in");
    }
    stage.write_cache(&own);
    assert_eq!(stage.after(corrupt()).row(), CACHED, "as it was it serves");
}

#[test]
fn each_change_is_one_event() {
    let mut stage = Stage::start(lasting(90 * DAY));
    for licence in [lasting(91 * DAY), lasting(9 * DAY), lasting(8 * DAY), corrupt(), None, None, lasting(90 * DAY)] {
        stage.after(licence);
    }
    let database = Database::open(&stage.gateway.database_url());
    let find = event_outbox::Entity::find().order_by_asc(event_outbox::Column::Id).all(database.connection());
    let rows = runtime().block_on(find).expect("the database answers");
    let told: Vec<(String, String)> = rows
        .iter()
        .filter(|row| row.kind == "licence.state_changed")
        .map(|row| serde_json::from_str::<Value>(&row.data).expect("JSON"))
        .map(|data| (data["previous_state"].to_string(), data["state"].to_string()))
        .collect();
    let expected = [("valid", "expiring"), ("expiring", "cached"), ("cached", "missing"), ("missing", "valid")];
    assert_eq!(told, expected.map(|(from, to)| (format!("{from:?}"), format!("{to:?}"))));
}
