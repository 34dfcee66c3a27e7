//! Each contradiction with the place and the words an operator sees.

use svc_filters::auth::KeySecret;

use super::super::Conf;

fn nothing(_: &str) -> Option<String> {
    None
}

fn problems(text: &str) -> Vec<String> {
    match Conf::parse(text, "f", &nothing) {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().iter().map(|problem| problem.to_string().trim_start_matches("f:").to_owned()).collect(),
    }
}

fn refused(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(problems(text), [*expected], "{text}");
    }
}

const PROVIDER: &str = "providers: [{name: p, kind: openai}]\n";

fn models_refused(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(problems(&format!("{PROVIDER}{text}")), [*expected], "{text}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    refused(&[
        ("timeouts: {connect: 0}", "1:12: timeouts.connect: must not be 0"),
        ("timeouts: {total: 0s}", "1:12: timeouts.total: must not be 0"),
        ("breaker: {failure_ratio: 1.5}", "1:11: breaker.failure_ratio: expected a share from 0 to 1"),
        ("breaker: {failure_ratio: -0.1}", "1:11: breaker.failure_ratio: expected a share from 0 to 1"),
        ("breaker: {failure_ratio: .nan}", "1:11: breaker.failure_ratio: expected a share from 0 to 1"),
        ("breaker:\n  open: 10m", "1:1: breaker.max_open: must not be shorter than `breaker.open`"),
        ("server: {limits: {json_depth: 0}}", "1:19: server.limits.json_depth: must not be 0"),
        ("server: {max_body: 1GiB}", "1:1: server.limits.body_memory: must have room for one body of `server.max_body`"),
        ("database: {url: 'mysql://x'}", "1:12: database.url: expected sqlite://PATH, postgres://… or postgresql://…"),
        ("redis: {url: 'localhost:6379'}", "1:9: redis.url: expected redis://…, rediss://… or an empty text"),
        ("admin: {gateway_url: 'localhost:3000'}", "1:9: admin.gateway_url: expected a URL that starts with http:// or https://"),
        ("rate_cards: {bearer: a, basic: {username: u, password: p}}", "1:25: rate_cards.basic: give either `bearer` or `basic`, not both"),
        ("licence: {cache: ''}", "1:11: licence.cache: expected the name of a file inside `data_dir` that ends in .jwt"),
        ("licence: {cache: ../licence}", "1:11: licence.cache: expected the name of a file inside `data_dir` that ends in .jwt"),
        ("licence: {cache: master.key}", "1:11: licence.cache: expected the name of a file inside `data_dir` that ends in .jwt"),
        ("licence: {cache: /elsewhere/licence}", "1:11: licence.cache: expected the name of a file inside `data_dir` that ends in .jwt"),
        ("filters: [auth, cost, auth]", "1:23: filters[2]: the filter \"auth\" is already in the chain"),
    ]);
    assert!(problems("client_keepalive: 0\nserver: {grace_period: 0, limits: {min_upload_rate: 0}}").is_empty(), "0 means off there");
    assert!(problems("filters: [auth, of-a-plugin]").is_empty(), "names are checked when the chain is built");
}

#[test]
fn all_contradictions_are_reported_together_in_the_order_of_the_file() {
    let found = problems("timeouts: {idle: 0, connect: 0}\nfilters: [a, a]\ndatabase: {max_connections: 0}");
    let places: Vec<&str> = found.iter().map(|problem| problem.split(": ").nth(1).unwrap()).collect();
    assert_eq!(places, ["timeouts.idle", "timeouts.connect", "filters[1]", "database.max_connections"]);
}

