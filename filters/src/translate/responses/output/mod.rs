//! Writing an answer for a client: the same items, told in events or given as one document.

mod calls;
mod hosted;
mod items;
mod message;
mod reasoning;
mod response;
#[cfg(test)]
mod tests;

use self::items::Items;
use self::response::Ending;
use crate::canonical::{Event, Failure, FailureClass, FinishReason};
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
            self.tell(kind, &Ending::Open, out);
        }
    }

    /// An event that holds the whole response.
    fn tell(&mut self, kind: &str, ending: &Ending<'_>, out: &mut Vec<u8>) {
        let Self { view, created, usage, items, .. } = self;
        items.event(kind, out, |items, w| {
            w.key("response");
            response::write(view, *created, ending, &items.done, *usage, w);
        });
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.over = true;
        let (kind, ending) = match self.finish {
            Some(FinishReason::Length) => ("response.incomplete", Ending::Incomplete("max_output_tokens")),
            Some(FinishReason::Refusal) => ("response.incomplete", Ending::Incomplete("content_filter")),
            Some(FinishReason::Stop | FinishReason::StopSequence | FinishReason::ToolCalls | FinishReason::Pause | FinishReason::Other)
            | None => ("response.completed", Ending::Completed),
        };
        self.items.cut = matches!(ending, Ending::Incomplete(_));
        self.items.close_all(out);
        // Clients read the counts without asking whether there are any.
        self.usage.get_or_insert_default();
        if self.items.stream {
            self.tell(kind, &ending, out);
        } else {
            response::write(&self.view, self.created, &ending, &self.items.done, self.usage, &mut Writer::new(out));
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
        // Clients that do not know the event above wait for this one.
        let failed = Ending::Failed { code: code_of(failure.class), message: &failure.message };
        self.tell("response.failed", &failed, out);
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

/// The code clients of this dialect decide by whether to come again.
const fn code_of(class: FailureClass) -> &'static str {
    match class {
        FailureClass::ContextTooLong => "context_length_exceeded",
        FailureClass::Billing => "insufficient_quota",
        FailureClass::Rate => "rate_limit_exceeded",
        FailureClass::Overloaded => "server_is_overloaded",
        FailureClass::BadRequest | FailureClass::TooLarge | FailureClass::RefusedInput => "invalid_prompt",
        FailureClass::Auth
        | FailureClass::Permission
        | FailureClass::NotFound
        | FailureClass::Conflict
        | FailureClass::Timeout
        | FailureClass::Server => "server_error",
    }
}
