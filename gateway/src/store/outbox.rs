//! The outbox of events, as the journal stores them and the database has them.

use entity::event_outbox;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, Set};
use serde::{Deserialize, Serialize};
use svc_entity as entity;

/// Rows written by one statement.
const ROWS: usize = 256;

/// An event as the request path writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventView<'a> {
    /// A UUID of 36 characters.
    pub id: &'a str,
    /// What happened.
    pub kind: &'a str,
    /// JSON object.
    pub data: &'a str,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// Writes events, each once: one that is there already is passed over.
///
/// # Errors
/// When the database is away or full. The events can be given again.
pub(crate) async fn insert(db: &impl ConnectionTrait, events: &[EventView<'_>]) -> Result<(), DbErr> {
    let keep = OnConflict::column(event_outbox::Column::Id).do_nothing().to_owned();
    for chunk in events.chunks(ROWS) {
        let rows = chunk.iter().map(|event| event_outbox::ActiveModel {
            id: Set(event.id.to_owned()),
            kind: Set(event.kind.to_owned()),
            data: Set(event.data.to_owned()),
            created_at: Set(event.created_at),
            dispatched_at: Set(None),
        });
        event_outbox::Entity::insert_many(rows).on_conflict(keep.clone()).exec_without_returning(db).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sea_orm::QueryOrder;

    use super::*;
    use crate::store::testing::{Db, databases};

    #[tokio::test]
    async fn an_event_given_twice_is_one_row_and_stays_as_it_was() {
        for Db { db, _folder, .. } in databases().await {
            let ids: Vec<String> = (0..600).map(|number| format!("event-{number:04}")).collect();
            let events: Vec<_> =
                ids.iter().map(|id| EventView { id, kind: "circuit.opened", data: r#"{"model":"\u0000"}"#, created_at: 7 }).collect();
            insert(&db, &events[..300]).await.unwrap();
            let taken = event_outbox::ActiveModel { id: Set("event-0000".to_owned()), dispatched_at: Set(Some(9)), ..Default::default() };
            event_outbox::Entity::update(taken).exec(&db).await.unwrap();
            insert(&db, &events).await.unwrap();
            insert(&db, &[]).await.unwrap();
            let rows = event_outbox::Entity::find().order_by_asc(event_outbox::Column::Id).all(&db).await.unwrap();
            assert_eq!(rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>(), ids);
            assert_eq!((rows[0].dispatched_at, rows[1].dispatched_at), (Some(9), None));
        }
    }
}
