//! What operators are told when the licence stands otherwise than at the last start.

use entity::setting;
use sea_orm::sea_query::OnConflict;
use sea_orm::{DatabaseConnection, DbErr, EntityTrait, Set};
use serde_json::{Value, json};
use svc_entity as entity;

use super::Licence;
use crate::request_id::RequestId;
use crate::store::{EventView, begin_write, insert_events};

/// The setting that holds how the licence stood at the last start, of whichever gateway that was.
const SETTING: &str = "licence.state";

/// Compares with the last start, and writes an event where the licence stands otherwise: once, however many gateways start. The first
/// start of an installation changes nothing. `now` is Unix milliseconds.
///
/// # Errors
/// When the database fails; the next start then tells it.
pub async fn tell_change(database: &DatabaseConnection, licence: &Licence, now: i64) -> Result<(), DbErr> {
    let state = json!({"tier": licence.resolved().tier.as_str(), "state": licence.resolved().standing.as_str()});
    let transaction = begin_write(database).await?;
    let last = setting::Entity::find_by_id(SETTING).one(&transaction).await?;
    let last: Option<Value> = last.and_then(|row| serde_json::from_str(&row.value).ok());
    if last.as_ref() == Some(&state) {
        return Ok(());
    }
    let row = setting::ActiveModel { key: Set(SETTING.to_owned()), value: Set(state.to_string()), updated_at: Set(now) };
    let replace = OnConflict::column(setting::Column::Key).update_columns([setting::Column::Value, setting::Column::UpdatedAt]).to_owned();
    setting::Entity::insert(row).on_conflict(replace).exec_without_returning(&transaction).await?;
    if let Some(last) = last {
        let data = licence.event(&state, &last, now / 1000).to_string();
        let id = RequestId::generate(now);
        let event = EventView { id: id.as_str(), kind: "licence.state_changed", data: &data, created_at: now };
        insert_events(&transaction, &[event]).await?;
    }
    transaction.commit().await
}

impl Licence {
    fn event(&self, state: &Value, last: &Value, now: i64) -> Value {
        let banner = self.banner(now);
        json!({
            "tier": state["tier"], "state": state["state"],
            "previous_tier": last["tier"], "previous_state": last["state"],
            "edition": self.edition().as_str(),
            "banner": banner.as_ref().map(|banner| banner.code),
            "text": banner.as_ref().map(|banner| banner.text.as_str()),
        })
    }
}

#[cfg(test)]
mod tests;
