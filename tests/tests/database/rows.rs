//! Rows as the entities write and read them.

use anyhow::{Context, Result};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveModelTrait, DatabaseConnection, EntityTrait, IntoActiveModel, NotSet, Set};
use svc_entity::{AccountStatus, ContentLogging, KeyStatus, Outcome, OwnerKind, ProviderKind, Source, user};
use svc_entity::{api_key, api_key_use, audit, model, provider, request_log, setting};

use crate::place::{Place, number, run};
use crate::revision::fill;

on_both_databases!(
    entities_read_every_table,
    rows_read_back_as_they_were_written,
    request_is_logged_once,
    audit_rows_get_ascending_ids,
    upsert_replaces_the_last_use,
    values_are_bound_by_number,
);

fn request(id: &str) -> request_log::Model {
    request_log::Model {
        request_id: id.to_owned(),
        started_at: 1_800_000_000_123,
        key_id: Some("k1".to_owned()),
        owner_kind: Some(OwnerKind::Agent),
        owner_id: Some("a1".to_owned()),
        team_id: None,
        application_id: None,
        client_shape: "messages".to_owned(),
        endpoint: "messages".to_owned(),
        path: "/v1/messages".to_owned(),
        provider: Some("v".to_owned()),
        provider_shape: Some("chat_completions".to_owned()),
        model_asked: Some("default".to_owned()),
        model_resolved: Some("m".to_owned()),
        model_upstream: Some("m-1".to_owned()),
        rule: None,
        status: 200,
        error_code: None,
        outcome: Outcome::ClientGone,
        stream: true,
        attempts: 2,
        total_us: i64::MAX,
        first_byte_us: None,
        queue_us: 0,
        overhead_us: 17,
        input_uncached: Some(10),
        cache_read: Some(0),
        cache_write_5m: None,
        cache_write_1h: None,
        output: Some(20),
        reasoning: None,
        own_prompt_tokens: None,
        own_completion_tokens: None,
        cost_nano: None,
        cost_currency: None,
        cost_status: Some("unpriced".to_owned()),
        request_bytes: 1,
        response_bytes: 2,
        client_address: Some("127.0.0.1".to_owned()),
        user_agent: Some("größe ✓".to_owned()),
        tags: Some("{}".to_owned()),
        decision: Some(r#"{"attempts": []}"#.to_owned()),
    }
}

/// Writes a request as the gateway does: a row that is there already stays as it is. Returns how many rows were written.
pub(crate) async fn log_request(db: &DatabaseConnection, id: &str) -> Result<u64> {
    let keep = OnConflict::column(request_log::Column::RequestId).do_nothing().to_owned();
    let rows = [request(id).into_active_model()];
    Ok(request_log::Entity::insert_many(rows).on_conflict(keep).exec_without_returning(db).await?)
}

async fn request_is_logged_once(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    assert_eq!(log_request(&db, "request").await?, 1);
    assert_eq!(log_request(&db, "request").await?, 0, "the row is there already");
    assert_eq!(request_log::Entity::find().all(&db).await?, vec![request("request")]);
    Ok(())
}

async fn entities_read_every_table(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    macro_rules! expect_one_row {
        ($($table:ident),+) => {
            $(assert_eq!(svc_entity::$table::Entity::find().all(&db).await?.len(), 1, stringify!($table));)+
        };
    }
    run(&db, "INSERT INTO event_outbox (id, kind, data, created_at) VALUES ('e1', 'circuit.opened', '{}', 1)").await?;
    expect_one_row!(event_outbox, organisation, team, application, role, user, agent, group, group_member, team_member, api_key);
    expect_one_row!(provider, provider_key, model, model_alias, model_target, model_fallback, setting, config_revision);
    let (key, owner) = api_key::Entity::find().find_also_related(user::Entity).one(&db).await?.context("no key")?;
    assert_eq!((key.status, key.source), (KeyStatus::Active, Source::Api));
    assert_eq!(owner.map(|owner| owner.status), Some(AccountStatus::Active), "the key's owner is found");
    Ok(())
}

async fn rows_read_back_as_they_were_written(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    let provider = provider::Model {
        id: "v1".to_owned(),
        name: "v".to_owned(),
        kind: ProviderKind::AzureOpenAi,
        base_url: "https://example.invalid".to_owned(),
        region: None,
        settings: r#"{"headers": {}}"#.to_owned(),
        enabled: true,
        source: Source::File,
        created_at: 1,
        updated_at: i64::MAX,
    };
    assert_eq!(provider.clone().into_active_model().insert(&db).await?, provider);
    let found = provider::Entity::find_by_id("v1").one(&db).await?;
    assert_eq!(found, Some(provider.clone()));
    let mut change = provider.into_active_model();
    change.enabled = Set(false);
    assert!(!change.update(&db).await?.enabled);
    let stored = number(&db, "SELECT count(*) FROM provider WHERE kind = 'azure_openai' AND source = 'file'", vec![]).await?;
    assert_eq!(stored, 1, "enums are stored as their text");
    let declared = model::ActiveModel {
        id: Set("m1".to_owned()),
        name: Set("m".to_owned()),
        affinity: NotSet,
        capabilities: Set("{}".to_owned()),
        translation: NotSet,
        timeouts: NotSet,
        enabled: Set(true),
        source: Set(Source::File),
        position: Set(0),
        created_at: Set(1),
        updated_at: Set(1),
    };
    model::Entity::insert(declared).exec_without_returning(&db).await?;
    assert!(model::Entity::find().one(&db).await?.context("no model")?.affinity, "affinity is the default");
    Ok(())
}

async fn audit_rows_get_ascending_ids(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    let mut ids = Vec::new();
    for at in 0..3 {
        let row = audit::ActiveModel {
            id: NotSet,
            at: Set(at),
            actor: Set("test".to_owned()),
            action: Set("create".to_owned()),
            resource_kind: Set("role".to_owned()),
            resource_id: Set("r1".to_owned()),
            detail: Set("{}".to_owned()),
            previous_hash: Set(String::new()),
            hash: Set(String::new()),
        };
        let row = row.insert(&db).await?;
        audit::Entity::delete_by_id(row.id).exec(&db).await?;
        ids.push(row.id);
    }
    assert!(ids.is_sorted_by(|one, next| one < next), "an id is never given twice: {ids:?}");
    Ok(())
}

async fn upsert_replaces_the_last_use(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    fill(&db).await?;
    for last_used_at in [1, 5] {
        let replace = OnConflict::column(api_key_use::Column::ApiKeyId).update_column(api_key_use::Column::LastUsedAt).to_owned();
        let row = api_key_use::ActiveModel { api_key_id: Set("k1".to_owned()), last_used_at: Set(last_used_at) };
        api_key_use::Entity::insert(row).on_conflict(replace).exec_without_returning(&db).await?;
    }
    assert_eq!(api_key_use::Entity::find().all(&db).await?.iter().map(|row| row.last_used_at).collect::<Vec<_>>(), [5]);
    let logging = api_key::Entity::find_by_id("k1").one(&db).await?.map(|key| key.content_logging);
    assert_eq!(logging, Some(ContentLogging::Inherit));
    Ok(())
}

/// `$1` is a placeholder on both databases, so one SQL text serves both.
async fn values_are_bound_by_number(place: Place) -> Result<()> {
    let db = place.migrated().await?;
    setting::Entity::insert(setting::ActiveModel { key: Set("a".to_owned()), value: Set("1".to_owned()), updated_at: Set(7) })
        .exec_without_returning(&db)
        .await?;
    let sql = "SELECT updated_at FROM setting WHERE value = $2 AND key = $1 AND key = $1";
    assert_eq!(number(&db, sql, vec!["a".into(), "1".into()]).await?, 7);
    Ok(())
}
