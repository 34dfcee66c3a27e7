use super::*;
use crate::routing::rules::tests::Given;

fn holds(text: &str, given: &Given) -> Result<bool, &'static str> {
    let expression = Expression::compile(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    given.asked(|asked| expression.holds(asked))
}

fn refused(text: &str) -> String {
    Expression::compile(text).expect_err(text).to_string()
}

#[test]
fn every_variable_can_be_asked_for() {
    let given = Given::full();
    for text in [
        "model == 'large'",
        "stream && !tools",
        "images == false",
        "prompt_tokens == 1200 && prompt_tokens > 1000",
        "max_tokens == 256",
        "key == 'build key'",
        "owner == 'ann@example.com'",
        "team == 'search' && application == 'crawler'",
        "'staff' in groups",
        "groups.exists(group, group.startsWith('st'))",
        "tags.job == 'batch' && tags['job'] == 'batch' && has(tags.job) && !has(tags.none)",
        "metadata.run == 'nightly'",
        "headers['x-plan'] == 'gold'",
        "end_user == 'u-1'",
        "endpoint == 'chat_completions' && shape == 'chat_completions'",
        "now.year == 2026 && now.month == 11 && now.day == 20 && now.weekday == 5 && now.hour == 10 && now.minute == 30",
        "now.unix > 1700000000 && now.second == 0",
        "model.matches('^la.ge$') && matches(model, 'arg') && !model.matches('small')",
        "size(groups) == 2 && model.size() == 5 && model.contains('arg') && model.endsWith('ge')",
        "groups.all(g, size(g) > 1) && groups.exists_one(g, g == 'staff') && groups.filter(g, g != 'staff').size() == 1",
        "[1, 2, 3].map(n, n * 2) == [2, 4, 6] && {'a': 1}.a == 1",
        "(stream ? 'a' : 'b') == 'a' && string(prompt_tokens) == '1200' && double(prompt_tokens) / 100.0 == 12.0",
        "headers.exists(name, name == 'x-plan' && headers[name].startsWith('g'))",
    ] {
        assert_eq!(holds(text, &given), Ok(true), "{text}");
    }
}

#[test]
fn what_is_not_given_is_empty_or_zero() {
    let text = "team == '' && application == '' && owner == '' && end_user == '' && max_tokens == 0 && size(tags) == 0";
    assert_eq!(holds(text, &Given::default()), Ok(true));
}

#[test]
fn credentials_are_not_handed_in() {
    let mut given = Given::default();
    for name in ["authorization", "x-api-key", "cookie", "x-ok"] {
        given.headers.insert(name, http::HeaderValue::from_static("secret"));
    }
    assert_eq!(holds("size(headers) == 1 && headers['x-ok'] == 'secret'", &given), Ok(true));
}

#[test]
fn an_error_of_the_evaluation_is_told_without_the_values() {
    let given = Given::full();
    for (text, reason) in [
        ("tags.missing == 'x'", "a key is missing"),
        ("prompt_tokens + model == 'x'", "a value has the wrong type"),
        ("10 / (prompt_tokens - 1200) > 1", "a division by zero"),
        ("groups[7] == 'x'", "an index is out of bounds"),
        ("9223372036854775807 + prompt_tokens > 0", "a number is too large"),
        ("model", "the result is neither true nor false"),
        ("prompt_tokens", "the result is neither true nor false"),
    ] {
        assert_eq!(holds(text, &given), Err(reason), "{text}");
    }
}

#[test]
fn an_error_names_its_line_and_column() {
    for (text, start) in [
        ("model ==", "line 1, column 9: mismatched input '<EOF>'"),
        ("stream &&\n  modle == 'x'", "line 2, column 3: there is no variable `modle`, there are model, "),
        ("stream && frobnicate(model)", "line 1, column 21: there is no function `frobnicate`, there are size, "),
        ("'ü' == model && nope", "line 1, column 17: there is no variable `nope`"),
        ("model.matches('(')", "line 1, column 14: not a usable pattern: unclosed group"),
        ("model.matches(team)", "line 1, column 14: the pattern of `matches` has to be written out"),
        ("'text'", "line 1, column 1: expected something that is true or false"),
        ("request.stream", "line 1, column 1: there is no variable `request`"),
        ("groups.exists(g, h == 'x')", "line 1, column 18: there is no variable `h`"),
        ("stream ? 'a", "line 1, column 10: token recognition error at: ''a'"),
        ("'ü' == model && == 3", "line 1, column 17: extraneous input '=='"),
        ("'ü' == model && 99999999999999999999 > 1", "line 1, column 17: invalid int literal"),
        ("groups.exists(1, stream)", "line 1, column 15: argument must be a simple name"),
        ("", "line 1, column 1: "),
        ("Message{field: 1} == model", "line 1, column 8: this is not supported"),
    ] {
        let error = refused(text);
        assert!(error.starts_with(start), "{text}: {error}");
    }
}

