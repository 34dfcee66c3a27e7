//! Tools and the choice among them.

use super::schema;
use crate::canonical::{Choice, FunctionTool, Raw, Request, Text, Tool, WebSearch, Weight};
use crate::translate::map::context::{Context, Names};
use crate::translate::map::{choice, free_text, tools::as_function};
use crate::wire::json::{Value, Writer};

/// A tool as it is declared.
enum Declared<'a> {
    Function { name: Text<'a>, tool: FunctionTool<'a> },
    Custom { name: Text<'a>, description: Option<Text<'a>>, format: Option<Raw<'a>> },
}

impl Declared<'_> {
    const fn name(&self) -> &Text<'_> {
        match self {
            Self::Function { name, .. } | Self::Custom { name, .. } => name,
        }
    }
}

/// What is declared, and how one is chosen.
pub(super) struct Plan<'a> {
    tools: Vec<Declared<'a>>,
    choice: Option<Choice<'a>>,
    /// Acts on a screen come one by one.
    one_by_one: bool,
    /// Tools for free text keep their form.
    pub(super) native_custom: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn make(tools: Vec<Tool<'a>>, request: &Request<'a>, context: &mut Context<'_>) -> Self {
        let only = tools.len() == 1;
        let native_custom = context.target.quirks.vendor;
        let mut plan = Self { tools: Vec::with_capacity(tools.len()), choice: None, one_by_one: false, native_custom };
        for tool in tools {
            plan.declare(tool, only, request.tool_choice.as_ref(), context);
        }
        plan.choose(request.tool_choice.as_ref(), context);
        plan
    }

    fn declare(&mut self, tool: Tool<'a>, only: bool, choice: Option<&Choice<'a>>, context: &mut Context<'_>) {
        match tool {
            Tool::Function(tool) => self.function(tool, context),
            Tool::Custom { name, description, format } if self.native_custom => {
                let name = context.name(&name);
                self.tools.push(Declared::Custom { name, description, format });
            }
            Tool::Custom { name, description, format } => {
                let sent = context.name(&name).decode().into_owned();
                context.adaptations.custom.push(sent);
                self.function(free_text::function(name, description, format.as_ref()), context);
            }
            Tool::WebSearch(search) => lose_search(&search, only, choice, context),
            Tool::Computer(_) | Tool::Vendor(_) => {
                self.one_by_one |= matches!(tool, Tool::Computer(_));
                match as_function(&tool) {
                    Some(function) => self.function(function, context),
                    None => lose_kind(&tool, context),
                }
            }
            Tool::Unknown { .. } => lose_kind(&tool, context),
        }
    }

    fn function(&mut self, tool: FunctionTool<'a>, context: &mut Context<'_>) {
        let name = context.name(&tool.name);
        self.tools.push(Declared::Function { name, tool });
    }

    fn choose(&mut self, choice: Option<&Choice<'a>>, context: &mut Context<'_>) {
        let Some(choice) = choice.filter(|_| !self.tools.is_empty()) else { return };
        let known = |plan: &Self, name: &Text<'_>| plan.tools.iter().any(|tool| tool.name() == name);
        self.choice = match choice {
            Choice::Auto => Some(Choice::Auto),
            Choice::Any => Some(Choice::Any),
            Choice::None => Some(Choice::None),
            Choice::Named(name) => Some(Choice::Named(context.name(name))).filter(|_| known(self, &context.name(name))),
            Choice::Among { names, required } => {
                let names: Vec<Text<'a>> = names.iter().map(|name| context.name(name)).filter(|name| known(self, name)).collect();
                self.among(names, *required, context)
            }
        };
        if self.choice.is_none() {
            context.lose(TOOL_CHOICE, Weight::Major, "the tool it names cannot be offered");
        }
    }

    /// Copies of the vendor's API know no choice among several: they are offered these only.
    fn among(&mut self, names: Vec<Text<'a>>, required: bool, context: &Context<'_>) -> Option<Choice<'a>> {
        if names.is_empty() {
            return None;
        }
        if context.target.quirks.vendor {
            return Some(Choice::Among { names, required });
        }
        self.tools.retain(|tool| names.iter().any(|name| name == tool.name()));
        Some(if required { Choice::Any } else { Choice::Auto })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn write(&self, request: &Request<'_>, context: &Context<'_>, w: &mut Writer<'_>) {
        if self.tools.is_empty() {
            return;
        }
        w.array("tools", |w| self.tools.iter().for_each(|tool| declaration(tool, context.target.quirks.vendor, w)));
        if let Some(chosen) = &self.choice {
            w.key("tool_choice");
            choice::write(chosen, true, |name, w| self.reference(name, w), w);
        }
        let parallel = if self.one_by_one { Some(false) } else { request.parallel_tool_calls };
        if let Some(parallel) = parallel {
            w.bool_field("parallel_tool_calls", parallel);
        }
    }

    fn reference(&self, name: &Text<'_>, w: &mut Writer<'_>) {
        let custom = self.tools.iter().any(|tool| matches!(tool, Declared::Custom { name: known, .. } if known == name));
        let kind = if custom { "custom" } else { "function" };
        w.begin_object();
        w.str_field("type", kind);
        w.object(kind, |w| w.text_field("name", name));
        w.end_object();
    }
}

const TOOL_CHOICE: Names = ["tool_choice", "tool_choice", "toolConfig.functionCallingConfig", "tool_choice"];

fn lose_search(search: &WebSearch<'_>, only: bool, choice: Option<&Choice<'_>>, context: &mut Context<'_>) {
    let forced = match choice {
        Some(Choice::Named(name)) => search.name.as_ref().map_or_else(|| name.is("web_search"), |known| known == name),
        Some(Choice::Any) => only,
        _ => false,
    };
    let weight = if only || forced { Weight::Major } else { Weight::Minor };
    context.losses.note("tools.web_search", weight, "the provider cannot search the web");
}

fn lose_kind(tool: &Tool<'_>, context: &mut Context<'_>) {
    let kind = match tool {
        Tool::Unknown { kind, .. } => kind,
        Tool::Vendor(vendor) => &vendor.kind,
        Tool::Computer(computer) => &computer.kind,
        Tool::Function(_) | Tool::Custom { .. } | Tool::WebSearch(_) => return,
    };
    context.losses.note(format!("tools.{}", kind.decode()), Weight::Major, "only its own vendor runs this tool");
}

fn declaration(tool: &Declared<'_>, vendor: bool, w: &mut Writer<'_>) {
    w.begin_object();
    match tool {
        Declared::Function { name, tool } => {
            w.str_field("type", "function");
            w.object("function", |w| function(name, tool, vendor, w));
        }
        Declared::Custom { name, description, format } => {
            w.str_field("type", "custom");
            w.object("custom", |w| {
                w.text_field("name", name);
                if let Some(description) = description {
                    w.text_field("description", description);
                }
                if let Some(format) = format {
                    w.raw_field("format", format);
                }
            });
        }
    }
    w.end_object();
}

fn function(name: &Text<'_>, tool: &FunctionTool<'_>, vendor: bool, w: &mut Writer<'_>) {
    w.text_field("name", name);
    if let Some(description) = tool.description.as_ref().filter(|description| !description.is_empty()) {
        w.text_field("description", description);
    }
    let parameters = schema::arguments(tool.parameters.as_ref(), tool.vendor_schema);
    w.key("parameters");
    w.raw(&parameters);
    match tool.strict {
        Some(true) => w.bool_field("strict", schema::complies(Value::of(&parameters))),
        Some(false) if vendor => w.bool_field("strict", false),
        Some(false) | None => {}
    }
}
