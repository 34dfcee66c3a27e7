//! Edits of a messages body for the clouds that host the vendor's models: members out, members in, every other byte as it was.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;
use svc_filters::wire::json::{Edit, Kind, Member, Span, elements, encode_string, members};
use svc_filters::wire::pieces::Pieces;

static SCOPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"scope\""));

/// What becomes of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stays.
    Keep,
    /// It goes, and nothing is lost by that.
    Drop,
    /// It goes, and the record says so.
    Omit,
}

/// Collects the edits of one body.
pub(super) struct Editing<'b> {
    body: &'b Bytes,
    edits: Vec<Edit<'b>>,
    added: Vec<u8>,
    omitted: Vec<String>,
}

impl<'b> Editing<'b> {
    pub(super) const fn new(body: &'b Bytes) -> Self {
        Self { body, edits: Vec::new(), added: Vec::new(), omitted: Vec::new() }
    }

    /// Notes something that does not go along.
    pub(super) fn omit(&mut self, what: String) {
        if !self.omitted.contains(&what) {
            self.omitted.push(what);
        }
    }

    /// Adds a top-level member.
    pub(super) fn add(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.added.is_empty() {
            self.added.push(b',');
        }
        encode_string(name, &mut self.added);
        self.added.push(b':');
        write(&mut self.added);
    }

