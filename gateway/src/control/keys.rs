//! `/admin/keys`.

mod draft;
mod show;

use entity::{KeyStatus, Source, api_key, api_key_use};
use http::{StatusCode, header};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder,
    QuerySelect,
};
use serde_json::{Value, json};
use svc_entity as entity;
use svc_filters::auth::KeySecret;

use super::Store;
use super::audited::{self, Resource, difference};
use super::call::Call;
use super::fields::Fields;
use super::licence::check_cap;
use super::list::{Query, check_version, version};
use super::problem::{Answer, Problem};
use crate::licence::Capped;
use crate::store::begin_write;
use draft::{Draft, STATUSES};
use show::show;

/// Hours for which the secret before a rotation is accepted: usually, and at most.
const OVERLAP_HOURS: i64 = 24;
const LONGEST_OVERLAP_HOURS: i64 = 24 * 30;
const HOUR_MS: i64 = 3_600_000;

/// `POST /admin/keys`
pub(super) async fn create(store: &Store, body: &[u8]) -> Result<Answer, Problem> {
    let mut fields = Fields::parse(body)?;
    let mut draft = Draft::read(&mut fields);
    draft.name = fields.require("name", draft.name);
    draft.owner = fields.require("owner", draft.owner);
    if draft.status == Some(KeyStatus::Revoked) {
        fields.fault("status", "must be active or disabled on a new key");
    }
    fields.finish()?;
    let now = store.clock.unix_ms();
    let secret = KeySecret::mint(&mut rand::rng());
    let mut row = draft::new_row(now, &secret, &store.pepper);
    let transaction = begin_write(&store.db).await?;
    check_cap(&transaction, &store.licence, Capped::ApiKeys).await?;
    draft.apply(&transaction, &mut row).await?;
    let row = row.into_active_model().insert(&transaction).await?;
    let shown = show(&row, None);
    audited::commit(transaction, now, "create", Resource { kind: "key", id: &row.id }, &shown).await?;
    let location = format!("/admin/keys/{}", row.id);
    Ok(answer(StatusCode::CREATED, &row, with_secret(shown, &secret)).with(header::LOCATION, &location))
}

/// `GET /admin/keys`
pub(super) async fn list(store: &Store, query: &str) -> Result<Answer, Problem> {
    let query = Query::parse(query, &["status", "owner"])?;
    let mut find = api_key::Entity::find().order_by_desc(api_key::Column::Id).limit(query.limit + 1);
    if let Some(after) = &query.after {
        find = find.filter(api_key::Column::Id.lt(after));
    }
    if let Some(status) = query.filter("status") {
        let known = STATUSES.iter().find(|(word, _)| *word == status);
        let (_, status) = known.ok_or_else(|| Problem::field("status", "must be active, disabled or revoked"))?;
        find = find.filter(api_key::Column::Status.eq(*status));
    }
    if let Some(owner) = query.filter("owner") {
        find = find.filter(Condition::any().add(api_key::Column::UserId.eq(owner)).add(api_key::Column::AgentId.eq(owner)));
    }
    let rows = find.find_also_related(api_key_use::Entity).all(&store.db).await?;
    let shown = query.page(rows, |(row, _)| &row.id, |(row, used)| show(row, used.as_ref().map(|used| used.last_used_at)));
    Ok(Answer::json(StatusCode::OK, shown))
}

/// `GET /admin/keys/{id}`
pub(super) async fn get(store: &Store, id: &str) -> Result<Answer, Problem> {
    let row = api_key::Entity::find_by_id(id).one(&store.db).await?.ok_or(Problem::NotFound)?;
    let used = last_used(&store.db, id).await?;
    Ok(answer(StatusCode::OK, &row, show(&row, used)))
}

/// `PATCH /admin/keys/{id}`
pub(super) async fn update(store: &Store, id: &str, call: &Call) -> Result<Answer, Problem> {
    let mut fields = Fields::parse(&call.body)?;
    let draft = Draft::read(&mut fields);
    fields.finish()?;
    let transaction = begin_write(&store.db).await?;
    let before = editable(&transaction, id, call).await?;
    if before.status == KeyStatus::Revoked {
        return Err(revoked());
    }
    let mut row = before.clone();
    draft.apply(&transaction, &mut row).await?;
    save(store, transaction, "update", before, row).await
}

