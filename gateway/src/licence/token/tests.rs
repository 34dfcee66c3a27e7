use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use ring::signature::Ed25519KeyPair;
use serde_json::json;
use sha2::Sha256;

use super::*;

const NOW: i64 = 1_800_000_000;

fn key() -> SigningKey {
    SigningKey::from_pem(include_str!("../../../../tests/licence/private.pem")).unwrap()
}

fn trusted() -> [VerifyingKey; 1] {
    [key().public().clone()]
}

fn claims() -> Value {
    json!({"iss": "svc", "sub": "Example Ltd", "edition": "enterprise", "issued_at": NOW - 5, "expires_at": NOW + 90 * DAY})
}

/// A signature over whatever head and claims, in this module's own code.
fn signed(head: &str, claims: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
    let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key().pkcs8()).unwrap();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(pair.sign(message.as_bytes())))
}

const HEAD: &str = r#"{"alg":"EdDSA","typ":"JWT"}"#;

fn read(token: &str) -> Result<Claims, Unusable> {
    verify(token, &trusted(), NOW).map(|verified| verified.claims)
}

fn claim_of(claims: &Value) -> &'static str {
    match read(&signed(HEAD, &claims.to_string())) {
        Err(Unusable::Claim { claim, .. }) => claim,
        other => panic!("{claims}: {other:?}"),
    }
}

#[test]
fn a_signed_licence_is_read_as_it_was_written() {
    let expected = Claims { customer: "Example Ltd".into(), edition: Edition::Enterprise, issued_at: NOW - 5, expires_at: NOW + 90 * DAY };
    assert_eq!(read(&signed(HEAD, &claims().to_string())), Ok(expected.clone()));
    let own = sign(&expected, &key(), NOW).unwrap();
    assert_eq!(verify(&own, &trusted(), NOW).unwrap(), Verified { claims: expected, key: "own".into() });
    let other = SigningKey::generate().unwrap();
    assert!(verify(&own, &[other.public().clone(), key().public().clone()], NOW).is_ok(), "every trusted key is tried");
    assert_eq!(verify(&own, &[other.public().clone()], NOW), Err(Unusable::Signature(1)));
    assert_eq!(verify(&own, &[], NOW), Err(Unusable::Signature(0)));
}

#[test]
fn an_expired_licence_is_a_licence_and_exp_means_nothing() {
    let mut old = claims();
    old["expires_at"] = json!(NOW - 400 * DAY);
    old["issued_at"] = json!(NOW - 765 * DAY);
    for exp in [json!(1), json!("soon"), json!(null), json!(1e300), json!(-4), json!([])] {
        for name in ["exp", "nbf", "iat", "aud", "jti"] {
            old[name] = exp.clone();
            assert!(read(&signed(HEAD, &old.to_string())).is_ok(), "{old}");
        }
    }
}

#[test]
fn other_algorithms_are_refused_whatever_signed_them() {
    let public = STANDARD.decode(key().public().to_pem().lines().nth(1).unwrap()).unwrap();
    let secrets = [key().public().to_pem().into_bytes(), public, key().public().bytes().to_vec(), Vec::new()];
    for algorithm in
        ["HS256", "HS384", "HS512", "none", "None", "NONE", "", "RS256", "PS512", "ES256", "ES256K", "Ed25519", "eddsa", "EdDSA "]
    {
        let head = json!({"alg": algorithm, "typ": "JWT"}).to_string();
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(&head), URL_SAFE_NO_PAD.encode(claims().to_string()));
        for secret in &secrets {
            let tag = Hmac::<Sha256>::new_from_slice(secret).unwrap().chain_update(&message).finalize().into_bytes();
            assert_eq!(read(&format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))), Err(Unusable::Head), "{algorithm}");
        }
        assert_eq!(read(&format!("{message}.")), Err(Unusable::Head), "{algorithm}");
        assert_eq!(read(&signed(&head, &claims().to_string())), Err(Unusable::Head), "{algorithm}, signed with the right key");
    }
    assert!(read(&format!("{}.", signed(HEAD, &claims().to_string()).rsplit_once('.').unwrap().0)).is_err(), "no signature");
}

