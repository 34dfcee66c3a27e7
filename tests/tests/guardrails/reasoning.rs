//! What the model thinks before it answers. The emulator's reasoning is always the same and comes word by word where it streams; the
//! prompts say parts of it, so that the text of the answer holds them too.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc_tests::raw::Answer;
use svc_tests::shapes::{Shape, events};

use crate::answers::refused;
use crate::said::Said;
use crate::{CLIENTS, Setup, pairs};

const THOUGHT: &str = "The user wants an answer, so let me think of one.";
const ASK: &str = "so let me think demo:think";

fn told(client: Shape, provider: Shape, stream: bool) -> String {
    format!("{} to {} stream {stream}", client.name(), provider.name())
}

/// A request for an answer that shows its reasoning, and lets it be sent back.
fn body(client: Shape, model: &str, text: &str, stream: bool) -> Value {
    let mut body = client.body(model, text, stream);
    match client {
        Shape::Generate => body["generationConfig"] = json!({"thinkingConfig": {"includeThoughts": true}}),
        Shape::Responses => body["include"] = json!(["reasoning.encrypted_content"]),
        Shape::Chat | Shape::Messages => {}
    }
    body
}

fn ask(setup: &Setup, client: Shape, provider: Shape, text: &str, stream: bool) -> Answer {
    setup.post(client, provider.model(), &body(client, provider.model(), text, stream), stream)
}

fn guardrail(place: &str, rest: &str) -> String {
    format!("  - {{name: thoughts, kind: regex, applies_to: [{place}], {rest}}}\n")
}

/// Where the guardrails looked, and where they found something: each place once, since some shapes tell reasoning under two names.
fn places(setup: &Setup, answer: &Answer) -> (Vec<String>, Vec<String>) {
    let note = setup.note(answer, "guardrails_answer");
    let places = |values: &Value, of: fn(&Value) -> &Value| {
        let places: BTreeSet<String> =
            values.as_array().into_iter().flatten().filter_map(|value| of(value).as_str().map(str::to_owned)).collect();
        places.into_iter().collect()
    };
    (places(&note["places"], |place| place), places(&note["findings"], |finding| &finding["place"]))
}

/// Each block of a messages stream that begins ends, and each item of a responses stream.
fn expect_closed(told: &str, client: Shape, answer: &Answer) {
    let kinds: Vec<String> = events(&answer.text()).iter().filter_map(|event| event["type"].as_str().map(str::to_owned)).collect();
    let count = |kind: &str| kinds.iter().filter(|found| *found == kind).count();
    let (begun, ended) = match client {
        Shape::Messages => (count("content_block_start"), count("content_block_stop")),
        Shape::Responses => (count("response.output_item.added"), count("response.output_item.done")),
        Shape::Chat | Shape::Generate => return,
    };
    assert!(begun > 0 && begun == ended, "{told}: {kinds:?}");
}

