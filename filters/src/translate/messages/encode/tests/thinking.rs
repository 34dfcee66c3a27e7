//! B.0.1, B.0.6 and B.0.7: thinking, and what it does not go with.

use super::*;
use crate::canonical::{Choice, Number, Sampling, Signature, Thinking};

const ADAPTIVE: &str = "claude-sonnet-5";
const ALWAYS: &str = "claude-opus-5-5";

fn effort(name: &'static str) -> Thinking<'static> {
    Thinking { effort: Some(Text::from(name)), ..Thinking::default() }
}

fn budget(tokens: i64) -> Thinking<'static> {
    Thinking { budget: Some(tokens), ..Thinking::default() }
}

fn on(request: Request<'_>, model: &'static str) -> (Value, Vec<(String, Weight)>) {
    let (body, encoding) = encoded(request, &target(model)).expect("encodes");
    (body, losses(&encoding))
}

fn asked(thinking: Thinking<'static>, max_output: Option<u64>, model: &'static str) -> (Value, Vec<(String, Weight)>) {
    on(Request { thinking, max_output, ..hello() }, model)
}

#[test]
fn efforts_become_budgets_where_the_model_takes_budgets() {
    for (name, tokens) in [("minimal", 1_024), ("low", 1_024), ("medium", 8_192), ("high", 24_576), ("xhigh", 32_768)] {
        let (body, _) = asked(effort(name), None, SONNET);
        assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": tokens}), "{name}");
        assert_eq!(body["max_tokens"], json!(tokens + 4_096), "{name}: room for the answer");
    }
    assert!(asked(effort("none"), None, SONNET).0.get("thinking").is_none());
    assert!(asked(Thinking::default(), None, SONNET).0.get("thinking").is_none());
}

#[test]
fn a_budget_stays_below_the_clients_limit_which_is_never_raised() {
    let (body, _) = asked(effort("high"), Some(10_000), SONNET);
    assert_eq!((&body["thinking"]["budget_tokens"], &body["max_tokens"]), (&json!(8_000), &json!(10_000)));
    let (body, found) = asked(effort("high"), Some(1_000), SONNET);
    assert_eq!((body.get("thinking"), &body["max_tokens"]), (None, &json!(1_000)));
    assert_eq!(found, [lost("reasoning_effort", Weight::Minor)]);
    let (body, _) = asked(effort("max"), None, "claude-3-7-sonnet-latest");
    assert_eq!(
        (&body["thinking"]["budget_tokens"], &body["max_tokens"]),
        (&json!(25_600), &json!(29_696)),
        "within what the model can write"
    );
}

