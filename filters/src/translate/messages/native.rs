//! A client's own request on its way to a provider of the same shape. It passes as it is, but for what came into its history
//! while another vendor answered: that no provider of this shape takes back.

use std::borrow::Cow;

use memchr::memmem;

use super::decode::hits;
use super::output::SEARCH;
use crate::canonical::Text;
use crate::translate::map::search::summary;
use crate::translate::map::signature::untag;
use crate::wire::json::{Edit, Kind, Value, Writer, elements, members, splice};

/// Traces of other vendors. Where a body has none of these nothing needs to be looked for.
const TRACES: [&str; 8] = [SEARCH, "encrypted_index", "\"signature\":\"\"", "\"signature\": \"\"", "\"c1.", "\"g1.", "\"m1.", "\"r1."];

/// The request without reasoning that other vendors signed, or nobody, and with searches of the web that other vendors ran told
/// in words; every other byte stays. `None` where nothing needs to go.
#[must_use]
pub fn without_foreign_history(body: &[u8]) -> Option<Vec<u8>> {
    fitted(body, Thinking::Own)
}

/// As [`without_foreign_history`], and without reasoning of this vendor too, which another of its models or clouds may have signed.
#[must_use]
pub fn without_signatures(body: &[u8]) -> Option<Vec<u8>> {
    fitted(body, Thinking::None)
}

/// Which reasoning stays in a history.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thinking {
    /// What this vendor signed.
    Own,
    /// Nothing.
    None,
}

