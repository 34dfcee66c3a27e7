//! The way an answer is cut into pieces changes nothing.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use svc_filters::passage::{BodyKind, Cutoff, Framing, Passage, PassageKind, PassageOptions};

const BODIES: [BodyKind; 6] =
    [BodyKind::ChatCompletions, BodyKind::Completions, BodyKind::Messages, BodyKind::GenerateContent, BodyKind::Responses, BodyKind::Audio];
const FRAMINGS: [Framing; 5] = [Framing::Json, Framing::Sse, Framing::JsonArray, Framing::Opaque, Framing::Unknown];

fn passed(kind: PassageKind, hide_usage: bool, pieces: &[&[u8]]) -> (Vec<u8>, String) {
    let options = PassageOptions { answer_model: Some("alias".into()), hide_usage, request_id: "r".into() };
    let mut passage = Passage::new(kind, options);
    let mut out = Vec::new();
    for piece in pieces {
        out.extend_from_slice(&passage.push(Bytes::copy_from_slice(piece), false).unwrap_or_default());
    }
    out.extend_from_slice(&passage.push(Bytes::new(), true).unwrap_or_default());
    let told = (passage.usage(), passage.in_band_error().cloned(), passage.content_started(), passage.terminal_seen());
    let facts = format!("{told:?} {:?}", passage.finish_reason());
    let _ = passage.truncated(Cutoff::Failed, "cut");
    (out, facts)
}

fuzz_target!(|input: (u8, u8, bool, u8, &[u8])| {
    let (body, framing, hide, size, bytes) = input;
    let kind = PassageKind { body: BODIES[usize::from(body) % BODIES.len()], framing: FRAMINGS[usize::from(framing) % FRAMINGS.len()] };
    let pieces: Vec<&[u8]> = bytes.chunks(usize::from(size).max(1)).collect();
    assert_eq!(passed(kind, hide, &[bytes]), passed(kind, hide, &pieces));
});