#[test]
fn expressions_that_are_too_long_deep_or_manifold_are_refused() {
    let long = format!("model == '{}'", "x".repeat(LONGEST));
    assert_eq!(refused(&long), "line 1, column 1: expected an expression of 2048 bytes or less");
    let deep = format!("{}stream{}", "(".repeat(500), ")".repeat(500));
    refused(&deep);
    for text in ["!".repeat(2000) + "stream", "-".repeat(2000) + "1 == 1", format!("tags{} == 1", ".a".repeat(1000))] {
        let _ = Expression::compile(&text);
    }
    let lists = format!("{}1{} == 1", "[".repeat(900), "]".repeat(900));
    refused(&lists);
    let many = vec!["stream"; 200].join("&&");
    assert_eq!(holds(&many, &Given::full()), Ok(true), "a flat chain is fine");
}

#[test]
fn expressions_that_could_take_long_or_grow_large_are_refused() {
    for text in [
        "groups.exists(a, groups.exists(b, groups.exists(c, a == b && b == c)))",
        "[model].map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a)\
         .map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).map(a, a + a).exists(a, a == model)",
        "groups.map(a, groups.map(b, groups)).size() > 1",
        "headers.exists(a, tags.exists(b, metadata.exists(c, a == c)))",
        "groups.exists(a, groups.exists(b, a + 'x' == b))",
    ] {
        assert!(refused(text).ends_with("evaluating this could take too long"), "{text}: {}", refused(text));
    }
}

#[test]
fn the_most_expensive_expressions_still_end_soon() {
    let mut given = Given::full();
    given.caller.groups = (0..500).map(|index| format!("{index}{}", "g".repeat(600)).into()).collect();
    for text in [
        "groups.exists(a, ['x', 'y', 'z'].exists(b, a + b == model))",
        "groups.map(a, a + a).filter(a, a.contains('nothing')).size() == 1",
        "groups.exists(a, a.matches('(g|gg)*x$'))",
    ] {
        let started = std::time::Instant::now();
        assert_eq!(holds(text, &given), Ok(false), "{text}");
        assert!(started.elapsed() < std::time::Duration::from_millis(500), "{text}: {:?}", started.elapsed());
    }
    assert_eq!(holds("size(groups) == 64 && groups.all(g, size(g) <= 512)", &given), Ok(true), "lists and texts are cut");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    #[test]
    fn no_text_breaks_the_compiler_or_the_evaluation(text in proptest::collection::vec(proptest::sample::select(PIECES), 0..24)) {
        if let Ok(expression) = Expression::compile(&text.concat()) {
            let _ = Given::full().asked(|asked| expression.holds(asked));
        }
    }

    #[test]
    fn random_texts_are_refused_and_no_more(text in ".{0,60}") {
        if let Ok(expression) = Expression::compile(&text) {
            let _ = Given::full().asked(|asked| expression.holds(asked));
        }
    }
}

const PIECES: &[&str] = &[
    "model",
    "groups",
    "tags",
    "headers",
    "now",
    "prompt_tokens",
    "stream",
    ".",
    "size",
    "exists",
    "map",
    "all",
    "filter",
    "has",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    "in",
    "1",
    "0",
    "-1",
    "2.5",
    "3u",
    "9223372036854775807",
    "'a'",
    "b'a'",
    "r'\\'",
    "\"ü\"",
    "'\\u12'",
    "null",
    "true",
    "false",
    "g",
    " ",
    "\n",
    "int",
    "matches",
    "//x",
    "groups.exists(g, ",
    "g == 'a')",
    "string(",
    "0x",
    "1e400",
    "`a`",
];

