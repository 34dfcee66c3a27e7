//! Whether metrics may be shown: they need the Enterprise build and a licence of that tier.

/// Whether this is the Enterprise build.
pub const ENTERPRISE_BUILD: bool = cfg!(feature = "enterprise");

/// Whether the licence is of the Enterprise tier. No licence is read yet, so that the build alone decides.
pub const LICENSED: bool = true;

/// Why `metrics.enabled` opens no listener; none where it may.
#[must_use]
pub const fn refusal(enterprise_build: bool, enterprise_licence: bool) -> Option<&'static str> {
    match (enterprise_build, enterprise_licence) {
        (false, _) => Some("metrics.enabled: metrics are unavailable, they need the Enterprise build; no listener is opened"),
        (true, false) => Some("metrics.enabled: metrics are unavailable, they need an Enterprise licence; no listener is opened"),
        (true, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_need_build_and_licence() {
        assert_eq!(refusal(true, true), None);
        assert!(refusal(true, false).is_some_and(|reason| reason.contains("licence")));
        for licence in [false, true] {
            assert!(refusal(false, licence).is_some_and(|reason| reason.contains("Enterprise build")));
        }
    }
}
