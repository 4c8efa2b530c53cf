//! Resources as kubectl names them, and the kinds that requests about them have.

use portcullis_core::text::plural;

use super::is_version;
use crate::kubernetes::{self, Kind};

/// One entry of `match.resources`. What is absent may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resource<'a> {
    pub(crate) group: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    subresource: Option<&'a str>,
}

/// Subresources that are written as an object of another kind: group, kind.
const OTHER_KINDS: &[(&str, &str, &str)] = &[
    ("attach", "", "PodAttachOptions"),
    ("binding", "", "Binding"),
    ("eviction", "policy", "Eviction"),
    ("exec", "", "PodExecOptions"),
    ("portforward", "", "PodPortForwardOptions"),
    ("scale", "autoscaling", "Scale"),
    ("token", "authentication.k8s.io", "TokenRequest"),
];

/// Subresources that are written as the object itself.
const SAME_KIND: &[&str] = &[
    "",
    "approval",
    "ephemeralcontainers",
    "finalize",
    "resize",
    "status",
];

impl<'a> Resource<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let part = |text: &'a str| (text != "*").then_some(text);
        let (name, subresource) = text.split_once('/').unwrap_or((text, ""));
        let (name, rest) = match name.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (name, None),
        };
        let (version, group) = match rest {
            None => (None, None),
            Some(version) if is_version(version) && !version.contains('.') => {
                (part(version), Some(""))
            }
            Some(rest) => match rest.split_once('.') {
                Some((version, group)) if is_version(version) || version == "*" => {
                    (part(version), part(group))
                }
                _ => (None, part(rest)),
            },
        };
        Self {
            group,
            version,
            name: part(name),
            subresource: part(subresource),
        }
    }

    /// The kinds of Kubernetes that this is the resource of, whatever the subresource.
    pub(crate) fn owners(self) -> impl Iterator<Item = &'static Kind> {
        let fits = |wanted: Option<&str>, found: &str| wanted.is_none_or(|wanted| wanted == found);
        kubernetes::kinds().iter().filter(move |kind| {
            fits(self.group, kind.group)
                && fits(self.version, kind.version)
                && self.name.is_none_or(|name| name == resource(kind))
        })
    }

    /// The kinds that requests have; nothing if that is not known.
    pub(super) fn kinds(self) -> Option<Vec<&'static Kind>> {
        let subresource = self.subresource?;
        self.name?;
        let owners: Vec<_> = self.owners().collect();
        if owners.is_empty() {
            return None;
        }
        if SAME_KIND.contains(&subresource) {
            return Some(owners);
        }
        let mut others = OTHER_KINDS.iter();
        let (_, group, name) = others.find(|(part, ..)| *part == subresource)?;
        let all = kubernetes::kinds().iter();
        let found = all.filter(|kind| kind.group == *group && kind.name == *name);
        Some(found.collect())
    }
}

/// The resource of a kind: `pods`.
pub(crate) fn resource(kind: &Kind) -> String {
    match kind.name {
        "Endpoints" => "endpoints".to_owned(),
        name => plural(&name.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Option<Vec<String>> {
        let found = Resource::new(text).kinds()?;
        Some(found.into_iter().map(Kind::written).collect())
    }

    #[test]
    fn resources_are_those_of_kinds() {
        for (text, wanted) in [
            ("pods", vec!["v1/Pod"]),
            ("pods.v1", vec!["v1/Pod"]),
            ("pods.", vec!["v1/Pod"]),
            ("endpoints", vec!["v1/Endpoints"]),
            ("pods/status", vec!["v1/Pod"]),
            ("pods/exec", vec!["v1/PodExecOptions"]),
            ("deployments.v1.apps/scale", vec!["autoscaling/v1/Scale"]),
            ("deployments.*.apps", vec!["apps/v1/Deployment"]),
            (
                "networkpolicies.networking.k8s.io",
                vec!["networking.k8s.io/v1/NetworkPolicy"],
            ),
            ("events", vec!["v1/Event", "events.k8s.io/v1/Event"]),
        ] {
            let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
            assert_eq!(kinds(text), Some(wanted), "{text}");
        }
        for text in [
            "*",
            "pods/*",
            "*/scale",
            "certificates.cert-manager.io",
            "pods/other",
        ] {
            assert_eq!(kinds(text), None, "{text}");
        }
    }
}
