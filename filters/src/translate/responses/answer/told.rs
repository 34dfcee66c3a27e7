//! What an event tells, found in one walk over its members.

use crate::wire::json::Value;

/// The members of events that are looked at.
pub(super) struct Told<'a> {
    pub(super) kind: Value<'a>,
    /// Place of the item in the output.
    pub(super) place: u64,
    pub(super) delta: Value<'a>,
    pub(super) item: Value<'a>,
    pub(super) arguments: Value<'a>,
    pub(super) input: Value<'a>,
    pub(super) annotation: Value<'a>,
    pub(super) response: Value<'a>,
    pub(super) error: Value<'a>,
}

impl<'a> Told<'a> {
    pub(super) fn read(event: Value<'a>) -> Self {
        let mut told = Self {
            kind: Value::NULL,
            place: 0,
            delta: Value::NULL,
            item: Value::NULL,
            arguments: Value::NULL,
            input: Value::NULL,
            annotation: Value::NULL,
            response: Value::NULL,
            error: Value::NULL,
        };
        for member in event.members() {
            let value = member.json();
            match &*member.name() {
                b"type" => told.kind = value,
                b"output_index" => told.place = value.u64().unwrap_or(0),
                b"delta" => told.delta = value,
                b"item" => told.item = value,
                b"arguments" => told.arguments = value,
                b"input" => told.input = value,
                b"annotation" => told.annotation = value,
                b"response" => told.response = value,
                b"error" => told.error = value,
                _ => {}
            }
        }
        told
    }
}
