//! The events of a streamed answer, each as one HTTP chunk, for each of the three shapes.

use super::answers::PROMPT_TOKENS;
use crate::stamp;

/// The head that precedes the events.
pub(super) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n\
x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n";

/// The chunk that ends the body.
pub(super) const END: &[u8] = b"0\r\n\r\n";

const CHAT_START: &str =
    r#"{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1760000000,"model":"mock","service_tier":"default","choices":["#;

/// The three ways to stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamKind {
    /// `with_usage`: the client set `stream_options.include_usage`.
    ChatCompletions {
        with_usage: bool,
    },
    Messages,
    GenerateContent,
}

impl StreamKind {
    /// Events before the first delta.
    pub(super) fn opening(self) -> Vec<String> {
        match self {
            Self::ChatCompletions { .. } => vec![chat(r#"{"role":"assistant","content":""}"#, "null")],
            Self::Messages => vec![
                named(
                    "message_start",
                    &format!(
                        r#","message":{{"id":"msg_bench","type":"message","role":"assistant","model":"mock","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":{PROMPT_TOKENS},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}}"#
                    ),
                ),
                named("content_block_start", r#","index":0,"content_block":{"type":"text","text":""}"#),
                named("ping", ""),
            ],
            Self::GenerateContent => Vec::new(),
        }
    }

    /// Events after delta number `deltas`, which was the last. The very last one is what tells a client that the answer is complete.
    pub(super) fn closing(self, deltas: u64) -> Vec<String> {
        match self {
            Self::ChatCompletions { with_usage } => {
                let mut events = vec![chat("{}", r#""stop""#)];
                events.extend(with_usage.then(|| chat_usage(deltas)));
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
            Self::Messages => vec![
                named("content_block_stop", r#","index":0"#),
                named(
                    "message_delta",
                    &format!(r#","delta":{{"stop_reason":"end_turn","stop_sequence":null}},"usage":{{"output_tokens":{deltas}}}"#),
                ),
                named("message_stop", ""),
            ],
            Self::GenerateContent => vec![generated("", deltas, r#","finishReason":"STOP""#)],
        }
    }

    /// Writes the next delta, stamped with `now_ns`, as one chunk.
    pub(super) fn delta(self, now_ns: u64, out: &mut Vec<u8>) {
        let mut text = Vec::with_capacity(32);
        stamp::write(now_ns, &mut text);
        let text = String::from_utf8_lossy(&text);
        let event = match self {
            Self::ChatCompletions { .. } => chat(&format!(r#"{{"content":"{text} word"}}"#), "null"),
            Self::Messages => named("content_block_delta", &format!(r#","index":0,"delta":{{"type":"text_delta","text":"{text} word"}}"#)),
            Self::GenerateContent => generated(&format!("{text} word"), 1, ""),
        };
        chunk(&event, out);
    }
}

/// Appends `event` as one HTTP chunk.
pub(super) fn chunk(event: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{:x}\r\n", event.len()).as_bytes());
    out.extend_from_slice(event.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn chat(delta: &str, finish_reason: &str) -> String {
    format!("data: {CHAT_START}{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish_reason}}}],\"usage\":null}}\n\n")
}

fn chat_usage(deltas: u64) -> String {
    let total = PROMPT_TOKENS + deltas;
    format!(
        "data: {CHAT_START}],\"usage\":{{\"prompt_tokens\":{PROMPT_TOKENS},\"completion_tokens\":{deltas},\"total_tokens\":{total}}}}}\n\n"
    )
}

fn named(name: &str, members: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\"{members}}}\n\n")
}

fn generated(text: &str, tokens: u64, finish: &str) -> String {
    let total = PROMPT_TOKENS + tokens;
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"text\":\"{text}\"}}],\"role\":\"model\"}}{finish},\"index\":0}}],\
\"usageMetadata\":{{\"promptTokenCount\":{PROMPT_TOKENS},\"candidatesTokenCount\":{tokens},\"totalTokenCount\":{total}}},\
\"modelVersion\":\"mock\",\"responseId\":\"bench\"}}\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [StreamKind; 4] = [
        StreamKind::ChatCompletions { with_usage: true },
        StreamKind::ChatCompletions { with_usage: false },
        StreamKind::Messages,
        StreamKind::GenerateContent,
    ];

    fn data_lines(events: &str) -> Vec<String> {
        events.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
    }

    #[test]
    fn every_data_line_but_the_end_marker_is_json() {
        for kind in KINDS {
            let mut delta = Vec::new();
            kind.delta(1_763_683_200_123_456_789, &mut delta);
            let events = kind.opening().concat() + &String::from_utf8(delta).unwrap() + &kind.closing(20).concat();
            for line in data_lines(&events).iter().filter(|line| *line != "[DONE]") {
                assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{kind:?}: {line}");
            }
        }
    }

    #[test]
    fn chat_usage_comes_only_when_it_was_asked_for() {
        let with = StreamKind::ChatCompletions { with_usage: true }.closing(20).concat();
        let without = StreamKind::ChatCompletions { with_usage: false }.closing(20).concat();
        assert!(with.contains(r#""completion_tokens":20"#));
        assert!(!without.contains("completion_tokens"));
    }

    #[test]
    fn a_delta_is_one_chunk_whose_stamp_reads_back() {
        for kind in KINDS {
            let mut out = Vec::new();
            kind.delta(42, &mut out);
            assert_eq!(stamp::read(&out), Some(42));
            assert!(out.ends_with(b"\n\r\n"), "{kind:?}");
        }
    }
}