    /// Decides on the members of the object at `at` by name. `path` is what the record calls it, empty for the top level.
    pub(super) fn sift(&mut self, at: Span, path: &str, fate: impl Fn(&Member<'b>) -> Fate) {
        let body = self.body;
        let found: Vec<(Member<'b>, Fate)> = members(at.of(body)).map(|member| (member, fate(&member))).collect();
        let mut kept = None;
        for (index, (member, fate)) in found.iter().enumerate() {
            if *fate == Fate::Keep {
                kept = Some(member.span.end);
                continue;
            }
            if *fate == Fate::Omit {
                self.omit(format!("{path}{}", member.key()));
            }
            let before = found.get(index.wrapping_sub(1)).map(|(before, _)| before.span.end);
            let next = found.get(index + 1).map(|(next, _)| next.key_span.start);
            let span = match (kept, before) {
                (Some(_), Some(before)) => Span { start: before, end: member.span.end },
                _ => Span { start: member.key_span.start, end: next.unwrap_or(member.span.end) },
            };
            self.edits.push(Edit::replace(span.shifted(at.start), &b""[..]));
        }
        if path.is_empty() {
            self.place_added(at, found.first().map(|(first, _)| first.key_span.start), kept.is_some());
        }
    }

    /// Decides on the members of a top-level object in one of its spellings.
    pub(super) fn sift_inner(&mut self, names: &[&str], path: &str, fate: impl Fn(&Member<'b>) -> Fate) {
        let body = self.body;
        for member in members(body).filter(|member| member.kind == Kind::Object && names.iter().any(|name| member.is(name))) {
            self.sift(member.span, path, &fate);
        }
    }

    /// Takes out what the clouds refuse below the top level: `scope` of cache marks, and members of tools.
    pub(super) fn sift_nested(&mut self, of_tool: impl Fn(&Member<'b>) -> Fate) {
        let body = self.body;
        let scoped = SCOPE.find(body).is_some();
        for member in members(body) {
            match &*member.name() {
                b"tools" => self.each(member.span, |this, tool| {
                    this.sift(tool, "tools.", &of_tool);
                    this.unscope(tool, scoped);
                }),
                b"system" if scoped => self.each(member.span, |this, block| this.unscope(block, true)),
                b"messages" if scoped => self.each(member.span, |this, message| this.unscope_content(message)),
                _ => {}
            }
        }
    }

    /// The edited body and what was left out.
    pub(super) fn finish(mut self) -> (Pieces, Vec<String>) {
        (Pieces::spliced(self.body, &mut self.edits), self.omitted)
    }

    fn place_added(&mut self, object: Span, first: Option<usize>, kept: bool) {
        let mut added = std::mem::take(&mut self.added);
        if added.is_empty() {
            return;
        }
        if kept {
            added.push(b',');
        }
        let at = first.unwrap_or(1) + object.start;
        // Before the others: an insertion comes first at its place.
        self.edits.insert(0, Edit::insert(at, added));
    }

    /// Calls `visit` for each object of the array at `at`.
    fn each(&mut self, at: Span, visit: impl Fn(&mut Self, Span)) {
        let body = self.body;
        for element in elements(at.of(body)).filter(|element| element.kind == Kind::Object) {
            visit(self, element.span.shifted(at.start));
        }
    }

    fn unscope_content(&mut self, holder: Span) {
        let body = self.body;
        for content in members(holder.of(body)).filter(|member| member.kind == Kind::Array && member.is("content")) {
            self.each(content.span.shifted(holder.start), |this, block| {
                this.unscope(block, true);
                this.unscope_content(block);
            });
        }
    }

    fn unscope(&mut self, holder: Span, scoped: bool) {
        if !scoped {
            return;
        }
        let body = self.body;
        for mark in members(holder.of(body)).filter(|member| member.kind == Kind::Object && member.is("cache_control")) {
            let fate = |member: &Member<'b>| if member.is("scope") { Fate::Omit } else { Fate::Keep };
            self.sift(mark.span.shifted(holder.start), "cache_control.", fate);
        }
    }
}

/// Where the whole body is an object.
pub(super) fn whole(body: &Bytes) -> Span {
    let start = body.iter().position(|byte| *byte == b'{').unwrap_or(0);
    Span { start, end: body.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(body: &'static str, dropped: &[&str]) -> String {
        let body = Bytes::from_static(body.as_bytes());
        let mut editing = Editing::new(&body);
        editing.add("v", |out| out.extend_from_slice(b"1"));
        editing.sift(whole(&body), "", |member| if dropped.iter().any(|name| member.is(name)) { Fate::Drop } else { Fate::Keep });
        String::from_utf8(editing.finish().0.whole().to_vec()).unwrap()
    }

    #[test]
    fn members_leave_with_one_comma_each_and_all_else_stays() {
        for (body, dropped, expected) in [
            (r#"{ "a" : 1 , "b" : 2 }"#, &["a"][..], r#"{ "v":1,"b" : 2 }"#),
            (r#"{ "a" : 1 , "b" : 2 }"#, &["b"], r#"{ "v":1,"a" : 1 }"#),
            (r#"{"a":1,"b":2,"c":3,"d":4}"#, &["a", "b", "d"], r#"{"v":1,"c":3}"#),
            (r#"{"a":1,"b":2,"c":3,"d":4}"#, &["b", "c"], r#"{"v":1,"a":1,"d":4}"#),
            (r#"{"a":1,"b":2}"#, &["a", "b"], r#"{"v":1}"#),
            ("{}", &["a"], r#"{"v":1}"#),
            (r#"{"\u0061":1,"b":1e3}"#, &["a"], r#"{"v":1,"b":1e3}"#),
            (" \n{\"a\":1}", &[], " \n{\"v\":1,\"a\":1}"),
        ] {
            assert_eq!(edited(body, dropped), expected, "{body} without {dropped:?}");
        }
    }

    #[test]
    fn scopes_of_cache_marks_and_members_of_tools_are_taken_out_wherever_they_may_be() {
        let body = Bytes::from_static(
            br#"{"system":[{"type":"text","cache_control":{"type":"ephemeral","scope":"global"}}],"tools":[{"name":"a","eager_input_streaming":true,"cache_control":{"scope":"x"}}],"messages":[{"content":"\"scope\""},{"content":[{"content":[{"cache_control":{"scope":1,"type":"ephemeral"}}]}]}]}"#,
        );
        let mut editing = Editing::new(&body);
        editing.sift_nested(|member| if member.is("eager_input_streaming") { Fate::Omit } else { Fate::Keep });
        let (body, omitted) = editing.finish();
        assert_eq!(
            std::str::from_utf8(&body.whole()).unwrap(),
            r#"{"system":[{"type":"text","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"a","cache_control":{}}],"messages":[{"content":"\"scope\""},{"content":[{"content":[{"cache_control":{"type":"ephemeral"}}]}]}]}"#
        );
        assert_eq!(omitted, ["cache_control.scope", "tools.eager_input_streaming"]);
    }
}
