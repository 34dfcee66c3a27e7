//! What is asked of the model beside the conversation, settled before anything is written: tools, the choice among them, the
//! form of the answer, thinking and limits depend on each other.

use super::prepare::Context;
use super::sampling::Sampled;
use super::thinking::{Mode, Thinking};
use crate::canonical::{Choice, Losses, OutputFormat, Refusal, Request, Text, Tool, Turn, Weight};
use crate::shape::Shape;
use crate::translate::map::{Effort, names};
use crate::translate::messages::schema;
use crate::translate::{Adaptations, ProviderKind, ThinkingStyle};

/// Name of the hidden tool whose arguments are the answer.
const JSON_TOOL: &str = "json_output";
/// Name of the vendor's own search tool.
pub(super) const WEB_SEARCH: &str = "web_search";
/// Tokens left for the answer beside a budget for thinking, where the client sets no limit.
const ANSWER: u64 = 4_096;
/// Limit where neither the client nor the model's card tells one.
const UNKNOWN_LIMIT: u64 = 4_096;
/// Largest limit set for a client that did not, where the answer comes in one piece after a long silence.
const WHOLE_LIMIT: u64 = 32_000;

/// Which tools may be called, as the vendor says it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Auto,
    Any,
    Named(String),
    None,
}

/// The form of the answer.
pub(super) enum Form {
    /// Any text.
    Free,
    /// Bound to this schema by the provider.
    Bound(Vec<u8>),
    /// The arguments of a hidden tool with this schema.
    Hidden(Vec<u8>),
    /// Asked for in words, after all other instructions.
    Asked(String),
}

/// Everything settled.
pub(super) struct Plan<'r, 'a> {
    pub(super) max_tokens: u64,
    pub(super) thinking: Mode,
    pub(super) effort: Option<Effort>,
    pub(super) tools: Vec<&'r Tool<'a>>,
    pub(super) form: Form,
    pub(super) choice: Option<Picked>,
    pub(super) single: bool,
    pub(super) sampling: Sampled<'a>,
}

impl<'r, 'a> Plan<'r, 'a> {
    pub(super) fn make(
        request: &'r Request<'a>,
        turns: &[Turn<'_>],
        context: &Context<'_>,
        losses: &mut Losses,
        adaptations: &mut Adaptations,
    ) -> Result<Self, Refusal> {
        let limit = limit(request, context, losses)?;
        let tools = tools(request, context, losses);
        name_tools(&tools, adaptations);
        let form = form(request, &tools, context, losses, adaptations);
        let forced = matches!(form, Form::Hidden(_)) || (is_forced(request.tool_choice.as_ref()) && !tools.is_empty());
        let thinking = Thinking::settle(&request.thinking, turns, forced, limit, context, losses);
        let choice = match &form {
            Form::Hidden(_) => Some(Picked::Named(JSON_TOOL.to_owned())),
            Form::Free | Form::Bound(_) | Form::Asked(_) => {
                choice(request, &tools, forced && (thinking.on() || !forceable(context)), context, losses, adaptations)
            }
        };
        Ok(Self {
            max_tokens: limit.unwrap_or_else(|| default_limit(&thinking, request.stream, context)),
            sampling: Sampled::settle(request, thinking.on(), context, losses),
            thinking: thinking.mode,
            effort: thinking.effort,
            single: request.parallel_tool_calls == Some(false) && !tools.is_empty(),
            tools,
            form,
            choice,
        })
    }
}

/// A function that is called as the vendor's own search is gets another name beside that.
fn name_tools(tools: &[&Tool<'_>], adaptations: &mut Adaptations) {
    let searches = tools.iter().any(|tool| matches!(tool, Tool::WebSearch(_)));
    if searches && tools.iter().filter_map(|tool| names::name_of(tool)).any(|name| name.is(WEB_SEARCH)) {
        adaptations.renamed.push((format!("{WEB_SEARCH}_function"), WEB_SEARCH.to_owned()));
    }
}

fn limit(request: &Request<'_>, context: &Context<'_>, losses: &mut Losses) -> Result<Option<u64>, Refusal> {
    let Some(asked) = request.max_output else { return Ok(None) };
    if asked == 0 && context.from != Shape::Messages {
        return Err(Refusal::invalid(context.terms.max_output, "must be at least 1"));
    }
    let most = most(context);
    if asked > most {
        losses.note(context.terms.max_output, Weight::Minor, format!("lowered to the most the model takes, {most}"));
    }
    Ok(Some(asked.min(most)))
}

/// The most the model takes.
fn most(context: &Context<'_>) -> u64 {
    match context.target.capabilities.max_output {
        0 => u64::MAX,
        known => u64::from(known),
    }
}

fn default_limit(thinking: &Thinking, stream: bool, context: &Context<'_>) -> u64 {
    let most = most(context);
    match thinking.mode {
        Mode::Budget(budget) => most.min(u64::from(budget) + ANSWER),
        Mode::Unsaid | Mode::Off | Mode::Adaptive { .. } => {
            let known = if most == u64::MAX { UNKNOWN_LIMIT } else { most };
            if stream { known } else { known.min(WHOLE_LIMIT) }
        }
    }
}

fn tools<'r, 'a>(request: &'r Request<'a>, context: &Context<'_>, losses: &mut Losses) -> Vec<&'r Tool<'a>> {
    let among = |name: &Text<'_>| match &request.tool_choice {
        Some(Choice::Among { names, .. }) => names.iter().any(|known| known == name),
        Some(Choice::Auto | Choice::Any | Choice::Named(_) | Choice::None) | None => true,
    };
    let carried = |tool: &&Tool<'a>| match tool {
        Tool::Function(function) => among(&function.name),
        Tool::Custom { name, .. } => among(name),
        Tool::WebSearch(_) if context.target.kind == ProviderKind::Bedrock => {
            losses.note(context.terms.web_search, Weight::Major, "this provider does not search the web");
            false
        }
        Tool::WebSearch(_) | Tool::Computer(_) | Tool::Vendor(_) => true,
        Tool::Unknown { .. } if context.from == Shape::Messages => true,
        Tool::Unknown { kind, .. } => {
            losses.note(format!("tools.{}", kind.decode()), Weight::Major, "it runs at its own vendor only");
            false
        }
    };
    request.tools.iter().filter(carried).collect()
}

