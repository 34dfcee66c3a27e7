//! Token counts for models of another shape.

use serde_json::json;
use svc_tests::upstream::Upstream;

use super::{post, start, turn};

#[test]
fn counts_are_the_providers_own_where_it_speaks_the_shape_and_marked_estimates_elsewhere() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let text = json!("How many tokens does this sentence have?");
    for (model, estimated) in [("messages-model", false), ("chat-model", true), ("generate-model", true)] {
        let answer = post(&gateway, "/v1/messages/count_tokens", &json!({"model": model, "messages": turn(&text)}));
        assert_eq!(answer.status, 200, "{model}: {}", answer.text());
        assert_eq!(answer.header("x-svc-token-count"), estimated.then_some("estimated"), "{model}");
        let count = answer.json()["input_tokens"].as_u64().expect("a number");
        assert!((5..40).contains(&count), "{model}: {count}");
    }
    let contents = json!({"contents": [{"role": "user", "parts": [{"text": text}]}]});
    for (model, estimated) in [("generate-model", false), ("messages-model", true)] {
        let answer = post(&gateway, &format!("/v1beta/models/{model}:countTokens"), &contents);
        assert_eq!((answer.status, answer.header("x-svc-token-count")), (200, estimated.then_some("estimated")), "{}", answer.text());
        assert!(answer.json()["totalTokens"].as_u64().is_some_and(|count| count > 4), "{}", answer.text());
    }
}
