use http::{StatusCode, header};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use svc_filters::auth::{KeySecret, Lookup};

use super::call::{Call, Route};
use super::*;
use crate::conf::Conf;
use crate::licence::Edition;
use crate::licence::state::{Environment, resolve};
use crate::licence::token::Claims;
use crate::store::testing::{Db, conf, databases};
use crate::store::{Sealer, declare, load, verify};

fn store(db: &DatabaseConnection) -> Store {
    let claims = Claims { customer: "tests".into(), edition: Edition::Enterprise, issued_at: 0, expires_at: i64::MAX };
    with_licence(db, Environment::Valid(claims))
}

fn with_licence(db: &DatabaseConnection, environment: Environment) -> Store {
    let pepper = Pepper::new(b"a pepper of at least 32 bytes for tests");
    let licence = Licence::new(resolve(environment, || None, 0), Edition::Enterprise);
    Store { db: db.clone(), pepper, clock: Clock::default(), licence }
}

fn call(body: Value) -> Call {
    Call { route: Route::Health, query: String::new(), if_match: None, body: body.to_string().into() }
}

fn bytes(body: Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

async fn user(store: &Store) -> String {
    let answer = users::create(store, &bytes(json!({"email": "Dev@Example.com", "name": "Dev"}))).await.unwrap();
    assert_eq!(answer.status, StatusCode::CREATED);
    let body = answer.body.unwrap();
    assert_eq!(body["email"], "dev@example.com");
    body["id"].as_str().unwrap().to_owned()
}

async fn key(store: &Store) -> Value {
    let body = json!({"name": "k", "owner": {"user": "dev@example.com"}, "rpm_limit": 5, "tags": {"job": "batch"}});
    keys::create(store, &bytes(body)).await.unwrap().body.unwrap()
}

fn id(body: &Value) -> String {
    body["id"].as_str().unwrap().to_owned()
}

async fn find(db: &DatabaseConnection, secret: &str, now: i64) -> Lookup {
    let store = store(db);
    let snapshot = load(db, &Conf::default(), &store.pepper, &Sealer::new(b"master"), None).await.unwrap();
    snapshot.policy.keys.find(secret, now)
}

#[tokio::test]
async fn a_created_key_works_and_shows_its_secret_once() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        let owner = user(&store).await;
        let created = key(&store).await;
        let secret = created["secret"].as_str().unwrap().to_owned();
        assert_eq!(KeySecret::public_id_of(&secret), created["public_id"].as_str());
        assert_eq!(created["owner"], json!({ "user": owner }));
        assert!(matches!(find(&db, &secret, 0).await, Lookup::Valid(key) if key.rpm_limit == Some(5)));
        let got = keys::get(&store, &id(&created)).await.unwrap();
        let shown = got.body.unwrap();
        assert!(shown.get("secret").is_none() && !shown.to_string().contains("hash"), "{shown}");
        assert_eq!(shown["tags"], json!({"job": "batch"}));
    }
}

#[tokio::test]
async fn a_body_that_does_not_fit_is_refused_with_every_fault() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        let refused = async |body: Value| match keys::create(&store, &bytes(body)).await {
            Err(Problem::Invalid(faults)) => faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>(),
            other => panic!("it must be refused: {other:?}"),
        };
        assert_eq!(refused(json!({})).await, ["name", "owner"]);
        assert_eq!(refused(json!({"name": 1, "owner": {"user": "a", "agent": "b"}, "colour": 1})).await, ["name", "owner", "colour"]);
        assert_eq!(refused(json!({"name": "k", "owner": {"user": "nobody@example.com"}})).await, ["owner.user"], "no user is made");
        user(&store).await;
        let owner = json!({"user": "dev@example.com"});
        assert_eq!(refused(json!({"name": "k", "owner": owner, "role": "none"})).await, ["role"]);
        assert_eq!(refused(json!({"name": "k", "owner": owner, "status": "revoked"})).await, ["status"]);
    }
}

