//! One fault in every combination: client and provider of every shape, streamed and whole, alone and with another target after it.

mod cell;
mod check;

use std::thread;

use svc_tests::faulty::{Faulty, Place, Step, answers};
use svc_tests::gateway::{Gateway, Options};
use svc_tests::request_log::Database;
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

pub(crate) use self::cell::Cell;
use crate::{STEADY, provider};

/// Short enough to wait for in a test, and long enough for a machine that is busy.
const TIMEOUTS: &str = ", timeouts: {connect: 300ms, first_byte: 700ms, idle: 700ms}";

/// Statuses of the gateway's own for a provider that was there and gave no answer.
pub(crate) const NO_ANSWER: &[u16] = &[502, 503];
/// Statuses of the gateway's own for a provider that began and fell silent.
pub(crate) const SILENT: &[u16] = &[502, 504];

/// A fault with what must follow from it.
pub(crate) struct Fault {
    stand: Box<dyn FnOnce() -> Stand>,
    stream: Option<End>,
    whole: Option<End>,
    timeouts: &'static str,
    only_translated: bool,
    strict: bool,
    lets_go: bool,
}

/// What must follow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// The next target answers; without one, the client gets an error.
    Next(Alone),
    /// The faulty provider's answer is delivered: it is slow or odd, and sound. It begins with these words.
    Served(&'static str),
    /// The answer had begun: an error inside it ends it, and no other target is asked.
    Broken,
    /// The error is the client's own: it is delivered with this status, and no other target is asked.
    Passed(u16),
}

/// What the client gets where no other target is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    /// Statuses where client and provider speak the same dialect.
    same: &'static [u16],
    /// Statuses where they do not.
    other: &'static [u16],
    /// Whose error it is; either, where none is given.
    origin: Option<&'static str>,
    /// Words the record may have for the try.
    words: &'static [&'static str],
}

/// An error of the gateway's own.
pub(crate) const fn gateway(statuses: &'static [u16], words: &'static [&'static str]) -> End {
    End::Next(Alone { same: statuses, other: statuses, origin: Some("gateway"), words })
}

/// An error that may be told as the provider's or the gateway's.
pub(crate) const fn error(statuses: &'static [u16], words: &'static [&'static str]) -> End {
    End::Next(Alone { same: statuses, other: statuses, origin: None, words })
}

/// An error in the provider's words, with statuses for clients of its own dialect and of others.
pub(crate) const fn upstream(same: &'static [u16], other: &'static [u16], words: &'static [&'static str]) -> End {
    End::Next(Alone { same, other, origin: Some("upstream"), words })
}

/// What misbehaves.
pub(crate) struct Stand {
    url: String,
    more: String,
    faulty: Option<Faulty>,
    /// Kept as long as the test runs.
    _held: Vec<Box<dyn std::any::Any>>,
}

impl Stand {
    /// An address without a server to ask about it.
    pub(crate) fn place(place: Place) -> Self {
        Self { url: place.url(), more: String::new(), faulty: None, _held: vec![Box::new(place)] }
    }

    /// Whatever answers at a URL, with further settings of the provider.
    pub(crate) fn at(url: &str, more: &str, held: Vec<Box<dyn std::any::Any>>) -> Self {
        Self { url: url.to_owned(), more: more.to_owned(), faulty: None, _held: held }
    }

    /// A faulty server.
    pub(crate) fn faulty(faulty: Faulty) -> Self {
        Self { url: faulty.url(), more: String::new(), faulty: Some(faulty), _held: Vec::new() }
    }

    /// The same, to be spoken to over TLS.
    pub(crate) fn over_tls(mut self) -> Self {
        self.url = self.url.replace("http://", "https://");
        self
    }
}

impl Fault {
    /// A fault with the same consequence for streams and whole answers.
    pub(crate) fn new(stand: impl FnOnce() -> Stand + 'static, end: End) -> Self {
        Self {
            stand: Box::new(stand),
            stream: Some(end),
            whole: Some(end),
            timeouts: TIMEOUTS,
            only_translated: false,
            strict: false,
            lets_go: false,
        }
    }

    /// A fault of the answer to a request.
    pub(crate) fn on_request(answer: fn(Shape, bool) -> Vec<Step>, end: End) -> Self {
        let stand = move || {
            Stand::faulty(Faulty::on_request(move |request| {
                let (shape, stream) = answers::asked(request);
                answer(shape, stream)
            }))
        };
        Self::new(stand, end)
    }

    /// A fault only streams have.
    pub(crate) fn only_stream(mut self) -> Self {
        self.whole = None;
        self
    }

    /// A fault only whole answers have.
    pub(crate) fn only_whole(mut self) -> Self {
        self.stream = None;
        self
    }

    /// A fault only where client and provider speak different dialects.
    pub(crate) fn only_translated(mut self) -> Self {
        self.only_translated = true;
        self
    }

    /// A provider that has all the time it wants.
    pub(crate) fn patient(mut self) -> Self {
        self.timeouts = "";
        self
    }

    /// The record must name the failure also where no other target was left.
    pub(crate) fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// The gateway must close its connections to the provider, which never would.
    pub(crate) fn lets_go(mut self) -> Self {
        self.lets_go = true;
        self
    }

    /// Tries every combination.
    pub(crate) fn run(self) {
        let good = Upstream::start();
        let cells: Vec<(Cell, End)> = Cell::all().filter_map(|cell| Some((cell, self.end(&cell)?))).collect();
        let stand = (self.stand)();
        let server = Gateway::start(options(&cells, &stand, self.timeouts, &good));
        let database = Database::open(&server.database_url());
        let mut wrong = Vec::new();
        for some in cells.chunks(9) {
            wrong.extend(thread::scope(|scope| {
                let asked: Vec<_> =
                    some.iter().map(|(cell, end)| scope.spawn(|| cell.try_out(*end, self.strict, &server, &database).err())).collect();
                asked.into_iter().filter_map(|cell| cell.join().expect("checks do not panic")).collect::<Vec<_>>()
            }));
        }
        assert!(wrong.is_empty(), "{} of {} combinations are wrong:\n{}", wrong.len(), cells.len(), wrong.join("\n"));
        if let Some(faulty) = stand.faulty.as_ref().filter(|_| self.lets_go) {
            faulty.wait_over();
        }
    }

    fn end(&self, cell: &Cell) -> Option<End> {
        let end = if cell.stream { self.stream } else { self.whole };
        end.filter(|_| !(self.only_translated && cell.is_same()))
    }
}

fn options(cells: &[(Cell, End)], stand: &Stand, timeouts: &str, good: &Upstream) -> Options {
    let more = format!("{timeouts}{}", stand.more);
    let providers: String = cells.iter().map(|(cell, _)| provider(&cell.bad(), cell.provider, &stand.url, &more)).collect();
    let models: String = cells.iter().map(|(cell, _)| cell.model_line()).collect();
    Options::standard(&good.url()).with_providers(&providers).with_models(&models).with(STEADY)
}
