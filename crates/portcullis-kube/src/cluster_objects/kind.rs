//! A kind of a cluster's objects, as configurations and policies name it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use portcullis_core::Kind;

use crate::manifest;

/// A kind of objects: `v1/Pod`, `apps/v1/Deployment`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKind {
    /// API group, empty for the core group.
    pub group: Cow<'static, str>,
    /// API version.
    pub version: Cow<'static, str>,
    /// Kind, like `Pod`.
    pub kind: Cow<'static, str>,
}

/// A text that names no kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected VERSION/KIND or GROUP/VERSION/KIND, with a kind and not a resource, like v1/ConfigMap or apps/v1/Deployment"
)]
pub struct InvalidKind;

impl ObjectKind {
    /// Namespaces.
    pub const NAMESPACE: Self = Self::new("", "v1", "Namespace");
    /// Pods.
    pub const POD: Self = Self::new("", "v1", "Pod");
    /// Secrets.
    pub const SECRET: Self = Self::new("", "v1", "Secret");
    /// Limit ranges.
    pub const LIMIT_RANGE: Self = Self::new("", "v1", "LimitRange");
    /// Resource quotas.
    pub const RESOURCE_QUOTA: Self = Self::new("", "v1", "ResourceQuota");

    /// The kind of this name.
    #[must_use]
    pub const fn new(group: &'static str, version: &'static str, kind: &'static str) -> Self {
        Self {
            group: Cow::Borrowed(group),
            version: Cow::Borrowed(version),
            kind: Cow::Borrowed(kind),
        }
    }

    /// The kind that an object of this `apiVersion` and `kind` has.
    ///
    /// # Errors
    ///
    /// When there can't be such a kind.
    pub fn of(api_version: &str, kind: &str) -> Result<Self, InvalidKind> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let is_group = match group {
            "" => !api_version.contains('/'),
            group => group.len() <= 253 && group.split('.').all(is_word),
        };
        if !is_group || !is_word(version) || !is_kind(kind) {
            return Err(InvalidKind);
        }
        Ok(Self {
            group: Cow::Owned(group.to_owned()),
            version: Cow::Owned(version.to_owned()),
            kind: Cow::Owned(kind.to_owned()),
        })
    }

    /// The `apiVersion` of its objects.
    #[must_use]
    pub fn api_version(&self) -> String {
        match self.group.as_ref() {
            "" => self.version.clone().into_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The resource it probably has; the API server knows.
    #[must_use]
    pub fn likely_resource(&self) -> String {
        manifest::resource_of(&self.as_kind())
    }

    /// Whether its objects probably live in namespaces; the API server knows.
    #[must_use]
    pub fn is_likely_namespaced(&self) -> bool {
        !manifest::is_cluster_scoped(&self.as_kind())
    }

    fn as_kind(&self) -> Kind {
        Kind {
            group: self.group.clone().into_owned(),
            version: self.version.clone().into_owned(),
            kind: self.kind.clone().into_owned(),
        }
    }
}

/// A part of a group, or a version.
fn is_word(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty()
        && text.len() <= 63
        && text.chars().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_kind(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        write!(f, "{}/{}", self.version, self.kind)
    }
}

impl FromStr for ObjectKind {
    type Err = InvalidKind;

    fn from_str(text: &str) -> Result<Self, InvalidKind> {
        let (api_version, kind) = text.rsplit_once('/').ok_or(InvalidKind)?;
        Self::of(api_version, kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_shown() {
        for text in [
            "v1/Pod",
            "apps/v1/Deployment",
            "cert-manager.io/v1alpha2/Issuer",
        ] {
            let kind: ObjectKind = text.parse().unwrap();
            assert_eq!(kind.to_string(), text);
            assert_eq!(format!("{}/{}", kind.api_version(), kind.kind), text);
        }
        assert_eq!("v1/Pod".parse(), Ok(ObjectKind::POD));
    }

    #[test]
    fn other_texts_are_not_kinds() {
        for text in [
            "",
            "/",
            "Pod",
            "v1/",
            "/Pod",
            "/v1/Pod",
            "a/b/v1/Pod",
            "v1/Po d",
            "v1/../x",
            "V1/Pod",
            "v1/configmaps",
            "v1/pod",
            "a..b/v1/Pod",
            "apps//Deployment",
            "v1/1",
            "-a/v1/Pod",
            "v1/Pod/",
            "v%31/Pod",
        ] {
            assert_eq!(text.parse::<ObjectKind>(), Err(InvalidKind), "{text}");
        }
    }

    #[test]
    fn resources_and_scopes_are_those_of_kubernetes() {
        let of = |text: &str| {
            let kind: ObjectKind = text.parse().unwrap();
            (kind.likely_resource(), kind.is_likely_namespaced())
        };
        assert_eq!(of("v1/Namespace"), ("namespaces".to_owned(), false));
        assert_eq!(of("v1/LimitRange"), ("limitranges".to_owned(), true));
        assert_eq!(
            of("networking.k8s.io/v1/Ingress"),
            ("ingresses".to_owned(), true)
        );
    }
}
