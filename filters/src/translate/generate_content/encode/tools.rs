//! Tools, and which of them may be called.

use crate::canonical::{Choice, FunctionTool, Raw, Refusal, Text, Tool, WebSearch, Weight};
use crate::shape::Shape;
use crate::translate::ProviderKind;
use crate::translate::generate_content::schema;
use crate::translate::map::context::Context;
use crate::translate::map::{free_text, names, tools::as_function};
use crate::wire::json::{Value, Writer};

const CHOICE: [&str; 4] = ["tool_choice", "tool_choice", "toolConfig.functionCallingConfig", "tool_choice"];
const SEARCH: [&str; 4] = ["web_search_options", "tools.web_search", "tools.googleSearch", "tools.web_search"];
/// The tools as they can be offered.
#[derive(Debug, Default)]
pub(super) struct Offer<'a> {
    functions: Vec<FunctionTool<'a>>,
    search: Option<WebSearch<'a>>,
    /// The vendor's own, as its client wrote them.
    own: Vec<Raw<'a>>,
    choice: Option<Choice<'a>>,
}

impl Offer<'_> {
    /// Whether no tool is offered.
    pub(super) const fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.search.is_none() && self.own.is_empty()
    }
}

/// Sorts the client's tools by what this vendor takes.
pub(super) fn offer<'a>(tools: Vec<Tool<'a>>, choice: Option<Choice<'a>>, context: &mut Context<'_>) -> Result<Offer<'a>, Refusal> {
    let mut offer = Offer { choice, ..Offer::default() };
    for tool in tools {
        sort(tool, &mut offer, context)?;
    }
    subset(&mut offer);
    searching(&mut offer, context);
    among_functions(&mut offer, context);
    if offer.functions.is_empty() && offer.choice.is_some() {
        // Without functions there is nothing to choose; some providers refuse the words.
        let weight = if matches!(offer.choice, Some(Choice::Auto | Choice::None)) { Weight::Silent } else { Weight::Minor };
        context.lose(CHOICE, weight, "there is no function to call");
        offer.choice = None;
    }
    Ok(offer)
}

fn sort<'a>(tool: Tool<'a>, offer: &mut Offer<'a>, context: &mut Context<'_>) -> Result<(), Refusal> {
    if let Some(function) = as_function(&tool) {
        return declare(function, offer, context);
    }
    match tool {
        Tool::Function(function) => {
            if function.strict == Some(true) {
                let names = ["tools.function.strict", "tools.strict", "tools.functionDeclarations.strict", "tools.strict"];
                context.lose(names, Weight::Minor, "a generate-content provider does not promise to match a function's schema");
            }
            declare(function, offer, context)
        }
        Tool::Custom { name, description, format } => {
            let sent = names::sent(Shape::GenerateContent, &name, context.adaptations);
            context.adaptations.custom.push(sent.decode().into_owned());
            declare(free_text::function(name, description, format.as_ref()), offer, context)
        }
        Tool::WebSearch(search) => {
            offer.search = Some(search);
            Ok(())
        }
        Tool::Unknown { raw, .. } if context.from == Shape::GenerateContent => {
            offer.own.push(raw);
            Ok(())
        }
        Tool::Unknown { kind, .. } => {
            lose_tool(&kind, context);
            Ok(())
        }
        Tool::Computer(computer) => {
            lose_tool(&computer.kind, context);
            Ok(())
        }
        Tool::Vendor(vendor) => {
            lose_tool(&vendor.kind, context);
            Ok(())
        }
    }
}

fn lose_tool(kind: &Text<'_>, context: &mut Context<'_>) {
    context.losses.note(format!("tools.{}", kind.decode()), Weight::Major, "a generate-content provider has no such tool");
}

fn declare<'a>(function: FunctionTool<'a>, offer: &mut Offer<'a>, context: &mut Context<'_>) -> Result<(), Refusal> {
    if function.name.is_blank() {
        let names = ["tools.function.name", "tools.name", "tools.functionDeclarations.name", "tools.name"];
        context.lose(names, Weight::Minor, "a tool without a name cannot be called");
        return Ok(());
    }
    if offer.functions.iter().any(|known| known.name == function.name) {
        return Err(Refusal::invalid("tools", format!("the tool `{}` is declared twice", function.name.decode())));
    }
    offer.functions.push(function);
    Ok(())
}

/// A choice among some that need not be made is an offer of those only.
fn subset(offer: &mut Offer<'_>) {
    if let Some(Choice::Among { names, required: false }) = &offer.choice {
        offer.functions.retain(|function| names.contains(&function.name));
        offer.choice = Some(Choice::Auto);
    }
}

