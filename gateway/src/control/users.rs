//! `/admin/users`.

use entity::{AccountStatus, Source, user};
use sea_orm::{ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QuerySelect};
use serde_json::Value;
use svc_entity as entity;

use super::Store;
use super::audited::{self, Resource, difference};
use super::call::Call;
use super::fields::Fields;
use super::licence::check_cap;
use super::list::{Query, check_version, moment, version};
use super::problem::{Answer, Problem, object};
use super::references;
use crate::licence::Capped;
use crate::request_id::RequestId;
use crate::store::begin_write;
use http::{StatusCode, header};

const STATUSES: [(&str, AccountStatus); 2] = [("active", AccountStatus::Active), ("disabled", AccountStatus::Disabled)];

/// The members a body may have.
struct Draft {
    email: Option<String>,
    name: Option<String>,
    role: Option<Option<String>>,
    status: Option<AccountStatus>,
}

impl Draft {
    fn read(fields: &mut Fields) -> Self {
        Self {
            email: fields.email("email"),
            name: fields.text("name"),
            role: fields.optional_text("role"),
            status: fields.choice("status", &STATUSES),
        }
    }

    async fn apply(self, transaction: &DatabaseTransaction, row: &mut user::Model) -> Result<(), Problem> {
        row.email = self.email.unwrap_or_else(|| std::mem::take(&mut row.email));
        row.name = self.name.unwrap_or_else(|| std::mem::take(&mut row.name));
        row.status = self.status.unwrap_or(row.status);
        match self.role {
            None => {}
            Some(None) => row.role_id = None,
            Some(Some(role)) => row.role_id = Some(references::role(transaction, &role).await?),
        }
        let same = user::Entity::find().filter(user::Column::Email.eq(&row.email)).filter(user::Column::Id.ne(&row.id));
        match same.one(transaction).await? {
            None => Ok(()),
            Some(_) => Err(Problem::conflict("already_exists", "A user with this e-mail address exists already.")),
        }
    }
}

/// `POST /admin/users`
pub(super) async fn create(store: &Store, body: &[u8]) -> Result<Answer, Problem> {
    let mut fields = Fields::parse(body)?;
    let mut draft = Draft::read(&mut fields);
    draft.email = fields.require("email", draft.email);
    draft.name = fields.require("name", draft.name);
    fields.finish()?;
    let now = store.clock.unix_ms();
    let mut row = user::Model {
        id: RequestId::generate(now).as_str().to_owned(),
        email: String::new(),
        name: String::new(),
        role_id: None,
        status: AccountStatus::Active,
        source: Source::Api,
        created_at: now,
        updated_at: now,
    };
    let transaction = begin_write(&store.db).await?;
    check_cap(&transaction, &store.licence, Capped::Users).await?;
    draft.apply(&transaction, &mut row).await?;
    let row = row.into_active_model().insert(&transaction).await?;
    let shown = show(&row);
    audited::commit(transaction, now, "create", Resource { kind: "user", id: &row.id }, &shown).await?;
    Ok(answer(StatusCode::CREATED, &row, shown).with(header::LOCATION, &format!("/admin/users/{}", row.id)))
}

/// `GET /admin/users`
pub(super) async fn list(store: &Store, query: &str) -> Result<Answer, Problem> {
    let query = Query::parse(query, &["status", "email"])?;
    let mut find = user::Entity::find().order_by_desc(user::Column::Id).limit(query.limit + 1);
    if let Some(after) = &query.after {
        find = find.filter(user::Column::Id.lt(after));
    }
    if let Some(status) = query.filter("status") {
        let known = STATUSES.iter().find(|(word, _)| *word == status);
        let (_, status) = known.ok_or_else(|| Problem::field("status", "must be active or disabled"))?;
        find = find.filter(user::Column::Status.eq(*status));
    }
    if let Some(email) = query.filter("email") {
        find = find.filter(user::Column::Email.eq(email.to_lowercase()));
    }
    let rows = find.all(&store.db).await?;
    Ok(Answer::json(StatusCode::OK, query.page(rows, |row| &row.id, show)))
}

/// `GET /admin/users/{id}`
pub(super) async fn get(store: &Store, id: &str) -> Result<Answer, Problem> {
    let row = user::Entity::find_by_id(id).one(&store.db).await?.ok_or(Problem::NotFound)?;
    Ok(answer(StatusCode::OK, &row, show(&row)))
}

/// `PATCH /admin/users/{id}`
pub(super) async fn update(store: &Store, id: &str, call: &Call) -> Result<Answer, Problem> {
    let mut fields = Fields::parse(&call.body)?;
    let draft = Draft::read(&mut fields);
    fields.finish()?;
    change(store, id, call, "update", draft).await
}

/// `DELETE /admin/users/{id}`: the user is disabled, and the user's keys with it; the row stays for what names it.
pub(super) async fn disable(store: &Store, id: &str, call: &Call) -> Result<Answer, Problem> {
    let draft = Draft { email: None, name: None, role: None, status: Some(AccountStatus::Disabled) };
    change(store, id, call, "disable", draft).await.map(|_| Answer::empty())
}

async fn change(store: &Store, id: &str, call: &Call, action: &str, draft: Draft) -> Result<Answer, Problem> {
    let transaction = begin_write(&store.db).await?;
    let before = user::Entity::find_by_id(id).one(&transaction).await?.ok_or(Problem::NotFound)?;
    if before.source == Source::File {
        return Err(Problem::read_only("user"));
    }
    check_version(call.if_match.as_deref(), before.updated_at)?;
    let mut row = before.clone();
    draft.apply(&transaction, &mut row).await?;
    if row == before {
        return Ok(answer(StatusCode::OK, &row, show(&row)));
    }
    let now = store.clock.unix_ms();
    row.updated_at = now.max(before.updated_at.saturating_add(1));
    let row = row.into_active_model().reset_all().update(&transaction).await?;
    let (was, shown) = (show(&before), show(&row));
    audited::commit(transaction, now, action, Resource { kind: "user", id }, &difference(&was, &shown)).await?;
    Ok(answer(StatusCode::OK, &row, shown))
}

fn answer(status: StatusCode, row: &user::Model, shown: Value) -> Answer {
    Answer::json(status, shown).with(header::ETAG, &version(row.updated_at))
}

fn show(row: &user::Model) -> Value {
    object([
        ("id", row.id.as_str().into()),
        ("email", row.email.as_str().into()),
        ("name", row.name.as_str().into()),
        ("role", row.role_id.clone().into()),
        ("status", serde_json::to_value(row.status).unwrap_or_default()),
        ("source", serde_json::to_value(row.source).unwrap_or_default()),
        ("created_at", moment(row.created_at)),
        ("updated_at", moment(row.updated_at)),
    ])
}
