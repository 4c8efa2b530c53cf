//! Resources as kubectl names them, `deployments.v1.apps`, and their scope.

use portcullis_core::{Attributes, Resource};

use super::is_version;
use super::selectors::is_namespace;

/// `pods`, `deployments.apps`, `deployments.v1.apps`, `pods/exec`; `*` stands for any part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourcePattern {
    pub(super) group: Option<String>,
    pub(super) version: Option<String>,
    pub(super) resource: Option<String>,
    /// None is any, also none at all.
    pub(super) subresource: Option<String>,
}

impl ResourcePattern {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let part = |text: &str| (text != "*").then(|| text.to_owned());
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.*/".contains(c);
        let (name, subresource) = text.split_once('/').unwrap_or((text, ""));
        let (resource, rest) = match name.split_once('.') {
            Some((resource, rest)) => (resource, Some(rest)),
            None => (name, None),
        };
        if resource.is_empty()
            || !text.chars().all(is_good)
            || (text.ends_with('/') || subresource.contains('/'))
        {
            return Err(format!(
                "invalid resource `{text}`: expected the plural in lower case, like `pods`, \
                 `deployments.apps`, `deployments.v1.apps` or `pods/exec`"
            ));
        }
        let (version, group) = match rest {
            None => (None, None),
            // `pods.v1`, as manifests have it: the group without a name.
            Some(version) if is_version(version) && !version.contains('.') => {
                (part(version), Some(String::new()))
            }
            Some(rest) => match rest.split_once('.') {
                Some((version, group)) if is_version(version) => (part(version), part(group)),
                _ => (None, part(rest)),
            },
        };
        Ok(Self {
            group,
            version,
            resource: part(resource),
            subresource: part(subresource),
        })
    }

    /// Whether a resource is meant, or a subresource of it.
    pub(super) fn matches(&self, asked: &Resource, subresource: &str) -> bool {
        let fits = |wanted: &Option<String>, found: &str| match wanted {
            Some(wanted) => wanted == found,
            None => true,
        };
        fits(&self.group, &asked.group)
            && fits(&self.version, &asked.version)
            && fits(&self.resource, &asked.resource)
            && fits(&self.subresource, subresource)
    }

    pub(super) fn written(&self) -> String {
        let any = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
        let resource = any(&self.resource);
        let name = match (&self.group, &self.version) {
            (None, None) => resource,
            (Some(group), Some(version)) if group.is_empty() => format!("{resource}.{version}"),
            (Some(group), None) => format!("{resource}.{group}"),
            (group, Some(version)) => format!("{resource}.{version}.{}", any(group)),
        };
        match &self.subresource {
            None => format!("{name}/*"),
            Some(sub) if sub.is_empty() => name,
            Some(sub) => format!("{name}/{sub}"),
        }
    }
}

/// Whether objects are in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Namespaced,
    Cluster,
}

/// The scopes, as they are written.
pub(super) const SCOPES: [(&str, Scope); 2] = [
    ("Namespaced", Scope::Namespaced),
    ("Cluster", Scope::Cluster),
];

impl Scope {
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let mut all = SCOPES.into_iter();
        let found = all.find(|(known, _)| *known == name);
        found
            .map(|(_, scope)| scope)
            .ok_or_else(|| format!("unknown scope `{name}`: expected Namespaced or Cluster"))
    }

    /// A namespace itself is in none, although requests about it name one.
    pub(super) fn matches(self, request: &Attributes) -> bool {
        let is_namespaced = !request.namespace.is_empty() && !is_namespace(request);
        is_namespaced == (self == Self::Namespaced)
    }

    pub(super) fn written(self) -> &'static str {
        match self {
            Self::Namespaced => "Namespaced",
            Self::Cluster => "Cluster",
        }
    }
}