#[test]
fn providers_need_different_names_and_reachable_addresses() {
    refused(&[
        (
            "providers:\n- {name: a, kind: openai}\n- {name: a, kind: gemini}",
            "3:4: providers[1].name: the name \"a\" is already used by providers[0].name",
        ),
        (
            "providers: [{name: '', kind: openai}]",
            "1:14: providers[0].name: expected a name of 1 to 256 characters, without control characters and spaces around it",
        ),
        (
            "providers: [{name: a, kind: azure_openai}]",
            "1:13: providers[0].base_url: needed here: azure_openai has no public address that follows from the other keys",
        ),
        (
            "providers: [{name: a, kind: openai, base_url: 'ftp://x'}]",
            "1:37: providers[0].base_url: expected a URL that starts with http:// or https://",
        ),
        (
            "providers: [{name: a, kind: openai, base_url: 'http://u:p@x'}]",
            "1:37: providers[0].base_url: a URL here must not contain a user name or password",
        ),
        (
            "providers: [{name: a, kind: openai, base_url: 'http://x/?a=b'}]",
            "1:37: providers[0].base_url: a URL here must not contain a query (?)",
        ),
        (
            "providers: [{name: a, kind: openai, base_url: 'http://x/#b'}]",
            "1:37: providers[0].base_url: a URL here must not contain a fragment (#)",
        ),
        ("providers: [{name: a, kind: openai, timeouts: {idle: 0}}]", "1:48: providers[0].timeouts.idle: must not be 0"),
        (
            "providers: [{name: a, kind: openai, max_concurrency: 0}]",
            "1:37: providers[0].max_concurrency: must not be 0; leave it out for no bound",
        ),
        ("providers: [{name: a, kind: openai, aws: {region: r}}]", "1:37: providers[0].aws: only for the kind bedrock"),
        (
            "providers: [{name: a, kind: vertex, region: europe-west4}]",
            "1:13: providers[0]: the kind vertex needs the key `vertex`, or `keys`",
        ),
        ("providers: [{name: a, kind: bedrock, region: eu-west-1}]", "1:13: providers[0]: the kind bedrock needs the key `aws`, or `keys`"),
    ]);
}

#[test]
fn the_blocks_of_the_clouds_must_be_whole() {
    refused(&[
        (
            "providers: [{name: a, kind: bedrock, aws: {region: r, access_key_id: k}}]",
            "1:38: providers[0].aws: `access_key_id` and `secret_access_key` go together",
        ),
        (
            "providers: [{name: a, kind: bedrock, aws: {region: evil.example/}}]",
            "1:44: providers[0].aws.region: expected the name of a region, such as us-east-1",
        ),
        ("providers: [{name: a, kind: vertex, vertex: {project: '', location: us}}]", "1:46: providers[0].vertex.project: needed here"),
        (
            "providers: [{name: a, kind: vertex, base_url: 'http://x', vertex: {project: p, location: a/b}}]",
            "1:80: providers[0].vertex.location: expected the name of a location, such as us-central1 or global",
        ),
        (
            "providers: [{name: a, kind: openai, entra: {tenant: t, client_id: c, client_secret: s}}]",
            "1:37: providers[0].entra: only for the kind azure_openai",
        ),
        (
            "providers: [{name: a, kind: azure_openai, base_url: 'http://x', entra: {tenant: t, client_id: c, client_secret: s, token_url: x}}]",
            "1:116: providers[0].entra.token_url: expected a URL that starts with http:// or https://",
        ),
    ]);
}

#[test]
fn extra_headers_cannot_carry_credentials_or_break_lines() {
    refused(&[
        (
            "providers: [{name: a, kind: openai, headers: {Authorization: Bearer x}}]",
            "1:47: providers[0].headers.Authorization: this header is set by the gateway itself; credentials belong in `keys`",
        ),
        (
            "providers: [{name: a, kind: openai, headers: {x-a: \"b\\r\\nHost: c\"}}]",
            "1:47: providers[0].headers.x-a: the value cannot be sent in a header; it must be printable ASCII on one line",
        ),
        ("providers: [{name: a, kind: openai, headers: {\"x a\": b}}]", "1:47: providers[0].headers.\"x a\": not a valid header name"),
        (
            "providers: [{name: a, kind: openai, headers: {X-A: b, x-a: c}}]",
            "1:55: providers[0].headers.x-a: this header is given twice; case makes no difference",
        ),
    ]);
}

#[test]
fn models_need_different_names_and_existing_targets() {
    let target = "targets: [{provider: p, model: x}]";
    models_refused(&[
        ("models: [{name: m, targets: []}]", "2:20: models[0].targets: at least one target is needed"),
        (
            "models: [{name: m, targets: [{provider: q, model: x}]}]",
            "2:31: models[0].targets[0].provider: there is no provider named \"q\"",
        ),
        (
            &format!("models:\n- {{name: m, {target}}}\n- {{name: m, {target}}}"),
            "4:4: models[1].name: the name \"m\" is already used by models[0].name",
        ),
        (
            &format!("models:\n- {{name: a, aliases: [b], {target}}}\n- {{name: b, {target}}}"),
            "3:23: models[0].aliases[0]: the name \"b\" is already used by models[1].name",
        ),
        (
            &format!("models:\n- {{name: a, aliases: [c], {target}}}\n- {{name: b, aliases: [c], {target}}}"),
            "4:23: models[1].aliases[0]: the name \"c\" is already used by models[0].aliases[0]",
        ),
        (
            "models: [{name: m, targets: [{provider: p, model: x, weight: 4294967295}, {provider: p, model: y}]}]",
            "2:20: models[0].targets: the weights of priority 0 add up to more than 4294967295",
        ),
        (&format!("models: [{{name: m, {target}, fallbacks: [m]}}]"), "2:68: models[0].fallbacks[0]: a model cannot be its own fallback"),
        (
            &format!("models: [{{name: m, aliases: [n], {target}, fallbacks: [n]}}]"),
            "2:82: models[0].fallbacks[0]: a model cannot be its own fallback",
        ),
        (&format!("models: [{{name: m, {target}, fallbacks: [z]}}]"), "2:68: models[0].fallbacks[0]: there is no model named \"z\""),
    ]);
    let circle = format!("{PROVIDER}models:\n- {{name: a, {target}, fallbacks: [b]}}\n- {{name: b, {target}, fallbacks: [a]}}");
    assert!(problems(&circle).is_empty(), "a circle of fallbacks is allowed");
    let reserve = "models: [{name: m, targets: [{provider: p, model: x, weight: 0}, {provider: p, model: y, weight: 0}]}]";
    assert!(problems(&format!("{PROVIDER}{reserve}")).is_empty(), "all weights may be 0");
}