/// Whether the model can be made to call a tool.
fn forceable(context: &Context<'_>) -> bool {
    context.target.capabilities.forced_tools && context.target.capabilities.thinking != ThinkingStyle::Always
}

const fn is_forced(choice: Option<&Choice<'_>>) -> bool {
    matches!(choice, Some(Choice::Any | Choice::Named(_) | Choice::Among { required: true, .. }))
}

fn form(request: &Request<'_>, tools: &[&Tool<'_>], context: &Context<'_>, losses: &mut Losses, adaptations: &mut Adaptations) -> Form {
    let (field, capabilities) = (context.terms.format, &context.target.capabilities);
    let (raw, vendor_schema) = match &request.format {
        OutputFormat::Text => return Form::Free,
        OutputFormat::JsonObject => {
            losses.note(field, Weight::Minor, "asked for in words, since the messages dialect has no free JSON mode");
            return Form::Asked("Answer with one JSON object only.".to_owned());
        }
        OutputFormat::Schema { schema, vendor_schema, .. } => (schema, *vendor_schema),
    };
    let (object, wrapped) = schema::answer(raw, vendor_schema);
    let able = capabilities.schema_output && context.target.kind != ProviderKind::Bedrock;
    if let Some(bound) = able.then(|| schema::bound(&object)).flatten() {
        adaptations.wrapped = wrapped;
        return Form::Bound(bound);
    }
    if tools.is_empty() && forceable(context) && !Thinking::wanted(&request.thinking, capabilities) {
        adaptations.wrapped = wrapped;
        adaptations.json_tool = Some(JSON_TOOL.to_owned());
        return Form::Hidden(object.into_owned());
    }
    losses.note(field, Weight::Minor, "the schema is asked for in words");
    let plain = schema::plain(raw, vendor_schema);
    let plain = String::from_utf8_lossy(&plain);
    Form::Asked(format!("Answer with JSON only, without any other text, that matches this JSON Schema:\n{plain}"))
}

fn choice(
    request: &Request<'_>,
    tools: &[&Tool<'_>],
    unforced: bool,
    context: &Context<'_>,
    losses: &mut Losses,
    adaptations: &mut Adaptations,
) -> Option<Picked> {
    let choice = request.tool_choice.as_ref()?;
    if tools.is_empty() {
        let weight = if is_forced(Some(choice)) { Weight::Minor } else { Weight::Silent };
        losses.note(context.terms.tool_choice, weight, "there is no tool to choose");
        return None;
    }
    if unforced {
        losses.note(context.terms.tool_choice, Weight::Minor, "the model cannot be made to call a tool, or not while it thinks");
        return Some(Picked::Auto);
    }
    Some(match choice {
        Choice::Auto | Choice::Among { required: false, .. } => Picked::Auto,
        Choice::Any | Choice::Among { required: true, .. } => Picked::Any,
        Choice::Named(name) => Picked::Named(names::sent(Shape::Messages, name, adaptations).decode().into_owned()),
        Choice::None => Picked::None,
    })
}
