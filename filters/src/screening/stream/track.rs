//! One text of an answer on its way.

use super::arguments::Arguments;
use super::outlet::{Bench, Outlet};
use super::scan::Scan;
use super::sight::{Form, Key};

/// A text and what was found in it. Offsets count bytes of it as it is sent, from its first piece on.
pub(super) struct Track {
    pub(super) key: Key,
    body: Body,
    pub(super) len: usize,
    pub(super) upto: usize,
    pub(super) found: Outlet,
    /// Nothing of it is looked at until more of it comes.
    pub(super) ended: bool,
}

enum Body {
    /// A text, and where what is looked at begins.
    Text(Box<Scan>, usize),
    Json(Box<Arguments>),
}

impl Track {
    pub(super) fn new(bench: &Bench<'_>, key: Key, form: Form, quiet: bool) -> Self {
        let place = key.field.place();
        let body = match form {
            Form::Text => Body::Text(Box::new(Scan::new(bench.rules, place)), 0),
            Form::Json | Form::Raw => Body::Json(Box::new(Arguments::new(place, false))),
            Form::Foreign => Body::Json(Box::new(Arguments::new(place, true))),
        };
        Self { key, body, len: 0, upto: 0, found: Outlet { quiet, ..Outlet::default() }, ended: false }
    }

    /// Takes the next piece in.
    pub(super) fn push(&mut self, bench: &mut Bench<'_>, piece: &str) {
        if self.ended {
            self.begin_again(bench);
        }
        self.len += piece.len();
        match &mut self.body {
            Body::Text(scan, base) => {
                let told = scan.push(bench.rules, piece);
                self.upto = *base + scan.upto();
                if !told.findings.is_empty() {
                    self.found.take(bench, told, false, |at| *base + at);
                }
            }
            Body::Json(arguments) => {
                arguments.push(bench, &mut self.found, piece);
                self.upto = arguments.upto();
            }
        }
    }

    /// The text has ended: all of it is settled. More of it would be a text of its own.
    pub(super) fn end(&mut self, bench: &mut Bench<'_>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        match &mut self.body {
            Body::Text(scan, base) => {
                let told = scan.end(bench.rules);
                self.found.take(bench, told, false, |at| *base + at);
            }
            Body::Json(arguments) => arguments.end(bench, &mut self.found),
        }
        self.upto = self.len;
    }

    /// It is held no longer, although it goes on.
    pub(super) fn force(&mut self, bench: &mut Bench<'_>) {
        self.end(bench);
        self.ended = matches!(self.body, Body::Text(..));
    }

    /// Another text of the same choice goes on: what is plain text ends, JSON tells itself where it ends.
    pub(super) fn pause(&mut self, bench: &mut Bench<'_>) {
        if matches!(self.body, Body::Text(..)) {
            self.end(bench);
        }
    }

    fn begin_again(&mut self, bench: &Bench<'_>) {
        self.ended = false;
        if let Body::Text(..) = self.body {
            self.body = Body::Text(Box::new(Scan::new(bench.rules, self.key.field.place())), self.len);
        }
    }
}
