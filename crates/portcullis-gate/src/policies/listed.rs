//! Configured policies, for those who want to know what judges.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_config::{About, Policies};
use portcullis_core::PolicyMode;
use portcullis_document::Source;
use serde_json::Value;

/// A configured policy.
#[derive(Debug, Clone)]
pub struct ListedPolicy {
    /// Its name.
    pub name: String,
    /// What a denial by it means.
    pub mode: PolicyMode,
    /// The digest of it and of what runs with it.
    pub digest: Arc<str>,
    /// Which requests it is asked about, as a configuration has it.
    pub matching: Value,
    /// What its author wrote, and where.
    pub text: Arc<Source>,
    /// What its author says of it.
    pub about: About,
}

/// All policies, in the order they are asked.
pub(crate) fn listed(
    policies: &Policies,
    digests: &BTreeMap<String, Arc<str>>,
) -> Vec<ListedPolicy> {
    let all = policies.list.iter().map(|policy| ListedPolicy {
        name: policy.name.clone(),
        mode: policy.mode,
        digest: digests.get(&policy.name).cloned().unwrap_or_default(),
        matching: policy.matcher.described(),
        text: Arc::clone(&policy.text),
        about: policy.about.clone(),
    });
    all.collect()
}
