//! The canned answers of the mock, one per shape, about 1.5 KB each, with usage.

/// What a complete answer starts with, so that the load generator knows it came from here.
const TEXT: &str = "bench-answer: Two charges for one seat usually mean that the seat was moved between two plans inside one \
billing period. The old plan is credited on the day of the move and the new plan is charged at once, so both lines appear until the \
credit note is issued, which takes up to three working days. First open the invoice and compare the service dates of the two lines. \
If they do not overlap, nothing is wrong: the second line replaces the first. If they overlap by a whole period, the seat was \
really counted twice, most often because an invitation was accepted with a second address of the same person. In that case remove the \
address that is not in use under Members, which stops the next charge. For the refund we need three things from you: the number of the \
invoice, the address that should keep the seat, and a note of the day on which the move was made, which the activity page shows. The \
article called Seats and plans explains the credit in detail. Restarting the portal does not change an invoice that was already \
issued, and neither does clearing the cache of the browser. Next step: compare the service dates of the two lines and tell us whether \
they overlap.";

/// Tokens every prompt counts as.
pub(super) const PROMPT_TOKENS: u64 = 211;
const ANSWER_TOKENS: u64 = 236;

/// Whole HTTP answers, ready to be written.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) chat_completions: Vec<u8>,
    pub(super) messages: Vec<u8>,
    pub(super) generate_content: Vec<u8>,
    pub(super) models: Vec<u8>,
    pub(super) unknown_path: Vec<u8>,
}

impl Answers {
    pub(super) fn new() -> Self {
        Self {
            chat_completions: ok(&chat_completion()),
            messages: ok(&message()),
            generate_content: ok(&generated_content()),
            models: ok(r#"{"object":"list","data":[{"id":"mock","object":"model","created":1760000000,"owned_by":"bench"}]}"#),
            unknown_path: http("404 Not Found", r#"{"error":{"message":"The mock has no such path.","type":"invalid_request_error"}}"#),
        }
    }
}

/// A 200 answer with this JSON.
pub(super) fn ok(json: &str) -> Vec<u8> {
    http("200 OK", json)
}

fn http(status: &str, json: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: {}\r\n\r\n{json}",
        json.len()
    )
    .into_bytes()
}

fn chat_completion() -> String {
    let total = PROMPT_TOKENS + ANSWER_TOKENS;
    format!(
        r#"{{"id":"chatcmpl-bench","object":"chat.completion","created":1760000000,"model":"mock","choices":[{{"index":0,"message":{{"role":"assistant","content":"{TEXT}","refusal":null}},"logprobs":null,"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{PROMPT_TOKENS},"completion_tokens":{ANSWER_TOKENS},"total_tokens":{total},"prompt_tokens_details":{{"cached_tokens":0}},"completion_tokens_details":{{"reasoning_tokens":0}}}},"service_tier":"default"}}"#
    )
}

fn message() -> String {
    format!(
        r#"{{"id":"msg_bench","type":"message","role":"assistant","model":"mock","content":[{{"type":"text","text":"{TEXT}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":{PROMPT_TOKENS},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{ANSWER_TOKENS}}}}}"#
    )
}

fn generated_content() -> String {
    let total = PROMPT_TOKENS + ANSWER_TOKENS;
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{TEXT}"}}],"role":"model"}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":{PROMPT_TOKENS},"candidatesTokenCount":{ANSWER_TOKENS},"totalTokenCount":{total}}},"modelVersion":"mock","responseId":"bench"}}"#
    )
}
