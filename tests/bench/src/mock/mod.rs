//! The mock provider: chat_completions, messages and generate_content, as JSON or as a stream of events.
//!
//! Paths are recognised by their end, as a provider's base URL may add a prefix. `GET …/models` answers a list of one;
//! `GET /stats` answers how much was served, so that a test can tell whether each request arrived exactly once.

mod answers;
mod connection;
mod events;
mod request;

use std::cell::Cell;
use std::rc::Rc;

use tokio::net::TcpListener;

/// What was served so far.
#[derive(Debug, Default)]
pub struct Served {
    requests: Cell<u64>,
    streams: Cell<u64>,
    deltas: Cell<u64>,
    broken_off: Cell<u64>,
}

impl Served {
    fn add(counter: &Cell<u64>, more: u64) {
        counter.set(counter.get() + more);
    }

    fn to_json(&self) -> String {
        let Self { requests, streams, deltas, broken_off } = self;
        format!(
            r#"{{"requests":{},"streams":{},"deltas":{},"broken_off":{}}}"#,
            requests.get(),
            streams.get(),
            deltas.get(),
            broken_off.get()
        )
    }
}

/// Accepts connections for ever. Must run inside a `LocalSet`: each connection is a local task.
pub async fn serve(listener: TcpListener) {
    let served = Rc::new(Served::default());
    let answers = Rc::new(answers::Answers::new());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        // Without this, small events wait for the acknowledgement of the one before. A socket that is gone shows at its first read.
        let _ = stream.set_nodelay(true);
        let (answers, served) = (Rc::clone(&answers), Rc::clone(&served));
        tokio::task::spawn_local(async move {
            if connection::run(stream, &answers, &served).await.is_err() {
                Served::add(&served.broken_off, 1);
            }
        });
    }
}
