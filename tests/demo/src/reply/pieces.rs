//! The text of an answer, in the pieces a stream sends.

use crate::directive::Directives;
use crate::media::Media;
use crate::prompt::Prompt;
use crate::sample;

const PIECE_BYTES: usize = 4096;

pub(super) fn of(prompt: &Prompt, directives: &Directives) -> Vec<String> {
    if let Some(schema) = &prompt.schema {
        return vec![sample::value(schema).to_string()];
    }
    let text = sentence(prompt, directives);
    if let Some(bytes) = directives.count("bytes") {
        return filled(&text, bytes);
    }
    let mut pieces: Vec<String> = text.split_inclusive(' ').map(str::to_owned).collect();
    if let Some(count) = directives.count("chunks") {
        let last = pieces.len();
        pieces.extend((last..count).map(|number| format!(" {number}")));
    }
    pieces
}

fn sentence(prompt: &Prompt, directives: &Directives) -> String {
    let conversation = &prompt.conversation;
    let mut sentences = Vec::new();
    if directives.has("system") {
        sentences.push(format!("The system says: {}", words(&conversation.system)));
    } else if directives.has("history") {
        sentences.push(format!("So far: {}", conversation.history.join(" / ")));
    } else if conversation.results.is_empty() {
        sentences.push(format!("You said: {}", conversation.text));
    } else {
        sentences.push(format!("The tool answered: {}", conversation.results.join(", ")));
    }
    sentences.extend(conversation.media.iter().map(Media::describe));
    sentences.join(" ")
}

/// Joined so that it does not matter how a shape divides its instructions.
fn words(texts: &[String]) -> String {
    texts.iter().flat_map(|text| text.split_whitespace()).collect::<Vec<_>>().join(" ")
}

fn filled(start: &str, bytes: usize) -> Vec<String> {
    let mut text: String = start.chars().filter(char::is_ascii).take(bytes).collect();
    text.extend(std::iter::repeat_n('x', bytes.saturating_sub(text.len())));
    let bytes: Vec<char> = text.chars().collect();
    bytes.chunks(PIECE_BYTES).map(|piece| piece.iter().collect()).collect()
}

/// Ends the text before the first of the caller's stop texts and tells which one it was.
pub(super) fn stop(pieces: &mut Vec<String>, stops: &[String]) -> Option<String> {
    let text = pieces.concat();
    let found = stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| Some((text.find(stop.as_str())?, stop)));
    let (at, stop) = found.min_by_key(|(at, _)| *at)?;
    cut(pieces, at);
    Some(stop.clone())
}

/// Cuts the text at the token limit; true when something was lost.
pub(super) fn truncate(pieces: &mut Vec<String>, limit: Option<u64>) -> bool {
    let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { return false };
    let room = limit.saturating_mul(4);
    let total: usize = pieces.iter().map(String::len).sum();
    let cuts = total > room;
    if cuts {
        cut(pieces, room);
    }
    cuts
}

/// Keeps whole characters that end within the first `room` bytes.
fn cut(pieces: &mut Vec<String>, mut room: usize) {
    for piece in pieces.iter_mut() {
        let kept = piece.char_indices().map(|(at, character)| at + character.len_utf8()).take_while(|end| *end <= room).last().unwrap_or(0);
        room = if kept < piece.len() { 0 } else { room - kept };
        piece.truncate(kept);
    }
    pieces.retain(|piece| !piece.is_empty());
}
