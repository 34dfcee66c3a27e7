//! Forged licences: none gives a tier.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use svc_tests::licence::{self, HEAD, claims, signed};

use crate::stage::Stage;

/// The key that verifies the tests' licences, in every form somebody might take for a shared secret.
fn public() -> [Vec<u8>; 4] {
    let pem = include_str!("../../licence/public.pem");
    let der = STANDARD.decode(pem.lines().nth(1).expect("three lines")).expect("base64");
    [pem.as_bytes().to_vec(), pem.trim().as_bytes().to_vec(), der[12..].to_vec(), der]
}

fn hmac_signed(secret: &[u8]) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#), URL_SAFE_NO_PAD.encode(claims().to_string()));
    let tag = Hmac::<Sha256>::new_from_slice(secret).expect("any key").chain_update(&message).finalize();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag.into_bytes()))
}

fn with(name: &str, value: Value) -> String {
    let mut changed = claims();
    changed[name] = value;
    signed(HEAD, &changed.to_string())
}

fn without(name: &str) -> String {
    let mut changed = claims();
    changed.as_object_mut().expect("an object").remove(name);
    signed(HEAD, &changed.to_string())
}

#[test]
fn no_forged_licence_gives_a_tier() {
    let good = licence::enterprise();
    let (message, signature) = good.rsplit_once('.').expect("three parts");
    let twice = claims().to_string().replace('{', r#"{"expires_at":1,"#);
    let own_key = json!({"alg": "EdDSA", "jwk": {"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(&public()[2])}}).to_string();
    let mut forged = vec![
        ("no algorithm", signed(r#"{"alg":"none"}"#, &claims().to_string())),
        (
            "no algorithm and no signature",
            format!("{}.{}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#), message.split_once('.').expect("two").1),
        ),
        ("no signature", format!("{message}.")),
        ("truncated", good[..good.len() - 1].to_owned()),
        (
            "another's claims",
            format!("{}.{signature}", signed(HEAD, &claims().to_string().replace("Tests", "Other")).rsplit_once('.').expect("three").0),
        ),
        ("another issuer", with("iss", json!("svcs"))),
        ("no issuer", without("iss")),
        ("no customer", with("sub", json!(""))),
        ("another edition", with("edition", json!("ultimate"))),
        ("no expiry", without("expires_at")),
        ("expiry as text", with("expires_at", json!("4000000000"))),
        ("expiry as a fraction", with("expires_at", json!(4e9))),
        ("issued next week", with("issued_at", json!(licence::now() + 7 * licence::DAY))),
        ("expiry twice", signed(HEAD, &twice)),
        ("a key of its own", signed(&own_key, &claims().to_string())),
        ("too long", with("note", json!("x".repeat(9_000)))),
        ("text behind", format!("{good}.x")),
    ];
    forged.extend(public().iter().map(|secret| ("the public key as a shared secret", hmac_signed(secret))));

    let mut stage = Stage::start(None);
    for (case, token) in forged {
        let shown = stage.after(Some(token.clone()));
        assert_eq!(shown.row(), (503, "unavailable", "community", "recovery", "invalid", "none", Some("B-3"), true), "{case}");
        let told = stage.licence().to_string() + &stage.gateway.log();
        assert!(!told.contains(&token) && !told.contains(signature), "{case}: nothing of the licence is told");
        assert!(!stage.cache().exists(), "{case}: it is not kept");
    }
    assert_eq!(stage.after(Some(good)).row().0, 200);
}
