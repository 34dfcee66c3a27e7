//! Clients that leave: the provider is let go at once, whatever it is doing, and nothing speaks against it.

use std::thread;
use std::time::{Duration, Instant};

use svc_entity::Outcome;
use svc_tests::faulty::{Faulty, Step, answers};
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::Connection;
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;
use svc_tests::wait;

use crate::{STEADY, provider};

/// How soon a provider must be let go; one second is the aim, the rest is for a busy machine.
const SOON: Duration = Duration::from_secs(2);

/// When the client leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// While a stream is under way.
    InMidStream,
    /// While a stream is under way and its provider is silent.
    InSilence,
    /// While the head of a stream is waited for.
    BeforeTheStream,
    /// While a whole answer is waited for.
    BeforeTheAnswer,
    /// While a whole answer arrives.
    InTheAnswer,
}

const TIMES: [When; 5] = [When::InMidStream, When::InSilence, When::BeforeTheStream, When::BeforeTheAnswer, When::InTheAnswer];

impl When {
    fn streams(self) -> bool {
        matches!(self, Self::InMidStream | Self::InSilence | Self::BeforeTheStream)
    }

    fn steps(self, shape: Shape) -> Vec<Step> {
        let content = answers::piece(&answers::content(shape));
        let begun = answers::head(self.streams()) + &answers::piece(&answers::opening(shape)) + &content;
        match self {
            Self::InMidStream => vec![Step::send(begun), Step::Repeat(content.into_bytes(), Duration::from_millis(20))],
            Self::InSilence => vec![Step::send(begun), Step::Hang],
            Self::BeforeTheStream | Self::BeforeTheAnswer => vec![Step::Hang],
            Self::InTheAnswer => vec![Step::send(answers::head(false) + &answers::piece(&answers::whole(shape)[..40])), Step::Hang],
        }
    }
}

/// One case with a provider of its own.
struct Case {
    when: When,
    client: Shape,
    shape: Shape,
    faulty: Faulty,
}

impl Case {
    fn name(&self) -> String {
        format!("{:?}-{:?}-{:?}", self.when, self.client, self.shape).to_lowercase()
    }

    fn run(&self, gateway: &Gateway, database: &Database) {
        let told = self.name();
        let mut connection = Connection::open(gateway.address);
        self.client.send(&mut connection, KEY, &told, "hi", self.when.streams());
        self.faulty.wait_asked(1);
        if matches!(self.when, When::InMidStream | When::InSilence) {
            let head = connection.begin().expect("a head");
            assert_eq!(head.status, 200, "{told}");
            let mut got = String::new();
            while !got.contains(answers::WORDS[1]) {
                got.push_str(&String::from_utf8_lossy(&connection.piece().expect("the stream goes on")));
            }
        }
        let left = Instant::now();
        drop(connection);
        let after = self.faulty.wait_closed().saturating_duration_since(left);
        assert!(after <= SOON, "{told}: the provider is let go soon, not after {after:?}");
        let find = || database.rows().into_iter().find(|row| row.model_asked.as_deref() == Some(&told));
        let row = wait::until(&format!("the row of {told}"), find);
        let decision = row.decision.unwrap_or_default();
        assert_eq!(row.outcome, Outcome::ClientGone, "{told}: {decision}");
        assert_eq!(row.attempts, 1, "{told}: nobody else is asked for a client that left: {decision}");
        assert_eq!(self.faulty.count(), 1, "{told}");
    }
}

#[test]
fn the_provider_is_let_go_and_the_record_says_that_the_client_left() {
    let mut cases = Vec::new();
    for when in TIMES {
        for number in 0..9 {
            let (client, shape) = (Shape::ALL[number % 3], Shape::ALL[number / 3]);
            let faulty = Faulty::on_request(move |request| when.steps(answers::asked(request).0));
            cases.push(Case { when, client, shape, faulty });
        }
    }
    let good = Upstream::start();
    let providers: String = cases.iter().map(|case| provider(&case.name(), case.shape, &case.faulty.url(), "")).collect();
    let line = |case: &Case| {
        let name = case.name();
        format!("  - {{name: {name}, targets: [{{provider: {name}, model: m}}, {{provider: chat, model: demo-1, priority: 1}}]}}\n")
    };
    let models: String = cases.iter().map(line).collect();
    let gateway = Gateway::start(Options::standard(&good.url()).with_providers(&providers).with_models(&models).with(STEADY));
    let database = Database::open(&gateway.database_url());
    for some in cases.chunks(9) {
        thread::scope(|scope| {
            for case in some {
                scope.spawn(|| case.run(&gateway, &database));
            }
        });
    }
    assert_eq!(good.count(), 0, "the next target was never asked");
}

#[test]
fn clients_that_leave_do_not_open_a_circuit() {
    let faulty = Faulty::on_request(|request| {
        let (shape, stream) = answers::asked(request);
        if request.text().contains("leave") { vec![Step::Hang] } else { vec![Step::send(answers::sound(shape, stream))] }
    });
    let good = Upstream::start();
    let models = "  - {name: alone, targets: [{provider: first, model: m}]}\n";
    let options = Options::standard(&good.url()).with_providers(&provider("first", Shape::Chat, &faulty.url(), "")).with_models(models);
    let gateway = Gateway::start(options.with("breaker: {consecutive_failures: 2}\n"));
    for number in 0..6 {
        let mut connection = Connection::open(gateway.address);
        Shape::Chat.send(&mut connection, KEY, "alone", "leave", number % 2 == 0);
        faulty.wait_asked(number + 1);
        drop(connection);
        let _ = faulty.wait_closed();
    }
    let answer = Shape::Chat.ask(&mut Connection::open(gateway.address), "alone", "stay", false);
    assert_eq!((answer.status, answer.header("x-svc-attempts")), (200, Some("1")), "{}\n{}", answer.head, gateway.log());
    assert!(!gateway.log().contains("circuit open"), "{}", gateway.log());
}
