//! How managed certificates are, for readiness and for those who look at the server.

/// How one or all of them are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ManagedHealth {
    /// Why clients can't be served, if they can't.
    pub(crate) fault: Option<&'static str>,
    /// What is wrong, or was not found.
    pub(crate) trouble: Option<String>,
}

impl ManagedHealth {
    /// All in one: the first fault, and every trouble.
    pub(super) fn of_all(each: impl Iterator<Item = Self>) -> Option<Self> {
        let mut all: Option<Self> = None;
        for one in each {
            let Some(so_far) = &mut all else {
                all = Some(one);
                continue;
            };
            so_far.fault = so_far.fault.or(one.fault);
            so_far.trouble = match (so_far.trouble.take(), one.trouble) {
                (Some(first), Some(second)) => Some(format!("{first}; {second}")),
                (first, second) => first.or(second),
            };
        }
        all
    }
}
