//! What aggregators charge.

use serde_json::json;
use svc_tests::shapes::Shape;
use svc_tests::stub::{Asked, Reply, Stub};

use crate::{STEADY, Stage, model, provider};

/// An answer whose usage says what it cost, as aggregators do.
fn priced(asked: &Asked) -> Reply {
    let request: serde_json::Value = serde_json::from_slice(&asked.body).expect("JSON");
    let usage = |cost: serde_json::Value| json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "cost": cost});
    if request["stream"] == true {
        let chunk = |delta: serde_json::Value, reason: serde_json::Value| {
            json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        };
        let last = json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage(json!(0.000_01))});
        let events = [chunk(json!({"role": "assistant", "content": "Hello"}), json!(null)), chunk(json!({}), json!("stop")), last];
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        return Reply {
            status: 200,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            body: (body + "data: [DONE]\n\n").into(),
        };
    }
    let answer = json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}], "usage": usage(json!(0.1))});
    Reply::json(200, answer)
}

#[test]
fn costs_told_in_answers_and_streams_of_either_kind_add_up() {
    let aggregator = Stub::start(priced);
    let stage = Stage::start(&provider("aggregator", &aggregator.url(), ""), &model("priced", &["aggregator"]), STEADY);
    for shape in [Shape::Chat, Shape::Messages, Shape::Generate] {
        for stream in [false, true] {
            assert_eq!(stage.ask(shape, "priced", "hi", stream), 200);
        }
    }
    assert_eq!(stage.ask(Shape::Chat, "chat-model", "hi", false), 200, "a vendor tells nothing");
    stage.prometheus.expect("sum(svc_requests_total)", 7.0);
    let cost = stage.prometheus.query("svc_cost_dollars_total").expect("a query");
    assert_eq!(cost.keys().collect::<Vec<_>>(), ["currency=USD,model=priced,provider=aggregator"]);
    stage.prometheus.expect("svc_cost_dollars_total", 0.300_03);
}
