//! One combination of client, provider, form and targets: how it is set up and asked.

use std::time::{Duration, Instant};

use svc_tests::gateway::{Gateway, KEY};
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;

use super::End;
use super::check::Seen;

/// The longest any answer may take: all time-outs together and much room.
const LONGEST: Duration = Duration::from_secs(10);

/// One combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    number: usize,
    pub(crate) client: Shape,
    pub(crate) provider: Shape,
    pub(crate) stream: bool,
    /// Whether a good target comes after the bad one.
    pub(crate) pair: bool,
}

impl Cell {
    /// Every pair of shapes that are a provider's only one, and the responses shape on providers that have it and others.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let clients = Shape::ALL.iter().flat_map(|client| Shape::ALL.map(|provider| (*client, provider)));
        let pairs = clients.chain([(Shape::Responses, Shape::Responses), (Shape::Responses, Shape::Messages)]);
        let cells = pairs.flat_map(|pair| [(true, true), (true, false), (false, true), (false, false)].map(|form| (pair, form)));
        cells.enumerate().map(|(number, ((client, provider), (stream, pair)))| Self { number, client, provider, stream, pair })
    }

    /// Whether client and provider speak the same dialect.
    pub(crate) fn is_same(&self) -> bool {
        self.client == self.provider
    }

    /// Asks, and checks what comes of it.
    pub(super) fn try_out(&self, end: End, strict: bool, server: &Gateway, database: &Database) -> Result<(), String> {
        let told = |what: String| format!("--- {self:?}: {what}");
        let began = Instant::now();
        let mut connection = Connection::open(server.address);
        self.client.send(&mut connection, KEY, &self.model(), "hi", self.stream);
        let answer = connection.answer().ok_or_else(|| told("no answer at all".to_owned()))?;
        let took = began.elapsed();
        let id = answer.header("x-svc-request-id").ok_or_else(|| told(format!("no request id: {}", answer.head)))?;
        let row = database.row(id);
        Seen { cell: self, answer: &answer, row: &row, strict }.check(end).map_err(|what| {
            let decision = row.decision.as_deref().unwrap_or_default();
            told(format!("{what}\n{}\n\n{}\nrow: {} {:?} {decision}\n", answer.head, answer.text(), row.status, row.outcome))
        })?;
        if took > LONGEST { Err(told(format!("took {took:?}"))) } else { Ok(()) }
    }

    fn model(&self) -> String {
        format!("model-{}", self.number)
    }

    pub(super) fn bad(&self) -> String {
        format!("bad-{}", self.number)
    }

    /// The provider of the good target: where the bad one's answers are translated, one of the client's own dialect.
    pub(super) fn good(&self) -> &'static str {
        match self.client {
            Shape::Chat | Shape::Responses => "chat",
            Shape::Messages => "messages",
            Shape::Generate => "generate",
        }
    }

    pub(super) fn model_line(&self) -> String {
        let good = if self.pair { format!(", {{provider: {}, model: demo-1, priority: 1}}", self.good()) } else { String::new() };
        format!("  - {{name: {}, targets: [{{provider: {}, model: m}}{good}]}}\n", self.model(), self.bad())
    }
}
