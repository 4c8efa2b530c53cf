//! What an authorizer is asked: may this user do this?
//!
//! The shape follows Kubernetes' access attributes; the wire forms stay in the Kubernetes door.

use std::sync::Arc;

use crate::attributes::{DoorContext, UserInfo};

/// One request for authorization.
#[derive(Debug, Clone)]
pub struct Access {
    /// The user.
    pub user: UserInfo,
    /// What they want to do, like `get`.
    pub verb: String,
    /// What they want to do it to.
    pub target: Target,
    /// What only the door knows.
    pub context: Arc<DoorContext>,
}

impl Access {
    /// Whether the verb only reads, as Kubernetes' attribute files count it.
    pub fn is_read_only(&self) -> bool {
        matches!(self.verb.as_str(), "get" | "list" | "watch")
    }
}

/// The object of an [`Access`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An object or collection of the API.
    Resource(ResourceTarget),
    /// A non-resource path, like `/healthz`.
    Path(String),
}

/// An object or collection of the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceTarget {
    /// API group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Resource, like `pods`.
    pub resource: String,
    /// Part of the object, like `log`.
    pub subresource: String,
    /// Namespace; empty for all, or for objects without one.
    pub namespace: String,
    /// Name; empty for all.
    pub name: String,
    /// Field selector of a list, watch or bulk deletion, one requirement each.
    pub field_selector: Vec<Requirement>,
    /// Label selector of a list, watch or bulk deletion, one requirement each.
    pub label_selector: Vec<Requirement>,
}

/// One requirement of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Label or field.
    pub key: String,
    /// Operator as sent, like `In` or `NotIn`.
    pub operator: String,
    /// Values it compares with.
    pub values: Vec<String>,
}

/// The parts of `resource[.group][/rest]`: resource, group and rest, the last two empty if they are not
/// there. The rest is a part of the object or a name, as the user of the text has it. `None` for any other text.
pub fn split_resource(text: &str) -> Option<(&str, &str, &str)> {
    let (whole, rest) = match text.split_once('/') {
        Some((_, rest)) if rest.is_empty() || rest.contains('/') => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    let (resource, group) = match whole.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (whole, ""),
    };
    (!resource.is_empty()).then_some((resource, group, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_split_into_their_parts() {
        for (text, wanted) in [
            ("pods", ("pods", "", "")),
            ("pods/web.1", ("pods", "", "web.1")),
            ("deployments.apps", ("deployments", "apps", "")),
            (
                "seeds.core.gardener.cloud/status",
                ("seeds", "core.gardener.cloud", "status"),
            ),
        ] {
            assert_eq!(split_resource(text), Some(wanted), "{text}");
        }
        for wrong in [
            "", "/", "pods/", "pods/a/b", ".apps", "pods.", "pods./x", "/x",
        ] {
            assert_eq!(split_resource(wrong), None, "{wrong}");
        }
    }
}