#[tokio::test]
async fn a_patch_merges_and_heeds_the_version() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        user(&store).await;
        let id = id(&key(&store).await);
        let etag = |answer: &Answer| {
            let (_, value) = answer.headers.iter().find(|(name, _)| name == header::ETAG).unwrap();
            value.to_str().unwrap().to_owned()
        };
        let first = etag(&keys::get(&store, &id).await.unwrap());
        let changed = keys::update(&store, &id, &Call { if_match: Some(first.clone()), ..call(json!({"rpm_limit": null})) }).await.unwrap();
        assert_ne!(etag(&changed), first);
        let body = changed.body.clone().unwrap();
        assert_eq!((&body["rpm_limit"], &body["tags"]), (&Value::Null, &json!({"job": "batch"})));
        let late = keys::update(&store, &id, &Call { if_match: Some(first), ..call(json!({"name": "x"})) }).await;
        assert_eq!(late.unwrap_err(), Problem::PreconditionFailed);
        let same = keys::update(&store, &id, &call(json!({"name": "k"}))).await.unwrap();
        assert_eq!(etag(&same), etag(&changed), "nothing changed, so the version stays");
    }
}

#[tokio::test]
async fn revoking_is_final() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        user(&store).await;
        let created = key(&store).await;
        let (id, secret) = (id(&created), created["secret"].as_str().unwrap());
        assert_eq!(keys::revoke(&store, &id, &call(json!({}))).await.unwrap().status, StatusCode::NO_CONTENT);
        assert!(matches!(find(&db, secret, 0).await, Lookup::Refused(_)));
        assert_eq!(keys::revoke(&store, &id, &call(json!({}))).await.unwrap().status, StatusCode::NO_CONTENT, "again is no error");
        for refused in
            [keys::update(&store, &id, &call(json!({"status": "active"}))).await, keys::rotate(&store, &id, &call(json!({}))).await]
        {
            assert!(matches!(refused, Err(Problem::Conflict { code: "revoked", .. })), "{refused:?}");
        }
    }
}

#[tokio::test]
async fn after_a_rotation_the_old_secret_works_for_the_overlap() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        user(&store).await;
        let created = key(&store).await;
        let (id, old) = (id(&created), created["secret"].as_str().unwrap());
        let rotated = keys::rotate(&store, &id, &call(json!({"overlap_hours": 1}))).await.unwrap().body.unwrap();
        let new = rotated["secret"].as_str().unwrap();
        let now = Clock::default().unix_ms();
        assert!(matches!(find(&db, new, now).await, Lookup::Valid(_)));
        assert!(matches!(find(&db, old, now).await, Lookup::Valid(_)));
        assert!(matches!(find(&db, old, now + 3_700_000).await, Lookup::Unknown));
        keys::rotate(&store, &id, &call(json!({"overlap_hours": 0}))).await.unwrap();
        assert!(matches!(find(&db, new, now).await, Lookup::Unknown), "no overlap ends the old secret at once");
    }
}

#[tokio::test]
async fn rows_of_the_file_are_read_only() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        let conf = conf("keys: [{name: a, secret: a-secret-of-16-characters, owner: {user: a@b.example}}]");
        declare(&db, &conf, &store.pepper, &Sealer::new(b"master")).await.unwrap();
        let list = keys::list(&store, "").await.unwrap().body.unwrap();
        let key = id(&list["data"][0]);
        let list = users::list(&store, "email=A@B.example").await.unwrap().body.unwrap();
        let user = id(&list["data"][0]);
        for refused in [
            keys::update(&store, &key, &call(json!({"name": "b"}))).await,
            keys::revoke(&store, &key, &call(json!({}))).await,
            keys::rotate(&store, &key, &call(json!({}))).await,
            users::update(&store, &user, &call(json!({"name": "b"}))).await,
            users::disable(&store, &user, &call(json!({}))).await,
        ] {
            assert!(matches!(refused, Err(Problem::Conflict { code: "read_only", .. })), "{refused:?}");
        }
    }
}

#[tokio::test]
async fn lists_go_page_by_page_without_gap_or_repetition() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        user(&store).await;
        let mut made = Vec::new();
        for _ in 0..5 {
            made.push(id(&key(&store).await));
        }
        made.sort_by(|one, other| other.cmp(one));
        let (mut seen, mut query) = (Vec::new(), "limit=2&status=active".to_owned());
        loop {
            let page = keys::list(&store, &query).await.unwrap().body.unwrap();
            seen.extend(page["data"].as_array().unwrap().iter().map(id));
            let Some(next) = page["next_cursor"].as_str() else { break };
            query = format!("limit=2&status=active&cursor={next}");
        }
        assert_eq!(seen, made);
    }
}

