//! jsPolicy's names, lent to the policies that use them.
//!
//! They are not globals: a policy gets those that it uses and does not make itself, as parameters of a function around
//! its own. What the policy declares, what `globals` declare, and what an earlier policy left behind comes first. Every
//! other policy runs as if there were none.

use std::collections::BTreeSet;

use portcullis_script::BareNames;

use crate::sources::mention;

/// The request, as `req` has it.
pub(crate) const REQUEST: &str = "request";

/// Ends a policy of jsPolicy, and nothing else: there each policy is asked alone.
const ALLOW: &str = "allow";

/// The functions. Those that have no counterpart here say so.
const FUNCTIONS: [&str; 13] = [
    "mutate",
    "print",
    "exit",
    "requeue",
    "env",
    "get",
    "list",
    "create",
    "update",
    "remove",
    "fetchSync",
    "readFileSync",
    "sleep",
];

/// What a text is lent.
pub(crate) type Lent = BTreeSet<&'static str>;

/// Whether a text may use one of the names, as far as its words say.
pub(crate) fn may_use(text: &str) -> bool {
    let mut all = FUNCTIONS.into_iter().chain([REQUEST]);
    all.any(|name| text.contains(name))
}

/// What a text with these names is lent. `is_jspolicy` tells whether it was written for jsPolicy.
pub(crate) fn lent(names: &BareNames, globals: &str, is_jspolicy: bool) -> Lent {
    let allow = is_jspolicy.then_some(ALLOW);
    FUNCTIONS
        .into_iter()
        .chain(allow)
        .filter(|name| names.calls(name))
        .chain(Some(REQUEST).filter(|name| names.reads(name)))
        .filter(|name| !mention([globals], name))
        .collect()
}
