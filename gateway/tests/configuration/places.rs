//! What messages say, and where.

use std::fs;

use svc_gateway::conf::Conf;

use crate::{conf_dir, everything, problem};

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