#[test]
fn keys_need_different_names_and_secrets_worth_the_name() {
    refused(&[
        (
            "keys: [{name: k, secret: fifteen-letters, owner: {user: u}}]",
            "1:18: keys[0].secret: the secret must have 16 characters or more",
        ),
        (
            "keys: [{name: k, secret: '', owner: {user: u}}]",
            "1:18: keys[0].secret: the secret is empty; with `when_set` the key is declared only where its variable is set",
        ),
        (
            "keys: [{name: k, secret: with a space inside, owner: {user: u}}]",
            "1:18: keys[0].secret: the secret must consist of printable ASCII characters without spaces",
        ),
        (
            "keys: [{name: k, secret: sk-svc-000000000000-nearly, owner: {user: u}}]",
            "1:18: keys[0].secret: a secret that starts with sk-svc- must be a whole minted one; this one is mistyped or cut off",
        ),
        ("keys: [{name: k, secret: sixteen-letters-, owner: {user: ''}}]", "1:52: keys[0].owner.user: expected the owner's name"),
        (
            "keys:\n- {name: a, secret: sixteen-letters-, owner: {user: u}}\n- {name: a, secret: other-letters-16, owner: {user: u}}",
            "3:4: keys[1].name: the name \"a\" is already used by keys[0].name",
        ),
        (
            "keys:\n- {name: a, secret: sixteen-letters-, owner: {user: u}}\n- {name: b, secret: sixteen-letters-, owner: {user: u}}",
            "3:13: keys[1].secret: the same secret as keys[0].secret",
        ),
    ]);
    let minted = KeySecret::mint(&mut rand::rng());
    assert!(problems(&format!("keys: [{{name: k, secret: {}, owner: {{agent: a}}}}]", minted.reveal())).is_empty());
}

#[test]
fn guardrails_that_need_a_model_need_a_sidecar_too() {
    refused(&[
        (
            "guardrails: [{name: g, kind: pii, action: mask}]",
            "1:24: guardrails[0].kind: a guardrail of the kind `pii` needs a sidecar to ask, and `guardrail_models.url` is empty",
        ),
        (
            "guardrail_models: {url: 'http://user:secret@h'}",
            "1:20: guardrail_models.url: a URL here must not contain a user name or password",
        ),
        ("guardrail_models: {deadline: 0}", "1:20: guardrail_models.deadline: must not be 0"),
        ("guardrail_models: {max_texts: 0}", "1:20: guardrail_models.max_texts: must not be 0"),
        ("guardrail_models: {max_bytes: 1000}", "1:20: guardrail_models.max_bytes: must not be below 1KiB"),
        (
            "guardrail_models: {token: \"a\\nb\"}",
            "1:20: guardrail_models.token: the token cannot be sent in a header; it must be printable ASCII on one line",
        ),
    ]);
    assert_eq!(problems("guardrail_models: {url: 'https://h:8090/x'}\nguardrails: [{name: g, kind: pii, action: mask}]"), [""; 0]);
}