#[test]
fn adaptive_models_get_an_effort_and_no_budget() {
    let (body, _) = asked(effort("high"), None, ADAPTIVE);
    assert_eq!(body["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!(body["output_config"], json!({"effort": "high"}));
    for (thinking, expected) in [(effort("minimal"), "low"), (effort("max"), "max"), (effort("xhigh"), "xhigh"), (budget(3_000), "medium")]
    {
        assert_eq!(asked(thinking, None, ADAPTIVE).0["output_config"]["effort"], json!(expected));
    }
    let (body, _) = asked(budget(-1), None, ADAPTIVE);
    assert_eq!((&body["thinking"]["type"], body.get("output_config")), (&json!("adaptive"), None));
}

#[test]
fn thinking_is_switched_off_where_it_can_be() {
    assert_eq!(asked(effort("none"), None, ADAPTIVE).0["thinking"], json!({"type": "disabled"}));
    let (body, found) = asked(effort("none"), None, ALWAYS);
    assert_eq!((body.get("thinking"), &body["output_config"]["effort"]), (None, &json!("low")));
    assert_eq!(found, [lost("reasoning_effort", Weight::Minor)]);
    assert_eq!(asked(effort("high"), None, "claude-3-5-sonnet-20241022").1, [lost("reasoning_effort", Weight::Minor)]);
}

#[test]
fn models_of_both_kinds_take_what_the_client_says() {
    assert_eq!(asked(budget(5_000), None, "claude-opus-4-6").0["thinking"], json!({"type": "enabled", "budget_tokens": 5_000}));
    let (body, _) = asked(effort("max"), None, "claude-opus-4-6");
    assert_eq!((&body["thinking"], &body["output_config"]["effort"]), (&json!({"type": "adaptive"}), &json!("max")));
}

#[test]
fn reasoning_is_shown_to_generate_content_clients_that_ask_for_it() {
    let display = |shown| {
        let thinking = Thinking { shown, ..effort("high") };
        let request = Request { thinking, turns: vec![user(vec![text("a")])], ..Request::new(Shape::GenerateContent) };
        on(request, ADAPTIVE).0["thinking"].get("display").cloned()
    };
    assert_eq!((display(Some(true)), display(None)), (Some(json!("summarized")), None));
}

#[test]
fn sampling_gives_way_to_thinking() {
    let sampling =
        |temperature, top_p| Sampling { temperature: Some(Number(temperature)), top_p, top_k: Some(Number("4")), ..Sampling::default() };
    let request = |sampling| Request { sampling, thinking: effort("low"), ..hello() };
    let (body, found) = on(request(sampling("0.5", Some(Number("0.96")))), SONNET);
    assert_eq!((body.get("temperature"), &body["top_p"], body.get("top_k")), (None, &json!(0.96), None));
    assert_eq!(found, [lost("temperature", Weight::Minor), lost("top_k", Weight::Minor)]);
    let (body, found) = on(request(sampling("1.0", Some(Number("0.5")))), SONNET);
    assert_eq!((&body["temperature"], body.get("top_p")), (&json!(1.0), None));
    assert_eq!(found, [lost("top_p", Weight::Minor), lost("top_k", Weight::Minor)]);
}

fn forced(thinking: Thinking<'static>) -> Request<'static> {
    Request { tools: vec![function("f", None)], tool_choice: Some(Choice::Any), thinking, ..hello() }
}

#[test]
fn a_forced_call_gives_way_to_thinking_the_client_asked_for() {
    for model in [SONNET, ADAPTIVE, "claude-opus-4-6"] {
        let (body, found) = on(forced(effort("high")), model);
        assert_eq!(body["tool_choice"], json!({"type": "auto"}), "{model}");
        assert_eq!(found, [lost("tool_choice", Weight::Minor)], "{model}");
    }
}

#[test]
fn thinking_nobody_asked_for_gives_way_to_a_forced_call() {
    let (body, found) = on(forced(Thinking::default()), ADAPTIVE);
    assert_eq!((&body["tool_choice"], &body["thinking"]), (&json!({"type": "any"}), &json!({"type": "disabled"})));
    assert!(found.is_empty());
    assert!(on(forced(Thinking::default()), SONNET).0.get("thinking").is_none());
}

#[test]
fn models_that_cannot_be_forced_decide_themselves() {
    let (body, found) = on(forced(Thinking::default()), ALWAYS);
    assert_eq!(body["tool_choice"], json!({"type": "auto"}));
    assert_eq!(found, [lost("tool_choice", Weight::Minor)]);
}

#[test]
fn budgets_need_the_thinking_before_the_last_calls() {
    let history = |first: Option<Block<'static>>| {
        let mut blocks: Vec<Block<'static>> = first.into_iter().collect();
        blocks.push(call("c", "f", "{}"));
        let turns = vec![user(vec![text("a")]), model(blocks), user(vec![result("c", vec![text("1")])])];
        Request { tools: vec![function("f", None)], thinking: effort("low"), ..chat(turns) }
    };
    let (body, found) = on(history(None), SONNET);
    assert_eq!((body.get("thinking"), found), (None, vec![lost("reasoning_effort", Weight::Minor)]));
    let signature = Signature { shape: Shape::Messages, origin: Some(ORIGIN), value: Text::from("s") };
    let thought = Block::Reasoning { text: Text::from("hm"), signature: Some(signature) };
    assert_eq!(on(history(Some(thought)), SONNET).0["thinking"]["type"], json!("enabled"));
    assert_eq!(on(history(None), ADAPTIVE).0["thinking"]["type"], json!("adaptive"), "adaptive models do not mind");
}

#[test]
fn a_begun_answer_goes_on_without_thinking() {
    let turns = vec![user(vec![text("a")]), model(vec![text("b")])];
    let (body, found) = on(Request { thinking: effort("low"), ..chat(turns) }, SONNET);
    assert_eq!((body.get("thinking"), found), (None, vec![lost("reasoning_effort", Weight::Minor)]));
}
