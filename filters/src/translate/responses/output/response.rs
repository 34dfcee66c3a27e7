//! The response object.

use crate::canonical::Text;
use crate::translate::ClientView;
use crate::translate::map::ids;
use crate::usage::Usage;
use crate::wire::json::Writer;

/// Id of the response: the same in every event.
fn id(view: &ClientView) -> String {
    ids::made_from("resp_", &view.request_id)
}

/// How far the answer is.
pub(super) enum Ending<'e> {
    /// It goes on.
    Open,
    /// The model was done.
    Completed,
    /// It was cut off, for this reason.
    Incomplete(&'static str),
    /// It broke.
    Failed {
        /// Machine-readable.
        code: &'static str,
        /// In words.
        message: &'e Text<'e>,
    },
}

impl Ending<'_> {
    const fn status(&self) -> &'static str {
        match self {
            Self::Open => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete(_) => "incomplete",
            Self::Failed { .. } => "failed",
        }
    }
}

/// Writes the response. Items that are still open are left out.
pub(super) fn write(view: &ClientView, created: i64, ending: &Ending<'_>, output: &[Vec<u8>], usage: Option<Usage>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("id", &id(view));
    w.str_field("object", "response");
    w.whole_field("created_at", created);
    w.str_field("status", ending.status());
    match ending {
        Ending::Failed { code, message } => w.object("error", |w| {
            w.str_field("code", code);
            w.text_field("message", message);
        }),
        Ending::Open | Ending::Completed | Ending::Incomplete(_) => w.null_field("error"),
    }
    match ending {
        Ending::Incomplete(reason) => w.object("incomplete_details", |w| w.str_field("reason", reason)),
        Ending::Open | Ending::Completed | Ending::Failed { .. } => w.null_field("incomplete_details"),
    }
    w.null_field("instructions");
    w.object("metadata", |_| {});
    w.str_field("model", &view.model);
    w.array("output", |w| output.iter().filter(|item| !item.is_empty()).for_each(|item| w.raw(item)));
    w.bool_field("parallel_tool_calls", true);
    w.null_field("previous_response_id");
    w.bool_field("store", false);
    w.null_field("temperature");
    w.str_field("tool_choice", "auto");
    w.array("tools", |_| {});
    w.null_field("top_p");
    match usage.filter(|_| !matches!(ending, Ending::Open)) {
        None => w.null_field("usage"),
        Some(usage) => w.object("usage", |w| write_usage(&usage, w)),
    }
    w.end_object();
}

fn write_usage(usage: &Usage, w: &mut Writer<'_>) {
    w.whole_field("input_tokens", usage.input());
    w.object("input_tokens_details", |w| {
        w.whole_field("cached_tokens", usage.cache_read);
        w.whole_field("cache_write_tokens", usage.cache_write());
    });
    w.whole_field("output_tokens", usage.output);
    w.object("output_tokens_details", |w| w.whole_field("reasoning_tokens", usage.reasoning.unwrap_or(0)));
    w.whole_field("total_tokens", usage.total());
}
