//! Public keys as files hold them. The build script reads them with the same code, so it depends on nothing.

/// How the base64 text of every Ed25519 public key (`SubjectPublicKeyInfo`, RFC 8410) begins: twelve bytes, so that the 32 bytes
/// of the key have a text of their own behind it.
const PREFIX: &str = "MCowBQYDK2VwAyEA";
/// Characters of that text of its own.
const KEY: usize = 44;

/// The base64 text of the key in a PEM file with one Ed25519 public key; `None` where it holds anything else.
pub(super) fn key_text(pem: &str) -> Option<String> {
    let lines: Vec<&str> = pem.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let [begin, body @ .., end] = lines.as_slice() else { return None };
    if *begin != "-----BEGIN PUBLIC KEY-----" || *end != "-----END PUBLIC KEY-----" {
        return None;
    }
    let body = body.concat();
    let key = body.strip_prefix(PREFIX)?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (key.len() == KEY && key.bytes().all(is_base64)).then(|| key.to_owned())
}

/// The PEM file of a key from its base64 text.
pub(super) fn pem(key_text: &str) -> String {
    format!("-----BEGIN PUBLIC KEY-----\n{PREFIX}{key_text}\n-----END PUBLIC KEY-----\n")
}
