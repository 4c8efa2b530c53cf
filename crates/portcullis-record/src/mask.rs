//! What is a secret, and how it is masked.
//!
//! | Module | Looks at |
//! |---|---|
//! | [`names`] | names of members, headers and query parameters: the table of rules |
//! | [`credentials`] | values that are secrets wherever they are |
//! | [`review`] | the text of a review, which stays as it is but for the secrets |
//! | [`found`] | what was found there, and the text without it |
//! | [`known`] | the same values elsewhere in the text |
//! | [`value`] | trees: values of patches, arguments and results of host calls |
//! | [`http`] | headers and address of the HTTP request |
//! | [`paths`] | what the configuration adds |

pub(crate) mod credentials;
pub(crate) mod found;
mod frame;
pub(crate) mod http;
mod known;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod review;
pub(crate) mod text;
pub(crate) mod value;

use std::borrow::Cow;

use portcullis_core::{CI_GROUP, CI_JOB, Kind};

/// What stands where a secret was.
pub const MASKED: &str = "(masked)";

/// What is done with a value, because of where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing, unless it looks like a secret.
    Plain,
    /// A list or map of environment variables: its elements are [`Mode::Variable`].
    Environment,
    /// An environment variable: masked as [`Mode::Named`] is.
    Variable,
    /// A text or number is masked, also as element of a list or as member `value` of an object.
    Named,
    /// Every text and number is masked, however deep.
    Everything,
}

/// Whether a variable is one of those that say which job it is in. They repeat what stands elsewhere in the job:
/// masked, the name of its project would be missing in every text.
fn is_public_variable(name: &str) -> bool {
    matches!(
        name,
        "CI" | "CI_JOB_ID"
            | "CI_JOB_NAME"
            | "CI_JOB_STAGE"
            | "CI_JOB_IMAGE"
            | "CI_PIPELINE_ID"
            | "CI_PIPELINE_SOURCE"
            | "CI_PROJECT_ID"
            | "CI_PROJECT_NAME"
            | "CI_PROJECT_PATH"
            | "CI_PROJECT_NAMESPACE"
            | "CI_PROJECT_ROOT_NAMESPACE"
            | "CI_COMMIT_REF_NAME"
            | "CI_COMMIT_REF_SLUG"
            | "CI_COMMIT_REF_PROTECTED"
            | "GITLAB_USER_ID"
            | "GITLAB_USER_LOGIN"
    )
}

impl Mode {
    /// Whether a text or number there is masked.
    #[inline]
    pub(crate) fn masks(self) -> bool {
        matches!(self, Self::Named | Self::Variable | Self::Everything)
    }

    /// The mode of the elements of a list.
    pub(crate) fn of_element(self) -> Self {
        match self {
            Self::Environment => Self::Variable,
            other => other,
        }
    }

    /// The mode of a member, as far as it follows from that of its object alone.
    #[inline]
    pub(crate) fn of_member(self, key: &str) -> Option<Self> {
        match self {
            Self::Everything => Some(Self::Everything),
            Self::Environment if is_public_variable(key) => Some(Self::Plain),
            Self::Environment => Some(Self::Variable),
            Self::Named | Self::Variable if key == "value" => Some(self),
            Self::Named | Self::Variable | Self::Plain => None,
        }
    }
}

/// What an object says of itself, as far as it matters here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// A Secret.
    pub(crate) is_secret: bool,
    /// A list whose items are Secrets, though they don't say so.
    pub(crate) is_secret_list: bool,
    /// A CI job.
    pub(crate) is_ci_job: bool,
}

impl Header {
    /// By `apiVersion` and `kind`. A Secret without `apiVersion` is taken for one, too.
    pub(crate) fn new(version: Option<&str>, kind: Option<&str>) -> Self {
        let is_core = version.is_none_or(|version| version == "v1");
        let group = version.and_then(|version| version.split_once('/'));
        Self {
            is_secret: is_core && kind == Some("Secret"),
            is_secret_list: is_core && kind == Some("SecretList"),
            is_ci_job: kind == Some(CI_JOB) && group.is_some_and(|(group, _)| group == CI_GROUP),
        }
    }

    /// By the kind the request names.
    pub(crate) fn of_kind(kind: &Kind) -> Self {
        Self {
            is_secret: kind.is("", "Secret"),
            is_secret_list: kind.is("", "SecretList"),
            is_ci_job: kind.is(CI_GROUP, CI_JOB),
        }
    }

    /// Both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            is_secret: self.is_secret || other.is_secret,
            is_secret_list: self.is_secret_list || other.is_secret_list,
            is_ci_job: self.is_ci_job || other.is_ci_job,
        }
    }
}

/// A value that was masked, to be looked for in texts.
#[derive(Debug, Clone)]
pub(crate) struct Secret<'a> {
    /// The value; of a text as it stands between its quotes.
    pub(crate) written: Cow<'a, str>,
    /// Whether it has JSON's escapes.
    pub(crate) has_escapes: bool,
    /// Whether it is a secret wherever it stands in the review, too: not so the value of a variable that
    /// may be an image, an address or a word.
    pub(crate) is_everywhere: bool,
}

impl<'a> Secret<'a> {
    /// A value that means itself.
    pub(crate) fn plain(value: impl Into<Cow<'a, str>>) -> Self {
        Self {
            written: value.into(),
            has_escapes: false,
            is_everywhere: true,
        }
    }

    /// What is meant.
    pub(crate) fn meant(&self) -> Cow<'_, str> {
        if self.has_escapes {
            return text::unescaped(&self.written);
        }
        Cow::Borrowed(&self.written)
    }
}

#[cfg(test)]
mod tests;
