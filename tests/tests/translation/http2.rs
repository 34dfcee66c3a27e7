//! Clients over HTTP/2.

use serde_json::{Value, json};
use svc_tests::gateway::KEY;
use svc_tests::h2c::Http2;
use svc_tests::upstream::Upstream;

use super::start;

#[test]
fn answers_and_errors_are_those_of_the_shape() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let bearer = format!("Bearer {KEY}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    for (text, stream, expected) in
        [("hi", false, 200), ("hi", true, 200), ("demo:error=429", false, 429), ("demo:error=404", true, 404), ("demo:empty", false, 502)]
    {
        let mut client = Http2::open(gateway.address);
        let body = json!({"model": "messages-model", "messages": [{"role": "user", "content": text}], "stream": stream});
        let answer = client.post("/v1/chat/completions", &headers, body.to_string().as_bytes(), true);
        let told = format!("{text} {stream}: {}", String::from_utf8_lossy(&answer.body));
        assert_eq!(answer.status, expected, "{told}");
        if expected != 200 {
            let error: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|fault| panic!("{fault}: {told}"));
            assert!(error["error"]["message"].is_string(), "{told}");
        }
    }
}
