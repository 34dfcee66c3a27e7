//! What holds for every body.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::pieces::{Chance, Piece, fixed, object};
use super::*;

const KINDS: [BodyKind; 4] = [BodyKind::ChatCompletions, BodyKind::Messages, BodyKind::GenerateContent, BodyKind::Responses];

type Screen = fn(&RuleSet, BodyKind, &[u8]) -> Screened;
type Texts = fn(BodyKind, &[u8], &mut dyn FnMut(Found<'_>));

/// Masks with nothing, with characters that have to be escaped, and as long as the match; a rule of one place, and one that only notes.
fn rules() -> RuleSet {
    let rules = vec![
        rule("card", None, mask("<\"{rule}\\\n{last4}>"), Places::ALL),
        rule("secret", Some("secret"), mask(""), Places::ALL),
        rule("note", Some("x"), Action::LogOnly, Places::ALL),
        rule("result", Some("hello"), mask("{length}é"), Places::NONE.with(Place::ToolResults).with(Place::ToolArguments)),
    ];
    RuleSet::new(rules).unwrap()
}

fn request(kind: BodyKind, chance: &mut Chance) -> Piece {
    match kind {
        BodyKind::ChatCompletions => object([("model", fixed("secret")), ("messages", chance.list(chat_message))]),
        BodyKind::Messages => object([("system", chance.text(Place::System)), ("messages", chance.list(message))]),
        BodyKind::GenerateContent => {
            let system = object([("parts", chance.list(|chance| object([("text", chance.text(Place::System))])))]);
            object([("contents", chance.list(|chance| object([("parts", chance.list(part))]))), ("systemInstruction", system)])
        }
        _ => object([("instructions", chance.text(Place::System)), ("input", chance.list(item))]),
    }
}

fn chat_message(chance: &mut Chance) -> Piece {
    let (role, place) =
        [("user", Place::Messages), ("developer", Place::System), ("tool", Place::ToolResults), ("assistant", Place::Messages)]
            [chance.below(4)];
    let picture = chance.picture();
    let content = match chance.below(3) {
        0 => chance.text(place),
        1 => chance.list(|chance| object([("type", fixed("text")), ("text", chance.text(place))])),
        _ => Piece::List(vec![object([
            ("type", fixed("image_url")),
            ("image_url", fixed(json!({"url": format!("data:x;base64,{picture}")}))),
        ])]),
    };
    let calls = chance.list(|chance| {
        let arguments = Piece::Inside(Box::new(chance.own_object(place, 0)));
        object([("id", fixed("secret")), ("function", object([("name", fixed("secret")), ("arguments", arguments)]))])
    });
    object([("content", content), ("role", fixed(role)), ("tool_calls", calls)])
}

fn message(chance: &mut Chance) -> Piece {
    let content = chance.list(|chance| match chance.below(5) {
        0 => object([
            ("type", fixed("text")),
            ("text", chance.text(Place::Messages)),
            ("new", chance.list(|chance| chance.text(Place::Messages))),
        ]),
        1 => object([("type", fixed("tool_use")), ("name", fixed("secret")), ("input", chance.own_object(Place::Messages, 0))]),
        2 => object([("content", chance.text(Place::ToolResults)), ("type", fixed("tool_result")), ("tool_use_id", fixed("secret"))]),
        3 => {
            let source = json!({"type": "base64", "data": chance.picture()});
            object([("type", fixed("document")), ("source", fixed(source)), ("title", chance.text(Place::Documents))])
        }
        _ => object([("type", fixed("thinking")), ("thinking", chance.text(Place::Messages)), ("signature", fixed("secret"))]),
    });
    object([("role", fixed("user")), ("content", content)])
}

fn part(chance: &mut Chance) -> Piece {
    match chance.below(4) {
        0 => object([("text", chance.text(Place::Messages))]),
        1 => object([("functionCall", object([("name", fixed("secret")), ("args", chance.own_object(Place::Messages, 0))]))]),
        2 => object([("function_response", object([("response", chance.own_object(Place::ToolResults, 0)), ("name", fixed("secret"))]))]),
        _ => object([("inlineData", fixed(json!({"mimeType": "secret", "data": chance.picture()})))]),
    }
}

fn item(chance: &mut Chance) -> Piece {
    match chance.below(4) {
        0 => object([("role", fixed("user")), ("content", chance.text(Place::Messages))]),
        1 => {
            let arguments = Piece::Inside(Box::new(chance.own_object(Place::Messages, 0)));
            object([("type", fixed("function_call")), ("arguments", arguments)])
        }
        2 => object([("output", chance.text(Place::ToolResults)), ("call_id", fixed("secret")), ("type", fixed("function_call_output"))]),
        _ => object([("type", fixed("reasoning")), ("summary", chance.list(|chance| object([("text", chance.text(Place::Messages))])))]),
    }
}

/// The parts of an answer; its places are those of answers.
fn answer(kind: BodyKind, chance: &mut Chance) -> Piece {
    let texts = |chance: &mut Chance| (chance.text(Place::Answer), chance.text(Place::Reasoning));
    let ((text, thought), arguments) = (texts(chance), chance.own_object(Place::ToolArguments, 0));
    match kind {
        BodyKind::ChatCompletions => {
            let function = object([("arguments", Piece::Inside(Box::new(arguments)))]);
            let calls = Piece::List(vec![object([("function", function)])]);
            let message = object([("content", text), ("reasoning_content", thought), ("tool_calls", calls)]);
            object([("choices", Piece::List(vec![object([("message", message), ("finish_reason", fixed("secret"))])]))])
        }
        BodyKind::Messages => {
            let blocks = vec![
                object([("type", fixed("thinking")), ("thinking", thought)]),
                object([("type", fixed("text")), ("text", text)]),
                object([("type", fixed("tool_use")), ("input", arguments)]),
            ];
            object([("id", fixed("secret")), ("content", Piece::List(blocks))])
        }
        BodyKind::GenerateContent => {
            let parts = vec![
                object([("text", thought), ("thought", fixed(true))]),
                object([("text", text)]),
                object([("functionCall", object([("args", arguments)]))]),
            ];
            object([("candidates", Piece::List(vec![object([("content", object([("parts", Piece::List(parts))]))])]))])
        }
        _ => {
            let items = vec![
                object([("type", fixed("reasoning")), ("summary", Piece::List(vec![object([("text", thought)])]))]),
                object([("type", fixed("message")), ("content", Piece::List(vec![object([("text", text)])]))]),
                object([("type", fixed("function_call")), ("arguments", Piece::Inside(Box::new(arguments)))]),
            ];
            object([("output", Piece::List(items))])
        }
    }
}

/// Masks the piece as it is written with random escapes, and compares.
fn check(rules: &RuleSet, kind: BodyKind, piece: &Piece, chance: &mut Chance, (screen, texts): (Screen, Texts)) {
    let mut body = String::new();
    chance.write(piece, &mut body);
    let screened = screen(rules, kind, body.as_bytes());
    let masked = screened.apply(body.as_bytes()).map_or_else(|| body.clone(), |bytes| String::from_utf8(bytes).unwrap());
    let value: Value = serde_json::from_str(&masked).unwrap_or_else(|error| panic!("{error} in {masked}"));
    assert_eq!(piece.read(&value), piece.masked(rules), "of {body}");
    assert_eq!(screened.texts, piece.texts(), "each text once in {body}");
    let original: Value = serde_json::from_str(&body).unwrap();
    let changed = piece.read(&original) != piece.masked(rules);
    assert_eq!(screened.masks(), changed, "nothing is written where nothing changes, in {body}");
    let mut written = texts_as_written(&masked, kind, texts).into_iter();
    for (text, found) in texts_as_written(&body, kind, texts).iter().zip(&texts_found(&body, kind, texts)) {
        if *rules.mask(&found.1, &rules.scan(found.0, &found.1)) == *found.1 {
            assert!(written.any(|other| other == *text), "{text} is written in another way although nothing is masked in it, in {body}");
        }
    }
}

fn texts_as_written(body: &str, kind: BodyKind, texts: Texts) -> Vec<String> {
    let mut out = Vec::new();
    texts(kind, body.as_bytes(), &mut |found| out.push(body[found.span.start..found.span.end].to_owned()));
    out
}

fn screen_json(rules: &RuleSet, kind: BodyKind, body: &[u8]) -> Screened {
    screen_request(rules, Body::Json(kind, body))
}

fn json_texts(kind: BodyKind, body: &[u8], found: &mut dyn FnMut(Found<'_>)) {
    request_texts(Body::Json(kind, body), found);
}

fn texts_found(body: &str, kind: BodyKind, texts: Texts) -> Vec<(Place, String)> {
    let mut out = Vec::new();
    texts(kind, body.as_bytes(), &mut |found| out.push((found.place, found.text.into_owned())));
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn requests_are_masked_as_their_texts_are(seed in any::<u64>()) {
        let (rules, mut chance) = (rules(), Chance::new(seed));
        for kind in KINDS {
            let piece = request(kind, &mut chance);
            check(&rules, kind, &piece, &mut chance, (screen_json, json_texts));
        }
    }

    #[test]
    fn answers_are_masked_as_their_texts_are(seed in any::<u64>()) {
        let (rules, mut chance) = (rules(), Chance::new(seed));
        for kind in KINDS {
            let piece = answer(kind, &mut chance);
            check(&rules, kind, &piece, &mut chance, (screen_answer, answer_texts));
        }
    }

    #[test]
    fn foreign_bytes_of_any_form_are_survived(text in r#"([\[\]{}:,"\\ 1tn-]|"(messages|content|role|type|text|arguments|input|parts|output)":|\\u00|é){0,60}"#, cut in 0..40_usize) {
        let rules = cards();
        for kind in KINDS {
            let wrapped = format!("{{\"messages\":{text},\"contents\":{text},\"input\":{text},\"choices\":{text}");
            for body in [text.as_bytes(), wrapped.as_bytes(), wrapped.as_bytes().get(..wrapped.len().saturating_sub(cut)).unwrap()] {
                let _ = screen_request(&rules, Body::Json(kind, body)).apply(body);
                let _ = screen_answer(&rules, kind, body).apply(body);
            }
        }
    }
}
