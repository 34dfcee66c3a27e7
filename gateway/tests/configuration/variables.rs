//! Variables of the environment.

use crate::{parse, parse_with, problems};

#[test]
fn a_variable_takes_the_type_that_is_wanted() {
    let env = |name: &str| match name {
        "PORT" => Some("9200".to_owned()),
        "ON" => Some("true".to_owned()),
        "DIGITS" => Some("1234567890123456".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let conf = parse_with(
        "metrics: {port: \"${PORT}\", enabled: \"${ON}\"}\n\
         database:\n  max_connections: ${NONE:-7}\n\
         limits:\n  global_rpm: ${EMPTY}\n  global_tpm: ${NONE:-null}\n\
         telemetry:\n  batch_size: ${NONE:-512}\n\
         keys: [{name: k, secret: \"${DIGITS}\", owner: {user: u}, team: \"${EMPTY}\"}]\n\
         providers:\n- name: ${DIGITS}\n  kind: ${KIND:-openai}\n  queue_timeout: ${NONE:-0}\n",
        &env,
    );
    assert_eq!((conf.metrics.port, conf.metrics.enabled), (9200, true));
    assert_eq!((conf.database.max_connections, conf.telemetry.batch_size), (7, 512));
    assert_eq!((conf.limits.global_rpm, conf.limits.global_tpm), (None, None));
    assert_eq!(conf.keys[0].secret.reveal(), "1234567890123456", "digits stay text where text is wanted");
    assert_eq!(conf.keys[0].team, None, "an empty variable is no team");
    assert_eq!(conf.providers[0].name, "1234567890123456");
}

#[test]
fn no_value_of_a_variable_changes_the_structure() {
    for value in [
        "a: b",
        "x\n  kind: evil",
        "\"",
        "'",
        "} , {",
        "#",
        "[1, 2]",
        "*anchor",
        "!!int 5",
        "- a",
        "%",
        "${OTHER}",
        "null",
        "~",
        "true",
        "5",
    ] {
        let env = |name: &str| (name == "V").then(|| value.to_owned());
        for text in [
            "providers:\n- name: p\n  kind: openai\n  headers:\n    x-a: v\n  region: ${V}\n",
            "providers: [{name: p, kind: openai, headers: {x-a: v}, region: \"${V}\"}]",
            "providers: [{name: p, kind: openai, headers: {x-a: v}, region: '${V}'}]",
        ] {
            let conf = parse_with(text, &env);
            let null = matches!(value, "null" | "~") && text.contains("region: ${V}");
            assert_eq!(conf.providers.len(), 1);
            assert_eq!(conf.providers[0].region.as_deref(), (!null).then_some(value), "{text}");
        }
    }
}

#[test]
fn empty_vendor_keys_are_no_keys() {
    let conf = parse("providers: [{name: a, kind: openai, keys: ['${NONE:-}', real, '']}]");
    let keys: Vec<&str> = conf.providers[0].keys.iter().map(|key| key.reveal()).collect();
    assert_eq!(keys, ["real"]);
}

#[test]
fn an_escaped_variable_stays_as_it_is() {
    let conf = parse("rules: [{name: r, kind: deny, when: {headers: {x-template: '$${NAME}'}}}]");
    assert_eq!(conf.rules[0].when.headers["x-template"], "${NAME}");
}

#[test]
fn every_unset_variable_is_named_with_its_place() {
    let problems = problems("data_dir: data\nprovders: 1\nredis:\n  url: ${REDIS_URL}\nkeys:\n  - secret: \"${KEY}\"\n");
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "svc.yaml:4:8: redis.url: the environment variable REDIS_URL is not set and has no default; set it or write ${REDIS_URL:-default}",
            "svc.yaml:6:13: keys[0].secret: the environment variable KEY is not set and has no default; set it or write ${KEY:-default}",
        ]
    );
}
