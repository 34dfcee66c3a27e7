//! Lists by page, versions of rows, and times as `/admin` shows them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::problem::{Fault, Problem};

/// Page sizes.
const DEFAULT_LIMIT: u64 = 50;
const LARGEST_LIMIT: u64 = 200;

/// The query of a list.
#[derive(Debug)]
pub(super) struct Query {
    /// Entries on the page.
    pub(super) limit: u64,
    /// The id after which the page begins.
    pub(super) after: Option<String>,
    filters: Vec<(String, String)>,
}

impl Query {
    /// Reads a query string; `filters` are the parameters beside `limit` and `cursor` that this list has.
    pub(super) fn parse(query: &str, filters: &[&str]) -> Result<Self, Problem> {
        let mut read = Self { limit: DEFAULT_LIMIT, after: None, filters: Vec::new() };
        let mut faults = Vec::new();
        let mut fault = |field: &str, detail: String| faults.push(Fault { field: field.to_owned(), detail });
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "limit" => match value.parse() {
                    Ok(limit) if (1..=LARGEST_LIMIT).contains(&limit) => read.limit = limit,
                    _ => fault("limit", format!("must be a whole number from 1 to {LARGEST_LIMIT}")),
                },
                "cursor" => match decode(&value) {
                    Some(id) => read.after = Some(id),
                    None => fault("cursor", "is not a cursor of this list".to_owned()),
                },
                // PostgreSQL takes no text with a NUL, and no row has one.
                name if filters.contains(&name) && value.contains('\0') => fault(name, "must not contain NUL".to_owned()),
                name if filters.contains(&name) => read.filters.push((name.to_owned(), value.into_owned())),
                name => fault(name, "is not a known parameter".to_owned()),
            }
        }
        if faults.is_empty() { Ok(read) } else { Err(Problem::Invalid(faults)) }
    }

    /// The value of a filter.
    pub(super) fn filter(&self, name: &str) -> Option<&str> {
        self.filters.iter().find(|(filter, _)| filter == name).map(|(_, value)| value.as_str())
    }

    /// The page made of rows, of which one more than the limit was asked for.
    pub(super) fn page<T>(&self, mut rows: Vec<T>, id: impl Fn(&T) -> &str, show: impl Fn(&T) -> Value) -> Value {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|row| URL_SAFE_NO_PAD.encode(id(row)));
        json!({"data": rows.iter().map(show).collect::<Vec<_>>(), "next_cursor": next})
    }
}

fn decode(cursor: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    String::from_utf8(bytes).ok().filter(|id| id.len() <= 64 && !id.contains('\0'))
}

/// The version of a row, as `ETag` shows it.
pub(super) fn version(updated_at: i64) -> String {
    format!("\"{updated_at}\"")
}

/// Refuses a change that was made to another version than the present one.
pub(super) fn check_version(if_match: Option<&str>, updated_at: i64) -> Result<(), Problem> {
    let current = version(updated_at);
    match if_match {
        Some(wanted) if !wanted.split(',').any(|tag| matches!(tag.trim(), "*") || tag.trim() == current) => {
            Err(Problem::PreconditionFailed)
        }
        _ => Ok(()),
    }
}

/// A moment as RFC 3339, or null.
pub(super) fn moment(unix_ms: impl Into<Option<i64>>) -> Value {
    let text = unix_ms.into().and_then(|unix_ms| {
        let moment = OffsetDateTime::from_unix_timestamp_nanos(i128::from(unix_ms) * 1_000_000).ok()?;
        moment.format(&Rfc3339).ok()
    });
    text.map_or(Value::Null, Value::String)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_points_to_the_next_only_where_there_is_one() {
        let query = Query::parse("limit=2", &[]).unwrap();
        let page = |rows: &[&str]| query.page(rows.to_vec(), |row| row, |row| json!(row));
        let first = page(&["c", "b", "a"]);
        assert_eq!(first["data"], json!(["c", "b"]));
        let next = format!("cursor={}", first["next_cursor"].as_str().unwrap());
        assert_eq!(Query::parse(&next, &[]).unwrap().after.as_deref(), Some("b"));
        assert_eq!(page(&["b", "a"])["next_cursor"], Value::Null);
    }

    #[test]
    fn unknown_and_malformed_parameters_are_refused() {
        for query in ["limit=0", "limit=201", "limit=x", "cursor=%", "order=name", "status=%00"] {
            assert!(Query::parse(query, &["status"]).is_err(), "{query}");
        }
        assert_eq!(Query::parse("status=active", &["status"]).unwrap().filter("status"), Some("active"));
    }

    #[test]
    fn a_change_needs_the_present_version_where_it_names_one() {
        assert_eq!(check_version(None, 5), Ok(()));
        assert_eq!(check_version(Some("\"5\""), 5), Ok(()));
        assert_eq!(check_version(Some("\"4\", \"5\""), 5), Ok(()));
        assert_eq!(check_version(Some("*"), 5), Ok(()));
        assert_eq!(check_version(Some("\"4\""), 5), Err(Problem::PreconditionFailed));
        assert_eq!(check_version(Some("W/\"5\""), 5), Err(Problem::PreconditionFailed), "weak versions never match");
    }

    #[test]
    fn moments_are_shown_in_utc() {
        assert_eq!(moment(1_700_000_000_123), json!("2023-11-14T22:13:20.123Z"));
        assert_eq!(moment(None), Value::Null);
    }
}
