//! Reading this shape's fields: names in camel case or in the snake case of its protocol buffers, one object where a list of one
//! is meant, numbers as text, and errors that name the path.

use std::borrow::Cow;

use crate::canonical::{Number, Refusal, Text};
pub(super) use crate::translate::object::Path;
use crate::wire::json::{Kind, Member, Value, outline};

/// The client gave something else than the vendor takes.
fn wrong(path: &Path<'_>, expected: &str, found: Kind) -> Refusal {
    path.invalid(format!("expected {expected}, found {}", found.described()))
}

/// The member's name in camel case.
pub(super) fn camel<'a>(member: &Member<'a>) -> Cow<'a, [u8]> {
    let name = member.name();
    if name.contains(&b'_') { Cow::Owned(camelled(&name)) } else { name }
}

fn camelled(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut upper = false;
    for byte in name {
        match byte {
            b'_' => upper = !out.is_empty(),
            byte => {
                out.push(if upper { byte.to_ascii_uppercase() } else { *byte });
                upper = false;
            }
        }
    }
    out
}

/// A text; null is absent.
pub(super) fn text<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Option<Text<'a>>, Refusal> {
    match value.kind() {
        Kind::Null => Ok(None),
        Kind::String => Ok(value.text()),
        found => Err(wrong(path, "a string", found)),
    }
}

/// `true` or `false`; null is absent.
pub(super) fn boolean(value: Value<'_>, path: &Path<'_>) -> Result<Option<bool>, Refusal> {
    match value.kind() {
        Kind::Null => Ok(None),
        Kind::Bool => Ok(value.bool()),
        found => Err(wrong(path, "a boolean", found)),
    }
}

/// An object; null is absent.
pub(super) fn object<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Option<Value<'a>>, Refusal> {
    match value.kind() {
        Kind::Null => Ok(None),
        Kind::Object => Ok(Some(value)),
        found => Err(wrong(path, "an object", found)),
    }
}

/// A number, perhaps written as text; null is absent.
pub(super) fn number<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Option<Number<'a>>, Refusal> {
    let number = match value.kind() {
        Kind::Null => return Ok(None),
        Kind::Number => value.number(),
        Kind::String => match value.text() {
            Some(Text::Escaped(inner)) if is_number(inner) => std::str::from_utf8(inner).ok().map(Number),
            _ => None,
        },
        found => return Err(wrong(path, "a number", found)),
    };
    number.map(Some).ok_or_else(|| path.invalid("expected a number, found a string"))
}

/// Whether a text spells a number as JSON does.
fn is_number(text: &[u8]) -> bool {
    let document = [b"{\"n\":", text, b"}"].concat();
    outline(&document, 1).is_ok() && Value::of(text).kind() == Kind::Number
}

/// A whole number; null is absent.
pub(super) fn whole(value: Value<'_>, path: &Path<'_>) -> Result<Option<i64>, Refusal> {
    let Some(number) = number(value, path)? else { return Ok(None) };
    let exact = |value: f64| (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(value as i64);
    match number.whole().or_else(|| exact(number.value())) {
        Some(whole) => Ok(Some(whole)),
        None => Err(path.invalid("expected a whole number")),
    }
}

/// A whole number of at least one; null is absent.
pub(super) fn positive(value: Value<'_>, path: &Path<'_>) -> Result<Option<u64>, Refusal> {
    match whole(value, path)? {
        None => Ok(None),
        Some(number) => match u64::try_from(number) {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(path.invalid("must be greater than 0")),
        },
    }
}

/// The elements of a list. The vendor takes a single element without its brackets; null is an empty list.
pub(super) fn list<'a>(value: Value<'a>, element: Kind, path: &Path<'_>) -> Result<Vec<Value<'a>>, Refusal> {
    match value.kind() {
        Kind::Null => Ok(Vec::new()),
        Kind::Array => Ok(value.elements().map(|element| element.json()).collect()),
        kind if kind == element => Ok(vec![value]),
        found => Err(wrong(path, "an array", found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json::members;

    #[test]
    fn names_in_either_case_are_the_same() {
        let body = br#"{"system_instruction":1,"systemInstruction":2,"_response_json_schema":3,"plain":4}"#;
        let names: Vec<String> = members(body).map(|member| String::from_utf8(camel(&member).into_owned()).unwrap()).collect();
        assert_eq!(names, ["systemInstruction", "systemInstruction", "responseJsonSchema", "plain"]);
    }

    #[test]
    fn a_path_is_written_with_indices() {
        let root = Path::Root;
        let contents = root.key("contents");
        let (second, parts) = (contents.index(1), "parts");
        assert_eq!(second.key(parts).index(0).to_string(), "contents[1].parts[0]");
    }

    #[test]
    fn numbers_may_be_text_and_must_be_numbers() {
        let path = Path::Root.key("topK");
        assert_eq!(whole(Value::of(b"\"40\""), &path).unwrap(), Some(40));
        assert_eq!(whole(Value::of(b"40.0"), &path).unwrap(), Some(40));
        assert_eq!(whole(Value::of(b"null"), &path).unwrap(), None);
        assert!(whole(Value::of(b"1.5"), &path).is_err());
        for odd in [&b"\"x\""[..], b"\"-inf\"", b"\"01\"", b"\"1,\\\"a\\\":2\"", b"\"\"", b"\"{}\""] {
            assert!(number(Value::of(odd), &path).is_err());
        }
        assert_eq!(number(Value::of(b"[]"), &path).unwrap_err(), Refusal::invalid("topK", "expected a number, found an array"));
    }

    #[test]
    fn one_object_stands_for_a_list_of_one() {
        let path = Path::Root.key("contents");
        assert_eq!(list(Value::of(b"{}"), Kind::Object, &path).unwrap().len(), 1);
        assert_eq!(list(Value::of(b"[{},{}]"), Kind::Object, &path).unwrap().len(), 2);
        assert!(list(Value::of(b"\"x\""), Kind::Object, &path).is_err());
    }
}
