//! Reading a provider's answer, whole or as events.

use super::SEALED;
use crate::canonical::{Citation, Event, Failure, FailureClass, Finish, FinishReason, Raw, SearchHit, Signature, Sink, Text};
use crate::shape::Shape;
use crate::translate::map::ids;
use crate::translate::{Decode, chat_completions};
use crate::usage::read_chat;
use crate::wire::json::{DEEPEST, Kind, Value, outline};

/// Reads answers of this dialect.
pub fn decoder() -> impl Decode + 'static {
    Decoder::default()
}

#[derive(Default)]
struct Decoder {
    started: bool,
    over: bool,
    calls: u32,
    /// Characters of text so far, in which citations count.
    characters: u64,
    items: Vec<Item>,
}

/// What was seen of an item of the output.
struct Item {
    place: u64,
    call: Option<u32>,
    /// Something of its content came in deltas.
    streamed: bool,
    /// Where its text begins, in characters of the whole text.
    base: u64,
    parts: u32,
    cited: bool,
}

impl Decoder {
    fn take(&mut self, data: &[u8], sink: Sink<'_>) {
        if outline(data, DEEPEST).is_err() {
            return self.fail(broken("the provider sent an event that is not JSON"), sink);
        }
        let event = Value::of(data);
        let kind = event.get("type").str().unwrap_or_default();
        match &*kind {
            "response.output_text.delta" => self.delta(event, sink, |text| Event::Text { choice: 0, text }),
            "response.refusal.delta" => self.delta(event, sink, |text| Event::Refusal { choice: 0, text }),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(event, sink, |text| Event::Reasoning { choice: 0, text });
            }
            "response.reasoning_summary_part.added" => self.next_part(event, sink),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => self.arguments(event, "delta", sink),
            "response.function_call_arguments.done" => self.whole_arguments(event, "arguments", sink),
            "response.custom_tool_call_input.done" => self.whole_arguments(event, "input", sink),
            "response.output_text.annotation.added" => self.annotation(event, sink),
            "response.output_item.added" => self.added(event, sink),
            "response.output_item.done" => {
                let place = event.get("output_index").u64().unwrap_or(0);
                self.done(place, event.get("item"), sink);
            }
            "response.created" | "response.in_progress" | "response.queued" => self.start(event.get("response"), sink),
            "response.completed" | "response.incomplete" => self.end(event.get("response"), sink),
            "response.failed" => self.failed(event.get("response").get("error"), sink),
            "error" => self.failed(if event.get("error").is_null() { event } else { event.get("error") }, sink),
            _ if event.get("error").kind() == Kind::Object => self.failed(event.get("error"), sink),
            // Work that takes a while; everything else goes along with events that tell more.
            "response.web_search_call.searching" | "response.code_interpreter_call.interpreting" | "keepalive" => sink(Event::Ping),
            _ => {}
        }
    }

    fn start(&mut self, response: Value<'_>, sink: Sink<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            let created = response.get("created_at").u64().and_then(|created| i64::try_from(created).ok());
            sink(Event::Start { id: response.get("id").text().filter(|id| !id.is_empty()), created: created.filter(|created| *created > 0) });
        }
    }

    fn item(&mut self, place: u64) -> &mut Item {
        let at = self.items.iter().position(|item| item.place == place).unwrap_or_else(|| {
            self.items.push(Item { place, call: None, streamed: false, base: self.characters, parts: 0, cited: false });
            self.items.len() - 1
        });
        // The place was found or made on the line before.
        #[expect(clippy::indexing_slicing, reason = "the index was just found")]
        &mut self.items[at]
    }

    fn delta<'a>(&mut self, event: Value<'a>, sink: Sink<'_>, make: impl FnOnce(Text<'a>) -> Event<'a>) {
        let Some(text) = event.get("delta").text().filter(|text| !text.is_empty()) else { return };
        self.item(event.get("output_index").u64().unwrap_or(0)).streamed = true;
        let made = make(text);
        if let Event::Text { text, .. } = &made {
            self.count(text);
        }
        sink(made);
    }

    fn count(&mut self, text: &Text<'_>) {
        let characters = match text {
            // Without escapes and beyond ASCII bytes, bytes are characters.
            Text::Escaped(inner) if inner.is_ascii() && !inner.contains(&b'\\') => inner.len(),
            text => text.decode().chars().count(),
        };
        self.characters = self.characters.saturating_add(u64::try_from(characters).unwrap_or(u64::MAX));
    }

    /// Parts of a summary are paragraphs.
    fn next_part(&mut self, event: Value<'_>, sink: Sink<'_>) {
        let item = self.item(event.get("output_index").u64().unwrap_or(0));
        item.parts += 1;
        if item.parts > 1 {
            sink(Event::Reasoning { choice: 0, text: Text::from("\n\n") });
        }
    }

    fn added(&mut self, event: Value<'_>, sink: Sink<'_>) {
        let (place, item) = (event.get("output_index").u64().unwrap_or(0), event.get("item"));
        self.item(place);
        let custom = item.get("type").is_str("custom_tool_call");
        if custom || item.get("type").is_str("function_call") {
            self.call(place, item, custom, sink);
        }
    }

    /// Begins a call once.
    fn call(&mut self, place: u64, item: Value<'_>, custom: bool, sink: Sink<'_>) -> u32 {
        if let Some(call) = self.item(place).call {
            return call;
        }
        let call = self.calls;
        self.calls += 1;
        self.item(place).call = Some(call);
        let id = item.get("call_id").text().filter(|id| !id.is_empty()).unwrap_or_else(|| Text::from(ids::minted("call_")));
        let name = item.get("name").text().filter(|name| !name.is_empty()).unwrap_or_else(|| Text::from("unnamed"));
        sink(Event::ToolStart { choice: 0, call, id, name, custom, signature: None });
        call
    }

    fn arguments(&mut self, event: Value<'_>, field: &str, sink: Sink<'_>) {
        let item = self.item(event.get("output_index").u64().unwrap_or(0));
        let (Some(call), Some(fragment)) = (item.call, event.get(field).text().filter(|text| !text.is_empty())) else { return };
        item.streamed = true;
        sink(Event::ToolArguments { choice: 0, call, fragment });
    }

    /// Arguments that did not come in deltas.
    fn whole_arguments(&mut self, event: Value<'_>, field: &str, sink: Sink<'_>) {
        if !self.item(event.get("output_index").u64().unwrap_or(0)).streamed {
            self.arguments(event, field, sink);
        }
    }

    fn annotation(&mut self, event: Value<'_>, sink: Sink<'_>) {
        let item = self.item(event.get("output_index").u64().unwrap_or(0));
        item.cited = true;
        let base = item.base;
        cite(event.get("annotation"), base, sink);
    }

    /// An item is complete; gives what did not come in deltas.
    fn done(&mut self, place: u64, item: Value<'_>, sink: Sink<'_>) {
        match &*item.get("type").str().unwrap_or_default() {
            "message" => self.message(place, item, sink),
            "reasoning" => self.reasoning(place, item, sink),
            "function_call" => self.called(place, item, "arguments", false, sink),
            "custom_tool_call" => self.called(place, item, "input", true, sink),
            "web_search_call" => search(item, sink),
            "image_generation_call" => {
                if let Some(data) = item.get("result").text().filter(|data| !data.is_empty()) {
                    sink(Event::Media { choice: 0, media_type: Text::from("image/png"), data });
                }
            }
            _ => sink(Event::Unknown { kind: item.get("type").text().unwrap_or_else(|| Text::from("item")) }),
        }
    }

    fn message(&mut self, place: u64, item: Value<'_>, sink: Sink<'_>) {
        let (streamed, cited, base) = {
            let known = self.item(place);
            (known.streamed, known.cited, known.base)
        };
        for part in item.get("content").elements().map(|part| part.json()) {
            let text = part.get("text").text().filter(|text| !text.is_empty() && !streamed);
            let refusal = part.get("refusal").text().filter(|text| !text.is_empty() && !streamed);
            if let Some(text) = text {
                self.count(&text);
                sink(Event::Text { choice: 0, text });
            }
            if let Some(text) = refusal {
                sink(Event::Refusal { choice: 0, text });
            }
            if !cited {
                part.get("annotations").elements().for_each(|annotation| cite(annotation.json(), base, sink));
            }
            let logprobs = part.get("logprobs");
            if logprobs.elements().next().is_some() {
                let inner = logprobs.bytes().strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or_default();
                sink(Event::Logprobs { choice: 0, elements: Raw::from(inner) });
            }
        }
    }

    fn reasoning(&mut self, place: u64, item: Value<'_>, sink: Sink<'_>) {
        if !self.item(place).streamed {
            let parts = [item.get("summary"), item.get("content")].into_iter().flat_map(Value::elements);
            for (index, text) in parts.filter_map(|part| part.json().get("text").text()).filter(|text| !text.is_empty()).enumerate() {
                if index > 0 {
                    sink(Event::Reasoning { choice: 0, text: Text::from("\n\n") });
                }
                sink(Event::Reasoning { choice: 0, text });
            }
        }
        if let Some(value) = item.get("encrypted_content").text().filter(|value| !value.is_empty()) {
            sink(Event::ReasoningSigned { choice: 0, signature: Signature { shape: Shape::Responses, origin: None, value } });
        }
    }

    fn called(&mut self, place: u64, item: Value<'_>, field: &str, custom: bool, sink: Sink<'_>) {
        let call = self.call(place, item, custom, sink);
        let fragment = item.get(field).text().filter(|text| !text.is_empty());
        if let Some(fragment) = fragment.filter(|_| !self.item(place).streamed) {
            sink(Event::ToolArguments { choice: 0, call, fragment });
        }
        sink(Event::ToolEnd { choice: 0, call });
    }

    fn end(&mut self, response: Value<'_>, sink: Sink<'_>) {
        self.start(response, sink);
        if let Some(usage) = read_chat(response.get("usage").bytes()) {
            sink(Event::Usage(usage));
        }
        let why = response.get("incomplete_details").get("reason");
        let reason = match &*why.str().unwrap_or_default() {
            "max_output_tokens" | "max_tokens" => FinishReason::Length,
            "content_filter" => FinishReason::Refusal,
            "" => FinishReason::Stop,
            _ => FinishReason::Other,
        };
        let raw = why.text().or(response.get("status").text()).unwrap_or_else(|| Text::from(""));
        let finish = Finish { reason: reason.with_calls(self.calls > 0), raw, stop_sequence: None, explanation: None };
        sink(Event::Finish { choice: 0, finish });
        self.over = true;
        sink(Event::End);
    }

    fn failed(&mut self, error: Value<'_>, sink: Sink<'_>) {
        let envelope = [&br#"{"error":"#[..], error.bytes(), b"}"].concat();
        self.fail(chat_completions::decode_failure(0, &envelope), sink);
    }

    fn fail(&mut self, failure: Failure<'_>, sink: Sink<'_>) {
        self.over = true;
        sink(Event::Failed(failure));
    }
}

