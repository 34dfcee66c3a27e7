use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;
use crate::licence::keys::SigningKey;
use crate::licence::token::{Claims, sign};
use crate::licence::{DAY, Edition};

const NOW: i64 = 1_800_000_000;

struct Stage {
    folder: TempDir,
    key: SigningKey,
    token: String,
}

impl Stage {
    fn new() -> Self {
        let key = SigningKey::generate().unwrap();
        let claims =
            Claims { customer: "Example Ltd".into(), edition: Edition::Enterprise, issued_at: NOW - DAY, expires_at: NOW + 90 * DAY };
        Self { folder: tempfile::tempdir().unwrap(), token: sign(&claims, &key, NOW).unwrap(), key }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("data/licence")
    }

    fn cache(&self) -> Cache {
        Cache::new(self.path(), b"the master key")
    }

    fn read(&self) -> Result<Cached, CacheError> {
        self.cache().try_read(&[self.key.public().clone()], NOW)
    }
}

#[test]
fn what_is_written_is_read_and_nobody_else_may() {
    let stage = Stage::new();
    assert!(stage.cache().read(&[], NOW).is_none(), "there is no file yet");
    for moment in [NOW, NOW + 5, NOW - 9] {
        stage.cache().write(&stage.token, moment).unwrap();
        let cached = stage.read().unwrap();
        assert_eq!((cached.verified_at, cached.claims.customer.as_str()), (moment, "Example Ltd"));
    }
    assert_eq!(fs::metadata(stage.path()).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(stage.path().parent().unwrap()).unwrap().count(), 1, "no draft stays behind");
}

#[test]
fn a_file_that_was_changed_counts_as_none() {
    let stage = Stage::new();
    stage.cache().write(&stage.token, NOW).unwrap();
    let text = fs::read_to_string(stage.path()).unwrap();
    let younger = text.replace(&NOW.to_string(), &(NOW + 60).to_string());
    assert_ne!(younger, text);
    for changed in [&younger, "", "\n\n\n", &text[..text.len() - 2], &format!("{text}more"), &text.replace('\n', " "), &"A".repeat(1 << 20)]
    {
        fs::write(stage.path(), changed).unwrap();
        assert!(matches!(stage.read(), Err(CacheError::Foreign)), "{changed:.200}");
    }
    fs::write(stage.path(), [0xff, 0xfe]).unwrap();
    assert!(stage.cache().read(&[stage.key.public().clone()], NOW).is_none());
}

#[test]
fn another_installations_file_counts_as_none() {
    let stage = Stage::new();
    Cache::new(stage.path(), b"another master key").write(&stage.token, NOW).unwrap();
    assert!(matches!(stage.read(), Err(CacheError::Foreign)));
}

#[test]
fn a_licence_whose_key_is_trusted_no_more_counts_as_none() {
    let stage = Stage::new();
    stage.cache().write(&stage.token, NOW).unwrap();
    let other = SigningKey::generate().unwrap();
    let refused = stage.cache().try_read(&[other.public().clone()], NOW);
    assert!(matches!(refused, Err(CacheError::Licence(Unusable::Signature(1)))), "{refused:?}");
    let long_ago = stage.cache().try_read(&[stage.key.public().clone()], NOW - 3 * DAY);
    assert!(matches!(long_ago, Err(CacheError::Licence(Unusable::Claim { claim: "issued_at", .. }))), "{long_ago:?}");
}

#[test]
fn a_folder_in_its_place_neither_stops_nor_serves() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path()).unwrap();
    assert!(stage.read().is_err());
    assert!(stage.cache().write(&stage.token, NOW).is_err());
    assert_eq!(fs::read_dir(stage.path().parent().unwrap()).unwrap().count(), 1, "no draft stays behind");
}
