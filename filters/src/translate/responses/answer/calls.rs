//! Calls of the client's tools, which may be interleaved.

use super::{Decoder, characters};
use crate::canonical::{Event, Sink, Text};
use crate::translate::map::ids;
use crate::wire::json::Value;

impl Decoder {
    pub(super) fn added(&mut self, place: u64, item: Value<'_>, sink: Sink<'_>) {
        self.item(place);
        let custom = item.get("type").is_str("custom_tool_call");
        if custom || item.get("type").is_str("function_call") {
            self.call(place, item, custom, sink);
        }
    }

    /// Begins a call once.
    pub(super) fn call(&mut self, place: u64, item: Value<'_>, custom: bool, sink: Sink<'_>) -> u32 {
        if let Some(call) = self.item(place).call {
            return call;
        }
        let call = self.calls;
        self.calls += 1;
        self.item(place).call = Some(call);
        let id = item.get("call_id").text().filter(|id| !id.is_empty()).unwrap_or_else(|| Text::from(ids::minted("call_")));
        self.call_ids.push(id.decode().into_owned());
        let name = item.get("name").text().filter(|name| !name.is_empty()).unwrap_or_else(|| Text::from("unnamed"));
        sink(Event::ToolStart { choice: 0, call, id, name, custom, signature: None });
        call
    }

    pub(super) fn arguments(&mut self, place: u64, fragment: Value<'_>, sink: Sink<'_>) {
        let item = self.item(place);
        let (Some(call), Some(fragment)) = (item.call, fragment.text().filter(|text| !text.is_empty())) else { return };
        item.given += characters(&fragment);
        sink(Event::ToolArguments { choice: 0, call, fragment });
    }

    /// Arguments that did not come in deltas.
    pub(super) fn whole_arguments(&mut self, place: u64, arguments: Value<'_>, sink: Sink<'_>) {
        if self.item(place).given == 0 {
            self.arguments(place, arguments, sink);
        }
    }
}
