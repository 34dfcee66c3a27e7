//! The response object.

use crate::canonical::{Failure, FinishReason};
use crate::translate::ClientView;
use crate::translate::map::ids;
use crate::usage::Usage;
use crate::wire::json::Writer;

/// Id of the response: the same in every event.
fn id(view: &ClientView) -> String {
    ids::made_from("resp_", &view.request_id)
}

pub(super) fn write(
    view: &ClientView,
    created: i64,
    status: &str,
    output: &[Vec<u8>],
    usage: Option<Usage>,
    failure: Option<&Failure<'_>>,
    w: &mut Writer<'_>,
) {
    object(view, created, status, output, usage, w, |w| {
        match failure {
            None => w.null_field("error"),
            Some(failure) => w.object("error", |w| {
                w.text_field("code", &failure.code);
                w.text_field("message", &failure.message);
            }),
        }
        w.null_field("incomplete_details");
    });
}

/// The response of an answer that came to its end.
pub(super) fn ended(
    view: &ClientView,
    created: i64,
    status: &str,
    finish: Option<FinishReason>,
    output: &[Vec<u8>],
    usage: Option<Usage>,
    w: &mut Writer<'_>,
) {
    object(view, created, status, output, usage, w, |w| {
        w.null_field("error");
        match finish {
            Some(FinishReason::Length) => w.object("incomplete_details", |w| w.str_field("reason", "max_output_tokens")),
            Some(FinishReason::Refusal) => w.object("incomplete_details", |w| w.str_field("reason", "content_filter")),
            _ => w.null_field("incomplete_details"),
        }
    });
}

fn object(
    view: &ClientView,
    created: i64,
    status: &str,
    output: &[Vec<u8>],
    usage: Option<Usage>,
    w: &mut Writer<'_>,
    details: impl FnOnce(&mut Writer<'_>),
) {
    w.begin_object();
    w.str_field("id", &id(view));
    w.str_field("object", "response");
    w.whole_field("created_at", created);
    w.str_field("status", status);
    details(w);
    w.null_field("instructions");
    w.object("metadata", |_| {});
    w.str_field("model", &view.model);
    w.array("output", |w| output.iter().for_each(|item| w.raw(item)));
    w.bool_field("parallel_tool_calls", true);
    w.null_field("previous_response_id");
    w.bool_field("store", false);
    w.null_field("temperature");
    w.str_field("tool_choice", "auto");
    w.array("tools", |_| {});
    w.null_field("top_p");
    match usage {
        None => w.null_field("usage"),
        Some(usage) => w.object("usage", |w| write_usage(&usage, w)),
    }
    w.end_object();
}

fn write_usage(usage: &Usage, w: &mut Writer<'_>) {
    w.whole_field("input_tokens", usage.input());
    w.object("input_tokens_details", |w| {
        w.whole_field("cached_tokens", usage.cache_read);
        if usage.cache_write() > 0 {
            w.whole_field("cache_write_tokens", usage.cache_write());
        }
    });
    w.whole_field("output_tokens", usage.output);
    w.object("output_tokens_details", |w| w.whole_field("reasoning_tokens", usage.reasoning.unwrap_or(0)));
    w.whole_field("total_tokens", usage.total());
}
