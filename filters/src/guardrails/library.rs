//! Ready-made detectors, by name.

mod contact;
mod injection;
mod national;
mod payment;
mod secrets;

use super::check::Check;

/// A ready-made detector.
#[derive(Clone, Copy, Debug)]
pub struct Detector {
    /// Its name.
    pub name: &'static str,
    /// What it finds, in a sentence.
    pub about: &'static str,
    /// The pattern.
    pub pattern: &'static str,
    /// What a match of the pattern has to fulfil besides.
    pub check: Option<Check>,
    /// Bytes a match has at most, where the pattern does not say.
    pub max_match: usize,
    /// Texts in which it finds something: what it finds stands between `«` and `»`, which are no part of the text.
    pub finds: &'static [&'static str],
    /// Texts in which it finds nothing.
    pub leaves: &'static [&'static str],
}

const ALL: [&[Detector]; 5] = [payment::DETECTORS, contact::DETECTORS, national::DETECTORS, secrets::DETECTORS, injection::DETECTORS];

/// Every detector.
pub fn all() -> impl Iterator<Item = &'static Detector> {
    ALL.into_iter().flatten()
}

/// The detector of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Detector> {
    all().find(|detector| detector.name == name)
}

#[cfg(test)]
mod tests;
