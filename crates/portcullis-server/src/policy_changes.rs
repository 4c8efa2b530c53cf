//! When each policy last changed, as far as this server knows: at a reload, or before the start by the time of its file.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use portcullis_core::clock;
use portcullis_core::sync::Mutex;
use portcullis_gate::policies::ListedPolicy;

/// What is known of a policy.
#[derive(Debug)]
struct Known {
    digest: Arc<str>,
    /// Nothing for one that stands in the configuration file and has not changed since the start.
    changed: Option<SystemTime>,
}

/// When policies changed.
#[derive(Debug, Default)]
pub(crate) struct PolicyChanges(Mutex<HashMap<String, Known>>);

impl PolicyChanges {
    /// These policies are in force from the start.
    pub(crate) fn started(&self, policies: &[ListedPolicy]) {
        *self.0.lock() = all(policies, file_time);
    }

    /// These policies are in force after a reload: those with another digest changed now.
    pub(crate) fn reloaded(&self, policies: &[ListedPolicy]) {
        let now = clock::wall();
        let mut known = self.0.lock();
        let found = all(policies, |policy| {
            let before = known.get(&policy.name);
            match before.filter(|before| before.digest == policy.digest) {
                Some(before) => before.changed,
                None => Some(now),
            }
        });
        *known = found;
    }

    /// When this policy changed.
    pub(crate) fn last(&self, policy: &str) -> Option<SystemTime> {
        self.0.lock().get(policy).and_then(|known| known.changed)
    }
}

fn all(
    policies: &[ListedPolicy],
    changed: impl Fn(&ListedPolicy) -> Option<SystemTime>,
) -> HashMap<String, Known> {
    let each = policies.iter().map(|policy| {
        let known = Known {
            digest: Arc::clone(&policy.digest),
            changed: changed(policy),
        };
        (policy.name.clone(), known)
    });
    each.collect()
}

/// When the file of a policy was written.
fn file_time(policy: &ListedPolicy) -> Option<SystemTime> {
    let file = policy.text.path()?;
    std::fs::metadata(file)
        .and_then(|found| found.modified())
        .ok()
}

#[cfg(test)]
mod tests {
    use portcullis_config::About;
    use portcullis_core::PolicyMode;
    use portcullis_document::Source;

    use super::*;

    fn policy(name: &str, digest: &str) -> ListedPolicy {
        ListedPolicy {
            name: name.to_owned(),
            mode: PolicyMode::Enforce,
            digest: digest.into(),
            matching: serde_json::Value::Null,
            text: Source::text_named("p.yaml", ""),
            about: About::default(),
        }
    }

    #[test]
    fn only_another_digest_is_a_change() {
        let changes = PolicyChanges::default();
        changes.started(&[policy("a", "1"), policy("b", "1")]);
        assert_eq!(changes.last("a"), None);
        changes.reloaded(&[policy("a", "1"), policy("b", "2"), policy("c", "1")]);
        assert_eq!(changes.last("a"), None);
        let changed = changes.last("b");
        assert!(changed.is_some() && changes.last("c").is_some());
        changes.reloaded(&[policy("b", "2")]);
        assert_eq!(changes.last("b"), changed);
        assert_eq!(changes.last("c"), None);
    }
}