#[test]
fn reasoning_is_masked_and_the_text_left_alone() {
    let setup = Setup::new(&guardrail("reasoning", r#"pattern: 'let me think', action: mask, mask: "<{length}>""#));
    for (client, provider, stream) in pairs() {
        let told = told(client, provider, stream);
        let answer = ask(&setup, client, provider, ASK, stream);
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let said = Said::of(client, &answer, stream);
        assert_eq!(said.reasoning, THOUGHT.replace("let me think", "<12>"), "{told}: {}", answer.text());
        assert_eq!(said.text, format!("You said: {ASK}"), "{told}");
        if !stream {
            assert_eq!(answer.text().matches("let me think").count(), 1, "{told}: only the text says it: {}", answer.text());
        }
        let only = vec!["reasoning".to_owned()];
        assert_eq!(places(&setup, &answer), (only.clone(), only), "{told}");
    }
}

#[test]
fn a_guardrail_on_the_text_does_not_look_at_reasoning() {
    let setup = Setup::new(&guardrail("answer_text", r#"pattern: 'let me think', action: mask, mask: "<{length}>""#));
    for (client, provider, stream) in pairs() {
        let told = told(client, provider, stream);
        let answer = ask(&setup, client, provider, ASK, stream);
        let said = Said::of(client, &answer, stream);
        assert_eq!(said.reasoning, THOUGHT, "{told}: {}", answer.text());
        assert_eq!(said.text, "You said: so <12> demo:think", "{told}");
        let only = vec!["answer".to_owned()];
        assert_eq!(places(&setup, &answer), (only.clone(), only), "{told}");
    }
}

#[test]
fn a_guardrail_on_the_answer_looks_at_both_and_lets_them_pass_where_it_only_logs() {
    let setup = Setup::new(&guardrail("answer", "pattern: 'let me think', action: log_only"));
    for (client, provider, stream) in pairs() {
        let told = told(client, provider, stream);
        let answer = ask(&setup, client, provider, ASK, stream);
        let said = Said::of(client, &answer, stream);
        assert_eq!((&*said.reasoning, said.text), (THOUGHT, format!("You said: {ASK}")), "{told}: {}", answer.text());
        let both = vec!["answer".to_owned(), "reasoning".to_owned()];
        assert_eq!(places(&setup, &answer), (both.clone(), both), "{told}");
    }
}

#[test]
fn reasoning_that_may_not_be_shown_refuses_or_cuts_off_the_answer() {
    let setup = Setup::new(&guardrail("reasoning", "pattern: 'let me think', action: block"));
    for (client, provider, stream) in pairs() {
        let told = told(client, provider, stream);
        let answer = ask(&setup, client, provider, "hello demo:think", stream);
        assert!(!answer.text().contains("You said") && !answer.text().contains("think of"), "{told}: {}", answer.text());
        let note = setup.note(&answer, "guardrails_answer");
        assert_eq!((&note["decided"], &note["action"]), (&json!("thoughts"), &json!("block")), "{told}: {note}");
        assert_eq!(note["findings"][0]["place"], "reasoning", "{told}: {note}");
        if !stream {
            client.expect_error(&told, &answer, 400, "content_guardrail_blocked");
            continue;
        }
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let said = Said::of(client, &answer, true);
        assert_eq!((&*said.reasoning, &*said.text), ("The user wants an answer, so ", ""), "{told}: {}", answer.text());
        assert_eq!(said.finish, refused(client), "{told}: {}", answer.text());
        expect_closed(&told, client, &answer);
    }
}

#[test]
fn a_block_of_the_text_leaves_the_reasoning_before_it() {
    let setup = Setup::new(&guardrail("answer_text", "pattern: 'let me think', action: block"));
    for (client, provider, stream) in pairs().filter(|(_, _, stream)| *stream) {
        let told = told(client, provider, stream);
        let answer = ask(&setup, client, provider, ASK, stream);
        assert_eq!(answer.status, 200, "{told}: {}", answer.text());
        let said = Said::of(client, &answer, stream);
        assert_eq!((&*said.reasoning, &*said.text), (THOUGHT, "You said: so "), "{told}: {}", answer.text());
        expect_closed(&told, client, &answer);
    }
}

#[test]
fn a_conversation_goes_on_after_its_reasoning_was_masked() {
    let setup = Setup::new(&guardrail("reasoning", "pattern: 'let me think', action: mask"));
    // The vendor of chat completions neither shows reasoning there nor takes it.
    let takes = |client, provider| (client, provider) != (Shape::Chat, Shape::Chat);
    for (client, provider, _) in pairs().filter(|(client, provider, stream)| !stream && takes(*client, *provider)) {
        let told = told(client, provider, false);
        let mut body = body(client, provider.model(), ASK, false);
        let first = setup.post(client, provider.model(), &body, false);
        assert_eq!(Said::of(client, &first, false).reasoning, THOUGHT.replace("let me think", "[thoughts]"), "{told}");
        go_on(client, &mut body, &first.json());
        let next = setup.post(client, provider.model(), &body, false);
        assert_eq!(next.status, 200, "{told}: {}", next.text());
        assert_eq!(Said::of(client, &next, false).text, "You said: and now", "{told}");
    }
}

/// Puts an answer behind its question as SDKs do, and asks something else.
fn go_on(client: Shape, body: &mut Value, answer: &Value) {
    let (turns, said) = match client {
        Shape::Chat => ("messages", vec![answer["choices"][0]["message"].clone()]),
        Shape::Messages => ("messages", vec![json!({"role": "assistant", "content": answer["content"]})]),
        Shape::Generate => ("contents", vec![answer["candidates"][0]["content"].clone()]),
        Shape::Responses => ("input", answer["output"].as_array().expect("items").clone()),
    };
    let next = match client {
        Shape::Generate => json!({"role": "user", "parts": [{"text": "and now"}]}),
        _ => json!({"role": "user", "content": "and now"}),
    };
    let mut all = match &body[turns] {
        Value::Array(turns) => turns.clone(),
        text => vec![json!({"role": "user", "content": text})],
    };
    all.extend(said.into_iter().chain([next]));
    body[turns] = Value::Array(all);
}

#[test]
fn a_stream_of_reasoning_in_which_nothing_is_found_is_the_providers() {
    let with = Setup::new(&guardrail("reasoning", "pattern: 'let me thunk', action: block"));
    let without = Setup::new(&guardrail("system", "pattern: 'zzzz', action: block"));
    for client in CLIENTS {
        let told = |setup: &Setup| Said::of(client, &ask(setup, client, client, ASK, true), true);
        assert_eq!(told(&with), told(&without), "{}", client.name());
        assert_eq!(told(&with).reasoning, THOUGHT, "{}", client.name());
    }
}
