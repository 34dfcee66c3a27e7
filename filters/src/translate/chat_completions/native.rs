//! A client's own request on its way to a provider of the same shape, without what came into its history while a provider of
//! another shape answered.

use memchr::memmem;

use crate::translate::Target;
use crate::translate::map::signature::untag;
use crate::wire::json::{Edit, Kind, Member, Value, Writer, elements, members, splice};

/// Traces of other shapes in what the model said.
const TRACES: [&[u8]; 3] = [b"\"g1.", b"\"m1.", b"\"r1."];
/// Members that hold nothing but such traces once one is found in them.
const HOLDERS: [&str; 4] = ["thinking_blocks", "reasoning_details", "extra_content", "reasoning_content"];

/// The request without signatures of other shapes, and the reasoning they belong to; the vendor itself takes no reasoning back at
/// all. Every other byte stays. `None` where nothing needs to go.
#[must_use]
pub fn without_foreign_history(body: &[u8], target: &Target<'_>) -> Option<Vec<u8>> {
    let messages = members(body).find(|member| member.is("messages"))?;
    let mut edits = Vec::new();
    for message in elements(messages.value()).filter(|message| is_suspect(message.json(), target.quirks.vendor)) {
        let mut cleaned = Vec::with_capacity(message.value.len());
        without(message.json(), &mut Writer::new(&mut cleaned));
        edits.push(Edit::replace(message.span.shifted(messages.span.start), cleaned));
    }
    (!edits.is_empty()).then(|| splice(body, &mut edits))
}

/// Whether anything in the bytes may have to go.
fn holds_trace(bytes: &[u8], vendor: bool) -> bool {
    let tagged = |at: usize| at.checked_sub(2).and_then(|from| bytes.get(from..at + 2)).is_some_and(|found| TRACES.contains(&found));
    memmem::find_iter(bytes, b"1.").any(tagged) || (vendor && holds_reasoning(bytes))
}

fn holds_reasoning(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"\"reasoning_content\"").is_some()
}

fn is_suspect(message: Value<'_>, vendor: bool) -> bool {
    let reasoned = || vendor && holds_reasoning(message.bytes()) && !message.get("reasoning_content").is_null();
    holds_trace(message.bytes(), vendor) && message.get("role").is_str("assistant") && (holds_tag(message) || reasoned())
}

/// Whether a tagged token is anywhere in the value.
fn holds_tag(value: Value<'_>) -> bool {
    value.text().is_some_and(|text| untag(&text.decode()).is_some())
        || value.members().any(|member| holds_tag(member.json()))
        || value.elements().any(|element| holds_tag(element.json()))
}

fn without(object: Value<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    for member in object.members().filter(|member| !goes(member)) {
        w.key(&member.key());
        if member.is("tool_calls") && member.kind == Kind::Array { calls(member.json(), w) } else { w.raw(member.value()) }
    }
    w.end_object();
}

/// Reasoning goes along with the tokens: it was another model's.
fn goes(member: &Member<'_>) -> bool {
    HOLDERS.iter().any(|holder| member.is(holder)) && (member.is("reasoning_content") || holds_tag(member.json()))
}

fn calls(calls: Value<'_>, w: &mut Writer<'_>) {
    w.begin_array();
    for call in calls.elements() {
        if holds_tag(call.json()) { without(call.json(), w) } else { w.raw(call.value) }
    }
    w.end_array();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Signature, Text};
    use crate::shape::Shape;
    use crate::translate::map::signature::tag;
    use crate::translate::{Capabilities, ProviderKind, Quirks};

    #[test]
    fn only_traces_of_other_shapes_go() {
        let tag = tag(&Signature { shape: Shape::GenerateContent, origin: Some(1), value: Text::from("sig") });
        let body = format!(
            r#"{{"messages": [ {{"role":"user","content":"g1."}}, {{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":"{{}}"}},"extra_content":{{"google":{{"thought_signature":"{tag}"}}}}}}]}}]}}"#
        );
        let target = target(false);
        let cleaned = without_foreign_history(body.as_bytes(), &target).expect("something goes");
        let expected = r#"{"messages": [ {"role":"user","content":"g1."}, {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]}"#;
        assert_eq!(String::from_utf8_lossy(&cleaned), expected);
        assert_eq!(without_foreign_history(expected.as_bytes(), &target), None);
        assert_eq!(without_foreign_history(br#"{"messages":[{"role":"assistant","content":"say \"g1.\""}]}"#, &target), None);
    }

    fn target(vendor: bool) -> Target<'static> {
        let quirks = if vendor { Quirks::VENDOR } else { Quirks::COMPATIBLE };
        let capabilities = Capabilities::of(Shape::ChatCompletions, "gpt-4o");
        Target { shape: Shape::ChatCompletions, kind: ProviderKind::Openai, model: "gpt-4o", origin: 1, capabilities, quirks }
    }

    #[test]
    fn the_vendor_itself_takes_no_reasoning_back() {
        let body = br#"{"messages":[{"role":"assistant","content":"a","reasoning_content":"hm","tool_calls":null}]}"#;
        assert_eq!(without_foreign_history(body, &target(false)), None);
        let cleaned = without_foreign_history(body, &target(true)).expect("something goes");
        assert_eq!(String::from_utf8_lossy(&cleaned), r#"{"messages":[{"role":"assistant","content":"a","tool_calls":null}]}"#);
    }
}
