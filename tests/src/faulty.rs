//! A server that misbehaves as a test says, for each connection or each request: it resets, hangs, drips, lies about lengths.

pub mod answers;
pub mod http2;
mod places;
mod step;

use std::io::{BufReader, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub use places::{Place, closed_port, full_backlog};
pub use step::Step;

use crate::stub::{Asked, read};
use crate::wait;

/// One connection of a client.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What was asked on it, oldest first.
    pub asked: Vec<Asked>,
    /// When the client was found to have closed it.
    pub closed: Option<Instant>,
    /// Whether the server is done with it, whoever ended it.
    pub over: bool,
}

type OnAccept = dyn Fn(usize) -> Option<Vec<Step>> + Send + Sync;
type OnRequest = dyn Fn(&Asked) -> Vec<Step> + Send + Sync;

/// A running server. Its threads end with their connections.
pub struct Faulty {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Faulty {
    /// A server that does the same to every connection before it reads anything.
    #[must_use]
    pub fn on_accept(steps: Vec<Step>) -> Self {
        Self::start(move |_| Some(steps.clone()), |_| vec![Step::Close])
    }

    /// A server that reads a request, then does what the test says.
    #[must_use]
    pub fn on_request(answer: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start(|_| None, answer)
    }

    /// A server with a script for connections, counted from 0, and one for the requests on those the first leaves alone.
    ///
    /// # Panics
    /// When there is no free port.
    #[must_use]
    pub fn start(
        accept: impl Fn(usize) -> Option<Vec<Step>> + Send + Sync + 'static,
        answer: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::over(TcpListener::bind("127.0.0.1:0").expect("a free port"), accept, answer)
    }

    fn over(
        listener: TcpListener,
        accept: impl Fn(usize) -> Option<Vec<Step>> + Send + Sync + 'static,
        answer: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (accept, answer): (Arc<OnAccept>, Arc<OnRequest>) = (Arc::new(accept), Arc::new(answer));
        let kept = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = {
                    let mut seen = kept.lock().expect("not poisoned");
                    seen.push(Seen { asked: Vec::new(), closed: None, over: false });
                    seen.len() - 1
                };
                let visit = Visit { number, stream, seen: kept.clone() };
                let (accept, answer) = (accept.clone(), answer.clone());
                thread::spawn(move || visit.serve(&*accept, &*answer));
            }
        });
        Self { address, seen }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every connection so far, oldest first.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// Number of requests so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.seen().iter().map(|seen| seen.asked.len()).sum()
    }

    /// Waits until a number of requests has arrived.
    pub fn wait_asked(&self, count: usize) {
        wait::until(&format!("request {count} at the faulty server"), || (self.count() >= count).then_some(()));
    }

    /// When the client closed the newest connection, once it has.
    ///
    /// # Panics
    /// When it does not within five seconds.
    #[must_use]
    pub fn wait_closed(&self) -> Instant {
        wait::within(Duration::from_secs(5), "the client to close its connection", || self.seen().last()?.closed)
    }

    /// Waits until no connection is left, whoever closed it.
    pub fn wait_over(&self) {
        wait::until("every connection to be over", || self.seen().iter().all(|seen| seen.over).then_some(()));
    }
}

/// One connection being served. It has a single descriptor, so that dropping it is what the client sees.
struct Visit {
    number: usize,
    stream: TcpStream,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Visit {
    fn serve(self, accept: &OnAccept, answer: &OnRequest) {
        let _ = self.stream.set_nodelay(true);
        let gone = match accept(self.number) {
            Some(steps) => step::run(&self.stream, &steps) == step::End::ClientGone,
            None => self.converse(answer),
        };
        self.note(|seen| seen.closed = gone.then(Instant::now));
        let Self { number, stream, seen } = self;
        drop(stream);
        seen.lock().expect("not poisoned")[number].over = true;
    }

    /// Whether it was the client that ended it.
    fn converse(&self, answer: &OnRequest) -> bool {
        let mut reader = BufReader::new(&self.stream);
        while let Some(asked) = read(&mut reader) {
            self.note(|seen| seen.asked.push(asked.clone()));
            match step::run(&self.stream, &answer(&asked)) {
                step::End::Next => {}
                step::End::Closed => return false,
                step::End::ClientGone => return true,
            }
        }
        true
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock().expect("not poisoned")[self.number]);
    }
}

/// Whether a client closes within a time, which is waited for.
fn is_gone(mut stream: &TcpStream, within: Duration) -> bool {
    let _ = stream.set_read_timeout(Some(within));
    let mut buffer = [0; 4096];
    let gone = loop {
        match stream.read(&mut buffer) {
            Ok(0) => break true,
            // What a client sends while it is hung up on is of no interest, and does not prolong the wait for long.
            Ok(_) => {}
            Err(error) => break !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted),
        }
    };
    let _ = stream.set_read_timeout(None);
    gone
}
