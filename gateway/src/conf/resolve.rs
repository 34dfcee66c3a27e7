//! What an unquoted scalar stands for: the core schema of YAML 1.2.2, § 10.3.2. `yes`, `on` and dates are text.

/// The meaning of an unquoted scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'a str),
}

/// Resolves the text of an unquoted scalar.
pub(super) fn resolve(text: &str) -> Resolved<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        _ => number(text).unwrap_or(Resolved::Text(text)),
    }
}

fn number(text: &str) -> Option<Resolved<'_>> {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let unsigned = text.parse().map(Resolved::Unsigned);
        return unsigned.or_else(|_| text.parse().map(Resolved::Signed)).or_else(|_| text.parse().map(Resolved::Float)).ok();
    }
    float(text, unsigned)
}

fn radix(digits: &str, radix: u32) -> Option<Resolved<'static>> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if plain { u64::from_str_radix(digits, radix).ok().map(Resolved::Unsigned) } else { None }
}

fn float<'a>(text: &str, unsigned: &str) -> Option<Resolved<'a>> {
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Some(Resolved::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY })),
        _ if matches!(text, ".nan" | ".NaN" | ".NAN") => return Some(Resolved::Float(f64::NAN)),
        _ => {}
    }
    let first = unsigned.strip_prefix('.').unwrap_or(unsigned).bytes().next()?;
    let allowed = unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    (first.is_ascii_digit() && allowed).then(|| text.parse().ok().map(Resolved::Float)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_follow_the_core_schema() {
        for (text, expected) in [
            ("", Resolved::Null),
            ("~", Resolved::Null),
            ("true", Resolved::Bool(true)),
            ("9091", Resolved::Unsigned(9091)),
            ("+5", Resolved::Unsigned(5)),
            ("0x1F", Resolved::Unsigned(31)),
            ("0o17", Resolved::Unsigned(15)),
            ("-3", Resolved::Signed(-3)),
            ("0.5", Resolved::Float(0.5)),
            (".5", Resolved::Float(0.5)),
            ("-1e3", Resolved::Float(-1000.0)),
            (".inf", Resolved::Float(f64::INFINITY)),
        ] {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_resembles_a_number_is_text() {
        for text in ["yes", "on", "no", "2024-10-21", "1.2.3", "10s", "32MiB", "e5", "infinity", "nan", "0x", "0xg", "+", "-", "."] {
            assert_eq!(resolve(text), Resolved::Text(text));
        }
    }
}
