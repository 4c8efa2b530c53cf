//! The name of a vertex: kind, namespace, name.

use std::fmt;
use std::str::FromStr;

/// The number of a kind in its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u16);

/// A vertex as people write it: `Shoot:garden-p1/sh1` or `Seed:s1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vertex {
    /// Kind, like `Shoot`.
    pub kind: String,
    /// Namespace, empty for objects without one.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for Vertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// A text that is not a vertex.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid vertex `{0}`: expected `Kind:namespace/name` or `Kind:name`")]
pub struct NotAVertex(pub String);

impl FromStr for Vertex {
    type Err = NotAVertex;

    fn from_str(text: &str) -> Result<Self, NotAVertex> {
        let wrong = || NotAVertex(text.to_owned());
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        let (namespace, name) = match rest.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() => (namespace, name),
            Some(_) => return Err(wrong()),
            None => ("", rest),
        };
        if kind.is_empty() || name.is_empty() || name.contains('/') {
            return Err(wrong());
        }
        Ok(Self {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

/// A vertex by reference, its kind already known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VertexRef<'a> {
    /// Kind.
    pub kind: KindId,
    /// Namespace, empty for objects without one.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
}
