//! Guardrails over real processes: every action at every place, for every pair of client and provider, whole and streamed.

mod answers;
mod forms;
mod inherited;
mod models;
mod models_failing;
mod prompts;
mod reasoning;
mod said;
mod trial;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use svc_entity::event_outbox::{Column, Entity};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Answer, Connection};
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::{Upstream, runtime};

/// Every client shape.
const CLIENTS: [Shape; 4] = Shape::CLIENTS;
const FAST_LOG: &str = "telemetry: {batch_size: 64, batch_timeout_ms: 20}\n";

/// A gateway with guardrails over the emulator of every provider.
struct Setup {
    upstream: Upstream,
    gateway: Gateway,
    database: Database,
}

impl Setup {
    fn new(guardrails: &str) -> Self {
        Self::with(guardrails, "")
    }

    /// The same with further keys.
    fn with(guardrails: &str, keys: &str) -> Self {
        let upstream = Upstream::start();
        let options = Options::standard(&upstream.url()).with(keys).with(&format!("guardrails:\n{guardrails}")).with(FAST_LOG);
        let gateway = Gateway::start(options);
        let database = Database::open(&gateway.database_url());
        Self { upstream, gateway, database }
    }

    fn ask(&self, client: Shape, model: &str, text: &str, stream: bool) -> Answer {
        client.ask(&mut Connection::open(self.gateway.address), model, text, stream)
    }

    /// Asks with a body of the test's own.
    fn post(&self, client: Shape, model: &str, body: &serde_json::Value, stream: bool) -> Answer {
        let (name, value) = client.credential(KEY);
        let mut connection = Connection::open(self.gateway.address);
        connection.post(&client.path(model, stream), &[(name, &value), ("content-type", "application/json")], body.to_string());
        connection.answer().expect("an answer")
    }

    /// What events of a kind tell.
    fn events(&self, kind: &str) -> Vec<serde_json::Value> {
        let rows = runtime().block_on(Entity::find().filter(Column::Kind.eq(kind)).all(self.database.connection()));
        rows.expect("the outbox can be read").iter().map(|row| serde_json::from_str(&row.data).expect("JSON")).collect()
    }

    /// The note of that name in the log's row of an answer.
    fn note(&self, answer: &Answer, name: &str) -> serde_json::Value {
        let row = self.database.row(answer.header("x-svc-request-id").expect("an id"));
        let decision: serde_json::Value = serde_json::from_str(row.decision.as_deref().unwrap_or("{}")).expect("JSON");
        let notes = decision["notes"].as_array().cloned().unwrap_or_default();
        let note = notes.iter().find(|note| note["name"] == name).and_then(|note| note["value"].as_str());
        serde_json::from_str(note.unwrap_or("null")).expect("a note is JSON")
    }
}

/// Every pair of client and provider, whole and streamed.
fn pairs() -> impl Iterator<Item = (Shape, Shape, bool)> {
    let providers = |client| Shape::ALL.map(move |provider| (client, provider));
    CLIENTS.into_iter().flat_map(providers).flat_map(|(client, provider)| [(client, provider, false), (client, provider, true)])
}
