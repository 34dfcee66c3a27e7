//! The input of a responses request: a text or a list of items.

use serde_json::Value;

use crate::media::Media;
use crate::refusal::Refusal;

/// What the items come down to.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) text: String,
    pub(super) results: Vec<String>,
    pub(super) media: Vec<Media>,
    calls: Vec<String>,
}

pub(super) fn read(input: &Value) -> Result<Input, Refusal> {
    let mut read = Input::default();
    match input {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                read.item(item, &format!("input[{at}]"))?;
            }
        }
        other => other.as_str().unwrap_or_default().clone_into(&mut read.text),
    }
    Ok(read)
}

impl Input {
    fn item(&mut self, item: &Value, path: &str) -> Result<(), Refusal> {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        match text("type").unwrap_or("message") {
            "message" => self.message(item, text("role").unwrap_or_default(), path),
            "function_call" => {
                self.results.clear();
                self.calls.push(text("call_id").unwrap_or_default().to_owned());
                Ok(())
            }
            "function_call_output" => self.result(item, text("call_id").unwrap_or_default(), path),
            _ => Ok(()),
        }
    }

    fn message(&mut self, item: &Value, role: &str, path: &str) -> Result<(), Refusal> {
        if !matches!(role, "user" | "assistant" | "system" | "developer") {
            let message = format!("Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.");
            return Err(Refusal::invalid(message).param(format!("{path}.role")).code("invalid_value"));
        }
        self.results.clear();
        if role != "user" {
            return Ok(());
        }
        let (mut text, mut media) = (String::new(), Vec::new());
        match item.get("content") {
            Some(Value::String(said)) => text.clone_from(said),
            Some(Value::Array(parts)) => {
                for (at, part) in parts.iter().enumerate() {
                    self::part(part, &format!("{path}.content[{at}]"), &mut text, &mut media)?;
                }
            }
            _ => return Err(missing(&format!("{path}.content"))),
        }
        (self.text, self.media) = (text, media);
        Ok(())
    }

    fn result(&mut self, item: &Value, id: &str, path: &str) -> Result<(), Refusal> {
        if !self.calls.iter().any(|call| call == id) {
            let message = format!("No tool call found for function call output with call_id {id}.");
            return Err(Refusal::invalid(message).param("input"));
        }
        let output = item.get("output").ok_or_else(|| missing(&format!("{path}.output")))?;
        self.results.push(match output {
            Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
            other => other.as_str().unwrap_or_default().to_owned(),
        });
        Ok(())
    }
}

fn part(part: &Value, path: &str, text: &mut String, media: &mut Vec<Media>) -> Result<(), Refusal> {
    let field = |name: &str| part.get(name).and_then(Value::as_str);
    match field("type").unwrap_or_default() {
        "input_text" => text.push_str(field("text").ok_or_else(|| missing(&format!("{path}.text")))?),
        "input_image" | "input_file" => {
            let url = ["image_url", "file_data", "file_url"].into_iter().find_map(field);
            media.push(match url {
                Some(url) => Media::url(url, path)?,
                None => Media::Remote { url: field("file_id").unwrap_or_default().to_owned() },
            });
        }
        other => {
            let message = format!("Invalid value: '{other}'. Supported values are: 'input_text', 'input_image', and 'input_file'.");
            return Err(Refusal::invalid(message).param(path).code("invalid_value"));
        }
    }
    Ok(())
}

fn missing(path: &str) -> Refusal {
    Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter")
}
