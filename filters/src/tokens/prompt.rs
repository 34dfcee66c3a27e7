//! A request's body as far as counting its tokens needs it.

use bytes::Bytes;

use super::of_request;
use super::sample::{Sample, Windows};

/// Bodies up to this size are counted whole.
const WHOLE: usize = 256 << 10;
/// What is looked at of the texts of a body that is kept for as long as an answer streams: all of them where they are short.
const FEW: Windows = Windows { count: 32, bytes: 128 };
/// What is counted of a large one.
const MANY: Windows = Windows { count: 256, bytes: 256 };

/// What is kept of a request until it is counted.
#[derive(Clone, Debug)]
pub enum Prompt {
    /// All of it.
    Whole(Bytes),
    /// Its texts, or parts of them.
    Texts(Sample),
}

impl Prompt {
    /// The validated JSON `body`, for long: its texts where those are at most 4 KiB, else a sample of as much.
    #[must_use]
    pub fn compact(body: &[u8]) -> Self {
        Self::Texts(Sample::of(body, FEW))
    }

    /// Memory held, in bytes.
    #[must_use]
    pub fn held(&self) -> usize {
        match self {
            Self::Whole(body) => body.len(),
            Self::Texts(sample) => sample.held(),
        }
    }

    /// Tokens of the request; an estimate where it is large.
    #[must_use]
    pub fn count(&self, model: &str) -> u64 {
        match self {
            Self::Whole(body) if body.len() <= WHOLE => of_request(model, body),
            Self::Whole(body) => Sample::of(body, MANY).count(model),
            Self::Texts(sample) => sample.count(model),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PROSE: &str = include_str!("../../../LICENSE");
    const CODE: &str = include_str!("../wire/json/scan.rs");
    const FOREIGN: &str = "昔々、あるところに、おじいさんとおばあさんが住んでいました。おじいさんは山へ芝刈りに、おばあさんは川へ洗濯に行きました。\
        Жили-были старик со старухой у самого синего моря; они жили в ветхой землянке ровно тридцать лет и три года. \
        كان يا ما كان في قديم الزمان، ملك عادل يحكم بلاداً واسعة. 옛날 옛적에 호랑이가 담배 피우던 시절에 한 나무꾼이 살았습니다. ";

    fn close(told: &str, body: &serde_json::Value) {
        close_bytes(told, body.to_string());
    }

    fn close_bytes(told: &str, body: String) {
        let body = Bytes::from(body);
        let exact = of_request("gpt-4o", &body);
        for (name, prompt) in [("few", Prompt::compact(&body)), ("many", Prompt::Texts(Sample::of(&body, MANY)))] {
            let own = prompt.count("gpt-4o");
            assert!(own.abs_diff(exact) * 100 <= exact * 5, "{told}, {name}: {own} for {exact}");
        }
    }

    fn turns(texts: &[&str]) -> serde_json::Value {
        let turns: Vec<_> = texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
        json!({"model": "m", "stream": true, "messages": turns})
    }

    #[test]
    fn a_sample_is_close_to_the_exact_count_of_prose_code_and_other_scripts() {
        close("prose", &turns(&[PROSE]));
        close("code", &turns(&[CODE]));
        close("other scripts", &turns(&[&FOREIGN.repeat(20)]));
        close("all of them", &turns(&[PROSE, CODE, &FOREIGN.repeat(20)]));
        close("in another order", &turns(&[CODE, &FOREIGN.repeat(7), PROSE, FOREIGN]));
    }

    #[test]
    fn a_sample_of_a_text_that_repeats_does_not_see_the_same_part_again_and_again() {
        let story = [PROSE, CODE, FOREIGN, CODE, PROSE].concat();
        for (windows, most) in [(FEW, 80), (MANY, 20)] {
            let mut squares = 0.0;
            for times in 1..=12 {
                let body = Bytes::from(turns(&[&story.repeat(times)]).to_string());
                let (exact, own) = (of_request("gpt-4o", &body), Sample::of(&body, windows).count("gpt-4o"));
                assert!(own.abs_diff(exact) * 1000 <= exact * most, "{times} times, {windows:?}: {own} for {exact}");
                squares += (own.abs_diff(exact) as f64 / exact as f64).powi(2);
            }
            assert!((squares / 12.0_f64).sqrt() <= 0.03, "by {squares}");
        }
    }

    #[test]
    fn a_sample_reads_text_that_was_escaped_by_its_sender() {
        let escaped: String = FOREIGN
            .repeat(20)
            .encode_utf16()
            .map(|unit| if unit < 128 { char::from(u8::try_from(unit).unwrap()).to_string() } else { format!("\\u{unit:04x}") })
            .collect();
        close_bytes("escaped", format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{escaped}"}}]}}"#));
    }

    #[test]
    fn a_sample_is_close_for_a_conversation_of_an_agent() {
        let mut turns = vec![json!({"role": "system", "content": PROSE.chars().take(6000).collect::<String>()})];
        for (at, lines) in CODE.lines().collect::<Vec<_>>().chunks(12).enumerate() {
            let arguments = json!({"path": format!("src/part_{at}.rs"), "content": lines.join("\n"), "overwrite": true}).to_string();
            turns.push(json!({"role": "user", "content": PROSE.lines().nth(at).unwrap_or("go on")}));
            let call =
                json!({"id": format!("call_{at:024x}"), "type": "function", "function": {"name": "write_file", "arguments": arguments}});
            turns.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
            turns.push(json!({"role": "tool", "tool_call_id": format!("call_{at:024x}"), "content": "done"}));
        }
        let tool = json!({"type": "function", "function": {"name": "write_file", "description": "Writes a file and makes the folders it needs.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string", "description": "Where."}, "content": {"type": "string"}}}}});
        close("an agent", &json!({"model": "m", "messages": turns, "tools": [tool]}));
    }

