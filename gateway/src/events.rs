//! Events that operators are told of. They are appended to the journal, so that they survive what the request log survives,
//! and the flush worker writes them to the outbox.

mod damper;

use parking_lot::Mutex;
use serde_json::{Value, json};
use svc_filters::guardrails::Place;

use crate::clock::Clock;
use crate::exchange::Exchange;
use crate::providers::{KeyLabel, Position, Turn};
use crate::request_id::{MOST_NUMBERS, RequestId};
use crate::store::{EventView, Journal};
use damper::Damper;

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A circuit turned to another position.
    Circuit {
        /// Name of the provider.
        provider: &'a str,
        /// The model's name there.
        model: &'a str,
        /// From where to where.
        turn: Turn,
        /// The failure that opened it, as the request log names it; empty where none did.
        failure: &'a str,
        /// The provider's status; 0 where none came.
        status: u16,
    },
    /// A routing rule refused a request.
    RoutingDenied(Ruled<'a>),
    /// A guardrail refused a request, or cut its answer off, for what it found at a place.
    GuardrailBlocked(Ruled<'a>, Place),
    /// A spend circuit decided about a request.
    SpendCircuitTripped(Ruled<'a>),
    /// A provider refused a credential, which rests now.
    ProviderKeyQuarantined {
        /// Name of the provider.
        provider: &'a str,
        /// Which of its credentials.
        key: &'a KeyLabel,
    },
}

/// A request a rule decided about.
#[derive(Clone, Copy, Debug)]
pub struct Ruled<'a> {
    /// The request.
    pub request_id: &'a str,
    /// Its key.
    pub key_id: &'a str,
    /// The rule.
    pub rule: &'a str,
    /// The model it asked for.
    pub model: &'a str,
}

impl<'a> Ruled<'a> {
    /// The request of an exchange, decided about by `rule`; `model` is what it asked for.
    #[must_use]
    pub fn of(exchange: &'a Exchange, rule: &'a str, model: &'a str) -> Self {
        Self { request_id: exchange.id.as_str(), key_id: exchange.key.as_ref().map_or("", |key| &key.id), rule, model }
    }
}

impl Event<'_> {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Circuit { turn, .. } => match turn.to {
                Position::Open => "circuit.opened",
                Position::HalfOpen => "circuit.half_opened",
                Position::Closed => "circuit.closed",
            },
            Self::RoutingDenied(_) => "routing.denied",
            Self::GuardrailBlocked(..) => "guardrail.blocked",
            Self::SpendCircuitTripped(_) => "spend_circuit.tripped",
            Self::ProviderKeyQuarantined { .. } => "provider_key.quarantined",
        }
    }

    fn data(&self, suppressed: u64) -> Value {
        match self {
            Self::Circuit { provider, model, turn, failure, status } => {
                let previous = turn.from.as_str();
                match (*failure, *status) {
                    ("", _) => json!({"provider": provider, "model": model, "previous": previous}),
                    (failure, 0) => json!({"provider": provider, "model": model, "previous": previous, "failure": failure}),
                    (failure, status) => {
                        json!({"provider": provider, "model": model, "previous": previous, "failure": failure, "status": status})
                    }
                }
            }
            Self::RoutingDenied(ruled) | Self::SpendCircuitTripped(ruled) => {
                let Ruled { request_id, key_id, rule, model } = ruled;
                json!({"request_id": request_id, "key_id": key_id, "rule": rule, "model": model, "suppressed": suppressed})
            }
            Self::GuardrailBlocked(ruled, place) => {
                let Ruled { request_id, key_id, rule, model } = ruled;
                let place = place.as_str();
                json!({"request_id": request_id, "key_id": key_id, "guardrail": rule, "place": place, "model": model, "suppressed": suppressed})
            }
            Self::ProviderKeyQuarantined { provider, key } => {
                json!({"provider": provider, "position": key.position, "name": key.name, "last_four": key.last_four})
            }
        }
    }
}

/// Gives events their ids, and holds back those that come too often.
#[derive(Debug, Default)]
pub struct Events {
    last: Mutex<(i64, u16)>,
    denials: Damper,
    blocks: Damper,
    trips: Damper,
}

