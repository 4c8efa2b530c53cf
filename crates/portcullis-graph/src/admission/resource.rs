//! The name of a resource in admission rules: `secrets`, `seeds.core.gardener.cloud`, `pods/status`.

use portcullis_core::access::split_resource;

/// A resource or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ResourceName {
    group: String,
    resource: String,
    /// Empty for the object itself, `*` for any part that has no rule of its own.
    subresource: String,
}

impl ResourceName {
    /// The resource of these parts.
    pub(super) fn new(group: &str, resource: &str, subresource: &str) -> Self {
        Self {
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// Reads `resource[.group][/subresource]`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (resource, group, subresource) = split_resource(text)?;
        let is_word = |text: &str| {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            text.chars().all(|c| plain(c) || c == '.')
        };
        let is_known =
            is_word(resource) && is_word(group) && (subresource == "*" || is_word(subresource));
        is_known.then(|| Self::new(group, resource, subresource))
    }
}