#[tokio::test]
async fn users_have_unique_addresses_and_their_keys_end_with_them() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        let id = user(&store).await;
        let again = users::create(&store, &bytes(json!({"email": "dev@example.COM", "name": "Other"}))).await;
        assert!(matches!(again, Err(Problem::Conflict { code: "already_exists", .. })), "{again:?}");
        let created = key(&store).await;
        users::disable(&store, &id, &call(json!({}))).await.unwrap();
        assert!(matches!(find(&db, created["secret"].as_str().unwrap(), 0).await, Lookup::Refused(_)));
        assert_eq!(users::get(&store, "none").await.unwrap_err(), Problem::NotFound);
    }
}

#[tokio::test]
async fn every_change_is_in_the_audit_and_a_refused_one_is_not() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        user(&store).await;
        let created = key(&store).await;
        keys::rotate(&store, &id(&created), &call(json!({}))).await.unwrap();
        let _ = users::create(&store, &bytes(json!({"email": "dev@example.com", "name": "x"}))).await.unwrap_err();
        assert_eq!(verify(&db).await.unwrap(), 3);
        let rows = db.query_all_raw(sea_orm::Statement::from_string(db.get_database_backend(), "SELECT detail FROM audit")).await.unwrap();
        let secret = created["secret"].as_str().unwrap();
        assert!(rows.iter().all(|row| !row.try_get::<String>("", "detail").unwrap().contains(&secret[20..])));
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_told_as_unavailable() {
    for Db { db, _folder, .. } in databases().await {
        let store = store(&db);
        db.clone().close().await.unwrap();
        let refused = keys::list(&store, "").await.unwrap_err();
        assert_eq!(refused, Problem::Unavailable);
    }
}

#[tokio::test]
async fn recovery_mode_lets_exactly_the_capped_number_be_created_at_once() {
    for Db { db, url, _folder } in databases().await {
        user(&store(&db)).await;
        // Two gateways on one database, each with connections of its own.
        let other = svc_migrations::connect(&url, 4).await.unwrap();
        let gateways = [with_licence(&db, Environment::Missing), with_licence(&other, Environment::Missing)];
        let mut tasks = JoinSet::new();
        for round in 0..40 {
            let store = gateways[round % 2].clone();
            let body = bytes(json!({"name": format!("k{round}"), "owner": {"user": "dev@example.com"}}));
            tasks.spawn(async move { keys::create(&store, &body).await });
        }
        let (made, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!((made.len(), refused.len()), (25, 15));
        for problem in refused {
            assert_eq!(problem.unwrap_err(), Problem::CapExceeded { what: "keys", limit: 25, current: 25 });
        }
        let more = store(&db);
        assert_eq!(key(&more).await["name"], "k", "with a licence there is no cap");
        let over = keys::create(&gateways[0], &bytes(json!({"name": "k", "owner": {"user": "dev@example.com"}}))).await.unwrap_err();
        assert_eq!(over, Problem::CapExceeded { what: "keys", limit: 25, current: 26 });
    }
}

#[tokio::test]
async fn revoked_keys_and_disabled_users_count_in_recovery_mode() {
    for Db { db, _folder, .. } in databases().await {
        let licensed = store(&db);
        for number in 0..5 {
            let body = bytes(json!({"email": format!("u{number}@example.com"), "name": "U"}));
            let made = users::create(&licensed, &body).await.unwrap().body.unwrap();
            users::disable(&licensed, &id(&made), &call(json!({}))).await.unwrap();
        }
        let recovery = with_licence(&db, Environment::Missing);
        let refused = users::create(&recovery, &bytes(json!({"email": "more@example.com", "name": "U"}))).await.unwrap_err();
        assert_eq!(refused, Problem::CapExceeded { what: "users", limit: 5, current: 5 });
        let answer = Answer::from(refused);
        let body = answer.body.unwrap();
        assert_eq!(
            (answer.status.as_u16(), &body["code"], &body["limit"], &body["current"]),
            (403, &json!("cap_exceeded"), &json!(5), &json!(5))
        );
        let shown = licence::answer(&recovery).await.unwrap().body.unwrap();
        assert_eq!(shown["caps"], json!({"api_keys": {"count": 0, "cap": 25}, "users": {"count": 5, "cap": 5}}));
        assert_eq!(licence::answer(&licensed).await.unwrap().body.unwrap()["caps"]["users"], json!({"count": 5, "cap": null}));
    }
}
