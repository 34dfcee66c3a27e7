//! Every section but the declared resources.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::{ByteSize, Conf, Traces};
use super::text::{is_header_value, is_name, wrong_with_call_header, wrong_with_url};
use super::{Checker, at};

/// The fewest bytes that have room for more than the frame of a call to a model.
const FEWEST_BYTES: ByteSize = ByteSize::kib(1);
const NOT_ZERO: &str = "must not be 0";

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    server(checker, conf);
    durations(checker, conf);
    counts(checker, conf);
    breaker(checker, conf);
    stores(checker, conf);
    services(checker, conf);
    traces(checker, &conf.telemetry.traces);
    filters(checker, conf);
}

fn server(checker: &mut Checker<'_>, conf: &Conf) {
    let limits = &conf.server.limits;
    for (value, key) in [
        (limits.header_bytes.bytes(), "header_bytes"),
        (count(limits.header_count), "header_count"),
        (u64::from(limits.keepalive_requests), "keepalive_requests"),
        (count(limits.connections), "connections"),
        (count(limits.connections_per_address), "connections_per_address"),
        (count(limits.json_depth), "json_depth"),
        (u64::from(limits.h2_streams), "h2_streams"),
    ] {
        checker.ensure(value > 0, &at(&["server", "limits", key]), NOT_ZERO);
    }
    checker.ensure(conf.server.max_body.bytes() > 0, &at(&["server", "max_body"]), NOT_ZERO);
    checker.ensure(
        limits.body_memory >= conf.server.max_body,
        &at(&["server", "limits", "body_memory"]),
        "must have room for one body of `server.max_body`",
    );
    let port = conf.metrics.port;
    checker.ensure(!conf.metrics.enabled || port > 0, &at(&["metrics", "port"]), NOT_ZERO);
    let apart = !conf.metrics.enabled || port != conf.server.listen.port();
    checker.ensure(apart, &at(&["metrics", "port"]), "must be another port than that of `server.listen`");
}

fn durations(checker: &mut Checker<'_>, conf: &Conf) {
    let (limits, timeouts, breaker) = (&conf.server.limits, &conf.timeouts, &conf.breaker);
    let all: [(Duration, &[&str]); 14] = [
        (*limits.header_deadline, &["server", "limits", "header_deadline"]),
        (*limits.body_idle, &["server", "limits", "body_idle"]),
        (*limits.body_total, &["server", "limits", "body_total"]),
        (*limits.keepalive_idle, &["server", "limits", "keepalive_idle"]),
        (*timeouts.connect, &["timeouts", "connect"]),
        (*timeouts.first_byte, &["timeouts", "first_byte"]),
        (*timeouts.idle, &["timeouts", "idle"]),
        (*timeouts.total, &["timeouts", "total"]),
        (*breaker.window, &["breaker", "window"]),
        (*breaker.open, &["breaker", "open"]),
        (*breaker.max_open, &["breaker", "max_open"]),
        (*conf.redis.timeout, &["redis", "timeout"]),
        (*conf.guardrail_models.deadline, &["guardrail_models", "deadline"]),
        (*conf.rate_cards.interval, &["rate_cards", "interval"]),
    ];
    for (duration, path) in all {
        checker.ensure(!duration.is_zero(), &at(path), NOT_ZERO);
    }
}

fn counts(checker: &mut Checker<'_>, conf: &Conf) {
    checker.ensure(conf.database.max_connections > 0, &at(&["database", "max_connections"]), NOT_ZERO);
    let models = &conf.guardrail_models;
    checker.ensure(models.max_texts > 0, &at(&["guardrail_models", "max_texts"]), NOT_ZERO);
    checker.ensure(models.max_bytes >= FEWEST_BYTES, &at(&["guardrail_models", "max_bytes"]), "must not be below 1KiB");
    checker.ensure(conf.telemetry.batch_size > 0, &at(&["telemetry", "batch_size"]), NOT_ZERO);
    checker.ensure(conf.telemetry.batch_timeout_ms > 0, &at(&["telemetry", "batch_timeout_ms"]), NOT_ZERO);
}

