//! Selectors of a review: as requirements, or as the text that a client sent.
//!
//! Requirements replace the text. What is not valid contributes nothing: it never narrows a request, and
//! never makes it an error.

use portcullis_core::access::Requirement;
use serde::Deserialize;

use crate::object::Object;
use crate::selector::{is_field_requirement, is_label_requirement, parse_fields, parse_labels};

/// A selector on the wire.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Selector {
    raw_selector: Option<String>,
    requirements: Option<Vec<Object<WireRequirement>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireRequirement {
    key: String,
    operator: String,
    values: Option<Vec<String>>,
}

/// The requirements of a field selector.
pub(super) fn of_fields(selector: Option<Object<Selector>>) -> Vec<Requirement> {
    requirements(selector, is_field_requirement, parse_fields)
}

/// The requirements of a label selector.
pub(super) fn of_labels(selector: Option<Object<Selector>>) -> Vec<Requirement> {
    requirements(selector, is_label_requirement, parse_labels)
}

fn requirements(
    selector: Option<Object<Selector>>,
    is_valid: fn(&Requirement) -> bool,
    parse: fn(&str) -> Option<Vec<Requirement>>,
) -> Vec<Requirement> {
    let Some(Object(selector)) = selector else {
        return Vec::new();
    };
    let sent = selector.requirements.unwrap_or_default();
    if sent.is_empty() {
        let raw = selector.raw_selector.unwrap_or_default();
        return parse(&raw).unwrap_or_default();
    }
    let requirement = |Object(r): Object<WireRequirement>| Requirement {
        key: r.key,
        operator: r.operator,
        values: r.values.unwrap_or_default(),
    };
    sent.into_iter().map(requirement).filter(is_valid).collect()
}

#[cfg(test)]
mod tests;
