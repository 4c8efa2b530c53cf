//! LimitRanges that the watch has not seen yet.
//!
//! As in Kubernetes, where no LimitRange of a namespace is known they are listed, and what was found counts for a while.
//! So the first LimitRange of a namespace holds for the pods that are created right after it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::sync::Mutex;
use serde_json::Value;

/// How long what was found counts.
const LIFETIME: Duration = Duration::from_secs(30);
/// How long it counts further while it is listed anew.
const GRACE: Duration = Duration::from_secs(2);
/// The most namespaces of which something is kept.
const MAX_NAMESPACES: usize = 10_000;

/// What was listed of each namespace.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<BTreeMap<String, Listed>>);

#[derive(Debug)]
struct Listed {
    until: Instant,
    objects: Vec<Arc<Value>>,
}

impl Live {
    /// Whether the caller is to list the LimitRanges of a namespace. Of several at once, only one is if something was
    /// found before.
    pub(super) fn wants(&self, namespace: &str, now: Instant) -> bool {
        match self.0.lock().get_mut(namespace) {
            Some(listed) if now < listed.until => false,
            Some(listed) => {
                listed.until = now + GRACE;
                true
            }
            None => true,
        }
    }

    /// Keeps what was found.
    pub(super) fn keep(&self, namespace: &str, objects: Vec<Arc<Value>>, now: Instant) {
        let mut all = self.0.lock();
        if all.len() >= MAX_NAMESPACES {
            all.retain(|_, listed| now < listed.until);
        }
        if all.len() < MAX_NAMESPACES || all.contains_key(namespace) {
            let until = now + LIFETIME;
            all.insert(namespace.to_owned(), Listed { until, objects });
        }
    }

    /// What was found.
    pub(super) fn found(&self, namespace: &str) -> Vec<Arc<Value>> {
        let all = self.0.lock();
        let listed = all.get(namespace);
        listed
            .map(|listed| listed.objects.clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::clock;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_namespace_is_listed_once_in_a_while() {
        let (live, now) = (Live::default(), clock::monotonic());
        assert!(live.wants("shop", now));
        live.keep("shop", vec![Arc::new(json!(1))], now);
        assert!(live.wants("other", now));
        assert!(!live.wants("shop", now + LIFETIME - Duration::from_secs(1)));
        assert!(live.wants("shop", now + LIFETIME));
        assert!(!live.wants("shop", now + LIFETIME), "another one lists it");
        assert_eq!(live.found("shop").len(), 1);
        assert!(live.wants("shop", now + LIFETIME + GRACE), "and failed to");
        assert!(live.found("other").is_empty());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let (live, now) = (Live::default(), clock::monotonic());
        for n in 0..MAX_NAMESPACES + 10 {
            live.keep(&n.to_string(), Vec::new(), now);
        }
        assert_eq!(live.0.lock().len(), MAX_NAMESPACES);
        live.keep("new", Vec::new(), now + LIFETIME);
        assert_eq!(live.0.lock().len(), 1);
    }
}
