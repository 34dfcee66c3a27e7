//! A client's own request on its way to a provider of the same dialect, without what came into its history while a provider of
//! another shape answered.

use super::{MINTED, SEALED};
use crate::translate::map::signature::untag;
use crate::wire::json::{Edit, Kind, Value, Writer, members, splice};

/// The request without reasoning of other shapes; every other byte stays. `None` where nothing needs to go.
#[must_use]
pub fn without_foreign_history(body: &[u8]) -> Option<Vec<u8>> {
    let input = members(body).find(|member| member.is("input") && member.kind == Kind::Array)?;
    if !input.json().elements().any(|item| is_foreign(item.json())) {
        return None;
    }
    let mut cleaned = Vec::with_capacity(input.span.len());
    let mut w = Writer::new(&mut cleaned);
    w.begin_array();
    input.json().elements().filter(|item| !is_foreign(item.json())).for_each(|item| w.raw(item.value));
    w.end_array();
    Some(splice(body, &mut [Edit::replace(input.span, cleaned)]))
}

fn is_foreign(item: Value<'_>) -> bool {
    let ours = item.get("id").str().is_some_and(|id| id.starts_with(MINTED));
    let tagged = item.get("encrypted_content").str().is_some_and(|token| untag(token.strip_prefix(SEALED).unwrap_or(&token)).is_some());
    item.get("type").is_str("reasoning") && (ours || tagged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::{Signature, Text};
    use crate::shape::Shape;
    use crate::translate::map::signature::tag;

    #[test]
    fn only_reasoning_of_other_shapes_goes() {
        let tag = tag(&Signature { shape: Shape::Messages, origin: Some(1), value: Text::from("sig") });
        let body = |items: &str| format!(r#"{{"model": "m", "input":[{items}{{"role":"user","content":"x"}}]}}"#);
        let foreign = format!(
            r##"{{"type":"reasoning","summary":[],"encrypted_content":"{tag}"}},{{"type":"reasoning","summary":[],"encrypted_content":"#{tag}"}},"##
        );
        let ours = r#"{"type":"reasoning","id":"rs_gw_1","summary":[],"encrypted_content":null},"#;
        let own = r#"{"type":"reasoning","summary":[],"encrypted_content":"gAAA"},"#;
        let cleaned = without_foreign_history(body(&format!("{foreign}{ours}{own}")).as_bytes()).expect("something goes");
        assert_eq!(String::from_utf8_lossy(&cleaned), body(own));
        assert_eq!(without_foreign_history(body(own).as_bytes()), None);
    }
}
