//! Calls of tools while their arguments come in.

use crate::canonical::{Arguments, Text};
use crate::wire::json::{Value, Writer};

/// One call.
pub(super) struct Call {
    pub(super) number: u32,
    pub(super) id: Text<'static>,
    pub(super) name: Text<'static>,
    /// Its arguments are free text.
    custom: bool,
    /// The provider ended it.
    pub(super) ended: bool,
    /// Its block was closed; what still comes is too late.
    pub(super) closed: bool,
    /// How much of them was no whole object when last looked at.
    looked_at: usize,
    /// Everything that came of its arguments, as it stands in a JSON string.
    arguments: Vec<u8>,
}

impl Call {
    pub(super) fn new(number: u32, id: Text<'_>, name: Text<'_>, custom: bool) -> Self {
        let (id, name) = (crate::translate::map::ids::for_messages(id).into_owned(), name.into_owned());
        Self { number, id, name, custom, ended: false, closed: false, looked_at: 0, arguments: Vec::new() }
    }

    pub(super) fn push(&mut self, fragment: &Text<'_>) {
        fragment.escape_into(&mut self.arguments);
    }

    /// Whether fragments can be passed on as they come.
    pub(super) const fn streams(&self) -> bool {
        !self.custom
    }

    pub(super) const fn is_silent(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Whether the arguments so far are a whole object.
    pub(super) fn complete(&mut self) -> bool {
        let fresh = self.looked_at < self.arguments.len();
        self.looked_at = self.arguments.len();
        let complete = !self.custom && fresh && self.object().is_some();
        if complete {
            self.looked_at = 0;
        }
        complete
    }

    /// The arguments as an object; `None` where they are none.
    pub(super) fn object(&self) -> Option<Vec<u8>> {
        if self.custom {
            return Some(self.wrapped());
        }
        Arguments::Text(Text::Escaped(&self.arguments)).object().ok().map(std::borrow::Cow::into_owned)
    }

    /// Everything so far as it stands in a JSON string.
    pub(super) fn so_far(&self) -> Text<'_> {
        if !self.custom {
            return Text::Escaped(&self.arguments);
        }
        Text::from(String::from_utf8_lossy(&self.wrapped()).into_owned())
    }

    fn wrapped(&self) -> Vec<u8> {
        let mut object = Vec::with_capacity(self.arguments.len() + 16);
        let mut w = Writer::new(&mut object);
        w.begin_object();
        w.text_field("input", &Text::Escaped(&self.arguments));
        w.end_object();
        debug_assert!(!Value::of(&object).is_null(), "an object was written");
        object
    }
}
