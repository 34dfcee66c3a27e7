//! The blocks of an answer, one after the other.

use super::delta::Delta;
use crate::canonical::{Citation, Event, SearchHit, Signature, Sink, Text};
use crate::shape::Shape;
use crate::wire::json::{Kind, Value};

/// Searches remembered until their results come.
const SEARCHES: usize = 64;

/// The block that is open.
#[derive(Default)]
enum Open {
    #[default]
    None,
    /// Text; its sources are told when it ends.
    Text { from: u64, citations: Vec<Citation<'static>> },
    /// Thinking, and its signature where it stood in the block's start.
    Thinking { signature: Option<Text<'static>> },
    /// A call, whether anything of its arguments was told, and its arguments where they stood in the block's start.
    Call { call: u32, told: bool, input: Option<Text<'static>> },
    /// A search of the web: its id, its query, and what came of its input.
    Search { id: Text<'static>, query: Text<'static>, input: String },
    /// Something else.
    Other,
}

/// Reads blocks and numbers their calls.
#[derive(Default)]
pub(super) struct Blocks {
    open: Open,
    calls: u32,
    /// Characters of text so far.
    written: u64,
    /// Searches without results yet: id and query.
    searches: Vec<(Text<'static>, Text<'static>)>,
}

impl Blocks {
    /// Whether a tool was called.
    pub(super) const fn called(&self) -> bool {
        self.calls > 0
    }

    pub(super) fn open(&mut self, block: Value<'_>, sink: Sink<'_>) {
        // Nearly all blocks are texts, and texts may be long.
        let [kind, words, citations] = block.pick(["type", "text", "citations"]);
        if kind.is_str("text") {
            self.open = Open::Text { from: self.written, citations: Vec::new() };
            self.text(words.text().unwrap_or(Text::from("")), sink);
            return citations.elements().for_each(|one| self.cite(one.json()));
        }
        let text = |name: &str| block.get(name).text().unwrap_or(Text::from(""));
        let kind = kind.text().unwrap_or(Text::from(""));
        self.open = match &*kind.decode() {
            "thinking" => {
                let signature = block.get("signature").text().filter(|signature| !signature.is_empty());
                reason(text("thinking"), sink);
                Open::Thinking { signature: signature.map(Text::into_owned) }
            }
            "redacted_thinking" => {
                sink(Event::Redacted { choice: 0, signature: own(text("data")) });
                Open::Other
            }
            "tool_use" => self.call(block, sink),
            "server_tool_use" if block.get("name").is_str("web_search") => Open::Search {
                id: text("id").into_owned(),
                query: block.get("input").get("query").text().unwrap_or(Text::from("")).into_owned(),
                input: String::new(),
            },
            "web_search_tool_result" => {
                self.found(block, sink);
                Open::Other
            }
            _ => {
                sink(Event::Unknown { kind: kind.clone() });
                Open::Other
            }
        };
    }

    pub(super) fn delta(&mut self, delta: Delta<'_>, sink: Sink<'_>) {
        match delta {
            Delta::Text(text) => self.text(text, sink),
            Delta::Thinking(text) => reason(text, sink),
            Delta::Input(fragment) => self.input(fragment, sink),
        }
    }

    /// Takes a delta in any form.
    pub(super) fn other_delta(&mut self, delta: Value<'_>, sink: Sink<'_>) {
        let text = |name: &str| delta.get(name).text().unwrap_or(Text::from(""));
        match &*text("type").decode() {
            "text_delta" => self.text(text("text"), sink),
            "thinking_delta" => reason(text("thinking"), sink),
            "input_json_delta" => self.input(text("partial_json"), sink),
            "signature_delta" => {
                if let Open::Thinking { signature } = &mut self.open {
                    *signature = Some(text("signature").into_owned()).filter(|signature| !signature.is_empty());
                }
            }
            "citations_delta" => self.cite(delta.get("citation")),
            _ => {}
        }
    }

    /// Ends the open block.
    pub(super) fn close(&mut self, sink: Sink<'_>) {
        match std::mem::take(&mut self.open) {
            Open::None | Open::Other => {}
            Open::Text { from, citations } => {
                let span = Some((from, self.written));
                for citation in citations {
                    sink(Event::Citation { choice: 0, citation: Citation { span, ..citation } });
                }
            }
            Open::Thinking { signature } => {
                if let Some(signature) = signature {
                    sink(Event::ReasoningSigned { choice: 0, signature: own(signature) });
                }
            }
            Open::Call { call, told, input } => {
                if let Some(fragment) = input.filter(|_| !told) {
                    sink(Event::ToolArguments { choice: 0, call, fragment });
                }
                sink(Event::ToolEnd { choice: 0, call });
            }
            Open::Search { id, query, input } => {
                let told = Value::of(input.as_bytes()).get("query").text().map(Text::into_owned);
                if self.searches.len() < SEARCHES {
                    self.searches.push((id, told.unwrap_or(query)));
                }
            }
        }
    }

    fn text(&mut self, text: Text<'_>, sink: Sink<'_>) {
        if !text.is_empty() {
            self.written += characters(&text);
            sink(Event::Text { choice: 0, text });
        }
    }

    fn call(&mut self, block: Value<'_>, sink: Sink<'_>) -> Open {
        let text = |name: &str| block.get(name).text().filter(|text| !text.is_empty());
        let call = self.calls;
        self.calls += 1;
        let id = text("id").unwrap_or_else(|| Text::from(crate::translate::map::ids::minted("toolu_")));
        let name = text("name").unwrap_or(Text::from("unknown"));
        sink(Event::ToolStart { choice: 0, call, id, name, custom: false, signature: None });
        let input = block.get("input");
        let given = input.kind() == Kind::Object && input.members().next().is_some();
        let input = given.then(|| Text::from(String::from_utf8_lossy(input.bytes()).into_owned()));
        Open::Call { call, told: false, input }
    }

    fn input(&mut self, fragment: Text<'_>, sink: Sink<'_>) {
        if fragment.is_empty() {
            return;
        }
        match &mut self.open {
            Open::Call { call, told, .. } => {
                *told = true;
                sink(Event::ToolArguments { choice: 0, call: *call, fragment });
            }
            Open::Search { input, .. } => input.push_str(&fragment.decode()),
            Open::None | Open::Text { .. } | Open::Thinking { .. } | Open::Other => {}
        }
    }

    fn cite(&mut self, citation: Value<'_>) {
        let text = |name: &str| citation.get(name).text().unwrap_or(Text::from("")).into_owned();
        let url = text("url");
        if let Open::Text { citations, .. } = &mut self.open
            && !url.is_empty()
        {
            citations.push(Citation { url, title: text("title"), cited: text("cited_text"), span: None });
        }
    }

    fn found(&mut self, block: Value<'_>, sink: Sink<'_>) {
        let id = block.get("tool_use_id").text().unwrap_or(Text::from(""));
        let known = self.searches.iter().position(|(known, _)| *known == id);
        let query = known.map_or(Text::from(""), |place| self.searches.swap_remove(place).1);
        let hits: Vec<SearchHit<'_>> = crate::translate::messages::decode::hits(block.get("content"));
        sink(Event::WebSearch { choice: 0, id, query, hits });
    }
}

/// A token of this vendor.
const fn own(value: Text<'_>) -> Signature<'_> {
    Signature { shape: Shape::Messages, origin: None, value }
}

fn reason(text: Text<'_>, sink: Sink<'_>) {
    if !text.is_empty() {
        sink(Event::Reasoning { choice: 0, text });
    }
}

/// Number of characters of a text.
fn characters(text: &Text<'_>) -> u64 {
    let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    let counted = match text {
        Text::Escaped(inner) if !inner.contains(&b'\\') => count(inner),
        text => count(text.decode().as_bytes()),
    };
    u64::try_from(counted).unwrap_or(u64::MAX)
}
