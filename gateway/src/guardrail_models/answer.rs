//! What the sidecar answers.

use serde::Deserialize;
use svc_filters::guardrails::Judgement;

use super::failure::Failure;

/// Characters of an error's code that are kept.
const CODE_KEPT: usize = 32;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Refusal {
    error: Error,
}

#[derive(Deserialize)]
struct Error {
    code: String,
}

/// The judgements of an answer about `texts` texts.
pub(super) fn read(status: u16, body: &[u8], texts: usize) -> Result<Vec<Judgement>, Failure> {
    if status != 200 {
        return Err(refused(status, body));
    }
    let answer: Answer = serde_json::from_slice(body).map_err(|_| Failure::Unclear)?;
    let is_score = |score: f64| (0.0..=1.0).contains(&score);
    let sound = answer
        .results
        .iter()
        .all(|judgement| is_score(judgement.score) && judgement.entities.iter().flatten().all(|entity| is_score(entity.score)));
    if sound && answer.results.len() == texts { Ok(answer.results) } else { Err(Failure::Unclear) }
}

fn refused(status: u16, body: &[u8]) -> Failure {
    let code = serde_json::from_slice(body).map(|refusal: Refusal| refusal.error.code).unwrap_or_default();
    match (status, code.as_str()) {
        (413, "too_large") => Failure::TooLong,
        (504, "deadline_exceeded") => Failure::Late,
        _ => {
            let word = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
            Failure::Refused { status, code: code.chars().filter(word).take(CODE_KEPT).collect() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_to_fit_the_question() {
        let read_for = |body: &str, texts| read(200, body.as_bytes(), texts);
        let answer = r#"{"model": "m", "results": [{"score": 0.2, "label": "X", "labels": {"X": 0.2}, "matched": false}]}"#;
        assert_eq!(read_for(answer, 1).unwrap()[0].score, 0.2);
        assert!(matches!(read_for(answer, 2), Err(Failure::Unclear)));
        for odd in ["", "{}", r#"{"results": [{"score": 1.5}]}"#, r#"{"results": [{"score": 0.5, "entities": [{"start": 0}]}]}"#] {
            assert!(matches!(read_for(odd, 1), Err(Failure::Unclear)), "{odd}");
        }
    }

    #[test]
    fn refusals_keep_only_a_word() {
        let told = |status, body: &str| read(status, body.as_bytes(), 1).unwrap_err();
        assert!(matches!(told(413, r#"{"error": {"code": "too_large", "message": "m"}}"#), Failure::TooLong));
        assert!(matches!(told(504, r#"{"error": {"code": "deadline_exceeded"}}"#), Failure::Late));
        let page = told(502, "<html>secret</html>");
        assert!(page.is_the_models() && !page.to_string().contains("secret"), "{page}");
        let unknown = told(404, r#"{"error": {"code": "unknown_model \u0007", "message": "m"}}"#);
        assert_eq!(unknown.to_string(), "ask the model: the sidecar answered 404 unknown_model");
        assert!(!unknown.is_the_models());
    }
}
