//! The members of a body, taken one by one: what is left at the end is not known, and every fault is told at once.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::problem::{Fault, Problem};

/// Longest text of one member.
const LONGEST: usize = 200;
/// Most entries of a list or object.
const MOST: usize = 500;

/// The members not yet taken, and what was wrong with those taken.
#[derive(Debug)]
pub(super) struct Fields {
    members: Map<String, Value>,
    faults: Vec<Fault>,
}

impl Fields {
    /// The members of a JSON object. An empty body is an object without members.
    pub(super) fn parse(body: &[u8]) -> Result<Self, Problem> {
        if body.is_empty() {
            return Ok(Self { members: Map::new(), faults: Vec::new() });
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => Ok(Self { members, faults: Vec::new() }),
            Ok(_) => Err(Problem::Malformed("The body must be a JSON object.".to_owned())),
            Err(error) => Err(Problem::Malformed(format!("The body is not valid JSON: {error}."))),
        }
    }

    /// Notes a fault.
    pub(super) fn fault(&mut self, field: &str, detail: impl Into<String>) {
        self.faults.push(Fault { field: field.to_owned(), detail: detail.into() });
    }

    /// Notes faults that were found elsewhere.
    pub(super) fn faults(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.extend(faults);
    }

    /// Whether a member is there, not yet taken.
    pub(super) fn has(&self, field: &str) -> bool {
        self.members.contains_key(field)
    }

    /// A member as it is.
    pub(super) fn value(&mut self, field: &str) -> Option<Value> {
        self.members.shift_remove(field)
    }

    /// Refuses the body where anything was wrong or is left.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        let unknown = self.members.into_iter().map(|(field, _)| Fault { field, detail: "is not a known field".to_owned() });
        self.faults.extend(unknown);
        if self.faults.is_empty() { Ok(()) } else { Err(Problem::Invalid(self.faults)) }
    }

    /// A member: `None` where it is missing, `Some(None)` where it is null.
    fn take<T>(&mut self, field: &str, wanted: &str, read: impl FnOnce(Value) -> Option<T>) -> Option<Option<T>> {
        match self.members.shift_remove(field)? {
            Value::Null => Some(None),
            value => {
                let value = read(value);
                if value.is_none() {
                    self.fault(field, format!("must be {wanted}"));
                }
                value.map(Some)
            }
        }
    }

    /// The same for a member that may not be null.
    fn take_set<T>(&mut self, field: &str, wanted: &str, read: impl FnOnce(Value) -> Option<T>) -> Option<T> {
        match self.take(field, wanted, read) {
            Some(None) => {
                self.fault(field, format!("must be {wanted}, not null"));
                None
            }
            Some(value) => value,
            None => None,
        }
    }

    /// Notes that a required member is missing, unless it was given and noted already.
    pub(super) fn require<T>(&mut self, field: &str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.faults.iter().any(|fault| fault.field == field) {
            self.fault(field, "is required");
        }
        value
    }

    /// A text that may be null.
    pub(super) fn optional_text(&mut self, field: &str) -> Option<Option<String>> {
        self.take(field, "a text of 1 to 200 characters without control characters, or null", text)
    }

    /// A text.
    pub(super) fn text(&mut self, field: &str) -> Option<String> {
        self.take_set(field, "a text of 1 to 200 characters without control characters", text)
    }

    /// An e-mail address, in lower case.
    pub(super) fn email(&mut self, field: &str) -> Option<String> {
        self.take_set(field, "an e-mail address", |value| text(value).map(|text| text.to_lowercase()).filter(|text| is_email(text)))
    }

    /// A whole number from 0 to `most`, or null.
    pub(super) fn number(&mut self, field: &str, most: i64) -> Option<Option<i64>> {
        self.take(field, &format!("a whole number from 0 to {most}, or null"), |value| {
            value.as_i64().filter(|number| (0..=most).contains(number))
        })
    }

    /// A moment as Unix milliseconds, or null.
    pub(super) fn moment(&mut self, field: &str) -> Option<Option<i64>> {
        self.take(field, "a moment such as 2030-12-31T23:59:59Z, or null", |value| {
            let moment = OffsetDateTime::parse(value.as_str()?, &Rfc3339).ok()?;
            i64::try_from(moment.unix_timestamp_nanos().div_euclid(1_000_000)).ok()
        })
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(&mut self, field: &str, choices: &[(&str, T)]) -> Option<T> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.take_set(field, &format!("one of {}", words.join(", ")), |value| {
            let word = value.as_str()?;
            choices.iter().find(|(choice, _)| *choice == word).map(|(_, choice)| *choice)
        })
    }

    /// One of several words, or null.
    pub(super) fn optional_choice<T: Copy>(&mut self, field: &str, choices: &[(&str, T)]) -> Option<Option<T>> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        self.take(field, &format!("one of {}, or null", words.join(", ")), |value| {
            let word = value.as_str()?;
            choices.iter().find(|(choice, _)| *choice == word).map(|(_, choice)| *choice)
        })
    }

    /// A list of texts, or null.
    pub(super) fn texts(&mut self, field: &str) -> Option<Option<Vec<String>>> {
        self.take(field, "a list of texts, or null", |value| match value {
            Value::Array(items) if items.len() <= MOST => items.into_iter().map(text).collect(),
            _ => None,
        })
    }

    /// An object of texts; null is the empty one.
    pub(super) fn labels(&mut self, field: &str) -> Option<BTreeMap<String, String>> {
        let labels = self.take(field, "an object whose values are texts, or null", |value| match value {
            Value::Object(members) if members.len() <= MOST => {
                members.into_iter().map(|(name, value)| Some((text(Value::String(name))?, text(value)?))).collect()
            }
            _ => None,
        });
        labels.map(Option::unwrap_or_default)
    }

    /// An object with exactly one of the named members, which is a text.
    pub(super) fn one_of(&mut self, field: &str, names: [&'static str; 2]) -> Option<(&'static str, String)> {
        let wanted = format!("an object with either `{}` or `{}`", names[0], names[1]);
        self.take_set(field, &wanted, |value| match value {
            Value::Object(members) if members.len() == 1 => {
                let (name, value) = members.into_iter().next()?;
                let name = names.into_iter().find(|known| *known == name)?;
                Some((name, text(value)?))
            }
            _ => None,
        })
    }
}

