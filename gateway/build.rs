//! Compiles the public keys that verify licences into the gateway.
#![allow(clippy::expect_used, clippy::panic)] // A build that cannot go on has nobody else to tell.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "src/licence/spki.rs"]
#[allow(dead_code)] // The gateway uses the rest.
mod spki;

/// Names another directory of keys.
const VARIABLE: &str = "SVC_LICENCE_KEYS";

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = match std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        Some(folder) => manifest.join("..").join(folder),
        None => manifest.join("../conf/licence-keys"),
    };
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{VARIABLE}: cannot read {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the directory can be read").path()).filter(|path| is_pem(path)).collect();
    files.sort();
    let keys: String = files.iter().map(|path| entry(path)).collect();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("licence_keys.rs");
    fs::write(out, format!("&[{keys}]")).expect("the build directory is writable");
}

fn is_pem(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pem")
}

/// The name of a key and its text, as an element of an array.
fn entry(path: &Path) -> String {
    println!("cargo::rerun-if-changed={}", path.display());
    let pem = fs::read_to_string(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let key = spki::key_text(&pem).unwrap_or_else(|| panic!("{} holds no Ed25519 public key; see the README beside it", path.display()));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    format!("({name:?}, {key:?}),")
}
