//! What an object uses, and what a request changes of that.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::Outcome;

use crate::plugins::ending::Ending;
use crate::quantity::ResourceList;

use super::requirement::ScopeFacts;

/// What an object uses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// By name of the quota's resource.
    pub(super) usage: ResourceList,
    /// What scopes see of it.
    pub(super) scopes: ScopeFacts,
    /// What containers ask for, by name, if all of them must ask for what a quota limits.
    pub(super) containers: BTreeMap<String, BTreeSet<String>>,
}

/// The object of a request, as it shall be and as it was.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// As it shall be.
    pub(super) new: Measured,
    /// As it was, and how it was stored; none for a new object.
    pub(super) old: Option<Stored>,
}

/// An object as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    /// What it uses.
    pub(super) measured: Measured,
    /// Its version.
    pub(super) version: String,
}

/// The request changes nothing that is counted, and why.
pub(super) fn not_counted(why: &'static str) -> Ending {
    Outcome::not_applicable(why).into()
}
