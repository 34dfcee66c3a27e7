//! `POST /v1/audio/speech`: silence whose length follows the text.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::refusal::Refusal;
use crate::sse;
use crate::usage::tokens;
use crate::validate::{Fields, Kind};

const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("input", Kind::Text),
        ("voice", Kind::TextOrObject),
        ("instructions", Kind::Text),
        ("response_format", Kind::Text),
        ("speed", Kind::Number),
        ("stream_format", Kind::Text),
    ],
    required: &["model", "input", "voice"],
};
const SAMPLE_RATE: u32 = 8000;
const SAMPLES_PER_BYTE: usize = 100;

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    models::exists(Shape::ChatCompletions, text("model"))?;
    let directives = Directives::read(text("model"), text("input"));
    let sound = sound(text("response_format"), text("input"))?;
    let payload = if text("stream_format") == "sse" { events(&sound.1, text("input")) } else { Payload::Bytes(sound.0, sound.1) };
    Ok(Answer { payload, directives })
}

fn sound(format: &str, text: &str) -> Result<(&'static str, Bytes), Refusal> {
    let silence = vec![0; text.len() * SAMPLES_PER_BYTE];
    match format {
        "" | "mp3" => Ok(("audio/mpeg", tagged(b"ID3\x04\0\0\0\0\0\0", silence))),
        "wav" => Ok(("audio/wav", wav(silence))),
        "opus" => Ok(("audio/ogg", tagged(b"OggS", silence))),
        "aac" => Ok(("audio/aac", tagged(b"\xff\xf1", silence))),
        "flac" => Ok(("audio/flac", tagged(b"fLaC", silence))),
        "pcm" => Ok(("audio/pcm", silence.into())),
        other => {
            let message = format!("Invalid value: '{other}'. Supported values are: 'mp3', 'opus', 'aac', 'flac', 'wav', and 'pcm'.");
            Err(Refusal::invalid(message).param("response_format").code("invalid_value"))
        }
    }
}

fn tagged(tag: &[u8], data: Vec<u8>) -> Bytes {
    [tag, &data].concat().into()
}

/// Eight bits, one channel.
fn wav(data: Vec<u8>) -> Bytes {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let mut file = Vec::with_capacity(44 + data.len());
    file.extend(b"RIFF");
    file.extend((length + 36).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(SAMPLE_RATE.to_le_bytes());
    file.extend(SAMPLE_RATE.to_le_bytes());
    file.extend(b"\x01\0\x08\0data");
    file.extend(length.to_le_bytes());
    file.extend(data);
    file.into()
}

fn events(sound: &Bytes, text: &str) -> Payload {
    use base64::Engine;
    let encoded = base64::engine::general_purpose::STANDARD.encode(sound);
    let used = tokens(text.len());
    let usage = json!({"input_tokens": used, "output_tokens": used, "total_tokens": used * 2});
    let delta = sse::data(&json!({"type": "speech.audio.delta", "audio": encoded}));
    Payload::Events(vec![delta, sse::data(&json!({"type": "speech.audio.done", "usage": usage}))])
}
