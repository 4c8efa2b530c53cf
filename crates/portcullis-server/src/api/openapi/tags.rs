//! The groups calls are shown in.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::endpoint::{Endpoint, Tag};

/// The groups that these calls belong to, in the order in which they are shown.
pub(super) fn describe<'a>(endpoints: impl IntoIterator<Item = &'a Endpoint>) -> Vec<Value> {
    let used: BTreeMap<_, _> = endpoints
        .into_iter()
        .map(|endpoint| about(endpoint.tag))
        .collect();
    used.into_values()
        .map(|(name, description)| json!({"name": name, "description": description}))
        .collect()
}

/// The name of a group.
pub(super) fn name(tag: Tag) -> &'static str {
    let (_, (name, _)) = about(tag);
    name
}

/// The place of a group among the others, its name, and what it is about.
fn about(tag: Tag) -> (u8, (&'static str, &'static str)) {
    match tag {
        Tag::Description => (
            0,
            (
                "Description",
                "What this server is and what it understands.",
            ),
        ),
        Tag::SignIn => (1, ("Sign-in", "Signing in and out with the browser.")),
        Tag::Tenants => (
            2,
            (
                "Tenants",
                "Tenants, what they hold, and what one may do there.",
            ),
        ),
        Tag::Autoholds => (
            3,
            (
                "Autoholds",
                "Runners kept aside after a job failed, to look at.",
            ),
        ),
        Tag::Pipelines => (
            4,
            (
                "Pipelines",
                "Running again, cancelling and moving to the front.",
            ),
        ),
        Tag::Decisions => (5, ("Decisions", "What was decided at every door, and why.")),
        Tag::Graph => (
            6,
            (
                "Graph",
                "Which objects belong to which agent, and what agents may do.",
            ),
        ),
    }
}
