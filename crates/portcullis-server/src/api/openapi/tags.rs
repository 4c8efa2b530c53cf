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
        Tag::Description => (0, ("Description", "Information about this server.")),
        Tag::SignIn => (1, ("Sign-in", "Signing in and out with the browser.")),
        Tag::Tenants => (
            2,
            (
                "Tenants",
                "Tenants, their projects, and the caller's permissions.",
            ),
        ),
        Tag::Autoholds => (
            3,
            (
                "Autoholds",
                "Runners that are held after a job failed, for inspection.",
            ),
        ),
        Tag::Pipelines => (
            4,
            ("Pipelines", "Enqueueing, cancelling and promoting changes."),
        ),
        Tag::Jobs => (5, ("Jobs", "CI jobs and pipelines, and their admission.")),
        Tag::Controllers => (
            6,
            (
                "Controllers",
                "Admission controllers of CI jobs, and what is delivered to them.",
            ),
        ),
        Tag::Exemptions => (7, ("Exemptions", "Denials that don't count, for a time.")),
        Tag::Runners => (8, ("Runners", "Runners of CI jobs.")),
        Tag::Decisions => (9, ("Decisions", "Decisions of all doors, with reasons.")),
        Tag::Graph => (
            10,
            (
                "Graph",
                "Which objects belong to which agent, and what agents may do.",
            ),
        ),
    }
}
