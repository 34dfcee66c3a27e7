//! Every fixture of `tests/wire` against every target or client, compared with `tests/golden`.
//!
//! `UPDATE_GOLDEN=1` writes the golden files anew; read the difference before committing it.

#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod answers;
mod continuity;
mod errors;
mod requests;

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;
use svc_filters::shape::Shape;

pub(crate) const SHAPES: [Shape; 4] = [Shape::ChatCompletions, Shape::Messages, Shape::GenerateContent, Shape::Responses];

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests")
}

/// Fixture files of one kind and shape, by name.
pub(crate) fn fixtures(kind: &str, shape: Shape) -> Vec<(String, Vec<u8>)> {
    let folder = tests().join("wire").join(kind).join(shape.as_str());
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("a fixture")))
        .collect();
    found.sort();
    found
}

/// Compares with the golden file, or writes it. Returns what differs.
pub(crate) fn compare(kind: &str, shape: Shape, name: &str, found: &Value) -> Option<String> {
    let folder = tests().join("golden").join(kind).join(shape.as_str());
    let path = folder.join(format!("{}.json", name.trim_end_matches(".json").replace('.', "_")));
    let text = steady(&(serde_json::to_string_pretty(found).expect("JSON") + "\n"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(&path, text).expect("a golden file");
        return None;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return None;
    }
    let differs = golden.lines().zip(text.lines()).find(|(old, new)| old != new).map_or_else(
        || "it has another length, or no golden file".to_owned(),
        |(old, new)| format!("\n    golden: {}\n    found:  {}", old.trim(), new.trim()),
    );
    Some(format!("{kind}/{}/{name}: {differs}", shape.as_str()))
}

/// Ids that are new in every run, numbered by first appearance.
fn steady(text: &str) -> String {
    let minted = Regex::new(r"\b(call|toolu|msg|fc|rs|ctc|ws|resp|item|srvtoolu_gw)_[0-9A-Za-z]{24}\b").expect("a pattern");
    let mut seen: Vec<String> = Vec::new();
    minted
        .replace_all(text, |found: &regex::Captures<'_>| {
            let place = seen.iter().position(|known| *known == found[0]).unwrap_or_else(|| {
                seen.push(found[0].to_owned());
                seen.len() - 1
            });
            format!("{}_<{place}>", &found[1])
        })
        .into_owned()
}

/// Fails with everything that differs.
pub(crate) fn report(differences: &[String], count: usize) {
    assert!(count > 0, "no fixture was found");
    assert!(differences.is_empty(), "{} differences:\n  {}", differences.len(), differences.join("\n  "));
}
