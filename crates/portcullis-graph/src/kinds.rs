//! The kinds of vertices of a profile, by number, by name and by resource.

use std::collections::HashMap;

use portcullis_core::text::printable;

use crate::vertex::{KindId, Vertex, VertexRef};

/// One kind of vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexKind {
    /// Kind, like `Shoot`.
    pub name: String,
    /// API group, empty for the core group.
    pub group: String,
    /// The API version that is watched and read.
    pub version: String,
    /// Resource, like `shoots`.
    pub resource: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
}

/// Whether objects of a kind are in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// They are.
    Namespaced,
    /// They are not.
    Cluster,
    /// They are the namespaces themselves: API servers send their name as the namespace as well.
    Namespace,
}

/// How the namespace of a request contradicts the scope of its resource: such an object can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mismatch {
    /// A namespace is given for a cluster-scoped resource.
    Superfluous,
    /// None is given for a namespaced one.
    Missing,
}

impl Scope {
    /// The namespace of the object that a request names, empty for a cluster-scoped one.
    ///
    /// # Errors
    ///
    /// When no object of this scope is in such a namespace.
    #[inline]
    pub(crate) fn namespace(self, asked: &str) -> Result<&str, Mismatch> {
        match (self, asked) {
            (Self::Namespace, _) | (Self::Cluster, "") => Ok(""),
            (Self::Cluster, _) => Err(Mismatch::Superfluous),
            (Self::Namespaced, "") => Err(Mismatch::Missing),
            (Self::Namespaced, namespace) => Ok(namespace),
        }
    }
}

impl Mismatch {
    /// In words, about a resource and the namespace of the request.
    pub(crate) fn words(self, resource: &str, namespace: &str) -> String {
        match self {
            Self::Superfluous => format!(
                "{} are cluster-scoped, but the request has the namespace `{}`",
                printable(resource),
                printable(namespace)
            ),
            Self::Missing => format!(
                "{} are namespaced, but the request has no namespace",
                printable(resource)
            ),
        }
    }
}

impl VertexKind {
    /// Whether its objects are in namespaces.
    pub(crate) fn scope(&self) -> Scope {
        match (self.namespaced, self.group.as_str(), self.resource.as_str()) {
            (true, ..) => Scope::Namespaced,
            (false, "", "namespaces") => Scope::Namespace,
            (false, ..) => Scope::Cluster,
        }
    }

    /// `shoots.core.gardener.cloud`, or `secrets`.
    pub fn full_resource(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.clone(),
            group => format!("{}.{group}", self.resource),
        }
    }

    /// `core.gardener.cloud/v1beta1`, or `v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// All kinds of a profile.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    kinds: Vec<VertexKind>,
    by_name: HashMap<String, KindId>,
}

impl Kinds {
    /// These kinds, numbered in this order. Names are unique.
    pub(crate) fn new(kinds: Vec<VertexKind>) -> Self {
        let numbered = kinds.iter().zip(0_u16..);
        let by_name = numbered.map(|(kind, id)| (kind.name.clone(), KindId(id)));
        let by_name = by_name.collect();
        Self { kinds, by_name }
    }

    /// The kind of this number.
    pub fn get(&self, id: KindId) -> Option<&VertexKind> {
        self.kinds.get(usize::from(id.0))
    }

    /// The name of a kind; empty if there is none of this number.
    pub fn name(&self, id: KindId) -> &str {
        self.get(id).map_or("", |kind| &kind.name)
    }

    /// The number of the kind of this name.
    pub fn id(&self, name: &str) -> Option<KindId> {
        self.by_name.get(name).copied()
    }

    /// The kind of this API group and resource.
    pub fn of_resource(&self, group: &str, resource: &str) -> Option<KindId> {
        let mut all = self.iter();
        all.find(|(_, kind)| kind.group == group && kind.resource == resource)
            .map(|(id, _)| id)
    }

    /// All kinds with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (KindId, &VertexKind)> {
        (0_u16..).map(KindId).zip(&self.kinds)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A vertex in words.
    pub fn vertex(&self, vertex: VertexRef<'_>) -> Vertex {
        Vertex {
            kind: self.name(vertex.kind).to_owned(),
            namespace: vertex.namespace.to_owned(),
            name: vertex.name.to_owned(),
        }
    }
}