/// `DELETE /admin/keys/{id}`: the key is revoked; the row stays for what names it.
pub(super) async fn revoke(store: &Store, id: &str, call: &Call) -> Result<Answer, Problem> {
    let transaction = begin_write(&store.db).await?;
    let before = editable(&transaction, id, call).await?;
    let row = api_key::Model { status: KeyStatus::Revoked, ..before.clone() };
    save(store, transaction, "revoke", before, row).await.map(|_| Answer::empty())
}

/// `POST /admin/keys/{id}/rotate`: a new secret with the same public part, beside which the old one works for a while.
pub(super) async fn rotate(store: &Store, id: &str, call: &Call) -> Result<Answer, Problem> {
    let mut fields = Fields::parse(&call.body)?;
    let hours = fields.number("overlap_hours", LONGEST_OVERLAP_HOURS);
    fields.finish()?;
    let overlap = hours.flatten().unwrap_or(OVERLAP_HOURS).saturating_mul(HOUR_MS);
    let transaction = begin_write(&store.db).await?;
    let before = editable(&transaction, id, call).await?;
    if before.status == KeyStatus::Revoked {
        return Err(revoked());
    }
    let public_id = before.public_id.as_deref().ok_or(Problem::Internal)?;
    let secret = KeySecret::mint_with(public_id, &mut rand::rng()).ok_or(Problem::Internal)?;
    let until = store.clock.unix_ms().saturating_add(overlap);
    let row = api_key::Model {
        secret_hash: store.pepper.hash(secret.reveal()).to_hex(),
        last_four: KeySecret::last_four(secret.reveal()).to_owned(),
        previous_secret_hash: (overlap > 0).then(|| before.secret_hash.clone()),
        previous_valid_until: (overlap > 0).then_some(until),
        ..before.clone()
    };
    let mut answer = save(store, transaction, "rotate", before, row).await?;
    answer.body = answer.body.map(|shown| with_secret(shown, &secret));
    Ok(answer)
}

/// The row, where the call may change it.
async fn editable(transaction: &DatabaseTransaction, id: &str, call: &Call) -> Result<api_key::Model, Problem> {
    let row = api_key::Entity::find_by_id(id).one(transaction).await?.ok_or(Problem::NotFound)?;
    if row.source == Source::File {
        return Err(Problem::read_only("key"));
    }
    check_version(call.if_match.as_deref(), row.updated_at)?;
    Ok(row)
}

/// Writes a row that changed, with its audit row; one that did not is left as it is.
async fn save(
    store: &Store,
    transaction: DatabaseTransaction,
    action: &str,
    before: api_key::Model,
    mut row: api_key::Model,
) -> Result<Answer, Problem> {
    let used = last_used(&transaction, &row.id).await?;
    if row == before {
        return Ok(answer(StatusCode::OK, &row, show(&row, used)));
    }
    let now = store.clock.unix_ms();
    row.updated_at = now.max(before.updated_at.saturating_add(1));
    let row = row.into_active_model().reset_all().update(&transaction).await?;
    let (was, shown) = (show(&before, used), show(&row, used));
    audited::commit(transaction, now, action, Resource { kind: "key", id: &row.id }, &difference(&was, &shown)).await?;
    Ok(answer(StatusCode::OK, &row, shown))
}

async fn last_used(db: &impl ConnectionTrait, id: &str) -> Result<Option<i64>, Problem> {
    Ok(api_key_use::Entity::find_by_id(id).one(db).await?.map(|row| row.last_used_at))
}

fn revoked() -> Problem {
    Problem::conflict("revoked", "This key is revoked, which is final; create a new one.")
}

fn answer(status: StatusCode, row: &api_key::Model, shown: Value) -> Answer {
    Answer::json(status, shown).with(header::ETAG, &version(row.updated_at))
}

/// Adds the secret, which is shown this once.
fn with_secret(mut shown: Value, secret: &KeySecret) -> Value {
    if let Some(members) = shown.as_object_mut() {
        members.insert("secret".to_owned(), json!(secret.reveal()));
    }
    shown
}