#[test]
fn heads_that_ask_for_more_are_refused() {
    let public = URL_SAFE_NO_PAD.encode(key().public().bytes());
    for (name, value) in [
        ("jwk", json!({"kty": "OKP", "crv": "Ed25519", "x": public, "alg": "EdDSA"})),
        ("jku", json!("https://example.com/keys")),
        ("x5u", json!("https://example.com/keys")),
        ("x5c", json!([])),
        ("crit", json!(["b64"])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("enc", json!("A128GCM")),
        ("cty", json!("JWT")),
        ("typ", json!("at+jwt")),
        ("typ", json!(1)),
        ("alg", json!(["EdDSA"])),
    ] {
        let mut head = json!({"alg": "EdDSA", "typ": "JWT"});
        head[name] = value;
        assert_eq!(read(&signed(&head.to_string(), &claims().to_string())), Err(Unusable::Head), "{head}");
    }
    assert_eq!(read(&signed(r#"{"alg":"EdDSA","alg":"EdDSA"}"#, &claims().to_string())), Err(Unusable::Head));
    assert_eq!(read(&signed(r#"{"alg":"none","alg":"EdDSA"}"#, &claims().to_string())), Err(Unusable::Head));
    for kid in ["../../etc/passwd", "' OR 1=1 --", "another"] {
        let head = json!({"alg": "EdDSA", "kid": kid}).to_string();
        assert!(read(&signed(&head, &claims().to_string())).is_ok(), "a key's name chooses nothing");
    }
}

#[test]
fn claims_of_another_type_or_range_are_refused() {
    let moments = [
        json!(null),
        json!("1900000000"),
        json!(1.9e9),
        json!(1_900_000_000.5),
        json!(1e308),
        json!(-1),
        json!(0),
        json!(946_684_799),
        json!(253_402_300_800_i64),
        json!(u64::MAX),
        json!([1_900_000_000]),
        json!({}),
        json!(true),
    ];
    let texts = [json!(null), json!(1), json!([]), json!(["svc"]), json!({}), json!(""), json!(" \t"), json!("SVC"), json!("Enterprise")];
    for (name, values) in
        [("expires_at", &moments[..]), ("issued_at", &moments), ("iss", &texts), ("edition", &texts), ("sub", &texts[..7])]
    {
        let mut without = claims();
        without.as_object_mut().unwrap().remove(name);
        assert_eq!(claim_of(&without), name);
        for value in values {
            let mut wrong = claims();
            wrong[name] = value.clone();
            assert_eq!(claim_of(&wrong), name, "{wrong}");
        }
    }
    for customer in ["a\nb".to_owned(), "x".repeat(201)] {
        let mut wrong = claims();
        wrong["sub"] = json!(customer);
        assert_eq!(claim_of(&wrong), "sub");
    }
}

#[test]
fn a_licence_of_tomorrow_is_a_wrong_clock_but_a_day_is_forgiven() {
    let mut ahead = claims();
    ahead["issued_at"] = json!(NOW + DAY);
    assert!(read(&signed(HEAD, &ahead.to_string())).is_ok());
    ahead["issued_at"] = json!(NOW + DAY + 1);
    assert_eq!(claim_of(&ahead), "issued_at");
}

#[test]
fn claims_said_twice_are_refused_also_where_escapes_hide_it() {
    let text = claims().to_string();
    for more in [r#","expires_at":4000000000}"#, r#","expires\u005fat":4000000000}"#, r#","sub":"Another"}"#, r#","note":1,"note":1}"#] {
        let twice = format!("{}{more}", text.strip_suffix('}').unwrap());
        assert_eq!(read(&signed(HEAD, &twice)), Err(Unusable::Claims), "{twice}");
    }
    for other in ["[]", "1", "\"svc\"", "null"] {
        assert_eq!(read(&signed(HEAD, other)), Err(Unusable::Claims), "{other}");
    }
}

#[test]
fn a_licence_that_lost_or_gained_a_byte_is_refused() {
    let token = signed(HEAD, &claims().to_string());
    for end in 0..token.len() {
        assert!(read(&token[..end]).is_err(), "cut after {end}");
    }
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        assert!(read(std::str::from_utf8(&changed).unwrap()).is_err(), "changed at {at}");
    }
    for more in [
        format!("{token}A"),
        format!("{token}."),
        format!("{token}="),
        format!(".{token}"),
        format!("{token} "),
        format!("{token}.{token}"),
    ] {
        assert!(read(&more).is_err());
    }
    assert_eq!(read(&signed(HEAD, &format!("{} x", claims()))), Err(Unusable::Claims), "text behind the claims");
    for text in ["", ".", "..", "a.b.c", "not a licence", "eyJ.eyJ.eyJ", &"[".repeat(8000), &"A".repeat(LONGEST)] {
        assert_eq!(read(text), Err(Unusable::Malformed), "{text:.20}");
    }
    assert_eq!(read(&"A".repeat(LONGEST + 1)), Err(Unusable::TooLong));
    let deep = format!(r#"{{"iss":{}1{}}}"#, "[".repeat(2000), "]".repeat(2000));
    assert!(read(&signed(HEAD, &deep)).is_err());
}

#[test]
fn the_reason_tells_nothing_of_the_text() {
    let canary = "CANARYcanaryCANARY";
    let mut odd = claims();
    odd["iss"] = json!(canary);
    odd["sub"] = json!(canary);
    for token in [
        canary.to_owned(),
        format!("{canary}.{canary}.{canary}"),
        signed(HEAD, &odd.to_string()),
        signed(&json!({"alg": canary}).to_string(), "{}"),
    ] {
        let reason = read(&token).unwrap_err().to_string();
        assert!(!reason.contains("CANARY") && !reason.contains(&token), "{reason}");
    }
}

#[test]
fn nothing_is_signed_that_would_be_refused() {
    let good = read(&signed(HEAD, &claims().to_string())).unwrap();
    assert!(sign(&Claims { customer: " ".into(), ..good.clone() }, &key(), NOW).is_err());
    assert!(sign(&Claims { expires_at: 5, ..good.clone() }, &key(), NOW).is_err());
    assert!(sign(&Claims { issued_at: NOW + 2 * DAY, ..good }, &key(), NOW).is_err());
}
