//! Values in their types.

use std::time::Duration;

use svc_gateway::conf::{ByteSize, OnLimiterError, ProviderKind};

use crate::parse;

#[test]
fn values_arrive_in_their_types() {
    let conf = parse(
        "server: {listen: '[::1]:8443', max_body: 5MB, grace_period: 1m30s}\n\
         limits: {global_rpm: 0, on_limiter_error: deny}\n\
         timeouts: {first_byte: 2m}\n\
         egress: {allow: [10.0.0.0/8, 'fd00::/8']}\n\
         providers: [{name: a, kind: openai, base_url: 'https://a.example/v1/', timeouts: {idle: 5s}, headers: {x-a: b}}]\n\
         models: [{name: m, targets: [{provider: a, model: x}]}]\n\
         keys: [{name: k, secret: sixteen-or-more-, owner: {agent: bot}, expires_at: 2030-01-01T00:00:00Z}]\n",
    );
    assert!(conf.server.listen.is_ipv6());
    assert_eq!(conf.server.max_body, ByteSize(5_000_000));
    assert_eq!(*conf.server.grace_period, Duration::from_secs(90));
    assert_eq!((conf.limits.global_rpm, conf.limits.on_limiter_error), (Some(0), OnLimiterError::Deny));
    assert!(conf.egress.allow[0].contains("10.1.2.3".parse().unwrap()));
    assert_eq!(conf.providers[0].base_url, "https://a.example/v1", "a trailing slash makes no difference");
    let timeouts = conf.timeouts.with(&conf.providers[0].timeouts);
    assert_eq!((*timeouts.first_byte, *timeouts.idle), (Duration::from_secs(120), Duration::from_secs(5)));
    assert_eq!((conf.models[0].targets[0].priority, conf.models[0].targets[0].weight, conf.models[0].affinity), (0, 1, true));
    assert_eq!(conf.keys[0].expires_at.unwrap().unix_millis(), 1_893_456_000_000);
}

#[test]
fn vendors_addresses_follow_from_kind_and_region() {
    let conf = parse(
        "providers:\n\
         - {name: a, kind: openai}\n\
         - {name: b, kind: anthropic}\n\
         - {name: c, kind: gemini}\n\
         - {name: d, kind: bedrock, aws: {region: eu-west-1}}\n\
         - {name: e, kind: vertex, vertex: {project: p, location: us-central1}}\n\
         - {name: f, kind: vertex, vertex: {project: p, location: global}}\n",
    );
    let urls: Vec<&str> = conf.providers.iter().map(|provider| provider.base_url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "https://api.openai.com/v1",
            "https://api.anthropic.com",
            "https://generativelanguage.googleapis.com",
            "https://bedrock-runtime.eu-west-1.amazonaws.com",
            "https://us-central1-aiplatform.googleapis.com",
            "https://aiplatform.googleapis.com",
        ]
    );
    assert_eq!(conf.providers[0].kind, ProviderKind::OpenAi);
}

#[test]
fn anchors_quoted_keys_and_both_styles_are_read() {
    let conf = parse(
        "\"timeouts\": &slow {'idle': 9s}  # a comment\n\
         providers:\n\
         - name: a\n  kind: openai\n  timeouts: *slow\n\
         - {name: \"b\", \"kind\": openai, timeouts: *slow}\n",
    );
    assert_eq!(conf.providers[1].timeouts.idle, conf.providers[0].timeouts.idle);
    assert_eq!(*conf.timeouts.idle, Duration::from_secs(9));
}

#[test]
fn secrets_do_not_appear_when_a_configuration_is_printed() {
    let text = "database: {url: 'postgres://svc:hunter2@db/svc'}\n\
                redis: {url: 'redis://:hunter2@redis'}\n\
                admin: {secret: hunter2}\n\
                rate_cards: {url: 'https://cards.example', bearer: hunter2}\n\
                providers: [{name: a, kind: bedrock, keys: [hunter2], aws: {region: r, access_key_id: hunter2, secret_access_key: hunter2, session_token: hunter2}}]\n\
                keys: [{name: k, secret: hunter2-hunter2-hunter2, owner: {user: u}}]\n";
    let conf = parse(text);
    let printed = format!("{conf:?} {}", serde_json::to_string(&conf).unwrap());
    assert!(!printed.contains("hunter2"), "{printed}");
}