/// A text that can be shown in a list.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            let fits = (1..=LONGEST).contains(&length) && !text.trim().is_empty() && !text.chars().any(char::is_control);
            fits.then_some(text)
        }
        _ => None,
    }
}

/// Whether a text has the form `name@host`. More is known only by sending to it.
fn is_email(text: &str) -> bool {
    let no_space = !text.contains(|letter: char| letter.is_whitespace() || letter == ',' || letter == ';');
    no_space && text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_null_and_set_are_told_apart() {
        let mut fields = Fields::parse(br#"{"a": null, "b": 5}"#).unwrap();
        assert_eq!(fields.number("a", 10), Some(None));
        assert_eq!(fields.number("b", 10), Some(Some(5)));
        assert_eq!(fields.number("c", 10), None);
        assert_eq!(fields.finish(), Ok(()));
    }

    #[test]
    fn every_fault_is_told_at_once() {
        let mut fields = Fields::parse(br#"{"name": "", "rpm_limit": -1, "status": "gone", "colour": 1}"#).unwrap();
        let name = fields.text("name");
        fields.require("name", name);
        fields.number("rpm_limit", 10);
        fields.choice("status", &[("active", ())]);
        fields.require::<()>("owner", None);
        let Err(Problem::Invalid(faults)) = fields.finish() else { panic!("it must be refused") };
        let names: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(names, ["name", "rpm_limit", "status", "owner", "colour"]);
    }

    #[test]
    fn numbers_must_be_whole_and_in_range() {
        for text in ["1.5", "-1", "11", "\"1\"", "true", "1e99"] {
            let mut fields = Fields::parse(format!(r#"{{"n": {text}}}"#).as_bytes()).unwrap();
            fields.number("n", 10);
            assert!(fields.finish().is_err(), "{text}");
        }
    }

    #[test]
    fn an_owner_is_one_user_or_one_agent() {
        let owner = |text: &str| {
            let mut fields = Fields::parse(text.as_bytes()).unwrap();
            let owner = fields.one_of("owner", ["user", "agent"]);
            fields.finish().map(|()| owner)
        };
        assert_eq!(owner(r#"{"owner": {"user": "a@b"}}"#), Ok(Some(("user", "a@b".to_owned()))));
        for text in [r#"{"owner": {}}"#, r#"{"owner": {"user": "a", "agent": "b"}}"#, r#"{"owner": {"team": "a"}}"#, r#"{"owner": null}"#] {
            assert!(owner(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_json_objects_are_bodies() {
        assert!(Fields::parse(b"").is_ok());
        for text in ["[]", "1", "{", "{\"a\":1}x"] {
            assert!(matches!(Fields::parse(text.as_bytes()), Err(Problem::Malformed(_))), "{text}");
        }
    }
}
