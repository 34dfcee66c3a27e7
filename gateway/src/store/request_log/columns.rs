//! What a record looks like as a row, told once for both databases.

use std::borrow::Cow;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::store::record::{AttemptRecord, Record};

/// What a column is written from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Flag,
}

use Kind::{Flag, Number, Text};

/// The columns in the order in which [`row`] writes them. Columns not named here stay null.
pub(super) const COLUMNS: [(&str, Kind); 39] = [
    ("request_id", Text),
    ("started_at", Number),
    ("key_id", Text),
    ("owner_kind", Text),
    ("owner_id", Text),
    ("team_id", Text),
    ("application_id", Text),
    ("client_shape", Text),
    ("endpoint", Text),
    ("path", Text),
    ("provider", Text),
    ("provider_shape", Text),
    ("model_asked", Text),
    ("model_resolved", Text),
    ("model_upstream", Text),
    ("rule", Text),
    ("status", Number),
    ("error_code", Text),
    ("outcome", Text),
    ("stream", Flag),
    ("attempts", Number),
    ("total_us", Number),
    ("first_byte_us", Number),
    ("queue_us", Number),
    ("overhead_us", Number),
    ("input_uncached", Number),
    ("cache_read", Number),
    ("cache_write_5m", Number),
    ("cache_write_1h", Number),
    ("output", Number),
    ("reasoning", Number),
    ("own_prompt_tokens", Number),
    ("own_completion_tokens", Number),
    ("request_bytes", Number),
    ("response_bytes", Number),
    ("client_address", Text),
    ("user_agent", Text),
    ("tags", Text),
    ("decision", Text),
];

/// Takes the values of a row, column by column.
pub(super) trait Sink<'a> {
    /// A text or null. It may hold zero bytes, see [`clean`].
    fn text(&mut self, value: Option<&'a str>);
    /// A text that was made for this row, or null.
    fn made(&mut self, value: Option<String>);
    /// A number or null; flags are 0 and 1.
    fn number(&mut self, value: Option<i64>);
}

/// Gives one record to a sink.
pub(super) fn row<'a, S: AsRef<str>>(record: &'a Record<S>, sink: &mut impl Sink<'a>) {
    let some = |text: &'a S| Some(text.as_ref());
    let optional = |text: &'a Option<S>| text.as_ref().map(AsRef::as_ref);
    let usage = record.usage.as_ref();
    sink.text(some(&record.request_id));
    sink.number(Some(record.started_at));
    for text in [&record.key_id, &record.owner_kind, &record.owner_id, &record.team_id, &record.application_id] {
        sink.text(optional(text));
    }
    for text in [&record.client_shape, &record.endpoint, &record.path] {
        sink.text(some(text));
    }
    for text in
        [&record.provider, &record.provider_shape, &record.model_asked, &record.model_resolved, &record.model_upstream, &record.rule]
    {
        sink.text(optional(text));
    }
    sink.number(Some(i64::from(record.status)));
    sink.text(optional(&record.error_code));
    sink.text(Some(record.outcome.as_str()));
    sink.number(Some(i64::from(record.stream)));
    sink.number(i64::try_from(record.attempts.len()).ok());
    sink.number(Some(whole(record.total_us)));
    sink.number(record.first_byte_us.map(whole));
    sink.number(Some(whole(record.queue_us)));
    sink.number(Some(whole(record.overhead_us)));
    sink.number(usage.map(|usage| whole(usage.input_uncached)));
    sink.number(usage.map(|usage| whole(usage.cache_read)));
    sink.number(usage.map(|usage| whole(usage.cache_write_5m)));
    sink.number(usage.map(|usage| whole(usage.cache_write_1h)));
    sink.number(usage.map(|usage| whole(usage.output)));
    sink.number(usage.and_then(|usage| usage.reasoning).map(whole));
    sink.number(record.own.prompt.map(whole));
    sink.number(record.own.completion.map(whole));
    sink.number(Some(whole(record.request_bytes)));
    sink.number(Some(whole(record.response_bytes)));
    for text in [&record.client_address, &record.user_agent, &record.tags] {
        sink.text(optional(text));
    }
    sink.made(decision(record));
}

