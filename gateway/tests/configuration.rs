//! The configuration: the shipped files, places in messages, variables, conditional entries and the schema.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use svc_gateway::conf::{ByteSize, Conf, OnLimiterError, Owner, Problem, ProviderKind, schema};

fn conf_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conf")
}

fn shipped() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = [conf_dir(), conf_dir().join("examples")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

fn nothing(_: &str) -> Option<String> {
    None
}

fn everything(name: &str) -> Option<String> {
    Some(match name {
        "SVC_PORT" | "SVC_DEMO_PORT" | "SVC_ADMIN_PORT" => "4000".to_owned(),
        "OWN_MODELS_URL" => "http://10.20.0.7:8080/v1".to_owned(),
        "OTEL_EXPORTER_OTLP_ENDPOINT" => "http://collector:4318".to_owned(),
        "AZURE_OPENAI_ENDPOINT" => "https://contoso.openai.azure.com".to_owned(),
        "AZURE_OPENAI_V1_URL" => "https://contoso.openai.azure.com/openai/v1".to_owned(),
        "AWS_REGION" | "BEDROCK_REGION" => "eu-central-1".to_owned(),
        "GLOBAL_RPM" => "5000".to_owned(),
        _ => format!("value-of-{name}-0123456789"),
    })
}

fn parse(text: &str) -> Conf {
    parse_with(text, &nothing)
}

fn parse_with(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Conf {
    Conf::parse(text, "svc.yaml", env).unwrap_or_else(|error| panic!("failed to {error}\n{text}"))
}

fn problems(text: &str) -> Vec<Problem> {
    Conf::parse(text, "svc.yaml", &nothing).expect_err(text).problems().to_vec()
}

/// The only problem of a text, without the file's name.
fn problem(text: &str) -> String {
    let problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string().strip_prefix("svc.yaml:").unwrap().to_owned()
}

// The shipped files.

#[test]
fn shipped_files_are_accepted_without_any_variable_and_with_all_of_them() {
    for path in shipped() {
        let text = fs::read_to_string(&path).unwrap();
        parse(&text);
        let full = parse_with(&text, &everything);
        assert!(full.models.iter().all(|model| !model.targets.is_empty()), "{}", path.display());
    }
}

#[test]
fn the_reference_file_shows_every_key_with_its_default() {
    let text = fs::read_to_string(conf_dir().join("svc.yaml")).unwrap();
    let mut shown = serde_json::to_value(parse(&text)).unwrap();
    let mut default = serde_json::to_value(Conf::default()).unwrap();
    assert_eq!(parse(&text).gateway_url(), Conf::default().gateway_url());
    for conf in [&mut shown, &mut default] {
        let sections = conf.as_object_mut().unwrap();
        sections["admin"].as_object_mut().unwrap().remove("gateway_url");
        for declared in ["providers", "models", "keys", "rules", "guardrails"] {
            sections.remove(declared);
        }
    }
    assert_eq!(shown, default);
    let written: Value = serde_yaml::from_str(&text).unwrap();
    assert_keys_written(&default, &written, "");
}

/// Fails for a key of the types that the file does not show; `tls` is shown as a comment.
fn assert_keys_written(expected: &Value, written: &Value, path: &str) {
    for (key, value) in expected.as_object().into_iter().flatten().filter(|(key, _)| *key != "tls") {
        let path = format!("{path}.{key}");
        let written = written.get(key).unwrap_or_else(|| panic!("conf/svc.yaml does not show {path}"));
        assert_keys_written(value, written, &path);
    }
}

#[test]
fn the_demonstration_gains_a_vendor_with_its_key() {
    let text = fs::read_to_string(conf_dir().join("demo.svc.yaml")).unwrap();
    let names = |conf: &Conf| conf.models.iter().map(|model| model.name.clone()).collect::<Vec<_>>();
    let alone = parse(&text);
    assert_eq!(names(&alone), ["demo-chat", "demo-messages", "demo-gemini"]);
    assert_eq!(alone.server.listen.to_string(), "127.0.0.1:3000");
    assert_eq!(alone.providers[0].base_url, "http://127.0.0.1:3900/v1");
    assert!(alone.keys.is_empty(), "without a secret there is no key");

    let env = |name: &str| match name {
        "ANTHROPIC_API_KEY" => Some("sk-ant-1".to_owned()),
        "SVC_DEV_KEY" => Some("demo-0123456789abcdef".to_owned()),
        "SVC_PORT" => Some("4100".to_owned()),
        _ => None,
    };
    let joined = parse_with(&text, &env);
    assert_eq!(joined.providers.len(), 4);
    assert_eq!(joined.providers[3].keys[0].reveal(), "sk-ant-1");
    assert!(names(&joined).contains(&"claude-sonnet-4-5".to_owned()), "{:?}", names(&joined));
    assert!(!names(&joined).contains(&"gpt-4o".to_owned()));
    assert_eq!(joined.server.listen.port(), 4100);
    assert_eq!(joined.keys[0].owner, Owner::User("developer@example.com".to_owned()));
}

#[test]
fn an_empty_file_is_the_default() {
    for text in ["", "# nothing\n", "---\n", "{}", "server:\nproviders:\nrules: ~\n"] {
        assert_eq!(serde_json::to_value(parse(text)).unwrap(), serde_json::to_value(Conf::default()).unwrap(), "{text:?}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = Conf::load(Path::new("/nowhere/svc.yaml")).unwrap_err().to_string();
    assert!(error.starts_with("read the configuration /nowhere/svc.yaml: "), "{error}");
}

// Values.

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

// Variables.

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

// Places in messages.

#[test]
fn wrong_keys_and_types_are_named_with_line_column_and_path() {
    for (text, expected) in [
        ("provders: []", "1:1: provders: unknown key `provders`; did you mean `providers`?"),
        (
            "providers:\n  - {name: a, kind: openai}\n  - name: b\n    kind: openai\n    bas_url: x\n",
            "5:5: providers[1].bas_url: unknown key `bas_url`; did you mean `base_url`?",
        ),
        ("# c\nserver: {\"lisen\": x}", "2:10: server.lisen: unknown key `lisen`; did you mean `listen`?"),
        ("redis: {host: x}", "1:9: redis.host: unknown key `host`; known are url, timeout"),
        ("metrics: {port: many}", "1:17: metrics.port: expected a whole number from 0 to 65535, found text"),
        ("metrics: {port: 70000}", "1:17: metrics.port: expected a whole number from 0 to 65535, found 70000"),
        ("metrics: {enabled: 1}", "1:20: metrics.enabled: expected true or false, found a number"),
        ("metrics: {enabled: 'true'}", "1:20: metrics.enabled: expected true or false, found text"),
        ("admin: {console_dir: 5}", "1:22: admin.console_dir: expected text, found a number; put it in quotes"),
        ("filters: auth", "1:10: filters: expected a list, found text"),
        ("server: [1]", "1:9: server: expected a mapping, found a list"),
        ("server: fast", "1:9: server: expected a mapping, found text"),
        ("- 1", "1:1: expected a mapping, found a list"),
        ("providers:\n- {name: a, kind: openia}", "2:19: providers[0].kind: unknown value `openia`; did you mean `openai`?"),
        ("providers:\n- kind: openai", "2:3: providers[0]: the key `name` is missing"),
        (
            "timeouts: {idle: 5}",
            "1:18: timeouts.idle: the number 5 has no unit: expected a duration with its unit, such as 100ms, 5s, 30m, 1h or 7d",
        ),
        ("server: {max_body: big}", "1:20: server.max_body: expected a size such as 32MiB, 64KiB or a whole number of bytes"),
        (
            "server: {max_body: -1}",
            "1:20: server.max_body: expected a size such as 32MiB, 64KiB or a whole number of bytes, found a number",
        ),
        ("server: {listen: localhost}", "1:18: server.listen: invalid socket address syntax"),
        (
            "egress: {allow: [10.0.0.0/8, 10.0.0.1/8]}",
            "1:30: egress.allow[1]: expected a network such as 10.0.0.0/8 or fd00::/8, with no bits set behind the prefix",
        ),
        ("keys: [{name: k, secret: s, owner: {user: a, agent: b}}]", "1:36: keys[0].owner: expected exactly one of user, agent"),
        ("keys: [{name: k, secret: s, owner: {}}]", "1:36: keys[0].owner: expected exactly one of user, agent"),
        ("keys: [{name: k, secret: s, owner: {team: x}}]", "1:37: keys[0].owner: unknown value `team`; known are user, agent"),
        ("keys: [{name: k, secret: s, owner: {user: 5}}]", "1:43: keys[0].owner.user: expected text, found a number; put it in quotes"),
        (
            "keys:\n- {name: k, secret: s, owner: {user: a}, expires_at: soon}",
            "2:54: keys[0].expires_at: expected a moment with its zone, such as 2030-12-31T23:59:59Z",
        ),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
}

#[test]
fn duplicate_keys_are_refused() {
    assert_eq!(problem("data_dir: a\nserver: {threads: 1}\n\"data_dir\": b"), "3:1: data_dir: this key was already given in line 1");
    assert_eq!(
        problem("providers:\n- {name: a, kind: openai}\n- {name: b,\n   name: c}"),
        "4:4: providers[1].name: this key was already given in line 3"
    );
}

#[test]
fn malformed_documents_are_refused_with_their_place() {
    for (text, start) in [
        ("server: {", "2:1: server: not valid YAML: "),
        ("a: b: c", "1:5: not valid YAML: "),
        ("server:\n\tthreads: 1", "2:2: server: not valid YAML: tabs disallowed"),
        ("data_dir: a\n---\ndata_dir: b", "2:1: a second document"),
        ("data_dir: !!binary aGk=", "1:11: data_dir: tags are not supported"),
        ("? [a]\n: b", "1:3: a key must be a single word or text"),
        ("data_dir: *nothing", "1:11: "),
        ("rules: &a [*a]", "1:12: rules[0]: an alias inside the value it stands for"),
    ] {
        let shown = problem(text);
        assert!(shown.starts_with(start), "{text}: {shown}");
    }
    let deep = format!("rules: {}{}", "[".repeat(200), "]".repeat(200));
    assert!(problem(&deep).contains("nested deeper than 32 levels"));
    let laughs = (1..30).fold("rules:\n- &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let below = level - 1;
        text + &format!("- &a{level} [*a{below}, *a{below}, *a{below}, *a{below}, *a{below}, *a{below}, *a{below}, *a{below}]\n")
    });
    assert!(problem(&laughs).contains("aliases make the document too large"));
}

#[test]
fn messages_about_secrets_do_not_show_them() {
    for text in [
        "keys: [{name: k, secret: 1234567890123456789, owner: {user: u}}]",
        "keys: [{name: k, secret: [hunter2-hunter2], owner: {user: u}}]",
        "providers: [{name: a, kind: openai, keys: hunter2-hunter2}]",
        "providers: [{name: a, kind: openai, keys: [\"hunter2\\nhunter2\"]}]",
        "providers: [{name: a, kind: openai, base_url: 'https://user:hunter2@host/'}]",
        "database: {url: 'mysql://svc:hunter2@db/svc'}",
        "limits: {global_rpm: hunter2}",
        "keys: [{name: k, secret: hunter2, owner: {user: u}}]",
        "keys: [{name: k, secret: sk-svc-hunter2-hunter2-hunter2, owner: {user: u}}]",
    ] {
        let shown = problem(text);
        assert!(!shown.contains("hunter2") && !shown.contains("123456789"), "{shown}");
    }
}

#[test]
fn no_damage_to_a_file_makes_the_reader_panic() {
    let original = fs::read(conf_dir().join("svc.yaml")).unwrap();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..1_000 {
        let start = random(original.len());
        let mut text = original[start..(start + 600).min(original.len())].to_vec();
        for _ in 0..=random(4) {
            let (at, byte) = (random(text.len()), b"{}[]:,&*!|>'\"%@`#-?\n\t $x0\\"[random(26)]);
            if random(2) == 0 { text[at] = byte } else { text.insert(at, byte) }
        }
        let _ = Conf::parse(&String::from_utf8_lossy(&text), "svc.yaml", &everything);
    }
}

// The schema.

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(&schema::json()).unwrap()).unwrap()
}

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

#[test]
fn the_committed_schema_is_current() {
    let committed = fs::read_to_string(conf_dir().join("svc.schema.json")).unwrap();
    assert!(
        committed == schema::json() + "\n",
        "conf/svc.schema.json is stale; write it again with: cargo run -p svc-gateway -- --schema > conf/svc.schema.json"
    );
}

#[test]
fn the_schema_accepts_the_shipped_files_with_their_variables() {
    let validator = validator();
    for path in shipped() {
        let document = yaml(&fs::read_to_string(&path).unwrap());
        let errors: Vec<String> = validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let validator = validator();
    for text in [
        "provders: []",
        "metrics: {port: many}",
        "metrics: {enabled: 1}",
        "timeouts: {idle: 5}",
        "server: {max_body: big}",
        "providers: [{name: a, kind: openia}]",
        "providers: [{kind: openai}]",
        "models: [{name: a, targets: []}]",
        "keys: [{name: k, secret: s, owner: {user: a, agent: b}}]",
        "filters: auth",
    ] {
        assert!(!validator.is_valid(&yaml(text)), "{text}");
        assert!(Conf::parse(text, "svc.yaml", &nothing).is_err(), "{text}");
    }
    assert!(validator.is_valid(&yaml(
        "metrics: {port: '${PORT}', enabled: '${ON:-false}'}\nlimits: {global_rpm: '${RPM}', on_limiter_error: '${E:-local}'}"
    )));
}
