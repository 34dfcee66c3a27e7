//! Items of tools that ran within the answer: searches of the web, and pictures.

use super::items::{Items, place_number};
use crate::canonical::{SearchHit, Text};
use crate::wire::json::Writer;

impl Items {
    pub(super) fn search(&mut self, query: &Text<'_>, hits: &[SearchHit<'_>], out: &mut Vec<u8>) {
        self.close_words(out);
        let (place, id) = self.next("ws_");
        self.added(place, out, |w| {
            head_of(&id, "web_search_call", "in_progress", w);
            w.object("action", |w| {
                w.str_field("type", "search");
                w.text_field("query", query);
            });
        });
        for step in ["in_progress", "searching", "completed"] {
            self.event(&format!("response.web_search_call.{step}"), out, |_, w| {
                w.whole_field("output_index", place_number(place));
                w.str_field("item_id", &id);
            });
        }
        self.finish(place, out, |w| {
            head_of(&id, "web_search_call", "completed", w);
            w.object("action", |w| {
                w.str_field("type", "search");
                w.text_field("query", query);
                w.array("sources", |w| hits.iter().for_each(|hit| source(hit, w)));
            });
        });
    }

    /// A picture; sound has no item of its own.
    pub(super) fn picture(&mut self, media_type: &Text<'_>, data: &Text<'_>, out: &mut Vec<u8>) {
        if !media_type.decode().starts_with("image/") {
            return;
        }
        self.close_words(out);
        let (place, id) = self.next("ig_");
        self.added(place, out, |w| {
            head_of(&id, "image_generation_call", "in_progress", w);
            w.null_field("result");
        });
        self.finish(place, out, |w| {
            head_of(&id, "image_generation_call", "completed", w);
            w.text_field("result", data);
        });
    }
}

fn head_of(id: &str, kind: &str, status: &str, w: &mut Writer<'_>) {
    w.str_field("id", id);
    w.str_field("type", kind);
    w.str_field("status", status);
}

fn source(hit: &SearchHit<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "url");
    w.text_field("url", &hit.url);
    w.end_object();
}
