//! Signature version 4 as Bedrock checks it.

use std::time::{SystemTime, UNIX_EPOCH};

use ring::{digest, hmac};

use crate::call::Call;
use crate::options::AwsAccess;
use crate::refusal::Refusal;
use crate::seen::hex;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const SERVICE: &str = "bedrock";
const SKEW_SECONDS: i64 = 300;

/// The account whose signatures are valid.
#[derive(Debug, Clone)]
pub(crate) struct Aws(AwsAccess);

impl Aws {
    pub(crate) fn new(access: AwsAccess) -> Self {
        Self(access)
    }
}

/// The `Authorization` header in its parts.
#[derive(Debug)]
struct Signed<'a> {
    key: &'a str,
    date: &'a str,
    region: &'a str,
    service: &'a str,
    headers: Vec<&'a str>,
    signature: &'a str,
}

/// The id of the access key that signed a request. Without an account every signature of the right form holds.
pub(super) fn verify(account: Option<&Aws>, call: &Call) -> Result<String, Refusal> {
    let header =
        call.header("authorization").ok_or_else(|| named(403, "MissingAuthenticationTokenException", "Missing Authentication Token"))?;
    let signed = read(header).ok_or_else(|| named(403, "IncompleteSignatureException", "Authorization header requires its parts."))?;
    if let Some(account) = account {
        check(&account.0, &signed, call)?;
    }
    Ok(signed.key.to_owned())
}

fn read(header: &str) -> Option<Signed<'_>> {
    let parts = header.strip_prefix(ALGORITHM)?.trim();
    let part = |name: &str| parts.split(',').map(str::trim).find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    let mut scope = part("Credential")?.split('/');
    let (key, date, region, service) = (scope.next()?, scope.next()?, scope.next()?, scope.next()?);
    let ends = scope.next() == Some("aws4_request") && scope.next().is_none();
    let headers = part("SignedHeaders")?.split(';').collect();
    ends.then_some(Signed { key, date, region, service, headers, signature: part("Signature")? })
}

fn check(account: &AwsAccess, signed: &Signed<'_>, call: &Call) -> Result<(), Refusal> {
    let token = call.header("x-amz-security-token");
    if signed.key != account.key || token != account.token.as_deref() {
        return Err(named(403, "UnrecognizedClientException", "The security token included in the request is invalid."));
    }
    if signed.region != account.region || signed.service != SERVICE {
        let message = format!("Credential should be scoped to a valid region ({}) and correct service ({SERVICE}).", account.region);
        return Err(invalid(&message));
    }
    let needed = ["host", "x-amz-date"].into_iter().chain(token.map(|_| "x-amz-security-token"));
    if let Some(missing) = needed.into_iter().find(|name| !signed.headers.contains(name)) {
        return Err(invalid(&format!("'{missing}' must be a signed header.")));
    }
    let date = call.header("x-amz-date").unwrap_or_default();
    let skew = seconds(date).map(|then| (now() - then).abs());
    if !date.starts_with(signed.date) || skew.is_none_or(|skew| skew > SKEW_SECONDS) {
        return Err(invalid(&format!("Signature expired: {date} is not within five minutes of the server's time.")));
    }
    let expected = signature(account, signed, call, date);
    if expected != signed.signature {
        return Err(invalid(
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing \
             method. Consult the service documentation for details.",
        ));
    }
    Ok(())
}

fn signature(account: &AwsAccess, signed: &Signed<'_>, call: &Call, date: &str) -> String {
    let scope = format!("{}/{}/{SERVICE}/aws4_request", signed.date, signed.region);
    let to_sign = format!("{ALGORITHM}\n{date}\n{scope}\n{}", hash(canonical(signed, call).as_bytes()));
    let steps = [signed.date, signed.region, SERVICE, "aws4_request", &to_sign];
    let first = format!("AWS4{}", account.secret).into_bytes();
    let last = steps.iter().fold(first, |key, step| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        hmac::sign(&key, step.as_bytes()).as_ref().to_vec()
    });
    hex(&last)
}

/// The canonical request. The path is encoded once more than it is on the wire, as for every service but S3.
fn canonical(signed: &Signed<'_>, call: &Call) -> String {
    let mut query: Vec<&str> = call.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    let value = |name: &&str| {
        let values = call.headers.get_all(*name).iter().filter_map(|value| value.to_str().ok());
        let values: Vec<String> = values.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let values = if *name == "host" && values.is_empty() {
            call.uri.authority().map(ToString::to_string).unwrap_or_default()
        } else {
            values.join(",")
        };
        format!("{name}:{values}\n")
    };
    let headers: String = signed.headers.iter().map(value).collect();
    let path: String = call.uri.path().bytes().map(encoded).collect();
    format!("POST\n{path}\n{}\n{headers}\n{}\n{}", query.join("&"), signed.headers.join(";"), hash(&call.body))
}

fn encoded(byte: u8) -> String {
    let plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Unix seconds of `20261121T093000Z`.
fn seconds(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let (hour, minute, second) = (number(9..11)?, number(11..13)?, number(13..15)?);
    // Days since 1970 by counting years from March.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

fn invalid(message: &str) -> Refusal {
    named(403, "InvalidSignatureException", message)
}

pub(super) fn denied(message: &str) -> Refusal {
    named(403, "AccessDeniedException", message)
}

fn named(status: u16, name: &str, message: &str) -> Refusal {
    let mut refusal = Refusal::new(status, message);
    refusal.kind = Some(name.into());
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_seconds() {
        assert_eq!(seconds("19700101T000000Z"), Some(0));
        assert_eq!(seconds("20261121T093000Z"), Some(1_795_253_400));
        assert_eq!(seconds("20240229T000001Z"), Some(1_709_164_801));
    }

    #[test]
    fn a_header_comes_apart() {
        let header =
            "AWS4-HMAC-SHA256 Credential=AKID/20261121/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=ab";
        let signed = read(header).unwrap();
        assert_eq!((signed.key, signed.region, signed.signature), ("AKID", "us-east-1", "ab"));
        assert_eq!(signed.headers, ["host", "x-amz-date"]);
        assert!(read("AWS4-HMAC-SHA256 Credential=AKID/20261121/us-east-1/bedrock").is_none());
    }
}
