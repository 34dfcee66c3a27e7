//! Code that the provider ran, as fenced text: no other shape has a place for it.

use super::fields::camel;
use crate::wire::json::Value;

/// `executableCode`.
pub(super) fn code(value: Value<'_>) -> String {
    let (mut language, mut code) = (String::new(), String::new());
    for member in value.members() {
        match &*camel(&member) {
            b"language" => language = member.as_str().unwrap_or_default().to_ascii_lowercase(),
            b"code" => code = member.as_str().unwrap_or_default().into_owned(),
            _ => {}
        }
    }
    let language = if language == "language_unspecified" { "" } else { &language };
    fenced(language, &code)
}

/// `codeExecutionResult`.
pub(super) fn outcome(value: Value<'_>) -> String {
    let output =
        value.members().find(|member| &*camel(member) == b"output").and_then(|member| member.as_str().map(|text| text.into_owned()));
    fenced("", &output.unwrap_or_default())
}

fn fenced(language: &str, text: &str) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // The fence must be longer than any inside.
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("\n{fence}{language}\n{text}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_its_outcome_are_fenced() {
        assert_eq!(code(Value::of(br#"{"language":"PYTHON","code":"print(1)\n"}"#)), "\n```python\nprint(1)\n```\n");
        assert_eq!(outcome(Value::of(br#"{"outcome":"OUTCOME_OK","output":"1\n"}"#)), "\n```\n1\n```\n");
        assert_eq!(code(Value::of(br#"{"code":"a ``` b"}"#)), "\n````\na ``` b\n````\n");
    }
}
