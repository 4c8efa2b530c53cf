//! What a claim of storage asks for.

use portcullis_core::Attributes;

use crate::pod::Resources;
use crate::pod::view::view;
use crate::quantity::ResourceList;

use super::super::read::{self, OrOutcome};
use super::super::refusal::malformed;

/// The requests of the claim that a request is about.
pub(super) fn requests(request: &Attributes) -> OrOutcome<ResourceList> {
    let claim: Claim<'_> = read::object(request, "PersistentVolumeClaim")?;
    let requests = &claim.spec.resources.requests;
    ResourceList::read(requests, &"spec.resources.requests")
        .map_err(|error| malformed(request, error))
}

view! {
    /// A claim of storage.
    struct Claim<'a> {
        /// Specification.
        spec: ClaimSpec<'a> = "spec",
    }
}

view! {
    /// Specification of a claim.
    struct ClaimSpec<'a> {
        /// What is asked for.
        resources: Resources<'a> = "resources",
    }
}
