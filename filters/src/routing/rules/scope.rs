//! Whom a scope covers.

use super::condition::normal;
use super::spec::Scope;
use crate::auth::Caller;

impl Scope {
    /// Whether it covers a key of that name and its holder. Lists are alternatives; different kinds must all match, and an empty
    /// scope covers everybody.
    #[must_use]
    pub fn covers(&self, key: &str, caller: &Caller) -> bool {
        let named =
            |list: &[String], name: Option<&str>| list.is_empty() || name.is_some_and(|name| list.iter().any(|known| known == name));
        let owner = || caller.owner.as_ref().map(normal);
        named(&self.keys, Some(key))
            && named(&self.teams, caller.team.as_deref())
            && named(&self.applications, caller.application.as_deref())
            && (self.owners.is_empty() || owner().is_some_and(|owner| self.owners.iter().any(|known| normal(known) == owner)))
            && (self.groups.is_empty() || caller.groups.iter().any(|group| self.groups.iter().any(|known| **known == **group)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Owner;
    use super::*;

    fn scope(json: serde_json::Value) -> Scope {
        serde_json::from_value(json).expect("a scope")
    }

    #[test]
    fn lists_are_alternatives_and_kinds_must_all_match() {
        let caller = Caller {
            owner: Some(Owner::User("ann@example.com".to_owned())),
            team: Some("sales".into()),
            groups: vec!["interns".into(), "berlin".into()],
            ..Caller::default()
        };
        let covers = |json| scope(json).covers("crm", &caller);
        assert!(covers(serde_json::json!({})));
        assert!(covers(serde_json::json!({"keys": ["other", "crm"], "teams": ["sales"]})));
        assert!(covers(serde_json::json!({"owners": [{"user": "Ann@Example.com"}]})), "addresses are the same in any case");
        assert!(covers(serde_json::json!({"groups": ["paris", "berlin"]})));
        assert!(!covers(serde_json::json!({"keys": ["crm"], "teams": ["support"]})));
        assert!(!covers(serde_json::json!({"applications": ["crm"]})), "the key has none");
        assert!(!covers(serde_json::json!({"owners": [{"agent": "ann@example.com"}]})));
        assert!(!scope(serde_json::json!({"groups": ["berlin"]})).covers("crm", &Caller::default()));
    }
}