    #[test]
    fn pictures_count_as_pictures_wherever_they_lie() {
        let picture = "iVBORw0KGgo".repeat(30_000);
        let parts = json!([{"type": "text", "text": PROSE}, {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}}]);
        let source = json!({"type": "base64", "media_type": "image/png", "data": picture});
        close("chat", &json!({"model": "m", "messages": [{"role": "user", "content": parts}]}));
        close(
            "messages",
            &json!({"messages": [{"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": PROSE}]}]}),
        );
        close(
            "generate",
            &json!({"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": picture}}, {"text": CODE}]}]}),
        );
        let only = Bytes::from(json!({"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}).to_string());
        assert_eq!(Prompt::compact(&only).count("m"), of_request("m", &only), "a picture and nothing else");
    }

    #[test]
    fn what_is_kept_is_small_however_large_the_body() {
        for text in [PROSE.repeat(50), "a ".repeat(500_000), "x".repeat(500_000)] {
            let many: Vec<&str> = text.as_bytes().chunks(40).filter_map(|piece| std::str::from_utf8(piece).ok()).collect();
            for body in [turns(&[&text]), turns(&many)] {
                let held = Prompt::compact(body.to_string().as_bytes()).held();
                assert!(held <= 8 << 10, "{held}");
            }
        }
    }

    #[test]
    fn short_texts_are_kept_to_the_letter_and_nothing_else_is() {
        let parts = json!([{"type": "text", "text": "Grüße, \"world\"\n"}, {"type": "image_url", "image_url": {"url": "https://h/p.png"}}]);
        let body = json!({"model": "m", "stream": true, "stop": ["END", ""], "messages": [
            {"role": "system", "content": PROSE.chars().take(3_000).collect::<String>()}, {"role": "user", "content": parts}]});
        let body = body.to_string();
        let prompt = Prompt::compact(body.as_bytes());
        assert_eq!(prompt.count("gpt-4o"), of_request("gpt-4o", body.as_bytes()));
        let Prompt::Texts(sample) = &prompt else { unreachable!() };
        assert!(prompt.held() < size_of_val(sample) + body.len() - 100, "{} of {}", prompt.held(), body.len());
    }

    #[test]
    fn a_body_without_text_counts_its_turns() {
        let body = json!({"messages": vec![json!({"role": "user", "content": null}); 500]}).to_string();
        assert_eq!(Prompt::compact(body.as_bytes()).count("m"), of_request("m", body.as_bytes()));
    }

    #[test]
    fn odd_bytes_do_no_harm() {
        for body in ["", "{", "\"", "{\"a", "{\"a\":\"", "{\"a\":\"\\", "[\"\\\\\"]", "{\"a\":\"\\u12"] {
            for windows in [FEW, MANY, Windows { count: 2, bytes: 1 }] {
                Sample::of(body.as_bytes(), windows).count("m");
            }
        }
    }
}
