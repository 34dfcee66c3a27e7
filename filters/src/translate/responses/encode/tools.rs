//! Tools and the choice among them.

use crate::canonical::{Choice, ComputerTool, FunctionTool, Raw, Request, Text, Tool, VendorTool, WebSearch, Weight};
use crate::shape::Shape;
use crate::translate::chat_completions::kin::{arguments, complies};
use crate::translate::map::context::{Context, Names};
use crate::translate::map::{choice, tools::as_function};
use crate::wire::json::{Value, Writer};

const TOOL_CHOICE: Names = ["tool_choice", "tool_choice", "toolConfig.functionCallingConfig", "tool_choice"];

enum Declared<'a> {
    Function { name: Text<'a>, tool: FunctionTool<'a> },
    Custom { name: Text<'a>, description: Option<Text<'a>>, format: Option<Raw<'a>> },
    Search(WebSearch<'a>),
    Own(Raw<'a>),
}

impl<'a> Declared<'a> {
    const fn name(&self) -> Option<&Text<'a>> {
        match self {
            Self::Function { name, .. } | Self::Custom { name, .. } => Some(name),
            Self::Search(_) | Self::Own(_) => None,
        }
    }
}

/// What is declared, and how one is chosen.
pub(super) struct Plan<'a> {
    tools: Vec<Declared<'a>>,
    choice: Option<Choice<'a>>,
    /// Names under which the client calls the search.
    search_name: Option<Text<'a>>,
    one_by_one: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn make(tools: Vec<Tool<'a>>, request: &Request<'a>, context: &mut Context<'_>) -> Self {
        let mut plan = Self { tools: Vec::with_capacity(tools.len()), choice: None, search_name: None, one_by_one: false };
        for tool in tools {
            plan.declare(tool, context);
        }
        plan.choice = request.tool_choice.as_ref().filter(|_| !plan.tools.is_empty()).and_then(|choice| plan.choose(choice, context));
        plan
    }

    fn declare(&mut self, tool: Tool<'a>, context: &mut Context<'_>) {
        let function = as_function(&tool);
        match tool {
            Tool::Function(tool) => self.tools.push(Declared::Function { name: context.name(&tool.name), tool }),
            Tool::Custom { name, description, format } => {
                self.tools.push(Declared::Custom { name: context.name(&name), description, format });
            }
            Tool::WebSearch(search) => {
                if !search.blocked_domains.is_empty() {
                    context.lose(
                        ["", "tools.blocked_domains", "tools.googleSearch.excludeDomains", ""],
                        Weight::Minor,
                        "the provider cannot leave out domains",
                    );
                }
                self.search_name = search.name.clone();
                self.tools.push(Declared::Search(search));
            }
            Tool::Unknown { raw, .. } if context.from == Shape::Responses => self.tools.push(Declared::Own(raw)),
            Tool::Computer(ComputerTool { ref kind, .. }) | Tool::Vendor(VendorTool { ref kind, .. }) | Tool::Unknown { ref kind, .. } => {
                self.one_by_one |= matches!(tool, Tool::Computer(_));
                match function {
                    Some(tool) => self.tools.push(Declared::Function { name: context.name(&tool.name), tool }),
                    None => {
                        context.losses.note(format!("tools.{}", kind.decode()), Weight::Major, "only its own vendor runs this tool");
                    }
                }
            }
        }
    }

    fn choose(&self, choice: &Choice<'a>, context: &mut Context<'_>) -> Option<Choice<'a>> {
        let known = |name: &Text<'_>| self.tools.iter().filter_map(Declared::name).any(|known| known == name);
        let chosen = match choice {
            Choice::Auto => Some(Choice::Auto),
            Choice::Any => Some(Choice::Any),
            Choice::None => Some(Choice::None),
            Choice::Named(name) if self.searches() && self.is_search(name) => Some(Choice::Named(name.clone())),
            Choice::Named(name) => Some(context.name(name)).filter(known).map(Choice::Named),
            Choice::Among { names, required } => {
                let searched = |name: &Text<'_>| self.searches() && self.is_search(name);
                let sent = names.iter().map(|name| if searched(name) { name.clone() } else { context.name(name) });
                let names: Vec<Text<'a>> = sent.filter(|name| searched(name) || known(name)).collect();
                (!names.is_empty()).then_some(Choice::Among { names, required: *required })
            }
        };
        if chosen.is_none() {
            context.lose(TOOL_CHOICE, Weight::Major, "the tool it names cannot be offered");
        }
        chosen
    }

    fn is_search(&self, name: &Text<'_>) -> bool {
        name.is("web_search") || self.search_name.as_ref().is_some_and(|known| known == name)
    }

    pub(super) fn searches(&self) -> bool {
        self.tools.iter().any(|tool| matches!(tool, Declared::Search(_)))
    }

    /// Whether a tool takes free text.
    pub(super) fn is_custom(&self, name: &Text<'_>) -> bool {
        self.tools.iter().any(|tool| matches!(tool, Declared::Custom { name: known, .. } if known == name))
    }

    pub(super) fn write(&self, request: &Request<'_>, w: &mut Writer<'_>) {
        if self.tools.is_empty() {
            return;
        }
        w.array("tools", |w| self.tools.iter().for_each(|tool| declaration(tool, w)));
        if let Some(chosen) = &self.choice {
            w.key("tool_choice");
            choice::write(chosen, false, |name, w| self.reference(name, w), w);
        }
        if let Some(parallel) = if self.one_by_one { Some(false) } else { request.parallel_tool_calls } {
            w.bool_field("parallel_tool_calls", parallel);
        }
        let most = self.tools.iter().find_map(|tool| if let Declared::Search(search) = tool { search.max_uses } else { None });
        if let Some(most) = most {
            w.whole_field("max_tool_calls", most);
        }
    }

    fn reference(&self, name: &Text<'_>, w: &mut Writer<'_>) {
        let declared = self.tools.iter().any(|tool| tool.name().is_some_and(|known| known == name));
        w.begin_object();
        if declared {
            w.str_field("type", if self.is_custom(name) { "custom" } else { "function" });
            w.text_field("name", name);
        } else {
            w.str_field("type", "web_search");
        }
        w.end_object();
    }
}