/// A count as the database holds it.
fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The text as it is written. PostgreSQL refuses those with a zero byte, which a client can send in many a field.
pub(super) fn clean(text: Cow<'_, str>) -> Cow<'_, str> {
    match memchr::memchr(0, text.as_bytes()) {
        None => text,
        Some(_) => Cow::Owned(text.replace('\0', "\u{fffd}")),
    }
}

#[derive(Serialize)]
#[serde(bound = "S: AsRef<str>")]
struct Decision<'a, S> {
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "attempts")]
    attempts: &'a [AttemptRecord<S>],
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "notes")]
    notes: &'a [(S, S)],
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream_request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct Attempt<'a> {
    provider: &'a str,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "str::is_empty")]
    failure: &'a str,
    us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_us: Option<u64>,
}

#[derive(Serialize)]
struct Note<'a> {
    name: &'a str,
    value: &'a str,
}

/// Why the request went where it went, as JSON; nothing where there is nothing to tell.
fn decision<S: AsRef<str>>(record: &Record<S>) -> Option<String> {
    let filled = |text: &'_ Option<S>| text.as_ref().is_some_and(|text| !text.as_ref().is_empty());
    let told =
        !record.attempts.is_empty() || !record.notes.is_empty() || filled(&record.upstream_request_id) || filled(&record.finish_reason);
    let decision = Decision {
        attempts: &record.attempts,
        notes: &record.notes,
        upstream_request_id: record.upstream_request_id.as_ref().map(AsRef::as_ref).filter(|text| !text.is_empty()),
        finish_reason: record.finish_reason.as_ref().map(AsRef::as_ref).filter(|text| !text.is_empty()),
    };
    if told { serde_json::to_string(&decision).ok() } else { None }
}

fn attempts<S: AsRef<str>, Z: Serializer>(attempts: &[AttemptRecord<S>], serializer: Z) -> Result<Z::Ok, Z::Error> {
    let mut list = serializer.serialize_seq(Some(attempts.len()))?;
    for attempt in attempts {
        list.serialize_element(&Attempt {
            provider: attempt.provider.as_ref(),
            model: attempt.model.as_ref(),
            status: (attempt.status != 0).then_some(attempt.status),
            failure: attempt.failure.as_ref(),
            us: attempt.us,
            queue_us: attempt.queue_us.filter(|us| *us > 0),
        })?;
    }
    list.end()
}

fn notes<S: AsRef<str>, Z: Serializer>(notes: &[(S, S)], serializer: Z) -> Result<Z::Ok, Z::Error> {
    serializer.collect_seq(notes.iter().map(|(name, value)| Note { name: name.as_ref(), value: value.as_ref() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(bool, Option<String>)>);

    impl<'a> Sink<'a> for Seen {
        fn text(&mut self, value: Option<&'a str>) {
            self.made(value.map(str::to_owned));
        }

        fn made(&mut self, value: Option<String>) {
            self.0.push((true, value));
        }

        fn number(&mut self, value: Option<i64>) {
            self.0.push((false, value.map(|value| value.to_string())));
        }
    }

    #[test]
    fn a_row_has_a_value_of_the_right_kind_for_every_column() {
        let mut seen = Seen::default();
        row(&Record::<String>::default(), &mut seen);
        let kinds: Vec<bool> = seen.0.iter().map(|(text, _)| *text).collect();
        assert_eq!(kinds, COLUMNS.map(|(_, kind)| kind == Text));
    }

    #[test]
    fn the_decision_leaves_out_what_is_empty() {
        assert_eq!(decision(&Record::<String>::default()), None);
        let attempt = AttemptRecord { provider: "a".into(), model: "m".into(), failure: "connect".into(), us: 7, ..Default::default() };
        let record: Record = Record {
            attempts: vec![attempt, AttemptRecord { provider: "b".into(), model: "m".into(), status: 200, us: 9, ..Default::default() }],
            finish_reason: Some("stop".into()),
            upstream_request_id: Some(String::new()),
            ..Record::default()
        };
        assert_eq!(
            decision(&record).as_deref(),
            Some(
                r#"{"attempts":[{"provider":"a","model":"m","failure":"connect","us":7},{"provider":"b","model":"m","status":200,"us":9}],"finish_reason":"stop"}"#
            )
        );
    }
}
