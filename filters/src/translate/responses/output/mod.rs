//! Writing an answer for a client: the same items, told in events or given as one document.

mod items;
mod response;

use self::items::Items;
use crate::canonical::{Event, Failure, FinishReason};
use crate::translate::{ClientView, Encode};
use crate::usage::Usage;
use crate::wire::json::Writer;

/// Writes streams.
pub fn stream_encoder(view: ClientView) -> impl Encode + 'static {
    Encoder::new(view, true)
}

/// Writes whole answers.
pub fn whole_encoder(view: ClientView) -> impl Encode + 'static {
    Encoder::new(view, false)
}

struct Encoder {
    view: ClientView,
    items: Items,
    created: i64,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
    started: bool,
    over: bool,
}

impl Encoder {
    fn new(view: ClientView, stream: bool) -> Self {
        let items = Items::new(&view, stream);
        let created = view.created;
        Self { view, items, created, finish: None, usage: None, started: false, over: false }
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        for kind in ["response.created", "response.in_progress"] {
            self.tell(kind, "in_progress", None, out);
        }
    }

    /// An event that holds the whole response.
    fn tell(&mut self, kind: &str, status: &str, failure: Option<&Failure<'_>>, out: &mut Vec<u8>) {
        if !self.items.stream {
            return;
        }
        let (view, created, usage) = (&self.view, self.created, self.usage.filter(|_| status != "in_progress"));
        self.items.event(kind, out, |items, w| {
            w.key("response");
            response::write(view, created, status, &items.done, usage, failure, w);
        });
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.over = true;
        self.items.close_all(out);
        let status = match self.finish {
            Some(FinishReason::Length | FinishReason::Refusal) => "incomplete",
            _ => "completed",
        };
        if self.items.stream {
            let kind = if status == "incomplete" { "response.incomplete" } else { "response.completed" };
            let (view, created, usage, finish) = (&self.view, self.created, self.usage, self.finish);
            self.items.event(kind, out, |items, w| {
                w.key("response");
                response::ended(view, created, status, finish, &items.done, usage, w);
            });
        } else {
            let mut w = Writer::new(out);
            response::ended(&self.view, self.created, status, self.finish, &self.items.done, self.usage, &mut w);
        }
    }

    fn fail(&mut self, failure: &Failure<'_>, out: &mut Vec<u8>) {
        self.over = true;
        if !self.items.stream {
            return;
        }
        let code = if failure.code.is_empty() { "upstream_error".into() } else { failure.code.decode() };
        self.items.event("error", out, |_, w| {
            w.str_field("code", &code);
            w.text_field("message", &failure.message);
            w.null_field("param");
            // The SDKs raise on this member, whatever the event's name.
            w.object("error", |w| {
                w.str_field("type", "server_error");
                w.str_field("code", &code);
                w.text_field("message", &failure.message);
                w.null_field("param");
            });
        });
    }
}

impl Encode for Encoder {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        if self.over {
            return;
        }
        match event {
            Event::Start { created, .. } => {
                self.created = created.unwrap_or(self.created);
                self.start(out);
            }
            Event::Failed(failure) => self.fail(failure, out),
            Event::End => {
                self.start(out);
                self.end(out);
            }
            Event::Usage(usage) => self.usage = Some(*usage),
            Event::Finish { choice: 0, finish } => self.finish = Some(finish.reason),
            Event::Ping | Event::Unknown { .. } | Event::Finish { .. } => {}
            other => {
                self.start(out);
                self.items.take(other, out);
            }
        }
    }
}
