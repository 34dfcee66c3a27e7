//! `POST /v1/completions`: the older text form.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::call::{Call, Shape};
use crate::chat_completions::{CREATED, is};
use crate::conversation::Conversation;
use crate::deliver::{Answer, Payload};
use crate::directive::Directives;
use crate::models;
use crate::prompt::{Prompt, text_bytes};
use crate::refusal::Refusal;
use crate::reply::{Finish, Reply};
use crate::sse;
use crate::validate::{Fields, Kind};

const FIELDS: Fields = Fields {
    known: &[
        ("model", Kind::Text),
        ("prompt", Kind::TextOrList),
        ("best_of", Kind::Integer),
        ("echo", Kind::Bool),
        ("frequency_penalty", Kind::Number),
        ("logit_bias", Kind::Object),
        ("logprobs", Kind::Integer),
        ("max_tokens", Kind::Integer),
        ("n", Kind::Integer),
        ("presence_penalty", Kind::Number),
        ("seed", Kind::Integer),
        ("stop", Kind::TextOrList),
        ("stream", Kind::Bool),
        ("stream_options", Kind::Object),
        ("suffix", Kind::Text),
        ("temperature", Kind::Number),
        ("top_p", Kind::Number),
        ("user", Kind::Text),
    ],
    required: &["model", "prompt"],
};

pub(crate) fn handle(call: &Call) -> Result<Answer, Refusal> {
    let body = call.json()?;
    FIELDS.check(Shape::ChatCompletions, "", &body)?;
    let prompt = prompt(&body);
    models::exists(Shape::ChatCompletions, &prompt.model)?;
    let directives = Directives::read(&prompt.model, &prompt.conversation.text);
    let reply = Reply::compose(&prompt, &directives);
    let id = call.id("cmpl-");
    let payload = if is(&body, "stream") {
        let with_usage = body.get("stream_options").and_then(|options| options.get("include_usage")?.as_bool()).unwrap_or(false);
        Payload::Events(events(&id, &prompt.model, &reply, with_usage))
    } else {
        Payload::Json(object(&id, &prompt.model, &reply.text(), Some(finish(&reply.finish)), usage(&reply)))
    };
    Ok(Answer { payload, directives })
}

fn prompt(body: &Map<String, Value>) -> Prompt {
    let given = body.get("prompt").cloned().unwrap_or_default();
    let text = given.as_str().or_else(|| given.get(0)?.as_str()).unwrap_or_default().to_owned();
    Prompt {
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        conversation: Conversation { text, ..Conversation::default() },
        bytes: text_bytes(&given),
        limit: body.get("max_tokens").and_then(Value::as_u64),
        ..Prompt::default()
    }
}

fn events(id: &str, model: &str, reply: &Reply, with_usage: bool) -> Vec<Bytes> {
    let chunk = |text: &str, finish: Option<&str>| sse::data(&object(id, model, text, finish, None));
    let mut events: Vec<Bytes> = reply.pieces.iter().map(|piece| chunk(piece, None)).collect();
    events.push(chunk("", Some(finish(&reply.finish))));
    if let (true, Some(usage)) = (with_usage, usage(reply)) {
        events.push(sse::data(
            &json!({"id": id, "object": "text_completion", "created": CREATED, "model": model, "choices": [], "usage": usage}),
        ));
    }
    events.push(Bytes::from_static(b"data: [DONE]\n\n"));
    events
}

fn object(id: &str, model: &str, text: &str, finish: Option<&str>, usage: Option<Value>) -> Value {
    let mut object = json!({"id": id, "object": "text_completion", "created": CREATED, "model": model,
        "choices": [{"text": text, "index": 0, "logprobs": null, "finish_reason": finish}]});
    if let (Some(usage), Some(fields)) = (usage, object.as_object_mut()) {
        fields.insert("usage".to_owned(), usage);
    }
    object
}

fn finish(finish: &Finish) -> &'static str {
    if *finish == Finish::Length { "length" } else { "stop" }
}

fn usage(reply: &Reply) -> Option<Value> {
    let usage = reply.usage?;
    Some(json!({"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total()}))
}
