//! The input of a responses request: a text or a list of items.

use serde_json::Value;

use crate::call::Call;
use crate::conversation::Conversation;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::responses::items;

#[derive(Debug)]
struct Input<'a> {
    call: &'a Call,
    conversation: Conversation,
    /// Calls so far, and those without an output.
    calls: Vec<String>,
    open: Vec<String>,
    results: Vec<String>,
    pictures: Vec<Media>,
}

pub(super) fn read(call: &Call, input: &Value) -> Result<Conversation, Refusal> {
    let conversation = Conversation::default();
    let (calls, open, results, pictures) = Default::default();
    let mut read = Input { call, conversation, calls, open, results, pictures };
    match input {
        Value::Array(items) => {
            items::together(items)?;
            for (at, item) in items.iter().enumerate() {
                read.item(item, &format!("input[{at}]"))?;
            }
        }
        other => read.conversation.ask(vec![other.as_str().unwrap_or_default().to_owned()], Vec::new()),
    }
    read.settle();
    match read.open.first() {
        Some(id) => Err(Refusal::invalid(format!("No tool output found for function call {id}.")).param("input")),
        None => Ok(read.conversation),
    }
}

impl Input<'_> {
    fn item(&mut self, item: &Value, path: &str) -> Result<(), Refusal> {
        let wrong = || Refusal::invalid(format!("Invalid type for '{path}': expected an object.")).param(path).code("invalid_type");
        let object = item.as_object().ok_or_else(wrong)?;
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let kind = text("type").unwrap_or("message");
        items::check(self.call, kind, object, path)?;
        if kind != "function_call_output" {
            self.settle();
        }
        match kind {
            "message" => self.message(item, text("role").unwrap_or_default(), path),
            "function_call" => {
                let id = text("call_id").unwrap_or_default().to_owned();
                self.calls.push(id.clone());
                self.open.push(id);
                self.conversation.reply(Vec::new());
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
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        match item.get("content") {
            Some(Value::String(said)) => texts.push(said.clone()),
            Some(Value::Array(parts)) => {
                for (at, part) in parts.iter().enumerate() {
                    self::part(part, role == "assistant", &format!("{path}.content[{at}]"), &mut texts, &mut media)?;
                }
            }
            _ => return Err(missing(&format!("{path}.content"))),
        }
        match role {
            "user" => self.conversation.ask(texts, media),
            "assistant" => self.conversation.reply(texts),
            _ => texts.iter().for_each(|text| self.conversation.instruct(text)),
        }
        Ok(())
    }

    fn result(&mut self, item: &Value, id: &str, path: &str) -> Result<(), Refusal> {
        if !self.calls.iter().any(|call| call == id) {
            let message = format!("No tool call found for function call output with call_id {id}.");
            return Err(Refusal::invalid(message).param("input"));
        }
        self.open.retain(|open| open != id);
        let output = item.get("output").ok_or_else(|| missing(&format!("{path}.output")))?;
        let mut texts = Vec::new();
        match output {
            Value::Array(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    self::part(part, false, &format!("{path}.output[{at}]"), &mut texts, &mut self.pictures)?;
                }
            }
            other => texts.push(other.as_str().unwrap_or_default().to_owned()),
        }
        self.results.push(texts.join("\n"));
        Ok(())
    }

    /// The outputs in a row have all been read.
    fn settle(&mut self) {
        self.conversation.results(std::mem::take(&mut self.results), std::mem::take(&mut self.pictures));
    }
}

fn part(part: &Value, own: bool, path: &str, texts: &mut Vec<String>, media: &mut Vec<Media>) -> Result<(), Refusal> {
    let field = |name: &str| part.get(name).and_then(Value::as_str);
    let need = |name: &str| field(name).map(str::to_owned).ok_or_else(|| missing(&format!("{path}.{name}")));
    match (field("type").unwrap_or_default(), own) {
        ("input_text", false) | ("output_text", true) => texts.push(need("text")?),
        ("refusal", true) => texts.push(need("refusal")?),
        ("input_image" | "input_file", false) => {
            let url = ["image_url", "file_data", "file_url"].into_iter().find_map(field);
            media.push(match url {
                Some(url) => Media::url(url, path)?,
                None => Media::Remote { url: need("file_id")? },
            });
        }
        (other, _) => {
            let known = if own { "'output_text' and 'refusal'" } else { "'input_text', 'input_image', and 'input_file'" };
            let message = format!("Invalid value: '{other}'. Supported values are: {known}.");
            return Err(Refusal::invalid(message).param(path).code("invalid_value"));
        }
    }
    Ok(())
}

fn missing(path: &str) -> Refusal {
    Refusal::invalid(format!("Missing required parameter: '{path}'.")).param(path).code("missing_required_parameter")
}
