use sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait};
use svc_entity::request_log::{Entity, Outcome};
use svc_filters::usage::Usage;

use super::*;
use crate::store::record::{AttemptRecord, RequestOutcome};
use crate::store::testing::{Db, databases, postgres, sqlite};

fn record(number: usize) -> Record {
    Record {
        request_id: format!("request-{number:06}"),
        started_at: 1_700_000_000_000,
        key_id: Some(format!("key-{}", number % 3)),
        owner_kind: Some("user".into()),
        client_shape: "chat_completions".into(),
        endpoint: "chat_completions".into(),
        path: "/v1/chat/completions".into(),
        provider: number.is_multiple_of(2).then(|| "openai".into()),
        status: 200,
        outcome: RequestOutcome::Complete,
        stream: true,
        total_us: u64::MAX,
        usage: Some(Usage { input_uncached: 7, output: 3, ..Usage::default() }),
        attempts: vec![AttemptRecord { provider: "openai".into(), status: 200, ..AttemptRecord::default() }],
        ..Record::default()
    }
}

async fn ids(db: &DatabaseConnection) -> Vec<String> {
    let mut ids: Vec<String> = Entity::find().all(db).await.unwrap().into_iter().map(|row| row.request_id).collect();
    ids.sort();
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_column_arrives_as_it_was_recorded() {
    for Db { db, _folder, .. } in databases().await {
        let records: Vec<Record> = (0..130).map(record).collect();
        insert(&db, &records).await.unwrap();
        let row = Entity::find_by_id("request-000129").one(&db).await.unwrap().unwrap();
        assert_eq!(row.key_id.as_deref(), Some("key-0"));
        assert_eq!((row.provider, row.status, row.stream, row.attempts), (None, 200, true, 1));
        assert_eq!(row.outcome, Outcome::Complete);
        assert_eq!(row.total_us, i64::MAX, "a count beyond the column is the largest it holds");
        assert_eq!((row.input_uncached, row.output, row.reasoning), (Some(7), Some(3), None));
        assert_eq!((row.queue_us, row.cost_nano, row.rule), (0, None, None));
        assert_eq!(row.decision.as_deref(), Some(r#"{"attempts":[{"provider":"openai","model":"","status":200,"us":0}]}"#));
        assert_eq!(Entity::find().count(&db).await.unwrap(), 130, "full chunks and the rest");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_record_given_twice_is_one_row() {
    for Db { db, _folder, .. } in databases().await {
        insert(&db, &[record(1), record(2), record(1)]).await.unwrap();
        let again: Vec<Record> = (0..100).map(record).collect();
        insert(&db, &again).await.unwrap();
        insert::<String>(&db, &[]).await.unwrap();
        assert_eq!(ids(&db).await.len(), 100);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_zero_byte_is_replaced() {
    for Db { db, _folder, .. } in databases().await {
        insert(&db, &[Record { path: "/v1/\0x".into(), user_agent: Some("\0".into()), ..record(0) }]).await.unwrap();
        let row = Entity::find_by_id("request-000000").one(&db).await.unwrap().unwrap();
        assert_eq!((row.path.as_str(), row.user_agent.as_deref()), ("/v1/\u{fffd}x", Some("\u{fffd}")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn only_the_row_the_database_refuses_is_left_out() {
    let Db { db, _folder, .. } = sqlite().await;
    let trigger = "CREATE TRIGGER refuse BEFORE INSERT ON request_log WHEN NEW.path = 'poison' BEGIN SELECT RAISE(ABORT, 'no'); END";
    db.execute_unprepared(trigger).await.unwrap();
    all_but_the_poison(&db, Record { path: "poison".into(), ..record(70) }).await;
    if let Some(Db { db, _folder, .. }) = postgres().await {
        // Too long for its index, and random so that compression does not help.
        let request_id: String = (0..20_000).map(|_| char::from(b'a' + (rand::random::<u8>() % 26))).collect();
        all_but_the_poison(&db, Record { request_id, ..record(70) }).await;
    }
}

async fn all_but_the_poison(db: &DatabaseConnection, poison: Record) {
    let mut records: Vec<Record> = (0..130).map(record).collect();
    records[70] = poison;
    insert(db, &records).await.unwrap();
    let expected: Vec<String> = (0..130).filter(|number| *number != 70).map(|number| record(number).request_id).collect();
    assert_eq!(ids(db).await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_database_that_fails_for_another_reason_loses_nothing() {
    for Db { db, _folder, .. } in databases().await {
        db.execute_unprepared("ALTER TABLE request_log RENAME TO away").await.unwrap();
        assert!(insert(&db, &[record(1)]).await.is_err(), "the record is kept and given again");
        db.execute_unprepared("ALTER TABLE away RENAME TO request_log").await.unwrap();
        insert(&db, &[record(1)]).await.unwrap();
        assert_eq!(ids(&db).await.len(), 1);
    }
}