fn declaration(tool: &Declared<'_>, w: &mut Writer<'_>) {
    if let Declared::Own(raw) = tool {
        return w.raw(&raw.0);
    }
    w.begin_object();
    match tool {
        Declared::Function { name, tool } => {
            w.str_field("type", "function");
            w.text_field("name", name);
            if let Some(description) = &tool.description {
                w.text_field("description", description);
            }
            let parameters = arguments(tool.parameters.as_ref(), tool.vendor_schema);
            w.key("parameters");
            w.raw(&parameters);
            // Strict is this dialect's default, unlike everywhere else.
            w.bool_field("strict", tool.strict == Some(true) && complies(Value::of(&parameters)));
        }
        Declared::Custom { name, description, format } => {
            w.str_field("type", "custom");
            w.text_field("name", name);
            if let Some(description) = description {
                w.text_field("description", description);
            }
            if let Some(format) = format {
                w.key("format");
                custom_format(format.value(), w);
            }
        }
        Declared::Search(search) => web_search(search, w),
        Declared::Own(_) => {}
    }
    w.end_object();
}

/// Chat completions puts the grammar one level deeper than this dialect.
fn custom_format(format: Value<'_>, w: &mut Writer<'_>) {
    let grammar = format.get("grammar");
    if grammar.is_null() {
        return w.raw(format.bytes());
    }
    w.begin_object();
    w.str_field("type", "grammar");
    for member in grammar.members() {
        w.key(&member.key());
        w.raw(member.value());
    }
    w.end_object();
}

fn web_search(search: &WebSearch<'_>, w: &mut Writer<'_>) {
    w.str_field("type", "web_search");
    if let Some(size) = &search.context_size {
        w.text_field("search_context_size", size);
    }
    if !search.allowed_domains.is_empty() {
        w.object("filters", |w| w.array("allowed_domains", |w| search.allowed_domains.iter().for_each(|domain| w.text(domain))));
    }
    if let Some(location) = &search.location {
        w.object("user_location", |w| {
            w.str_field("type", "approximate");
            for member in location.value().members().filter(|member| !member.is("type")) {
                w.key(&member.key());
                w.raw(member.value());
            }
        });
    }
}
