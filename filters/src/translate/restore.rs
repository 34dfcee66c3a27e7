//! Between reading an answer and writing it: undoes what the request was changed by.

use super::Adaptations;
use crate::canonical::{Event, Finish, FinishReason, Sink, Text};
use crate::wire::json::{Value, outline};

/// Deepest nesting of arguments that are looked into.
const DEPTH: usize = 128;

/// Changes an answer back, event by event.
#[derive(Debug, Default)]
pub(super) struct Restore {
    adaptations: Adaptations,
    /// What became of each call of the provider, by choice and number.
    calls: Vec<Call>,
    /// Text held back because it is wrapped, by choice.
    wrapped: Vec<(u32, String)>,
}

#[derive(Debug)]
struct Call {
    choice: u32,
    number: u32,
    fate: Fate,
}

#[derive(Debug)]
enum Fate {
    /// It is a call of the client's tool, under this number.
    Kept(u32),
    /// Its arguments are the answer's text.
    Text,
    /// Its one argument is the free text of a tool of that kind; held back until it is whole.
    Custom(u32, String),
}

impl Restore {
    pub(super) fn new(adaptations: Adaptations) -> Self {
        Self { adaptations, ..Self::default() }
    }

    /// Whether answers go through as they are.
    pub(super) fn is_idle(&self) -> bool {
        let Adaptations { renamed, json_tool, custom, wrapped, legacy_calls: _ } = &self.adaptations;
        renamed.is_empty() && json_tool.is_none() && custom.is_empty() && !wrapped
    }

    pub(super) fn event(&mut self, event: Event<'_>, sink: Sink<'_>) {
        match event {
            Event::ToolStart { choice, call, id, name, custom, signature } => {
                let (fate, name) = self.begin(choice, name);
                let shown = match &fate {
                    Fate::Kept(number) => Some((*number, custom)),
                    Fate::Custom(number, _) => Some((*number, true)),
                    Fate::Text => None,
                };
                self.calls.push(Call { choice, number: call, fate });
                if let Some((call, custom)) = shown {
                    sink(Event::ToolStart { choice, call, id, name, custom, signature });
                }
            }
            Event::ToolArguments { choice, call, fragment } => self.arguments(choice, call, fragment, sink),
            Event::ToolEnd { choice, call } => self.end(choice, call, sink),
            Event::Text { choice, text } if self.adaptations.wrapped => self.hold(choice, &text),
            Event::Finish { choice, finish } => {
                self.release(choice, sink);
                let finish = self.finish(choice, finish);
                sink(Event::Finish { choice, finish });
            }
            other => sink(other),
        }
    }

    fn begin<'a>(&self, choice: u32, name: Text<'a>) -> (Fate, Text<'a>) {
        let kept = self.calls.iter().filter(|call| call.choice == choice && !matches!(call.fate, Fate::Text)).count();
        let number = u32::try_from(kept).unwrap_or(u32::MAX);
        let sent = name.decode();
        if self.adaptations.json_tool.as_deref() == Some(&*sent) {
            return (Fate::Text, name);
        }
        let custom = self.adaptations.custom.iter().any(|known| *known == sent);
        let fate = if custom { Fate::Custom(number, String::new()) } else { Fate::Kept(number) };
        match self.adaptations.renamed.iter().find(|(known, _)| *known == sent) {
            Some((_, original)) => (fate, Text::from(original.clone())),
            None => {
                drop(sent);
                (fate, name)
            }
        }
    }

    fn call(&mut self, choice: u32, number: u32) -> Option<&mut Fate> {
        self.calls.iter_mut().find(|call| call.choice == choice && call.number == number).map(|call| &mut call.fate)
    }

    fn arguments(&mut self, choice: u32, call: u32, fragment: Text<'_>, sink: Sink<'_>) {
        let wrapped = self.adaptations.wrapped;
        match self.call(choice, call) {
            Some(Fate::Kept(call)) => sink(Event::ToolArguments { choice, call: *call, fragment }),
            Some(Fate::Text) if wrapped => self.hold(choice, &fragment),
            Some(Fate::Text) => sink(Event::Text { choice, text: fragment }),
            Some(Fate::Custom(_, held)) => held.push_str(&fragment.decode()),
            None => {}
        }
    }

    fn end(&mut self, choice: u32, call: u32, sink: Sink<'_>) {
        match self.call(choice, call) {
            Some(Fate::Kept(call)) => sink(Event::ToolEnd { choice, call: *call }),
            Some(Fate::Custom(call, held)) => {
                let (call, held) = (*call, std::mem::take(held));
                let input = member(&held, "input").unwrap_or(held);
                if !input.is_empty() {
                    sink(Event::ToolArguments { choice, call, fragment: Text::from(input) });
                }
                sink(Event::ToolEnd { choice, call });
            }
            Some(Fate::Text) | None => {}
        }
    }

    fn hold(&mut self, choice: u32, text: &Text<'_>) {
        match self.wrapped.iter_mut().find(|(known, _)| *known == choice) {
            Some((_, held)) => held.push_str(&text.decode()),
            None => self.wrapped.push((choice, text.decode().into_owned())),
        }
    }

    /// Gives the text that was wrapped, or the wrapping where it is not what was asked for.
    fn release(&mut self, choice: u32, sink: Sink<'_>) {
        let Some(at) = self.wrapped.iter().position(|(known, _)| *known == choice) else { return };
        let (_, held) = self.wrapped.swap_remove(at);
        let text = member(&held, "value").unwrap_or(held);
        if !text.is_empty() {
            sink(Event::Text { choice, text: Text::from(text) });
        }
    }

    /// A call of the hidden tool is not a call the client has to answer.
    fn finish<'a>(&self, choice: u32, finish: Finish<'a>) -> Finish<'a> {
        let mut calls = self.calls.iter().filter(|call| call.choice == choice).peekable();
        let hidden_only = calls.peek().is_some() && calls.all(|call| matches!(call.fate, Fate::Text));
        match finish.reason {
            FinishReason::ToolCalls if hidden_only => Finish { reason: FinishReason::Stop, ..finish },
            _ => finish,
        }
    }
}