fn broken(message: &'static str) -> Failure<'static> {
    let (message, code) = (Text::from(message), Text::from("upstream_error"));
    Failure { class: FailureClass::Server, status: 502, message, code, param: None, retry_after: None }
}

fn cite(annotation: Value<'_>, base: u64, sink: Sink<'_>) {
    let Some(url) = annotation.get("url").text().filter(|_| annotation.get("type").is_str("url_citation")) else { return };
    let place = |name: &str| annotation.get(name).u64().map(|at| at.saturating_add(base));
    let title = annotation.get("title").text().unwrap_or_else(|| Text::from(""));
    let span = place("start_index").zip(place("end_index"));
    sink(Event::Citation { choice: 0, citation: Citation { url, title, cited: Text::from(""), span } });
}

fn search(item: Value<'_>, sink: Sink<'_>) {
    let action = item.get("action");
    if !action.get("type").is_null() && !action.get("type").is_str("search") {
        return sink(Event::Ping);
    }
    let hits = action.get("sources").elements().filter_map(|source| {
        let source = source.json();
        let title = source.get("title").text().unwrap_or_else(|| Text::from(""));
        Some(SearchHit { url: source.get("url").text()?, title, sealed: Text::from("") })
    });
    let query = action.get("query").text().or_else(|| action.get("queries").elements().next()?.json().text());
    let id = item.get("id").text().unwrap_or_else(|| Text::from(ids::minted("ws_")));
    sink(Event::WebSearch { choice: 0, id, query: query.unwrap_or_else(|| Text::from("")), hits: hits.collect() });
}

impl Decode for Decoder {
    fn event(&mut self, name: &[u8], data: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        match data.trim_ascii().first() {
            Some(b'{') => self.take(data.trim_ascii(), sink),
            _ if name == b"error" => self.fail(chat_completions::decode_failure(0, data), sink),
            _ if data.starts_with(b"[DONE]") => {}
            _ => self.fail(broken("the provider sent an event that is not JSON"), sink),
        }
    }

    fn answer(&mut self, body: &[u8], sink: Sink<'_>) {
        if self.over {
            return;
        }
        let lossy = String::from_utf8_lossy(body);
        let body = lossy.trim_start_matches('\u{feff}').as_bytes().trim_ascii();
        if outline(body, DEEPEST).is_err() {
            return self.fail(broken("the provider sent something that is not JSON"), sink);
        }
        let response = Value::of(body);
        if response.get("error").kind() == Kind::Object {
            return self.failed(response.get("error"), sink);
        }
        if response.get("output").kind() != Kind::Array {
            return self.fail(broken("the provider's answer has no output"), sink);
        }
        self.start(response, sink);
        for (place, item) in (0..).zip(response.get("output").elements()) {
            self.item(place);
            self.done(place, item.json(), sink);
        }
        self.end(response, sink);
    }

    fn finish(&mut self, _: Sink<'_>) {
        // Only the terminal event makes an answer of this dialect whole.
    }
}

/// The text that a client of this dialect keeps of a token that only its provider can read.
pub(super) fn sealed(tag: &str) -> String {
    format!("{SEALED}{tag}")
}
