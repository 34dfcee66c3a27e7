//! Declarations of tools.

use super::plan::{Form, Plan, WEB_SEARCH};
use super::prepare::Context;
use crate::canonical::{Block, ComputerTool, FunctionTool, Losses, Text, Tool, Turn, WebSearch, Weight};
use crate::shape::Shape;
use crate::translate::map::{free_text, names};
use crate::translate::messages::schema;
use crate::translate::{Adaptations, ProviderKind};
use crate::wire::json::{Value, Writer};

/// Writes the tools: those offered, or the hidden one, or stubs for those the history calls.
pub(super) fn declare(
    turns: &[Turn<'_>],
    plan: &Plan<'_, '_>,
    context: &Context<'_>,
    w: &mut Writer<'_>,
    losses: &mut Losses,
    adaptations: &mut Adaptations,
) {
    if let Form::Hidden(schema) = &plan.form {
        return w.array("tools", |w| {
            let name = adaptations.json_tool.as_deref().unwrap_or_default();
            described(&Text::from(name), Some(&Text::from("Give the answer by calling this tool.")), schema, false, w);
        });
    }
    if plan.tools.is_empty() {
        return stubs(turns, w, adaptations);
    }
    w.array("tools", |w| {
        for tool in &plan.tools {
            one(tool, context, w, losses, adaptations);
        }
    });
}

fn one(tool: &Tool<'_>, context: &Context<'_>, w: &mut Writer<'_>, losses: &mut Losses, adaptations: &mut Adaptations) {
    match tool {
        Tool::Function(tool) => function(tool, context, w, losses, adaptations),
        Tool::Custom { name, description, format } => {
            let name = names::sent(Shape::Messages, name, adaptations);
            adaptations.custom.push(name.decode().into_owned());
            let function = free_text::function(name, description.clone(), format.as_ref());
            let schema = function.parameters.as_ref().map_or(schema::NO_ARGUMENTS, |schema| &*schema.0);
            described(&function.name, function.description.as_ref(), schema, false, w);
        }
        Tool::WebSearch(search) => web_search(search, w),
        Tool::Computer(computer) => screen(computer, w),
        Tool::Vendor(vendor) => {
            w.begin_object();
            w.text_field("type", &vendor.kind);
            w.text_field("name", &vendor.name);
            w.end_object();
        }
        Tool::Unknown { raw, .. } => w.raw(&raw.0),
    }
}

fn function(tool: &FunctionTool<'_>, context: &Context<'_>, w: &mut Writer<'_>, losses: &mut Losses, adaptations: &mut Adaptations) {
    let able = context.target.capabilities.schema_output && context.target.kind != ProviderKind::Bedrock;
    let (schema, changed) = schema::arguments(tool.parameters.as_ref(), tool.vendor_schema);
    let asked = tool.strict == Some(true);
    let bound = (asked && able).then(|| schema::bound(&schema)).flatten();
    if asked && bound.is_none() {
        losses.note(context.terms.strict, Weight::Minor, "the provider cannot bind arguments to their schema");
    }
    if changed {
        losses.note(context.terms.parameters, Weight::Minor, "arguments of a tool must be an object");
    }
    let name = names::sent(Shape::Messages, &tool.name, adaptations);
    described(&name, tool.description.as_ref(), bound.as_deref().unwrap_or(&schema), bound.is_some(), w);
}

fn described(name: &Text<'_>, description: Option<&Text<'_>>, schema: &[u8], strict: bool, w: &mut Writer<'_>) {
    w.begin_object();
    w.text_field("name", name);
    if let Some(description) = description.filter(|description| !description.is_blank()) {
        w.text_field("description", description);
    }
    w.key("input_schema");
    w.raw(schema);
    if strict {
        w.bool_field("strict", true);
    }
    w.end_object();
}

fn web_search(search: &WebSearch<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.str_field("type", "web_search_20250305");
    w.str_field("name", WEB_SEARCH);
    let by_size = search.context_size.as_ref().and_then(|size| match &*size.decode() {
        "low" => Some(1),
        "medium" => Some(5),
        "high" => Some(10),
        _ => None,
    });
    if let Some(uses) = search.max_uses.or(by_size) {
        w.whole_field("max_uses", uses);
    }
    // Only one of the two lists may be given.
    let domains = [("allowed_domains", &search.allowed_domains), ("blocked_domains", &search.blocked_domains)];
    if let Some((name, list)) = domains.into_iter().find(|(_, list)| !list.is_empty()) {
        w.array(name, |w| list.iter().for_each(|domain| w.text(domain)));
    }
    if let Some(location) = &search.location {
        place(location.value(), w);
    }
    w.end_object();
}

fn place(location: Value<'_>, w: &mut Writer<'_>) {
    let nested = location.get("approximate");
    let location = if nested.is_null() { location } else { nested };
    w.object("user_location", |w| {
        w.str_field("type", "approximate");
        for name in ["city", "region", "country", "timezone"] {
            if let Some(text) = location.get(name).text().filter(|text| !text.is_empty()) {
                w.text_field(name, &text);
            }
        }
    });
}

fn screen(computer: &ComputerTool<'_>, w: &mut Writer<'_>) {
    w.begin_object();
    w.text_field("type", &computer.kind);
    w.text_field("name", &computer.name);
    let sizes = [("display_width_px", computer.width), ("display_height_px", computer.height), ("display_number", computer.display)];
    for (name, value) in sizes {
        if let Some(value) = value {
            w.number_field(name, value);
        }
    }
    if computer.zoom {
        w.bool_field("enable_zoom", true);
    }
    w.end_object();
}

/// Providers refuse calls in the history of tools that are not declared.
fn stubs(turns: &[Turn<'_>], w: &mut Writer<'_>, adaptations: &mut Adaptations) {
    let mut called: Vec<&Text<'_>> = Vec::new();
    for block in turns.iter().flat_map(|turn| &turn.blocks) {
        if let Block::ToolCall(call) = block
            && !called.contains(&&call.name)
        {
            called.push(&call.name);
        }
    }
    if called.is_empty() {
        return;
    }
    w.array("tools", |w| {
        for name in called {
            described(&names::sent(Shape::Messages, name, adaptations), None, schema::NO_ARGUMENTS, false, w);
        }
    });
    w.object("tool_choice", |w| w.str_field("type", "none"));
}