/// A member of an object: the text of a string, the JSON of everything else.
fn member(json: &str, name: &str) -> Option<String> {
    outline(json.as_bytes(), DEPTH).ok()?;
    let found = Value::of(json.as_bytes()).members().find(|member| member.is(name))?.json();
    Some(found.str().map_or_else(|| String::from_utf8_lossy(found.bytes()).into_owned(), |text| text.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(adaptations: Adaptations, events: Vec<Event<'static>>) -> Vec<String> {
        let mut restore = Restore::new(adaptations);
        let mut seen = Vec::new();
        for event in events {
            restore.event(event, &mut |event| {
                seen.push(match event {
                    Event::ToolStart { call, name, custom, .. } => format!("start {call} {} {custom}", name.decode()),
                    Event::ToolArguments { call, fragment, .. } => format!("arguments {call} {}", fragment.decode()),
                    Event::ToolEnd { call, .. } => format!("end {call}"),
                    Event::Text { text, .. } => format!("text {}", text.decode()),
                    Event::Finish { finish, .. } => format!("{:?}", finish.reason),
                    other => format!("{other:?}"),
                });
            });
        }
        seen
    }

    fn start(call: u32, name: &'static str) -> Event<'static> {
        Event::ToolStart { choice: 0, call, id: Text::from("1"), name: Text::from(name), custom: false, signature: None }
    }

    fn arguments(call: u32, fragment: &'static str) -> Event<'static> {
        Event::ToolArguments { choice: 0, call, fragment: Text::from(fragment) }
    }

    fn end(call: u32) -> Event<'static> {
        Event::ToolEnd { choice: 0, call }
    }

    fn finish(reason: FinishReason) -> Event<'static> {
        Event::Finish { choice: 0, finish: Finish { reason, raw: Text::from(""), stop_sequence: None, explanation: None } }
    }

    #[test]
    fn a_renamed_tool_gets_its_name_back() {
        let adaptations = Adaptations { renamed: vec![("a_b".to_owned(), "a.b".to_owned())], ..Adaptations::default() };
        assert_eq!(run(adaptations, vec![start(0, "a_b"), end(0)]), ["start 0 a.b false", "end 0"]);
    }

    #[test]
    fn arguments_of_the_hidden_tool_are_the_text_and_other_calls_close_ranks() {
        let adaptations = Adaptations { json_tool: Some("json".to_owned()), ..Adaptations::default() };
        let hidden = vec![start(0, "json"), arguments(0, "{\"a\""), arguments(0, ":1}"), end(0)];
        let alone = [hidden.clone(), vec![finish(FinishReason::ToolCalls)]].concat();
        assert_eq!(run(adaptations.clone(), alone), ["text {\"a\"", "text :1}", "Stop"]);
        let both = [hidden, vec![start(1, "f"), end(1), finish(FinishReason::ToolCalls)]].concat();
        assert_eq!(run(adaptations, both)[2..], ["start 0 f false", "end 0", "ToolCalls"]);
    }

    #[test]
    fn free_text_tools_get_their_text_however_it_was_cut() {
        let adaptations = Adaptations { custom: vec!["sql".to_owned()], ..Adaptations::default() };
        let events = vec![start(0, "sql"), arguments(0, "{\"input\":\"sel"), arguments(0, "ect \\\"x\\\"\"}"), end(0)];
        assert_eq!(run(adaptations, events), ["start 0 sql true", "arguments 0 select \"x\"", "end 0"]);
    }

    #[test]
    fn a_wrapped_answer_is_unwrapped_and_anything_else_left_alone() {
        let adaptations = Adaptations { wrapped: true, ..Adaptations::default() };
        let text = |text: &'static str| Event::Text { choice: 0, text: Text::from(text) };
        let wrapped = vec![text("{\"value\":"), text("\"red\"}"), finish(FinishReason::Stop)];
        assert_eq!(run(adaptations.clone(), wrapped), ["text red", "Stop"]);
        assert_eq!(run(adaptations, vec![text("red"), finish(FinishReason::Stop)]), ["text red", "Stop"]);
    }
}
