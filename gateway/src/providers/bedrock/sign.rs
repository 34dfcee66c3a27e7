//! Signature Version 4, as the vendor publishes it: one request, its headers and the hash of its body, under a derived key.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::conf::Secret;
use crate::providers::transport::encoded;

/// The keys of an account or a role.
pub(in crate::providers) struct AwsKeys {
    pub(super) access_key_id: String,
    pub(super) secret_access_key: Secret,
    /// Part of temporary keys.
    pub(super) session_token: Option<Secret>,
}

/// What is signed.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// As on the wire.
    pub(super) path: &'a str,
    /// As on the wire, without the question mark.
    pub(super) query: &'a str,
    /// Lower-case names with their values, in any order; the date's among them.
    pub(super) headers: Vec<(&'a str, &'a str)>,
    /// SHA-256 of the body, in hexadecimal digits.
    pub(super) body_hash: String,
}

/// What a signature is good for.
pub(super) struct Scope<'a> {
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    /// The time as the vendor writes it, see [`stamp`].
    pub(super) time: &'a str,
}

/// A moment as `20150830T123600Z`.
pub(super) fn stamp(moment: OffsetDateTime) -> String {
    let (hour, minute, second) = moment.to_hms();
    format!("{:04}{:02}{:02}T{hour:02}{minute:02}{second:02}Z", moment.year(), u8::from(moment.month()), moment.day())
}

/// The value of the authorization header.
pub(super) fn authorization(keys: &AwsKeys, request: &mut Request<'_>, scope: &Scope<'_>) -> String {
    request.headers.sort_unstable_by_key(|(name, _)| *name);
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let date = scope.time.get(..8).unwrap_or_default();
    let place = format!("{date}/{}/{}/aws4_request", scope.region, scope.service);
    let canonical = hex(&Sha256::digest(canonical(request, &names)));
    let text = format!("AWS4-HMAC-SHA256\n{}\n{place}\n{canonical}", scope.time);
    let mut key = format!("AWS4{}", keys.secret_access_key.reveal()).into_bytes();
    for part in [date, scope.region, scope.service, "aws4_request"] {
        key = hmac(&key, part);
    }
    let signature = hex(&hmac(&key, &text));
    format!("AWS4-HMAC-SHA256 Credential={}/{place}, SignedHeaders={names}, Signature={signature}", keys.access_key_id)
}

/// The request in the one form both sides hash. What is encoded on the wire is encoded once more in the path.
fn canonical(request: &Request<'_>, names: &str) -> String {
    let mut query: Vec<&str> = request.query.split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    let mut text = format!("{}\n{}\n{}\n", request.method, encoded(request.path, b"/"), query.join("&"));
    for (name, value) in &request.headers {
        let words: Vec<&str> = value.split_ascii_whitespace().collect();
        text.push_str(name);
        text.push(':');
        text.push_str(&words.join(" "));
        text.push('\n');
    }
    text.push('\n');
    text.push_str(names);
    text.push('\n');
    text.push_str(&request.body_hash);
    text
}

/// SHA-256 in hexadecimal digits.
pub(super) fn hash<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    hex(&parts.into_iter().fold(Sha256::new(), Sha256::chain_update).finalize())
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "20150830T123600Z";
    const HOST: (&str, &str) = ("host", "example.amazonaws.com");
    const DATE: (&str, &str) = ("x-amz-date", TIME);

    /// Signs as the published test suite does.
    fn signature(method: &str, path: &str, query: &str, headers: &[(&str, &str)], body: &str) -> String {
        let keys = AwsKeys {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: None,
        };
        let headers = [&[HOST, DATE], headers].concat();
        let mut request = Request { method, path, query, headers, body_hash: hash([body]) };
        let scope = Scope { region: "us-east-1", service: "service", time: TIME };
        let value = authorization(&keys, &mut request, &scope);
        assert!(value.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="));
        value.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    #[test]
    fn the_vendors_published_cases_are_signed_as_published() {
        let token = "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267";
        let form = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e";
        let form_headers =
            [("content-type", "application/x-www-form-urlencoded"), ("content-length", "13"), ("x-amz-content-sha256", form)];
        for (case, signed, expected) in [
            (
                "get-vanilla-query-order-key-case",
                signature("GET", "/", "Param2=value2&Param1=value1", &[], ""),
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            ("get-utf8", signature("GET", "/\u{1234}", "", &[], ""), "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
            (
                "get-space-unnormalized",
                signature("GET", "/example space/", "", &[], ""),
                "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741",
            ),
            (
                "get-header-value-trim",
                signature("GET", "/", "", &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")], ""),
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
            (
                "get-vanilla-with-session-token",
                signature("GET", "/", "", &[("x-amz-security-token", token)], ""),
                "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8",
            ),
            (
                "post-header-key-sort",
                signature("POST", "/", "", &[("my-header1", "value1")], ""),
                "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
            ),
            (
                "post-x-www-form-urlencoded",
                signature("POST", "/", "", &form_headers, "Param1=value1"),
                "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b",
            ),
        ] {
            assert_eq!(signed, expected, "{case}");
        }
    }

    #[test]
    fn paths_of_models_are_signed_as_the_vendors_own_kit_does() {
        let keys = AwsKeys {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: None,
        };
        let profile = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/invoke";
        for (path, expected) in [
            (
                "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke",
                "139b5db33dba729f418497feadce81ce1986292048f3243ba2ebc2ccaa0adfec",
            ),
            (profile, "976207b837b800ac3e728e70ac90e579eb7900da356e1b9e173ca14a661ee94b"),
        ] {
            let headers = vec![
                ("x-amz-date", TIME),
                ("host", "bedrock-runtime.us-east-1.amazonaws.com"),
                ("content-type", "application/json"),
                ("x-amz-security-token", "session/token+1=="),
            ];
            let mut request = Request { method: "POST", path, query: "", headers, body_hash: hash([r#"{"max_tokens":1}"#]) };
            let scope = Scope { region: "us-east-1", service: "bedrock", time: TIME };
            let signed = authorization(&keys, &mut request, &scope);
            assert_eq!(signed.rsplit_once("Signature=").unwrap().1, expected, "{path}, against botocore 1.43");
        }
    }

    #[test]
    fn what_is_encoded_on_the_wire_is_encoded_again_to_be_signed() {
        let request = Request { method: "POST", path: "/model/a%3A0/invoke", query: "", headers: vec![HOST], body_hash: hash([""]) };
        assert!(canonical(&request, "host").starts_with("POST\n/model/a%253A0/invoke\n\nhost:example.amazonaws.com\n\nhost\n"));
    }

    #[test]
    fn a_moment_is_written_as_the_vendor_does() {
        assert_eq!(stamp(OffsetDateTime::from_unix_timestamp(1_440_938_160).unwrap()), TIME);
    }
}
