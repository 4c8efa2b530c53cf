//! Why an answer isn't a verdict.

use serde_json::Value;

use crate::tags::{MOST_TAGS, TagFault};

/// Why an answer isn't a valid verdict, as the answer 422 says it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerdictFault {
    /// The body is too large.
    #[error("the verdict has {bytes} bytes: at most {most} are allowed")]
    TooLarge {
        /// Its bytes.
        bytes: usize,
        /// The most.
        most: usize,
    },
    /// The body isn't JSON.
    #[error("the verdict is not valid JSON: {0}")]
    NotJson(String),
    /// The body is a list, but not of one entry.
    #[error("expected one verdict, found {0}")]
    NotOne(usize),
    /// The body is something other than an object or a list of one.
    #[error("expected an object, found {0}")]
    NotAnObject(&'static str),
    /// A required key is missing.
    #[error("`{0}` is required")]
    Missing(&'static str),
    /// It is for another job.
    #[error("`id`: the verdict is for job {found}, expected {expected}")]
    WrongId {
        /// The job it is for.
        found: String,
        /// The job that was asked about.
        expected: u64,
    },
    /// Neither an acceptance nor a denial.
    #[error("`admission`: unknown value {0}: expected accepted or denied")]
    UnknownAdmission(String),
    /// A value of a wrong type.
    #[error("`{path}`: expected {expected}, found {found}")]
    WrongType {
        /// The key.
        path: String,
        /// What is allowed.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A tag that can't be used.
    #[error("`{path}`: {fault}")]
    BadTag {
        /// The place of the tag.
        path: String,
        /// What is wrong with it.
        fault: TagFault,
    },
    /// Too many tags.
    #[error("the job would have {0} tags: at most {MOST_TAGS} are allowed")]
    TooManyTags(usize),
    /// Too many runners in one list.
    #[error("`{path}` has {count} runners: at most {most} are allowed")]
    TooManyRunners {
        /// The list.
        path: String,
        /// Its length.
        count: usize,
        /// The most.
        most: usize,
    },
    /// Not the id of a runner.
    #[error("`{path}`: expected a runner id, found {found}")]
    BadRunnerId {
        /// The place of the id.
        path: String,
        /// What it is.
        found: String,
    },
    /// A change by a controller that may not change.
    #[error("a validating controller can't change tags or runners")]
    MutationByValidating,
    /// All tags would be gone.
    #[error("removing every tag needs `may_untag`: a job without tags runs on any untagged runner")]
    WouldUntag,
}

/// The fault of a value of a wrong type.
pub(crate) fn wrong_type(path: &str, expected: &'static str, found: &Value) -> VerdictFault {
    VerdictFault::WrongType {
        path: path.to_owned(),
        expected,
        found: kind(found),
    }
}

/// What a value is, for a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