#[test]
fn each_kind_of_rule_and_guardrail_needs_its_own_keys() {
    refused(&[
        ("rules: [{name: r, kind: cost_saver}]", "1:9: rules[0]: the key `redirect` is missing"),
        ("rules: [{name: r, kind: ab}]", "1:9: rules[0]: the key `split` is missing"),
        (
            "rules: [{name: r, kind: ab, split: [{model: a, weight: 1}]}]",
            "1:29: rules[0].split: expected two models or more, one of them with a weight",
        ),
        ("rules: [{name: r, kind: spend_circuit}]", "1:9: rules[0]: the key `spend` is missing"),
        ("rules: [{name: r, kind: spend_circuit, spend: {limit_usd: 5, window: 0}}]", "1:62: rules[0].spend.window: must not be 0"),
        ("rules: [{name: r, kind: custom, redirect: {model: m}}]", "1:9: rules[0].when: the key `cel` is missing"),
        ("rules: [{name: r, kind: deny, redirect: {model: m}}]", "1:31: rules[0].redirect: means nothing for this kind or action"),
        (
            "rules: [{name: r, kind: deny, when: {prompt_tokens: {min: 5, max: 4}}}]",
            "1:38: rules[0].when.prompt_tokens: `min` must not be more than `max`",
        ),
        ("guardrails: [{name: g, kind: regex, action: block}]", "1:14: guardrails[0]: the key `pattern` is missing"),
        (
            "guardrails: [{name: g, kind: regex, pattern: '(', action: block}]",
            "1:37: guardrails[0].pattern: the pattern is no regular expression: unclosed group, at character 1",
        ),
        ("guardrails: [{name: g, kind: regex, pattern: a, action: redirect}]", "1:14: guardrails[0]: the key `redirect` is missing"),
        (
            "guardrails: [{name: g, kind: regex, pattern: a, action: mask, applies_to: []}]",
            "1:63: guardrails[0].applies_to: expected what is to be searched, each part once",
        ),
        (
            "{guardrail_models: {url: 'http://h'}, guardrails: [{name: g, kind: toxicity, threshold: 7, action: block}]}",
            "1:78: guardrails[0].threshold: expected a score from 0 to 1",
        ),
    ]);
    let long = format!("guardrails: [{{name: g, kind: regex, pattern: '{}', action: block}}]", "a".repeat(1025));
    assert_eq!(problems(&long), ["1:37: guardrails[0].pattern: the pattern is longer than 1024 bytes"]);
    let huge = "guardrails: [{name: g, kind: regex, pattern: '(\\w{1,100}){1,100}', action: block}]";
    assert!(problems(huge)[0].contains("more than 1 MiB"), "{:?}", problems(huge));
    assert!(
        problems(
            "rules:\n\
             - {name: a, kind: spend_circuit, spend: {limit_usd: 12.5, window: 1d}}\n\
             - {name: b, kind: ab, split: [{model: x, weight: 9}, {model: y, weight: 1}], sticky: end_user}\n\
             - {name: c, kind: custom, when: {cel: 'stream'}, redirect: {model: x}, scope: {teams: [t]}}\n"
        )
        .is_empty()
    );
}

#[test]
fn what_is_not_declared_is_left_out_with_everything_that_needs_it() {
    let env = |name: &str| match name {
        "HERE" => Some("1".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let text = "providers:\n\
        - {name: here, kind: openai, when_set: HERE}\n\
        - {name: gone, kind: azure_openai, when_set: GONE, base_url: \"${GONE}\", keys: [\"${GONE}\"], max_concurrency: \"${GONE}\"}\n\
        - {name: empty, kind: gemini, when_set: EMPTY}\n\
        models:\n\
        - {name: both, targets: [{provider: here, model: x}, {provider: gone, model: y}], fallbacks: [alias-of-gone, lost, other]}\n\
        - {name: lost, aliases: [alias-of-gone], targets: [{provider: gone, model: y}, {provider: empty, model: z}]}\n\
        - {name: other, when_set: HERE, targets: [{provider: here, model: x}]}\n\
        - {name: other, when_set: GONE, targets: [{provider: gone, model: x}]}\n\
        keys:\n\
        - {name: k, when_set: GONE, secret: \"${GONE}\", owner: {user: u}}\n";
    let conf = Conf::parse(text, "f", &env).unwrap();
    assert_eq!(conf.providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>(), ["here"]);
    assert_eq!(conf.models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["both", "other"]);
    assert_eq!(conf.models[0].targets.len(), 1);
    assert_eq!(conf.models[0].fallbacks, ["other"]);
    assert!(conf.keys.is_empty());

    refused(&[
        (
            "providers: [{name: a, kind: openai, when_set: 'A B'}]",
            "1:37: providers[0].when_set: \"A B\" is not the name of an environment variable",
        ),
        (
            "providers: [{name: a, kind: openai, when_set: GONE, bas_url: x}]",
            "1:53: providers[0].bas_url: unknown key `bas_url`; did you mean `base_url`?",
        ),
    ]);
}
