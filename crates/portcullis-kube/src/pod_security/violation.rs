//! What a pod did wrong, in Kubernetes' words.

use std::{borrow::Cow, fmt};

/// One check that a pod did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The check's identifier, such as `hostPorts`.
    pub check: &'static str,
    /// What kind of fault, in a word or two: `host namespaces`.
    pub reason: Cow<'static, str>,
    /// What exactly, naming containers, volumes and values; may be empty.
    pub detail: String,
}

/// The checks that a pod did not pass, in the order of evaluation.
///
/// Prints as Kubernetes joins them: `hostPort (container "a" uses hostPort
/// 80), privileged (...)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Violations(pub(super) Vec<Violation>);

impl Violations {
    /// Whether the pod is fine.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What kinds of faults, without the details.
    #[must_use]
    pub(crate) fn reasons(&self) -> String {
        let reasons: Vec<&str> = self.iter().map(|one| one.reason.as_ref()).collect();
        reasons.join(", ")
    }

    /// The violations one by one.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.0.iter()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.iter().enumerate() {
            if index > 0 {
                formatter.write_str(", ")?;
            }
            formatter.write_str(&violation.reason)?;
            if !violation.detail.is_empty() {
                write!(formatter, " ({})", violation.detail)?;
            }
        }
        Ok(())
    }
}
