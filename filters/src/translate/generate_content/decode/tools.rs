//! Tools, and which of them may be called.

use super::named;
use crate::canonical::{Choice, FunctionTool, Refusal, Request, Text, Tool, WebSearch, Weight};
use crate::translate::generate_content::fields::{Path, camel, list, object, text};
use crate::wire::json::{Kind, Member, Value};

/// Reads `tools`.
pub(super) fn read<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    for (index, tool) in list(value, Kind::Object, path)?.into_iter().enumerate() {
        let at = path.index(index);
        for member in object(tool, &at)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
            one(tool, &member, &at, request)?;
        }
    }
    Ok(())
}

fn one<'a>(tool: Value<'a>, member: &Member<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    let value = member.json();
    match &*camel(member) {
        b"functionDeclarations" => functions(value, &path.key("functionDeclarations"), request)?,
        b"googleSearch" => search(value, &path.key("googleSearch"), request)?,
        b"googleSearchRetrieval" => {
            request.tools.push(Tool::WebSearch(WebSearch::default()));
            if let Some(settings) = value.members().next() {
                request.extras.push(named(Some("tools.googleSearchRetrieval"), &settings, Weight::Minor));
            }
        }
        kind => {
            let kind = Text::from(String::from_utf8_lossy(kind).into_owned());
            request.tools.push(Tool::Unknown { kind, raw: tool.raw() });
        }
    }
    Ok(())
}

fn search<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    let mut search = WebSearch::default();
    for member in object(value, path)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
        match &*camel(&member) {
            b"excludeDomains" => {
                let at = path.key("excludeDomains");
                for (index, domain) in list(member.json(), Kind::String, &at)?.into_iter().enumerate() {
                    search.blocked_domains.extend(text(domain, &at.index(index))?);
                }
            }
            _ => request.extras.push(named(Some("tools.googleSearch"), &member, Weight::Minor)),
        }
    }
    request.tools.push(Tool::WebSearch(search));
    Ok(())
}

fn functions<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    for (index, declaration) in list(value, Kind::Object, path)?.into_iter().enumerate() {
        let at = path.index(index);
        let Some(function) = function(declaration, &at, request)? else { continue };
        let twice = request.tools.iter().any(|tool| matches!(tool, Tool::Function(known) if known.name == function.name));
        if twice {
            return Err(at.key("name").invalid(format!("the function `{}` is declared twice", function.name.decode())));
        }
        request.tools.push(Tool::Function(function));
    }
    Ok(())
}

/// A declaration; none where it has no name, which is noted.
fn function<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<Option<FunctionTool<'a>>, Refusal> {
    let Some(value) = object(value, path)? else { return Ok(None) };
    let mut name = None;
    let mut function = FunctionTool { name: Text::from(""), description: None, parameters: None, vendor_schema: false, strict: None };
    for member in value.members().filter(|member| member.kind != Kind::Null) {
        let value = member.json();
        match &*camel(&member) {
            b"name" => name = text(value, &path.key("name"))?.filter(|name| !name.is_blank()),
            b"description" => function.description = text(value, &path.key("description"))?,
            b"parametersJsonSchema" => {
                function.parameters = object(value, &path.key("parametersJsonSchema"))?.map(Value::raw);
                function.vendor_schema = false;
            }
            b"parameters" if function.parameters.is_none() => {
                function.parameters = object(value, &path.key("parameters"))?.map(Value::raw);
                function.vendor_schema = true;
            }
            b"parameters" => {}
            // `response`, `responseJsonSchema`, `behavior` and whatever comes later.
            _ => request.extras.push(named(Some("tools.functionDeclarations"), &member, Weight::Minor)),
        }
    }
    match name {
        Some(name) => Ok(Some(FunctionTool { name, ..function })),
        None => {
            request.extras.push(super::extra("tools.functionDeclarations.name", value, Weight::Minor));
            Ok(None)
        }
    }
}

/// Reads `toolConfig`.
pub(super) fn config<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    for member in object(value, path)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
        match &*camel(&member) {
            b"functionCallingConfig" => request.tool_choice = calling(member.json(), &path.key("functionCallingConfig"))?,
            // How the provider's own tools show in the answer.
            b"includeServerSideToolInvocations" => request.extras.push(named(Some("toolConfig"), &member, Weight::Silent)),
            _ => request.extras.push(named(Some("toolConfig"), &member, Weight::Minor)),
        }
    }
    Ok(())
}

fn calling<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Option<Choice<'a>>, Refusal> {
    let (mut mode, mut names) = (None, Vec::new());
    for member in object(value, path)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
        match &*camel(&member) {
            b"mode" => mode = text(member.json(), &path.key("mode"))?,
            b"allowedFunctionNames" => {
                let at = path.key("allowedFunctionNames");
                for (index, name) in list(member.json(), Kind::String, &at)?.into_iter().enumerate() {
                    names.extend(text(name, &at.index(index))?.filter(|name| !name.is_empty()));
                }
            }
            // How calls are streamed; ours come whole.
            _ => {}
        }
    }
    let mode = mode.map(|mode| mode.decode().to_ascii_uppercase());
    choice(mode.as_deref(), names).ok_or_else(|| path.key("mode").invalid("expected `AUTO`, `ANY`, `NONE` or `VALIDATED`"))
}

/// The choice a mode stands for; the outer `None` is an unknown mode.
fn choice<'a>(mode: Option<&str>, mut names: Vec<Text<'a>>) -> Option<Option<Choice<'a>>> {
    Some(match (mode, names.len()) {
        (None | Some("" | "MODE_UNSPECIFIED"), _) => None,
        (Some("AUTO"), _) | (Some("VALIDATED"), 0) => Some(Choice::Auto),
        (Some("ANY"), 0) => Some(Choice::Any),
        (Some("ANY"), 1) => names.pop().map(Choice::Named),
        (Some("ANY"), _) => Some(Choice::Among { names, required: true }),
        (Some("VALIDATED"), _) => Some(Choice::Among { names, required: false }),
        (Some("NONE"), _) => Some(Choice::None),
        (Some(_), _) => return None,
    })
}
