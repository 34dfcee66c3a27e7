//! Generate content: every verb, keys in either spelling.

use super::item::{Field, Item, last};
use super::walk::{Dialect, Reading, Voice, Walk};
use crate::wire::json::{Kind, Member};

const DIALECT: Dialect = Dialect { block, member };

pub(super) fn request(walk: &mut Walk<'_>, document: Item<'_>) {
    for (member, value) in document.members() {
        match &*member.name() {
            b"systemInstruction" | b"system_instruction" => walk.texts(&DIALECT, Voice::System, value),
            b"contents" | b"content" => walk.texts(&DIALECT, Voice::Said, value),
            b"title" => walk.texts(&DIALECT, Voice::Document, value),
            // Requests within this one, of which tokens are counted or which are embedded together.
            b"generateContentRequest" | b"generate_content_request" if document.depth == 0 => request(walk, value),
            b"requests" if document.depth == 0 => value.elements().for_each(|one| request(walk, one)),
            _ => {}
        }
    }
}

pub(super) fn answer(walk: &mut Walk<'_>, document: Item<'_>) {
    if document.kind == Kind::Array && document.depth == 0 {
        return document.elements().for_each(|chunk| answer(walk, chunk));
    }
    for (_, candidates) in document.members().filter(|(member, _)| member.is("candidates")) {
        walk.texts(&DIALECT, Voice::Said, candidates);
    }
}

fn block(part: &[Field<'_>], _: &str) -> Option<Voice> {
    (last(part, "thought").and_then(Member::as_bool) == Some(true)).then_some(Voice::Thought)
}

fn member(key: &[u8], _: &str) -> Option<Reading> {
    Some(match key {
        b"args" => Reading::Own(Voice::Call),
        b"jsonPath" | b"json_path" => Reading::Skip,
        b"functionCall" | b"function_call" | b"toolCall" | b"tool_call" | b"executableCode" | b"executable_code" => {
            Reading::Blocks(Voice::Call)
        }
        b"response" => Reading::Own(Voice::Result),
        b"functionResponse" | b"function_response" | b"toolResponse" | b"tool_response" => Reading::Blocks(Voice::Result),
        b"codeExecutionResult" | b"code_execution_result" => Reading::Blocks(Voice::Result),
        b"inlineData" | b"inline_data" | b"fileData" | b"file_data" => Reading::Blocks(Voice::Document),
        _ => return None,
    })
}