fn breaker(checker: &mut Checker<'_>, conf: &Conf) {
    let breaker = &conf.breaker;
    checker.ensure((0.0..=1.0).contains(&breaker.failure_ratio), &at(&["breaker", "failure_ratio"]), "expected a share from 0 to 1");
    checker.ensure(breaker.consecutive_failures > 0, &at(&["breaker", "consecutive_failures"]), NOT_ZERO);
    checker.ensure(breaker.max_open >= breaker.open, &at(&["breaker", "max_open"]), "must not be shorter than `breaker.open`");
}

fn stores(checker: &mut Checker<'_>, conf: &Conf) {
    let starts = |url: &str, schemes: &[&str]| schemes.iter().any(|scheme| url.starts_with(scheme));
    let database = conf.database.url.reveal();
    checker.ensure(
        starts(database, &["sqlite:", "postgres://", "postgresql://"]),
        &at(&["database", "url"]),
        "expected sqlite://PATH, postgres://… or postgresql://…",
    );
    let redis = conf.redis.url().is_none_or(|url| starts(url, &["redis://", "rediss://"]));
    checker.ensure(redis, &at(&["redis", "url"]), "expected redis://…, rediss://… or an empty text");
    checker.ensure(!conf.data_dir.as_os_str().is_empty(), &at(&["data_dir"]), "must not be empty");
    let cache = &conf.licence.cache;
    // No other file of the data directory is called so, and none may be written over.
    let is_name = cache.file_name() == Some(cache.as_os_str()) && cache.extension().is_some_and(|extension| extension == "jwt");
    checker.ensure(is_name, &at(&["licence", "cache"]), "expected the name of a file inside `data_dir` that ends in .jwt");
}

fn services(checker: &mut Checker<'_>, conf: &Conf) {
    let cards = &conf.rate_cards;
    for (url, may_have_query, path) in [
        (&conf.admin.gateway_url, false, at(&["admin", "gateway_url"])),
        (&cards.url, true, at(&["rate_cards", "url"])),
        (&conf.guardrail_models.url, false, at(&["guardrail_models", "url"])),
    ] {
        if let Some(wrong) = wrong_with_url(url, may_have_query).filter(|_| !url.is_empty()) {
            checker.report(&path, wrong);
        }
    }
    let token = is_header_value(conf.guardrail_models.token.reveal());
    checker.ensure(
        token,
        &at(&["guardrail_models", "token"]),
        "the token cannot be sent in a header; it must be printable ASCII on one line",
    );
    let both = !cards.bearer.is_empty() && cards.basic.is_some();
    checker.ensure(!both, &at(&["rate_cards", "basic"]), "give either `bearer` or `basic`, not both");
}

fn traces(checker: &mut Checker<'_>, traces: &Traces) {
    let path = at(&["telemetry", "traces"]);
    if let Some(wrong) = wrong_with_url(&traces.endpoint, false).filter(|_| !traces.endpoint.is_empty()) {
        checker.report(&path.key("endpoint"), wrong);
    }
    for (name, value) in &traces.headers {
        if let Some(wrong) = wrong_with_call_header(name, value.reveal()) {
            checker.report(&path.key("headers").key(name), wrong);
        }
    }
    let share = (0.0..=1.0).contains(&traces.sample_ratio);
    checker.ensure(share, &path.key("sample_ratio"), "expected a share from 0 to 1");
    checker.ensure(is_name(&traces.service_name), &path.key("service_name"), "expected a name");
}

fn filters(checker: &mut Checker<'_>, conf: &Conf) {
    let mut seen = BTreeSet::new();
    for (index, name) in conf.filters.iter().enumerate() {
        checker.ensure(seen.insert(name), &at(&["filters"]).index(index), format!("the filter {name:?} is already in the chain"));
    }
}

fn count(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