#[test]
fn only_plain_expressions_go_without_the_evaluator() {
    for (text, plain) in [
        ("headers['x-lane'] == '7' && stream", true),
        ("!('x-plan' in headers) || 'gold' != headers['x-plan']", true),
        ("true || (model == 'large' && metadata['run'] == 'nightly' && tags['job'] != 'x')", true),
        ("headers['X-Plan'] == 'gold'", false),
        ("model == key", false),
        ("'a' == 'a'", false),
        ("model < 'm'", false),
        ("prompt_tokens > 1000", false),
        ("model.startsWith('la')", false),
        ("stream == true", false),
        ("'staff' in groups", false),
        ("now['hour'] == 'x'", false),
    ] {
        assert_eq!(Expression::compile(text).expect(text).plain.is_some(), plain, "{text}");
    }
}

#[test]
fn where_entries_are_left_out_the_evaluator_tells() {
    let mut given = Given::full();
    for number in 0..80 {
        let name = http::HeaderName::from_bytes(format!("x-{number}").as_bytes()).expect("a name");
        given.headers.insert(name, http::HeaderValue::from_static("v"));
    }
    let present = (0..80).filter(|number| holds(&format!("'x-{number}' in headers"), &given) == Ok(true)).count();
    assert!((60..=64).contains(&present), "{present}");
}

/// Plain expressions, and a request for them.
fn plain_text() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let map = prop::sample::select(vec!["headers", "tags", "metadata"]);
    let name = prop::sample::select(vec!["x-a", "x-b", "cookie", "job", ""]);
    let text = prop::sample::select(vec!["", "large", "k-1", "one", "zwei"]);
    let word = prop::sample::select(vec!["model", "key", "owner", "team", "application", "end_user", "endpoint", "shape"]);
    let flag = prop::sample::select(vec!["stream", "tools", "images", "true", "false"]);
    let sign = prop::sample::select(vec!["==", "!="]);
    let leaf = prop_oneof![
        flag.prop_map(str::to_owned),
        (word, sign.clone(), text.clone()).prop_map(|(word, sign, text)| format!("{word} {sign} '{text}'")),
        (map.clone(), name.clone(), sign, text).prop_map(|(map, name, sign, text)| format!("'{text}' {sign} {map}['{name}']")),
        (name, map).prop_map(|(name, map)| format!("'{name}' in {map}")),
    ];
    leaf.prop_recursive(4, 24, 2, |part| {
        prop_oneof![
            part.clone().prop_map(|part| format!("!({part})")),
            (part.clone(), prop::sample::select(vec!["&&", "||"]), part).prop_map(|(left, sign, right)| format!("({left} {sign} {right})")),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn plain_expressions_mean_what_the_evaluator_says(
        text in plain_text(),
        stream in proptest::prelude::any::<bool>(),
        lines in proptest::collection::vec((0..3_usize, 0..3_usize), 0..4),
        long in proptest::prelude::any::<bool>(),
    ) {
        let mut given = if stream { Given::full() } else { Given::default() };
        let values = [http::HeaderValue::from_static("one"), http::HeaderValue::from_static("zwei"), http::HeaderValue::from_bytes(b"\xff").unwrap()];
        for (name, value) in lines {
            given.headers.append(["x-a", "x-b", "cookie"][name], values[value].clone());
        }
        if long {
            given.end_user = Some("ä".repeat(600));
            given.metadata.insert("x-a".to_owned(), "one".to_owned());
        }
        let expression = Expression::compile(&text).unwrap();
        let plain = expression.plain.as_ref();
        given.asked(|asked| match plain.map(|plain| plain.holds(asked)) {
            Some(Ok(holds)) => assert_eq!(expression.evaluated(asked), Ok(holds), "{text}"),
            Some(Err(Open::Failed(reason))) => assert_eq!(expression.evaluated(asked), Err(reason), "{text}"),
            Some(Err(Open::Unsure)) => panic!("nothing was left out: {text}"),
            // The name of a header cannot be empty.
            None => assert!(text.contains("headers['']") || text.contains("'' in headers"), "{text}"),
        });
    }
}
