//! The error that ends a broken stream, in the form each shape's clients raise on.

use super::BodyKind;
use crate::wire::json::encode_string;

/// Why a stream was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cutoff {
    /// The upstream failed or ended early.
    Failed,
    /// The upstream was silent for too long.
    TimedOut,
}

/// The words of one cutoff in every shape.
struct Words {
    chat_code: &'static str,
    messages_type: &'static str,
    generate_code: &'static str,
    generate_status: &'static str,
}

impl Cutoff {
    const fn words(self) -> Words {
        match self {
            Self::Failed => Words {
                chat_code: "upstream_error",
                messages_type: "overloaded_error",
                generate_code: "503",
                generate_status: "UNAVAILABLE",
            },
            Self::TimedOut => Words {
                chat_code: "upstream_timeout",
                messages_type: "timeout_error",
                generate_code: "504",
                generate_status: "DEADLINE_EXCEEDED",
            },
        }
    }
}

/// The error as a whole event.
pub(super) fn event(body: BodyKind, cutoff: Cutoff, message: &str, request_id: &str, sequence: u64) -> Vec<u8> {
    let named = matches!(body, BodyKind::Messages | BodyKind::CountTokens | BodyKind::Responses);
    let mut out = if named { b"event: error\ndata: ".to_vec() } else { b"data: ".to_vec() };
    if body == BodyKind::Responses {
        responses(cutoff, message, sequence, &mut out);
    } else {
        out.extend_from_slice(&object(body, cutoff, message, request_id));
    }
    out.extend_from_slice(b"\n\n");
    out
}

/// The error as a JSON object.
pub(super) fn object(body: BodyKind, cutoff: Cutoff, message: &str, request_id: &str) -> Vec<u8> {
    let words = cutoff.words();
    let mut out = Vec::with_capacity(192 + message.len());
    match body {
        BodyKind::Messages | BodyKind::CountTokens => {
            parts(&mut out, &[r#"{"type":"error","error":{"type":""#, words.messages_type, r#"","message":"#]);
            encode_string(message, &mut out);
            out.extend_from_slice(br#"},"request_id":"#);
            encode_string(request_id, &mut out);
            out.push(b'}');
        }
        BodyKind::GenerateContent => {
            parts(&mut out, &[r#"{"error":{"code":"#, words.generate_code, r#","message":"#]);
            encode_string(message, &mut out);
            parts(&mut out, &[r#","status":""#, words.generate_status, "\"}}"]);
        }
        _ => {
            out.extend_from_slice(br#"{"error":{"message":"#);
            encode_string(message, &mut out);
            parts(&mut out, &[r#","type":"server_error","param":null,"code":""#, words.chat_code, "\"}}"]);
        }
    }
    out
}

fn responses(cutoff: Cutoff, message: &str, sequence: u64, out: &mut Vec<u8>) {
    parts(out, &[r#"{"type":"error","code":""#, cutoff.words().chat_code, r#"","message":"#]);
    encode_string(message, out);
    parts(out, &[r#","param":null,"sequence_number":"#, &sequence.to_string(), "}"]);
}

fn parts(out: &mut Vec<u8>, texts: &[&str]) {
    for text in texts {
        out.extend_from_slice(text.as_bytes());
    }
}
