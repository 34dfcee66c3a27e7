//! The tool calls of one choice, put together from pieces that services label in many ways: by index, by id, by both, by neither,
//! with one index for all, with the name after the id or cut into pieces.

use super::call::Call;
use super::fragment::Fragment;
use crate::canonical::{Event, Sink};
use crate::translate::map::ids;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    /// Ids given so far.
    given: Vec<String>,
    /// The call the last piece belonged to.
    last: usize,
    /// A call has a name but did not begin yet, since its name may go on.
    waiting: bool,
}

impl Calls {
    /// Whether any call began.
    pub(super) const fn any(&self) -> bool {
        !self.given.is_empty()
    }

    /// Takes a piece. `apart`: it is a call of its own unless its index or id says otherwise.
    pub(super) fn take(&mut self, choice: u32, fragment: &Fragment<'_>, apart: bool, sink: Sink<'_>) {
        let at = match self.find(fragment, apart) {
            Some(at) => at,
            None => {
                self.settle(choice, sink);
                self.list.push(Call { index: fragment.index, ..Call::default() });
                self.list.len() - 1
            }
        };
        self.last = at;
        let Some(call) = self.list.get_mut(at) else { return };
        if let Some(id) = fragment.id.as_deref().filter(|_| call.id.is_empty()) {
            id.clone_into(&mut call.id);
        }
        call.custom |= fragment.custom;
        if let Some(token) = &fragment.signature {
            call.signature = Some(token.decode().into_owned());
        }
        if let Some(name) = &fragment.name {
            call.named(name);
        }
        self.waiting |= call.number.is_none() && !call.name.is_empty();
        self.arguments(choice, at, fragment, sink);
    }

    fn arguments(&mut self, choice: u32, at: usize, fragment: &Fragment<'_>, sink: Sink<'_>) {
        let Some(call) = self.list.get_mut(at) else { return };
        if let Some(piece) = &fragment.arguments {
            if call.id.is_empty() {
                call.json.feed(&piece.decode());
            }
            if let Some(number) = call.number {
                return sink(Event::ToolArguments { choice, call: number, fragment: piece.as_ref() });
            }
            call.held.push_str(&piece.decode());
        }
        if !call.held.is_empty() && !call.name.is_empty() {
            self.start(choice, at, sink);
        }
    }

    fn find(&self, fragment: &Fragment<'_>, apart: bool) -> Option<usize> {
        let id = fragment.id.as_deref();
        match fragment.index {
            Some(_) => self.by_index(fragment, id),
            None if id.is_some() => {
                let known = self.list.iter().rposition(|call| Some(call.id.as_str()) == id);
                // An id may come after the name.
                let late = || self.list.get(self.last).filter(|last| !apart && last.id.is_empty() && fragment.name.is_none());
                known.or_else(|| late().map(|_| self.last))
            }
            None if apart => None,
            None => self.going_on(fragment),
        }
    }

    fn by_index(&self, fragment: &Fragment<'_>, id: Option<&str>) -> Option<usize> {
        let here = |call: &Call| call.index == fragment.index;
        if let Some(at) = self.list.iter().rposition(|call| here(call) && Some(call.id.as_str()) == id) {
            return Some(at);
        }
        let at = self.list.iter().rposition(here)?;
        let call = self.list.get(at)?;
        // One index for all calls: another id, or another name after whole arguments, is another call.
        let other = id.is_some() && !call.id.is_empty();
        let next = id.is_none() && call.id.is_empty() && fragment.name.is_some() && call.json.is_whole();
        (!other && !next).then_some(at)
    }

    /// Neither index nor id: the piece belongs to the last call unless it begins another.
    fn going_on(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let last = self.list.get(self.last)?;
        let Some(name) = &fragment.name else { return Some(self.last) };
        let begun = last.number.is_some() || !last.held.is_empty();
        let begins = !last.name.is_empty() && begun && (last.json.is_whole() || last.name != **name);
        (!begins).then_some(self.last)
    }

    fn start(&mut self, choice: u32, at: usize, sink: Sink<'_>) {
        let number = u32::try_from(self.given.len()).unwrap_or(u32::MAX);
        let Some(call) = self.list.get_mut(at).filter(|call| call.number.is_none()) else { return };
        let id = distinct(&self.given, &call.id);
        self.given.push(id.clone());
        call.give_start(choice, number, id, sink);
    }

    /// Begins the calls that waited for more of their names: something else follows.
    #[inline]
    pub(super) fn settle(&mut self, choice: u32, sink: Sink<'_>) {
        if !self.waiting {
            return;
        }
        self.waiting = false;
        for at in 0..self.list.len() {
            if self.list.get(at).is_some_and(|call| !call.name.is_empty()) {
                self.start(choice, at, sink);
            }
        }
    }

    /// Ends every call.
    pub(super) fn end(&mut self, choice: u32, sink: Sink<'_>) {
        self.settle(choice, sink);
        for call in self.list.iter_mut().filter(|call| !call.ended) {
            call.ended = true;
            if let Some(number) = call.number {
                sink(Event::ToolEnd { choice, call: number });
            }
        }
    }
}

/// The id, or one like it where it was given before, or a new one where there is none.
fn distinct(given: &[String], id: &str) -> String {
    if id.is_empty() {
        return ids::minted("call_");
    }
    let taken = |id: &str| given.iter().any(|known| known == id);
    if !taken(id) {
        return id.to_owned();
    }
    let numbered = (2..).map(|number: u32| format!("{id}_{number}")).find(|numbered| !taken(numbered));
    numbered.unwrap_or_else(|| ids::minted("call_"))
}
