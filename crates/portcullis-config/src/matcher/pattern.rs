//! A `match` in parts, for those who say elsewhere which requests it is about: registrations of webhooks.

use portcullis_core::Operation;

use super::Matcher;
use super::resources::Scope;

/// What requests may be about, by one entry of `kinds` or `resources`. What is absent may be anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchPattern {
    /// API group, empty for the core group.
    pub group: Option<String>,
    /// API version.
    pub version: Option<String>,
    /// What is named in it.
    pub name: MatchedName,
}

/// What an entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchedName {
    /// A kind, like `Pod`.
    Kind(Option<String>),
    /// A resource, like `pods`, and one of its subresources; an empty one is the resource itself.
    Resource(Option<String>, Option<String>),
}

impl Matcher {
    /// The operations it is about; none if all.
    pub fn operations(&self) -> Option<&[Operation]> {
        self.operations.as_deref()
    }

    /// What it is about, a request that fits one of these at most; none if anything.
    pub fn patterns(&self) -> Option<Vec<MatchPattern>> {
        if let Some(resources) = &self.resources {
            let one = |one: &super::ResourcePattern| MatchPattern {
                group: one.group.clone(),
                version: one.version.clone(),
                name: MatchedName::Resource(one.resource.clone(), one.subresource.clone()),
            };
            return Some(resources.iter().map(one).collect());
        }
        let one = |one: &super::KindPattern| MatchPattern {
            group: one.group.clone(),
            version: one.version.clone(),
            name: MatchedName::Kind(one.kind.clone()),
        };
        Some(self.kinds.as_ref()?.iter().map(one).collect())
    }

    /// Whether it is about objects in namespaces alone, or about others alone; none if both.
    pub fn is_namespaced(&self) -> Option<bool> {
        self.scope.map(|scope| scope == Scope::Namespaced)
    }

    /// Whether it is about requests to this path.
    pub fn is_for_path(&self, path: &str) -> bool {
        let globs = self.paths.as_ref();
        globs.is_none_or(|all| all.iter().any(|glob| glob.matches(path)))
    }
}