fn fitted(body: &[u8], kept: Thinking) -> Option<Vec<u8>> {
    let messages = members(body).find(|member| member.is("messages"))?;
    let mut edits = Vec::new();
    let suspect = |message: &[u8]| kept == Thinking::None || is_suspect(message);
    for message in elements(messages.value()).filter(|message| is_model(message.json()) && suspect(message.value)) {
        let said = members(message.value).find(|member| member.is("content") && member.kind == Kind::Array);
        if let Some(content) = said
            && let Some(cleaned) = cleaned(content.json(), kept)
        {
            let span = content.span.shifted(message.span.start).shifted(messages.span.start);
            edits.push(Edit::replace(span, cleaned));
        }
    }
    let unthinking = members(body).find(|member| member.is("thinking") && member.json().get("type").is_str("enabled"));
    if let Some(thinking) = unthinking.filter(|_| answers_unthinking_call(messages.json(), kept)) {
        edits.push(Edit::replace(thinking.span, &br#"{"type":"disabled"}"#[..]));
    }
    (!edits.is_empty()).then(|| splice(body, &mut edits))
}

/// Whether the conversation goes on after a call that another vendor's model made, or one that did not think: with thinking by a
/// budget the vendor wants the thinking before it.
fn answers_unthinking_call(messages: Value<'_>, kept: Thinking) -> bool {
    let Some(last) = messages.elements().filter(|message| is_model(message.json())).last() else { return false };
    let blocks: Vec<Value<'_>> = last.json().get("content").elements().map(|block| block.json()).collect();
    let calls = blocks.iter().any(|block| block.get("type").is_str("tool_use"));
    let thought = |block: &Value<'_>| {
        let kind = block.get("type").str().unwrap_or_default();
        matches!(&*kind, "thinking" | "redacted_thinking") && matches!(fate(*block, &blocks, kept), Fate::Kept)
    };
    calls && !blocks.iter().any(thought)
}

/// Large pictures and documents are the user's; only what the model said is searched.
fn is_model(message: Value<'_>) -> bool {
    message.get("role").is_str("assistant")
}

fn is_suspect(message: &[u8]) -> bool {
    TRACES.iter().any(|trace| memmem::find(message, trace.as_bytes()).is_some())
}

/// What becomes of a block.
enum Fate<'a> {
    Kept,
    Gone,
    Said(Cow<'a, [u8]>),
}

/// The content anew; `None` where it stays.
fn cleaned(content: Value<'_>, kept: Thinking) -> Option<Vec<u8>> {
    let blocks: Vec<Value<'_>> = content.elements().map(|block| block.json()).collect();
    let fates: Vec<Fate<'_>> = blocks.iter().map(|block| fate(*block, &blocks, kept)).collect();
    if fates.iter().all(|fate| matches!(fate, Fate::Kept)) {
        return None;
    }
    let mut out = Vec::with_capacity(content.bytes().len());
    let mut w = Writer::new(&mut out);
    w.begin_array();
    for (block, fate) in blocks.iter().zip(&fates) {
        match fate {
            Fate::Kept => w.raw(block.bytes()),
            Fate::Gone => {}
            Fate::Said(words) => w.raw(words),
        }
    }
    if fates.iter().all(|fate| matches!(fate, Fate::Gone)) {
        said("(empty)", &mut w);
    }
    w.end_array();
    Some(out)
}

fn fate<'a>(block: Value<'a>, all: &[Value<'a>], kept: Thinking) -> Fate<'a> {
    let text = |name: &str| block.get(name).str().unwrap_or_default();
    let foreign = |token: &str| token.is_empty() || untag(token).is_some();
    let made = |id: &str| id.starts_with(SEARCH);
    match &*text("type") {
        "thinking" | "redacted_thinking" if kept == Thinking::None => Fate::Gone,
        "thinking" if foreign(&text("signature")) => Fate::Gone,
        "redacted_thinking" if foreign(&text("data")) => Fate::Gone,
        "server_tool_use" if made(&text("id")) => Fate::Gone,
        "web_search_tool_result" if made(&text("tool_use_id")) => Fate::Said(Cow::Owned(in_words(block, all))),
        "text" if unsealed(block) => Fate::Said(Cow::Owned(without_citations(block))),
        _ => Fate::Kept,
    }
}

/// Whether a text cites pages that this vendor did not find.
fn unsealed(block: Value<'_>) -> bool {
    block.get("citations").elements().any(|citation| citation.json().get("encrypted_index").is_str(""))
}

fn without_citations(block: Value<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(block.bytes().len());
    let mut w = Writer::new(&mut out);
    w.begin_object();
    for member in block.members().filter(|member| !member.is("citations")) {
        w.key(&member.key());
        w.raw(member.value());
    }
    w.end_object();
    out
}

/// A search and what it found, as a block of text.
fn in_words(result: Value<'_>, all: &[Value<'_>]) -> Vec<u8> {
    let id = result.get("tool_use_id").str().unwrap_or_default();
    let call = all.iter().find(|block| block.get("type").is_str("server_tool_use") && block.get("id").is_str(&id));
    let query = call.and_then(|call| call.get("input").get("query").text()).unwrap_or(Text::from(""));
    let mut out = Vec::new();
    said(&summary(&query, &hits(result.get("content"))).decode(), &mut Writer::new(&mut out));
    out
}

fn said(text: &str, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "text");
    w.str_field("text", text);
    w.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Signature;
    use crate::shape::Shape;
    use crate::translate::map::signature::tag;

    fn body(content: &str) -> String {
        format!(
            r#" {{"model" : "m", "messages":[{{"role":"user","content":"hi"}},{{"content": {content} ,"role":"assistant"}}],"max_tokens":5}}"#
        )
    }

    #[test]
    fn a_history_of_this_vendor_alone_stays_as_it_is() {
        let own = r#"[{"type":"thinking","thinking":"","signature":"EqQB"},{"type":"text","text":"say \"g1.x\"","citations":[{"encrypted_index":"E"}]},
            {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]"#;
        assert_eq!(without_foreign_history(body(own).as_bytes()), None);
        assert_eq!(without_foreign_history(b"{}"), None);
    }

    #[test]
    fn reasoning_of_other_vendors_goes_and_every_other_byte_stays() {
        let foreign = tag(&Signature { shape: Shape::GenerateContent, origin: Some(1), value: Text::from("x") });
        let content = format!(
            r#"[ {{"type":"thinking","thinking":"a","signature":"{foreign}"}}, {{"type":"redacted_thinking","data":"{foreign}"}},
               {{"type":"thinking","thinking":"b","signature":""}}, {{"type":"text", "text":"\u00e9 1.0"}}]"#
        );
        let cleaned = without_foreign_history(body(&content).as_bytes()).expect("something goes");
        assert_eq!(String::from_utf8_lossy(&cleaned), body(r#"[{"type":"text", "text":"\u00e9 1.0"}]"#));
    }

    #[test]
    fn searches_of_other_vendors_are_told_in_words() {
        let content = r#"[{"type":"server_tool_use","id":"srvtoolu_gw_1","name":"web_search","input":{"query":"rust"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_gw_1","content":[{"type":"web_search_result","url":"https://r","title":"R","encrypted_content":"","page_age":null}]},{"type":"text","text":"So.","citations":[{"type":"web_search_result_location","url":"https://r","title":"R","encrypted_index":"","cited_text":""}]}]"#;
        let cleaned = without_foreign_history(body(content).as_bytes()).expect("something goes");
        let expected = r#"[{"type":"text","text":"[web search: rust]\n- R https://r"},{"type":"text","text":"So."}]"#;
        assert_eq!(String::from_utf8_lossy(&cleaned), body(expected));
    }

    #[test]
    fn a_second_try_goes_without_any_reasoning() {
        let own = r#"[{"type":"thinking","thinking":"a","signature":"EqQB"},{"type":"tool_use","id":"t","name":"f","input":{}}]"#;
        let thinking = body(own).replace("\"max_tokens\"", "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024},\"max_tokens\"");
        assert_eq!(without_foreign_history(thinking.as_bytes()), None);
        let bare = without_signatures(thinking.as_bytes()).expect("something goes");
        let expected = body(r#"[{"type":"tool_use","id":"t","name":"f","input":{}}]"#)
            .replace("\"max_tokens\"", "\"thinking\":{\"type\":\"disabled\"},\"max_tokens\"");
        assert_eq!(String::from_utf8_lossy(&bare), expected);
        assert_eq!(without_signatures(body(r#"[{"type":"text","text":"a"}]"#).as_bytes()), None);
    }

    #[test]
    fn a_message_of_nothing_else_keeps_a_placeholder() {
        let cleaned = without_foreign_history(body(r#"[{"type":"thinking","thinking":"b","signature":""}]"#).as_bytes());
        assert_eq!(String::from_utf8_lossy(&cleaned.expect("something goes")), body(r#"[{"type":"text","text":"(empty)"}]"#));
    }

    proptest::proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes in r#"[{}\[\]":,a-z_0-9\\ ]{0,80}"#) {
            let _ = without_foreign_history(format!(r#"{{"messages":[{{"content":[{bytes}]}}],"a":"encrypted_index"}}"#).as_bytes());
        }
    }
}
