//! What a client of a shape makes of an answer.

use serde_json::Value;
use svc_tests::raw::Answer;
use svc_tests::shapes::{Shape, events};

/// Whether a body is an error of the shape, with words.
pub(crate) fn is_error_body(shape: Shape, body: &Value) -> bool {
    let told = body["error"]["message"].as_str().is_some_and(|message| !message.is_empty());
    told && match shape {
        Shape::Chat | Shape::Responses => body["error"]["type"].is_string(),
        Shape::Messages => body["type"] == "error" && body["error"]["type"].is_string(),
        Shape::Generate => body["error"]["status"].is_string() && body["error"]["code"].is_u64(),
    }
}

/// Whether an event is an error the shape's SDKs raise on.
pub(crate) fn is_error_event(shape: Shape, event: &Value) -> bool {
    match shape {
        Shape::Messages => event["type"] == "error" && event["error"]["message"].is_string(),
        Shape::Chat | Shape::Generate => event["error"]["message"].is_string(),
        Shape::Responses => match event["type"].as_str() {
            Some("error") => event["message"].is_string(),
            Some("response.failed") => event["response"]["error"]["message"].is_string(),
            _ => false,
        },
    }
}

/// Whether an answer looks complete to a client.
pub(crate) fn looks_complete(shape: Shape, answer: &Answer, stream: bool) -> bool {
    if answer.status != 200 || !answer.complete {
        return false;
    }
    if stream {
        return ends_cleanly(shape, &answer.text());
    }
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    let finish = match shape {
        Shape::Chat => &body["choices"][0]["finish_reason"],
        Shape::Messages => &body["stop_reason"],
        Shape::Generate => &body["candidates"][0]["finishReason"],
        Shape::Responses => &body["status"],
    };
    finish.is_string() && finish != "failed" && !shape.text(&body).is_empty()
}

/// Whether a stream ends as the vendor ends a complete one.
pub(crate) fn ends_cleanly(shape: Shape, body: &str) -> bool {
    ends(shape, body) > 0
}

/// How often a stream ends so.
pub(crate) fn ends(shape: Shape, body: &str) -> usize {
    let end = match shape {
        Shape::Chat => "[DONE]",
        Shape::Messages => "event: message_stop",
        Shape::Generate => "finishReason",
        Shape::Responses => "event: response.completed",
    };
    body.matches(end).count()
}

/// The text of an answer, streamed or whole.
pub(crate) fn said(shape: Shape, answer: &Answer, stream: bool) -> String {
    if !stream {
        return serde_json::from_slice(&answer.body).map(|body| shape.text(&body)).unwrap_or_default();
    }
    let place = match shape {
        Shape::Chat => "/choices/0/delta/content",
        Shape::Messages => "/delta/text",
        Shape::Generate => "/candidates/0/content/parts/0/text",
        Shape::Responses => "/delta",
    };
    events(&answer.text()).iter().filter_map(|event| event.pointer(place)?.as_str()).collect()
}
