//! What a client of any shape is told, whole or streamed.

use serde_json::{Map, Value, json};
use svc_tests::raw::Answer;
use svc_tests::shapes::{Shape, events};

/// What an answer says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    /// Its text.
    pub(crate) text: String,
    /// Its reasoning.
    pub(crate) reasoning: String,
    /// The arguments of its tool calls, as JSON text.
    pub(crate) arguments: String,
    /// Why it ended, in the shape's words.
    pub(crate) finish: String,
}

impl Said {
    /// Reads an answer.
    pub(crate) fn of(shape: Shape, answer: &Answer, stream: bool) -> Self {
        let mut said = Self::default();
        if !stream {
            said.whole(shape, &answer.json());
            return said;
        }
        for event in events(&answer.text()) {
            match shape {
                Shape::Chat => said.chat(&event["choices"][0], "delta"),
                Shape::Generate => said.generate(&event),
                Shape::Messages => said.messages_event(&event),
                Shape::Responses => said.responses_event(&event),
            }
        }
        said
    }

    fn whole(&mut self, shape: Shape, answer: &Value) {
        match shape {
            Shape::Chat => self.chat(&answer["choices"][0], "message"),
            Shape::Generate => self.generate(answer),
            Shape::Messages => {
                for block in list(&answer["content"]) {
                    self.text += text(&block["text"]);
                    self.reasoning += text(&block["thinking"]);
                    if block["type"] == "tool_use" {
                        self.arguments += &block["input"].to_string();
                    }
                }
                self.finish = text(&answer["stop_reason"]).to_owned();
            }
            Shape::Responses => self.response(answer),
        }
    }

    fn chat(&mut self, choice: &Value, part: &str) {
        self.text += text(&choice[part]["content"]);
        self.reasoning += text(&choice[part]["reasoning_content"]);
        for call in list(&choice[part]["tool_calls"]) {
            self.arguments += text(&call["function"]["arguments"]);
        }
        self.finish += text(&choice["finish_reason"]);
    }

    fn generate(&mut self, answer: &Value) {
        let candidate = &answer["candidates"][0];
        for part in list(&candidate["content"]["parts"]) {
            let to = if part["thought"] == json!(true) { &mut self.reasoning } else { &mut self.text };
            *to += text(&part["text"]);
            if part.get("functionCall").is_some() {
                self.arguments += &part["functionCall"]["args"].to_string();
            }
        }
        self.finish += text(&candidate["finishReason"]);
    }

    fn messages_event(&mut self, event: &Value) {
        self.text += text(&event["delta"]["text"]);
        self.reasoning += text(&event["delta"]["thinking"]);
        self.arguments += text(&event["delta"]["partial_json"]);
        self.finish += text(&event["delta"]["stop_reason"]);
    }

    fn responses_event(&mut self, event: &Value) {
        let delta = text(&event["delta"]);
        match text(&event["type"]) {
            "response.output_text.delta" => self.text += delta,
            "response.function_call_arguments.delta" => self.arguments += delta,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.reasoning += delta,
            "response.completed" | "response.incomplete" | "response.failed" => {
                // The whole answer comes once more, and must say the same.
                let mut again = Self::default();
                again.response(&event["response"]);
                assert_eq!(again.text, self.text, "{event}");
                assert_eq!(again.reasoning, self.reasoning, "{event}");
                assert_eq!(json_of(&again.arguments), json_of(&self.arguments), "{event}");
                self.finish = again.finish;
            }
            _ => {}
        }
    }

    fn response(&mut self, response: &Value) {
        for item in list(&response["output"]) {
            for part in list(&item["content"]).iter().filter(|_| item["type"] == "message") {
                self.text += text(&part["text"]);
            }
            for part in list(&item["summary"]) {
                self.reasoning += text(&part["text"]);
            }
            self.arguments += text(&item["arguments"]);
        }
        self.finish = match &response["incomplete_details"]["reason"] {
            Value::String(reason) => reason.clone(),
            _ => text(&response["status"]).to_owned(),
        };
    }

    /// The arguments of one call.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        json_of(&self.arguments).as_object().cloned().unwrap_or_default()
    }
}

fn json_of(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")) }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