impl Events {
    /// Appends an event to the journal, unless one like it was told less than a minute ago: of refusals by rules and by guardrails, one for each
    /// rule and key; of spend circuits, one for each rule. The next one tells how many were held back.
    pub fn tell(&self, journal: &Journal, clock: &Clock, event: &Event<'_>) {
        let ticks = clock.ticks();
        let told = match event {
            Event::GuardrailBlocked(ruled, _) => self.blocks.lets(&[ruled.rule, ruled.key_id], ticks),
            Event::RoutingDenied(ruled) => self.denials.lets(&[ruled.rule, ruled.key_id], ticks),
            Event::SpendCircuitTripped(ruled) => self.trips.lets(&[ruled.rule], ticks),
            Event::Circuit { .. } | Event::ProviderKeyQuarantined { .. } => Some(0),
        };
        if let Some(suppressed) = told {
            self.append(journal, clock.unix_ms(), event.kind(), &event.data(suppressed).to_string());
        }
    }

    /// Appends in the order of ids.
    fn append(&self, journal: &Journal, now: i64, kind: &str, data: &str) {
        let mut last = self.last.lock();
        *last = next(*last, now);
        let id = RequestId::numbered(last.0, last.1);
        let view = EventView { id: id.as_str(), kind, data, created_at: last.0 };
        if let Err(error) = journal.event(&view) {
            log::error!("the event `{kind}` is lost: failed to {error}");
        }
    }
}

/// The millisecond and number of the next event: ids ascend although events share a millisecond or the clock goes back.
const fn next((last, number): (i64, u16), now: i64) -> (i64, u16) {
    if now > last {
        (now, 0)
    } else if number < MOST_NUMBERS {
        (last, number + 1)
    } else {
        (last + 1, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Entry, Position as At};

    fn told(journal: &Journal) -> Vec<(String, String, Value)> {
        let mut reader = journal.reader(At::default());
        let mut told = Vec::new();
        while let Some(entry) = reader.next(journal.end_position()).unwrap() {
            let Entry::Event(encoded) = entry else { panic!("only events were appended") };
            let event = encoded.event().unwrap();
            told.push((event.id.to_owned(), event.kind.to_owned(), serde_json::from_str(event.data).unwrap()));
        }
        told
    }

    #[test]
    fn events_are_appended_in_the_order_of_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), 1 << 30).unwrap();
        let (events, clock) = (Events::default(), Clock::default());
        let turns = [(Position::Closed, Position::Open), (Position::Open, Position::HalfOpen), (Position::HalfOpen, Position::Closed)];
        for round in 0..300 {
            let (from, to) = turns[round % 3];
            let failure = if to == Position::Open { "status" } else { "" };
            let turn = Turn { from, to };
            events.tell(&journal, &clock, &Event::Circuit { provider: "p", model: "m", turn, failure, status: 503 });
        }
        let told = told(&journal);
        assert_eq!(told.len(), 300);
        assert!(told.is_sorted_by(|one, next| one.0 < next.0), "also within a millisecond");
        let shown: Vec<_> = told[..3].iter().map(|(_, kind, data)| (kind.as_str(), data.to_string())).collect();
        assert_eq!(
            shown,
            [
                ("circuit.opened", r#"{"provider":"p","model":"m","previous":"closed","failure":"status","status":503}"#.to_owned()),
                ("circuit.half_opened", r#"{"provider":"p","model":"m","previous":"open"}"#.to_owned()),
                ("circuit.closed", r#"{"provider":"p","model":"m","previous":"half_open"}"#.to_owned()),
            ]
        );
    }

    #[test]
    fn numbers_ascend_when_the_clock_does_not() {
        assert_eq!(next((5, 3), 6), (6, 0));
        assert_eq!(next((5, 3), 5), (5, 4));
        assert_eq!(next((5, 3), 2), (5, 4));
        assert_eq!(next((5, MOST_NUMBERS), 5), (6, 0));
    }

    #[test]
    fn a_storm_of_refusals_is_one_event_for_each_rule_and_key() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), 1 << 30).unwrap();
        let (events, clock) = (Events::default(), Clock::default());
        for round in 0..1_000 {
            let key_id = if round % 2 == 0 { "k1" } else { "k2" };
            events.tell(&journal, &clock, &Event::RoutingDenied(Ruled { request_id: "r", key_id, rule: "no", model: "m" }));
        }
        let keys: Vec<_> =
            told(&journal).into_iter().map(|(_, kind, data)| format!("{kind} {} {}", data["key_id"], data["suppressed"])).collect();
        assert_eq!(keys, [r#"routing.denied "k1" 0"#, r#"routing.denied "k2" 0"#]);
    }
}
