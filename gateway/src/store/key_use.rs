//! When each key was last used, written at most once a minute per key.

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};

use super::record::Record;

/// A key's time is written again only when it is this much later.
const GRAIN_MS: i64 = 60_000;

/// One statement for any number of keys; keys that are gone meanwhile are passed over.
const SQLITE: &str = "INSERT INTO api_key_use (api_key_id, last_used_at) \
    SELECT api_key.id, used.value FROM json_each(?) AS used JOIN api_key ON api_key.id = used.key WHERE true \
    ON CONFLICT (api_key_id) DO UPDATE SET last_used_at = max(last_used_at, excluded.last_used_at)";
const POSTGRES: &str = "INSERT INTO api_key_use (api_key_id, last_used_at) \
    SELECT api_key.id, used.value::bigint FROM jsonb_each_text($1::jsonb) AS used JOIN api_key ON api_key.id = used.key \
    ON CONFLICT (api_key_id) DO UPDATE SET last_used_at = greatest(api_key_use.last_used_at, excluded.last_used_at)";

/// Remembers what was written.
#[derive(Debug, Default)]
pub struct KeyUse {
    written: HashMap<String, i64>,
}

impl KeyUse {
    /// Notes the keys that the records used. To be called with each batch once it is in the request log.
    ///
    /// # Errors
    /// When the database is away; the next use of each key is noted then.
    pub async fn touch<S: AsRef<str> + Sync>(&mut self, db: &DatabaseConnection, records: &[Record<S>]) -> Result<(), DbErr> {
        let used = self.due(records);
        if used.is_empty() {
            return Ok(());
        }
        let backend = db.get_database_backend();
        let sql = if backend == DbBackend::Postgres { POSTGRES } else { SQLITE };
        let json = serde_json::to_string(&used).unwrap_or_default();
        db.execute_raw(Statement::from_sql_and_values(backend, sql, [json.into()])).await?;
        self.written.extend(used.into_iter().map(|(key, at)| (key.to_owned(), at)));
        Ok(())
    }

    /// The keys whose time is to be written.
    fn due<'a, S: AsRef<str>>(&self, records: &'a [Record<S>]) -> HashMap<&'a str, i64> {
        let mut used: HashMap<&str, i64> = HashMap::new();
        for record in records {
            let Some(key) = record.key_id.as_ref().map(AsRef::as_ref) else { continue };
            let latest = used.entry(key).or_insert(record.started_at);
            *latest = record.started_at.max(*latest);
        }
        used.retain(|key, at| self.written.get(*key).is_none_or(|written| *at >= written.saturating_add(GRAIN_MS)));
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(key: &str, at: i64) -> Record {
        Record { key_id: Some(key.to_owned()), started_at: at, ..Record::default() }
    }

    #[test]
    fn a_key_is_due_once_a_minute_with_its_latest_use() {
        let mut uses = KeyUse::default();
        let records = [used("a", 5), used("a", 9), used("b", 3), Record::default()];
        assert_eq!(uses.due(&records), HashMap::from([("a", 9), ("b", 3)]));
        uses.written.insert("a".into(), 9);
        assert_eq!(uses.due(&[used("a", 60_008)]), HashMap::new());
        assert_eq!(uses.due(&[used("a", 60_009)]), HashMap::from([("a", 60_009)]));
    }
}
