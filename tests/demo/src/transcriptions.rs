//! `POST /v1/audio/transcriptions`: the text names the file and its size.

use serde_json::{Value, json};

use crate::call::{Call, Shape};
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::multipart::Form;
use crate::refusal::Refusal;
use crate::sse;
use crate::usage::tokens;

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let form = Form::read(call)?;
    let model = form.need("model")?;
    models::exists(Shape::ChatCompletions, model)?;
    let file = form.file("file")?;
    let name = file.file.as_deref().unwrap_or_default();
    let mime = file.mime.as_deref().unwrap_or("application/octet-stream");
    let text = format!("You sent {name}: {mime} of {} bytes.", file.data.len());
    let directives = Directives::read(model, form.text("prompt").unwrap_or_default());
    let usage = usage(file.data.len(), &text);
    let streamed = form.text("stream") == Some("true");
    let payload = match form.text("response_format").unwrap_or("json") {
        _ if streamed => events(&text, &usage),
        "text" => Payload::Bytes("text/plain; charset=utf-8", format!("{text}\n").into()),
        "verbose_json" => Payload::Json(verbose(&text)),
        "json" => Payload::Json(json!({"text": text, "usage": usage})),
        other => {
            let message = format!("Invalid value: '{other}'. Supported values are: 'json', 'text', and 'verbose_json'.");
            return Err(Refusal::invalid(message).param("response_format").code("invalid_value"));
        }
    };
    Ok(Answer { payload, directives })
}

fn usage(bytes: usize, text: &str) -> Value {
    let (sound, words) = (tokens(bytes), tokens(text.len()));
    json!({"type": "tokens", "input_tokens": sound, "input_token_details": {"text_tokens": 0, "audio_tokens": sound},
        "output_tokens": words, "total_tokens": sound + words})
}

fn verbose(text: &str) -> Value {
    json!({"task": "transcribe", "language": "english", "duration": 1.0, "text": text,
        "segments": [{"id": 0, "seek": 0, "start": 0.0, "end": 1.0, "text": text, "tokens": [], "temperature": 0.0, "avg_logprob": -0.1,
            "compression_ratio": 1.0, "no_speech_prob": 0.0}],
        "usage": {"type": "duration", "seconds": 1}})
}

fn events(text: &str, usage: &Value) -> Payload {
    let mut events: Vec<_> =
        text.split_inclusive(' ').map(|piece| sse::data(&json!({"type": "transcript.text.delta", "delta": piece}))).collect();
    events.push(sse::data(&json!({"type": "transcript.text.done", "text": text, "usage": usage})));
    Payload::Events(events)
}
