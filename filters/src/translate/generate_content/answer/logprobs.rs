//! Log probabilities, in the form of chat completions.

use crate::canonical::Raw;
use crate::wire::json::{Value, Writer};

/// The elements of `logprobs.content`; none where no token is told.
pub(super) fn elements(result: Value<'_>) -> Option<Raw<'static>> {
    let top = result.get("topCandidates");
    let mut others = top.elements();
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out);
    for chosen in result.get("chosenCandidates").elements() {
        w.begin_object();
        token(chosen.json(), &mut w);
        w.array("top_logprobs", |w| {
            for other in others.next().map(|other| other.json().get("candidates")).unwrap_or(Value::NULL).elements() {
                w.begin_object();
                token(other.json(), w);
                w.end_object();
            }
        });
        w.end_object();
    }
    (!out.is_empty()).then(|| Raw::from(out))
}

fn token(told: Value<'_>, w: &mut Writer<'_>) {
    let text = told.get("token").str().unwrap_or_default();
    w.str_field("token", &text);
    w.key("logprob");
    w.raw(told.get("logProbability").number().map_or("0", |number| number.0).as_bytes());
    w.array("bytes", |w| text.bytes().for_each(|byte| w.number(byte)));
}
