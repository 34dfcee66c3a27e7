//! Instructions, pictures, sounds and documents.

use super::*;

#[test]
fn instructions_are_one_message_of_the_role_the_model_knows() {
    let turns = || vec![turn(Role::System, vec![text("a"), text("b")]), turn(Role::System, vec![text("c")]), user("hi")];
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "text", "text": "c"}]);
    assert_eq!(messages(turns())[0], json!({"role": "system", "content": parts}));
    assert_eq!(send(request(turns()), &compatible()).body["messages"][0], json!({"role": "system", "content": "a\n\nb\n\nc"}));
    assert_eq!(send(request(turns()), &target("gpt-5.1", Quirks::VENDOR)).body["messages"][0]["role"], "developer");
    let later = messages(vec![user("a"), turn(Role::System, vec![text("b")]), user("c")]);
    assert_eq!(later[1], json!({"role": "system", "content": "b"}));
    let picture = refused(request(vec![turn(Role::System, vec![image()]), user("a")]), &vendor());
    assert!(picture.starts_with("translate `system`"), "{picture}");
}

#[test]
fn pictures_sounds_and_documents_have_their_parts() {
    let part = |block: Block<'static>| messages(vec![turn(Role::User, vec![text("x"), block])])[0]["content"][1].clone();
    let url =
        |url: &'static str| Block::Image(Media { source: Source::Url { url: url.into(), media_type: None }, detail: Some("low".into()) });
    assert_eq!(part(url("https://x/a.png")), json!({"type": "image_url", "image_url": {"url": "https://x/a.png", "detail": "low"}}));
    assert_eq!(part(image())["image_url"]["url"], format!("data:image/png;base64,{PNG}"), "the bytes tell the type");
    let sound =
        |kind: &'static str| Block::Audio(Media { source: Source::Base64 { media_type: kind.into(), data: "AAAA".into() }, detail: None });
    assert_eq!(part(sound("audio/mpeg")), json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}));
    let document = |source, title: Option<&'static str>| Block::Document(Document { source, title: title.map(Text::from), context: None });
    let base64 = |kind: &'static str, data: &'static str| Source::Base64 { media_type: kind.into(), data: data.into() };
    let pdf = part(document(base64("application/pdf", "JVBERi0xLjQK"), Some("a")));
    assert_eq!(pdf, json!({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQK"}}));
    assert_eq!(part(document(Source::Text("body".into()), Some("T"))), json!({"type": "text", "text": "T\nbody"}));
    assert_eq!(part(document(base64("text/plain", "Ym9keQ=="), None)), json!({"type": "text", "text": "body"}));
    assert_eq!(part(document(Source::Blocks(vec![text("a"), text("b")]), None)), json!({"type": "text", "text": "a\nb"}));
    let own = Source::File { shape: Shape::Responses, id: "file-1".into(), media_type: None };
    assert_eq!(part(document(own, None)), json!({"type": "file", "file": {"file_id": "file-1"}}));
}

#[test]
fn media_the_provider_cannot_reach_are_refused() {
    let said = |block: Block<'static>| refused(request(vec![turn(Role::User, vec![block])]), &vendor());
    let picture = |source| Block::Image(Media { source, detail: None });
    let url = |url: &'static str, kind: Option<&'static str>| Source::Url { url: url.into(), media_type: kind.map(Text::from) };
    let place = "translate `messages.content.image`";
    assert!(said(picture(url("http://x/a.png", None))).starts_with(place));
    assert!(said(picture(url("gs://x/a.png", None))).starts_with(place));
    assert!(said(picture(url("https://x/a.mp4", Some("video/mp4")))).starts_with(place));
    assert!(said(picture(Source::File { shape: Shape::Messages, id: "f".into(), media_type: None })).starts_with(place));
    let blind = Target { capabilities: Capabilities { vision: false, ..vendor().capabilities }, ..vendor() };
    assert!(refused(request(vec![turn(Role::User, vec![image()])]), &blind).contains("takes no pictures"));
    let sound = Block::Audio(Media { source: Source::Base64 { media_type: "audio/ogg".into(), data: "AAAA".into() }, detail: None });
    assert!(said(sound).starts_with("translate `messages.content.audio`"));
    let other = Block::Document(Document {
        source: Source::File { shape: Shape::Messages, id: "f".into(), media_type: None },
        title: None,
        context: None,
    });
    assert!(said(other).starts_with("translate `messages.content.document`"));
}

#[test]
fn escaped_text_is_copied_as_it_is() {
    let request = request(vec![turn(Role::User, vec![Block::Text(Text::Escaped(br"a\u00e9\n\/"))])]);
    let mut encoding = Encoding::default();
    encode_request(request, &vendor(), &mut encoding).expect("a request");
    assert!(String::from_utf8_lossy(&encoding.body).contains(r#""content":"a\u00e9\n\/""#));
}
