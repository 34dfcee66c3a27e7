//! B.0.4.

use super::*;
use crate::canonical::{Document, Media, Source};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";
const PDF: &str = "JVBERi0xLjQK";

fn bytes(media_type: &'static str, data: &'static str) -> Source<'static> {
    Source::Base64 { media_type: Text::from(media_type), data: Text::from(data) }
}

fn web(url: &'static str) -> Source<'static> {
    Source::Url { url: Text::from(url), media_type: None }
}

fn picture(source: Source<'static>) -> Block<'static> {
    Block::Image(Media { source, detail: None })
}

fn file(source: Source<'static>) -> Block<'static> {
    Block::Document(Document { source, title: Some(Text::from("T")), context: None })
}

fn first(block: Block<'static>) -> Value {
    sent(chat(vec![user(vec![block, text("look")])]))["messages"][0]["content"][0].take()
}

#[test]
fn pictures_are_sent_as_what_their_bytes_are() {
    let expected = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    for claimed in ["image/png", "image/jpeg", "image/*", ""] {
        assert_eq!(first(picture(bytes(claimed, PNG))), expected, "{claimed}");
    }
    assert_eq!(first(picture(web("data:image/jpeg;base64,iVBORw0KGgoAAAANSUhEUg=="))), expected);
}

#[test]
fn kinds_the_vendor_does_not_take_are_left_out() {
    let (body, encoding) =
        encoded(chat(vec![user(vec![picture(bytes("image/tiff", "AAAA")), text("look")])]), &target(SONNET)).expect("encodes");
    assert_eq!(body["messages"][0]["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(losses(&encoding), [lost("messages.content.image_url", Weight::Major)]);
}

#[test]
fn addresses_go_to_the_vendor_itself_only() {
    assert_eq!(first(picture(web("https://x/y.png"))), json!({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}));
    assert_eq!(
        first(file(web("https://x/y.pdf"))),
        json!({"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}, "title": "T"})
    );
    let at = |url, target: &Target<'_>| encoded(chat(vec![system("s"), user(vec![text("a"), picture(web(url))])]), target);
    let vertex = Target { kind: ProviderKind::Vertex, ..target(SONNET) };
    for (url, target) in [("http://x/y.png", &target(SONNET)), ("https://x/y.png", &bedrock(SONNET)), ("https://x/y.png", &vertex)] {
        let refusal = at(url, target).expect_err("the gateway has to fetch it");
        assert!(matches!(&refusal, Refusal::Unsupported { field, .. } if field == "messages[1].content[1]"), "{refusal}");
    }
}

#[test]
fn documents_are_pdf_or_text() {
    assert_eq!(
        first(file(bytes("", PDF))),
        json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}, "title": "T"})
    );
    let plain = json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a b"}, "title": "T"});
    assert_eq!(first(file(bytes("text/plain", "YSBi"))), plain);
    assert_eq!(first(file(Source::Text(Text::from("a b")))), plain);
    let blocks = json!({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x"}]}, "title": "T"});
    assert_eq!(first(file(Source::Blocks(vec![text("x"), text(" ")]))), blocks);
    assert_eq!(first(file(bytes("", PNG)))["type"], json!("image"), "a picture in a file part");
}

#[test]
fn sound_films_and_foreign_files_are_left_out_and_weigh_much() {
    let sound = || Media { source: bytes("audio/wav", "AAAA"), detail: None };
    let stored = Source::File { shape: Shape::ChatCompletions, id: Text::from("file-1"), media_type: None };
    let blocks = vec![Block::Audio(sound()), Block::Video(sound()), file(stored)];
    let (body, encoding) = encoded(chat(vec![user(blocks)]), &target(SONNET)).expect("encodes");
    assert_eq!(body["messages"][0]["content"][0]["text"], json!("(empty)"));
    let major: Vec<String> = losses(&encoding).into_iter().filter(|(_, weight)| *weight == Weight::Major).map(|(field, _)| field).collect();
    assert_eq!(major, ["messages.content.input_audio", "messages.content.video", "messages.content.file"]);
}

#[test]
fn pictures_stay_in_the_results_of_tools() {
    let turns = vec![model(vec![call("c", "f", "{}")]), user(vec![result("c", vec![text("shot"), picture(bytes("image/png", PNG))])])];
    let body = sent(chat(turns));
    assert_eq!(body["messages"][2]["content"][0]["content"][1]["source"]["media_type"], json!("image/png"));
}

#[test]
fn detail_is_lost_and_pictures_of_the_model_cannot_go_back() {
    let detailed = Block::Image(Media { source: bytes("image/png", PNG), detail: Some(Text::from("high")) });
    let turns = vec![user(vec![detailed]), model(vec![picture(bytes("image/png", PNG)), text("b")]), user(vec![text("c")])];
    let (_, encoding) = encoded(chat(turns), &target(SONNET)).expect("encodes");
    assert_eq!(
        losses(&encoding),
        [lost("messages.content.image_url.detail", Weight::Minor), lost("messages.content.image_url", Weight::Major)]
    );
}
