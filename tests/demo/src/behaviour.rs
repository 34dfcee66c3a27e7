//! Bodies that misbehave: slow, cut, hanging, with an error inside, in small frames.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::HttpBody;
use bytes::Bytes;
use http_body::Frame;

use crate::directive::Directives;

/// Time for what was written before a cut to leave the machine.
const FLUSH: Duration = Duration::from_millis(30);

/// What a body does next.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Bytes),
    /// The connection breaks here.
    Cut,
    /// Nothing more comes, the connection stays open.
    Hang,
}

/// The connection was broken on request.
#[derive(Debug, thiserror::Error)]
#[error("cut the connection on request")]
pub(crate) struct CutOnRequest;

/// What ends a stream that is to end badly.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    /// The vendor's own error event.
    pub(crate) error: Bytes,
    /// Something nobody can read.
    pub(crate) garbage: Bytes,
}

impl Trouble {
    /// For streams of server-sent events.
    pub(crate) fn data(error: Bytes) -> Self {
        Self { error, garbage: Bytes::from_static(b"data: {\"not\": json\n\n") }
    }
}

/// A body in steps.
#[derive(Debug)]
pub(crate) struct Script {
    steps: VecDeque<Step>,
    pause: Option<Duration>,
}

impl Script {
    /// The events of a stream.
    pub(crate) fn events(events: Vec<Bytes>, trouble: Trouble, directives: &Directives) -> Self {
        let half = events.len() / 2;
        let at = |name: &str| directives.has(name).then(|| directives.count(name).unwrap_or(half));
        let mut steps: VecDeque<Step> = events.into_iter().map(Step::Send).collect();
        if let Some(at) = at("cut") {
            end_with(&mut steps, at, Step::Cut);
        } else if let Some(at) = at("hang-after") {
            end_with(&mut steps, at, Step::Hang);
        } else if let Some(at) = at("inband-error") {
            end_with(&mut steps, at, Step::Send(trouble.error));
        } else if let Some(at) = at("garbage") {
            end_with(&mut steps, at, Step::Send(trouble.garbage));
        } else if let Some(at) = at("end-after") {
            steps.truncate(at);
        }
        Self { steps: split(steps, directives.count("split")), pause: directives.duration("slow") }
    }

    /// A body sent whole, unless a cut is asked for.
    pub(crate) fn whole(body: Bytes, directives: &Directives) -> Self {
        let mut steps = VecDeque::from([Step::Send(body.clone())]);
        if directives.has("cut") {
            steps = VecDeque::from([Step::Send(body.slice(..body.len() / 2)), Step::Cut]);
        }
        Self { steps: split(steps, directives.count("split")), pause: directives.duration("slow") }
    }

    async fn next(mut self) -> Option<(Result<Bytes, CutOnRequest>, Self)> {
        let step = self.steps.pop_front()?;
        match (&step, self.pause) {
            (Step::Send(_), Some(pause)) => tokio::time::sleep(pause).await,
            _ => tokio::task::yield_now().await,
        }
        match step {
            Step::Send(bytes) => Some((Ok(bytes), self)),
            Step::Cut => {
                tokio::time::sleep(FLUSH).await;
                Some((Err(CutOnRequest), self))
            }
            Step::Hang => std::future::pending().await,
        }
    }
}

fn end_with(steps: &mut VecDeque<Step>, at: usize, last: Step) {
    steps.truncate(at);
    steps.push_back(last);
}

fn split(steps: VecDeque<Step>, size: Option<usize>) -> VecDeque<Step> {
    let Some(size) = size.filter(|size| *size > 0) else { return steps };
    let cut = |step| match step {
        Step::Send(bytes) => bytes.chunks(size).map(|piece| Step::Send(Bytes::copy_from_slice(piece))).collect(),
        other => vec![other],
    };
    steps.into_iter().flat_map(cut).collect()
}

type Next = Pin<Box<dyn Future<Output = Option<(Result<Bytes, CutOnRequest>, Script)>> + Send>>;

/// A body that plays a script: every step is polled alone, so that the server flushes after each.
pub(crate) struct Playing(Option<Next>);

impl Playing {
    pub(crate) fn new(script: Script) -> Self {
        Self(Some(Box::pin(script.next())))
    }
}

impl HttpBody for Playing {
    type Data = Bytes;
    type Error = CutOnRequest;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, CutOnRequest>>> {
        let Some(next) = self.0.as_mut() else { return Poll::Ready(None) };
        match next.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.0 = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some((result, script))) => {
                self.0 = Some(Box::pin(script.next()));
                Poll::Ready(Some(result.map(Frame::data)))
            }
        }
    }
}