/// Whether a choice means the search, which has a name of its own only where the client gave it one.
fn is_search(chosen: &Text<'_>, search: &WebSearch<'_>, functions: &[FunctionTool<'_>]) -> bool {
    let function = || functions.iter().any(|function| function.name == *chosen);
    search.name.as_ref().map_or_else(|| chosen.is("web_search") && !function(), |name| chosen == name)
}

/// Among functions only can a call be required.
fn among_functions(offer: &mut Offer<'_>, context: &mut Context<'_>) {
    let Some(Choice::Among { names, .. }) = &mut offer.choice else { return };
    let before = names.len();
    names.retain(|name| offer.functions.iter().any(|function| function.name == *name));
    if names.len() < before {
        context.lose(CHOICE, Weight::Minor, "only functions can be chosen among");
        offer.choice = offer.choice.take().filter(|choice| !matches!(choice, Choice::Among { names, .. } if names.is_empty()));
    }
}

/// Decides about the search of the web.
fn searching(offer: &mut Offer<'_>, context: &mut Context<'_>) {
    let Some(search) = offer.search.take() else { return };
    let forced = matches!(&offer.choice, Some(Choice::Named(chosen)) if is_search(chosen, &search, &offer.functions));
    let mixes = context.target.capabilities.mixed_tools && context.target.kind == ProviderKind::Gemini;
    if !offer.functions.is_empty() && !mixes {
        let weight = if forced || context.from == Shape::ChatCompletions { Weight::Major } else { Weight::Minor };
        context.lose(SEARCH, weight, "this model does not search the web beside functions");
        if forced {
            offer.choice = None;
        }
        return;
    }
    let excludes = context.target.kind == ProviderKind::Vertex;
    let told = [
        ("max_uses", search.max_uses.is_some()),
        ("allowed_domains", !search.allowed_domains.is_empty()),
        ("blocked_domains", !search.blocked_domains.is_empty() && !excludes),
        ("user_location", search.location.is_some()),
        ("search_context_size", search.context_size.is_some()),
    ];
    let parent = context.term(SEARCH);
    for (name, _) in told.iter().filter(|(_, told)| *told) {
        context.losses.note(format!("{parent}.{name}"), Weight::Minor, "a generate-content provider's search has no such setting");
    }
    if forced {
        context.lose(CHOICE, Weight::Minor, "a search cannot be forced; the model decides");
        offer.choice = None;
    }
    offer.search = Some(search);
}

/// Writes `tools` and `toolConfig`. All functions stand in one tool.
pub(super) fn write(offer: &Offer<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    if offer.is_empty() {
        return;
    }
    w.array("tools", |w| {
        if !offer.functions.is_empty() {
            w.begin_object();
            w.array("functionDeclarations", |w| offer.functions.iter().for_each(|function| declaration(function, w, context)));
            w.end_object();
        }
        if let Some(search) = &offer.search {
            w.begin_object();
            w.object("googleSearch", |w| {
                if context.target.kind == ProviderKind::Vertex && !search.blocked_domains.is_empty() {
                    w.array("excludeDomains", |w| search.blocked_domains.iter().for_each(|domain| w.text(domain)));
                }
            });
            w.end_object();
        }
        offer.own.iter().for_each(|tool| w.raw(&tool.0));
    });
    config(offer, w, context);
}

fn declaration(function: &FunctionTool<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    let name = names::sent(Shape::GenerateContent, &function.name, context.adaptations);
    w.begin_object();
    w.text_field("name", &name);
    if let Some(description) = &function.description {
        w.text_field("description", description);
    }
    let json_schema = context.target.capabilities.json_schema;
    let schema = function.parameters.as_ref().filter(|schema| schema.value() != Value::NULL);
    if let Some(converted) = schema.and_then(|schema| schema::of_arguments(schema, function.vendor_schema, json_schema)) {
        let name = if converted.own { "parameters" } else { "parametersJsonSchema" };
        w.raw_field(name, &Raw(converted.json));
    }
    w.end_object();
}

fn config(offer: &Offer<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    let mixed = !offer.functions.is_empty() && offer.search.is_some();
    if offer.choice.is_none() && !mixed {
        return;
    }
    w.object("toolConfig", |w| {
        if let Some(choice) = &offer.choice {
            w.object("functionCallingConfig", |w| calling(choice, w, context));
        }
        if mixed {
            w.bool_field("includeServerSideToolInvocations", true);
        }
    });
}

fn calling(choice: &Choice<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    let (mode, names): (&str, &[Text<'_>]) = match choice {
        Choice::Auto => ("AUTO", &[]),
        Choice::None => ("NONE", &[]),
        Choice::Any => ("ANY", &[]),
        Choice::Named(name) => ("ANY", std::slice::from_ref(name)),
        Choice::Among { names, .. } => ("ANY", names),
    };
    let forced = mode == "ANY" && !context.target.capabilities.forced_tools;
    if forced {
        context.lose(CHOICE, Weight::Minor, "this model cannot be made to call a function");
    }
    w.str_field("mode", if forced { "AUTO" } else { mode });
    if !names.is_empty() && !forced {
        w.array("allowedFunctionNames", |w| {
            for name in names {
                w.text(&names::sent(Shape::GenerateContent, name, context.adaptations));
            }
        });
    }
}
