//! A client's own request on its way to a provider of the same shape, without what came into its history while a provider of
//! another shape answered.

use memchr::memmem;

use super::token;
use crate::translate::Target;
use crate::wire::json::{Edit, Kind, Member, Value, Writer, elements, members, splice};

/// Names of the field in both spellings.
const FIELDS: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// The request without reasoning and signatures of other shapes, without ids for models that know none, and with a placeholder
/// where a model misses its signature; every other byte stays. `None` where nothing needs to change.
#[must_use]
pub fn without_foreign_history(body: &[u8], target: &Target<'_>) -> Option<Vec<u8>> {
    fitted(body, target, false)
}

/// As [`without_foreign_history`], and without this vendor's own signatures too, which another of its models may have made.
#[must_use]
pub fn without_signatures(body: &[u8], target: &Target<'_>) -> Option<Vec<u8>> {
    fitted(body, target, true)
}

fn fitted(body: &[u8], target: &Target<'_>, unsigned: bool) -> Option<Vec<u8>> {
    let wants = Wants { ids: target.capabilities.call_ids, signatures: target.capabilities.signatures, unsigned };
    let contents = members(body).find(|member| member.is("contents"))?;
    let mut edits = Vec::new();
    for content in elements(contents.value()).filter(|content| is_suspect(content.json())) {
        let model = content.json().get("role").is_str("model");
        let parts = members(content.value).find(|member| member.is("parts") && member.kind == Kind::Array);
        if let Some(parts) = parts
            && let Some(cleaned) = cleaned(parts.json(), model, wants)
        {
            edits.push(Edit::replace(parts.span.shifted(content.span.start).shifted(contents.span.start), cleaned));
        }
    }
    (!edits.is_empty()).then(|| splice(body, &mut edits))
}

/// What a model takes.
#[derive(Clone, Copy)]
struct Wants {
    ids: bool,
    signatures: bool,
    /// No signature at all is to be sent.
    unsigned: bool,
}

/// Stands for a signature that was never given to this vendor's client.
const PLACEHOLDER: &str = "skip_thought_signature_validator";

/// Whether anything in it is signed, called or answered.
fn is_suspect(content: Value<'_>) -> bool {
    let traces = ["houghtSignature", "thought_signature", "unctionCall", "function_call", "unctionResponse", "function_response"];
    traces.iter().any(|trace| memmem::find(content.bytes(), trace.as_bytes()).is_some())
}

/// The parts anew; `None` where they stay.
fn cleaned(parts: Value<'_>, model: bool, wants: Wants) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(parts.bytes().len());
    let mut w = Writer::new(&mut out);
    let (mut kept, mut changed, mut called) = (0, false, false);
    w.begin_array();
    for part in parts.elements().map(|part| part.json()) {
        let own = wants.unsigned.then(|| member_of(part, FIELDS)).flatten();
        let foreign = foreign(part).or(own);
        if foreign.is_some() && part.get("thought").bool() == Some(true) {
            changed = true;
            continue;
        }
        kept += 1;
        let calls = member_of(part, ["functionCall", "function_call"]).is_some();
        let first = calls && !called;
        called |= calls;
        let unsigned = foreign.is_some() || member_of(part, FIELDS).is_none();
        let change = Change {
            signature: foreign,
            placeholder: model && wants.signatures && first && unsigned,
            without_ids: !wants.ids && has_id(part),
        };
        changed |= change.is_some();
        change.write(part, &mut w);
    }
    if kept == 0 {
        w.raw(br#"{"text":""}"#);
    }
    w.end_array();
    changed.then_some(out)
}

fn member_of<'a>(part: Value<'a>, names: [&str; 2]) -> Option<Member<'a>> {
    part.members().find(|member| names.iter().any(|name| member.is(name)))
}

/// The signature of a part, where a provider of another shape made it.
fn foreign(part: Value<'_>) -> Option<Member<'_>> {
    member_of(part, FIELDS).filter(|signature| signature.json().text().is_some_and(|value| token::read(&value).is_some()))
}

const CALLS: [&str; 4] = ["functionCall", "function_call", "functionResponse", "function_response"];

fn has_id(part: Value<'_>) -> bool {
    part.members().any(|member| CALLS.iter().any(|name| member.is(name)) && !member.json().get("id").is_null())
}

/// What changes in one part.
struct Change<'a> {
    signature: Option<Member<'a>>,
    placeholder: bool,
    without_ids: bool,
}

impl Change<'_> {
    const fn is_some(&self) -> bool {
        self.signature.is_some() || self.placeholder || self.without_ids
    }

    fn write(&self, part: Value<'_>, w: &mut Writer<'_>) {
        if !self.is_some() {
            return w.raw(part.bytes());
        }
        w.begin_object();
        for member in part.members().filter(|member| self.signature.is_none_or(|left_out| left_out.span != member.span)) {
            w.key(&member.key());
            if self.without_ids && CALLS.iter().any(|name| member.is(name)) {
                without_id(member.json(), w);
            } else {
                w.raw(member.value());
            }
        }
        if self.placeholder {
            w.str_field("thoughtSignature", PLACEHOLDER);
        }
        w.end_object();
    }
}

fn without_id(object: Value<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    for member in object.members().filter(|member| !member.is("id")) {
        w.key(&member.key());
        w.raw(member.value());
    }
    w.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Signature, Text};
    use crate::shape::Shape;
    use crate::translate::{Capabilities, ProviderKind, Quirks};

    fn body(parts: &str) -> String {
        format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"x"}}]}},{{"role":"model","parts":{parts}}}], "a":1}}"#)
    }

    #[test]
    fn only_tokens_of_other_shapes_go() {
        let minted = Signature { shape: Shape::Messages, origin: Some(1), value: Text::from("sig") };
        let tag = token::write(&minted, false);
        let parts = format!(
            r#"[{{"text":"hm","thought":true,"thoughtSignature":"{tag}"}},{{"functionCall":{{"name":"f"}},"thoughtSignature":"{tag}"}},{{"text":"b","thoughtSignature":"CvAB"}}]"#
        );
        let target = target("gemini-2.5-pro");
        let cleaned = without_foreign_history(body(&parts).as_bytes(), &target).expect("something goes");
        let expected = r#"[{"functionCall":{"name":"f"}},{"text":"b","thoughtSignature":"CvAB"}]"#;
        assert_eq!(String::from_utf8_lossy(&cleaned), body(expected));
        assert_eq!(without_foreign_history(body(expected).as_bytes(), &target), None);
    }

    fn target(model: &'static str) -> Target<'static> {
        let capabilities = Capabilities::of(Shape::GenerateContent, model);
        Target { shape: Shape::GenerateContent, kind: ProviderKind::Gemini, model, origin: 1, capabilities, quirks: Quirks::VENDOR }
    }

    #[test]
    fn calls_of_other_vendors_take_the_form_of_the_model() {
        let parts = r#"[{"functionCall":{"id":"c1","name":"f","args":{}}},{"functionCall":{"id":"c2","name":"f"}}]"#;
        let clean =
            |model| without_foreign_history(body(parts).as_bytes(), &target(model)).map(|body| String::from_utf8_lossy(&body).into_owned());
        let second = r#"[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f"}}]"#;
        let third = r#"[{"functionCall":{"id":"c1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"c2","name":"f"}}]"#;
        assert_eq!(clean("gemini-2.5-pro"), Some(body(second)));
        assert_eq!(clean("gemini-3-pro"), Some(body(third)));
        assert_eq!(without_foreign_history(body(third).as_bytes(), &target("gemini-3-pro")), None);
    }
}
