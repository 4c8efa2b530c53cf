//! Match conditions: which jobs a controller is asked about. They are evaluated before any call.

use portcullis_core::Glob;
use portcullis_document::{Fault, path};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::JobView;

/// The most entries of one list.
const MOST_ENTRIES: usize = 64;
/// The most bytes of an entry.
const MOST_BYTES: usize = 512;

/// Every condition that is given must hold; one entry of a list is enough. In globs `*` stops at `/`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchConditions {
    /// Globs of the project's path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// Globs of the user's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<String>>,
    /// Globs of the ref.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs: Option<Vec<String>>,
    /// Whether the ref is protected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected: Option<bool>,
    /// What caused the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// Tags of which the job has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
}

impl MatchConditions {
    /// Why a job doesn't match, in one sentence; nothing if it matches.
    pub fn mismatch(&self, job: &JobView<'_>) -> Option<String> {
        let definition = job.definition;
        let texts = [
            ("project", &self.projects, definition.project.as_str()),
            ("user", &self.users, definition.user.username.as_str()),
            ("ref", &self.refs, definition.git_ref.as_str()),
        ];
        for (what, globs, text) in texts {
            let fits = |globs: &Vec<String>| globs.iter().any(|g| Glob::new(g).matches(text));
            if !globs.as_ref().is_none_or(fits) {
                return Some(format!("the {what} `{text}` doesn't match"));
            }
        }
        if self
            .protected
            .is_some_and(|p| p != definition.ref_protected)
        {
            let word = if definition.ref_protected {
                "is"
            } else {
                "isn't"
            };
            return Some(format!("the ref {word} protected"));
        }
        let source = &definition.source;
        let is_listed = |sources: &Vec<String>| sources.contains(source);
        if !self.sources.as_ref().is_none_or(is_listed) {
            return Some(format!("the source `{source}` doesn't match"));
        }
        let has_one = |tags: &Vec<String>| tags.iter().any(|tag| job.tags.contains(tag));
        if !self.tags.as_ref().is_none_or(has_one) {
            return Some("the job has none of the tags".to_owned());
        }
        None
    }

    /// Whether a job matches.
    pub fn matches(&self, job: &JobView<'_>) -> bool {
        self.mismatch(job).is_none()
    }

    /// Everything that is wrong with the conditions, at paths below this one.
    pub(super) fn check(&self, at: &str, faults: &mut Vec<Fault>) {
        let lists = [
            ("projects", &self.projects),
            ("users", &self.users),
            ("refs", &self.refs),
            ("sources", &self.sources),
            ("tags", &self.tags),
        ];
        for (name, list) in lists {
            let at = path::key(at, name);
            let Some(list) = list else { continue };
            if list.is_empty() {
                let message = "an empty list matches no job: remove the key to match every job";
                faults.push(Fault::at(&at, message));
            }
            check_globs(list, &at, faults);
        }
    }
}

/// Everything that is wrong with a list of globs or names.
pub(super) fn check_globs(list: &[String], at: &str, faults: &mut Vec<Fault>) {
    if list.len() > MOST_ENTRIES {
        let message = format!(
            "expected at most {MOST_ENTRIES} entries, found {}",
            list.len()
        );
        faults.push(Fault::at(at, message));
    }
    for (index, entry) in list.iter().enumerate() {
        let message = if entry.is_empty() {
            "an entry can't be empty".to_owned()
        } else if entry.len() > MOST_BYTES {
            format!("an entry has at most {MOST_BYTES} bytes")
        } else if entry.contains(char::is_control) {
            "an entry can't contain control characters".to_owned()
        } else {
            continue;
        };
        faults.push(Fault::at(path::index(at, index), message));
    }
}
