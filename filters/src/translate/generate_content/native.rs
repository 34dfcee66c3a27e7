//! A client's own request on its way to a provider of the same shape, without what came into its history while a provider of
//! another shape answered.

use memchr::memmem;

use super::token;
use crate::wire::json::{Edit, Kind, Member, Value, Writer, elements, members, splice};

/// Names of the field in both spellings.
const FIELDS: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// The request without reasoning and signatures of other shapes; every other byte stays. `None` where nothing needs to go.
#[must_use]
pub fn without_foreign_history(body: &[u8]) -> Option<Vec<u8>> {
    let contents = members(body).find(|member| member.is("contents"))?;
    let mut edits = Vec::new();
    for content in elements(contents.value()).filter(|content| is_suspect(content.json())) {
        let parts = members(content.value).find(|member| member.is("parts") && member.kind == Kind::Array);
        if let Some(parts) = parts
            && let Some(cleaned) = cleaned(parts.json())
        {
            edits.push(Edit::replace(parts.span.shifted(content.span.start).shifted(contents.span.start), cleaned));
        }
    }
    (!edits.is_empty()).then(|| splice(body, &mut edits))
}

/// Whether the model said it and signed any of it.
fn is_suspect(content: Value<'_>) -> bool {
    content.get("role").is_str("model") && FIELDS.iter().any(|field| memmem::find(content.bytes(), field.as_bytes()).is_some())
}

/// The parts anew; `None` where they stay.
fn cleaned(parts: Value<'_>) -> Option<Vec<u8>> {
    if !parts.elements().any(|part| foreign(part.json()).is_some()) {
        return None;
    }
    let mut out = Vec::with_capacity(parts.bytes().len());
    let mut w = Writer::new(&mut out);
    w.begin_array();
    let mut kept = 0;
    for part in parts.elements().map(|part| part.json()) {
        let thought = part.get("thought").bool() == Some(true);
        match foreign(part) {
            Some(_) if thought => continue,
            Some(signature) => without(part, &signature, &mut w),
            None => w.raw(part.bytes()),
        }
        kept += 1;
    }
    if kept == 0 {
        w.raw(br#"{"text":""}"#);
    }
    w.end_array();
    Some(out)
}

/// The signature of a part, where a provider of another shape made it.
fn foreign<'a>(part: Value<'a>) -> Option<Member<'a>> {
    let signature = part.members().find(|member| FIELDS.iter().any(|field| member.is(field)))?;
    let found = signature.json().text().is_some_and(|value| token::read(&value).is_some());
    found.then_some(signature)
}

fn without(part: Value<'_>, left_out: &Member<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    for member in part.members().filter(|member| member.span != left_out.span) {
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
        let cleaned = without_foreign_history(body(&parts).as_bytes()).expect("something goes");
        let expected = r#"[{"functionCall":{"name":"f"}},{"text":"b","thoughtSignature":"CvAB"}]"#;
        assert_eq!(String::from_utf8_lossy(&cleaned), body(expected));
        assert_eq!(without_foreign_history(body(expected).as_bytes()), None);
    }
}
