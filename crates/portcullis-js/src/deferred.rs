//! Which parts of an evaluation's values were deferred, by number.
//!
//! Only the bookkeeping: how a part becomes JavaScript is in `lazy`.

use std::fmt::Write;
use std::sync::Arc;

use portcullis_core::{Look, Tree};

/// Where a part is.
#[derive(Debug)]
pub(crate) enum DeferredPart {
    /// All of a value, by the name policies know it under.
    Root(Arc<Tree>, &'static str),
    /// The same, made of what is masked.
    Masked(Arc<Tree>, &'static str),
    /// A member or element of another part, by its place there.
    Child(u32, usize),
}

/// The parts that were put off, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct DeferredParts(Vec<DeferredPart>);

impl DeferredParts {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes a part, and gives its number.
    pub(crate) fn push(&mut self, part: DeferredPart) -> u32 {
        self.0.push(part);
        u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn part(&self, id: u32) -> Option<&DeferredPart> {
        self.0.get(usize::try_from(id).ok()?)
    }

    /// The whole value that the part of this number is in.
    pub(crate) fn root(&self, id: u32) -> Option<&Arc<Tree>> {
        match self.part(id)? {
            DeferredPart::Root(tree, _) | DeferredPart::Masked(tree, _) => Some(tree),
            DeferredPart::Child(parent, _) => self.root(*parent),
        }
    }

    /// The part of this number, in its root.
    pub(crate) fn find<'v>(&self, id: u32, root: &'v Tree) -> Option<&'v Tree> {
        match self.part(id)? {
            DeferredPart::Root(..) | DeferredPart::Masked(..) => Some(root),
            DeferredPart::Child(parent, place) => match self.find(*parent, root)?.look() {
                Look::List(elements) => elements.get(*place),
                Look::Object(members) => members.get(*place).map(|(_, member)| member),
                _ => None,
            },
        }
    }

    /// The path of a part, as a policy would write it.
    pub(crate) fn path(&self, id: u32) -> String {
        match self.part(id) {
            None => String::new(),
            Some(DeferredPart::Root(_, name) | DeferredPart::Masked(_, name)) => (*name).to_owned(),
            Some(DeferredPart::Child(parent, place)) => {
                let mut written = self.path(*parent);
                let holder = self.root(*parent).map(Arc::clone);
                let holder = holder.as_deref().and_then(|root| self.find(*parent, root));
                match holder.map(Tree::look) {
                    Some(Look::Object(members)) => {
                        let key = members.get(*place).map_or("", |(key, _)| key.as_str());
                        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
                        let _ = if !key.is_empty() && key.chars().all(is_name) {
                            write!(written, ".{key}")
                        } else {
                            write!(written, "[{key:?}]")
                        };
                    }
                    _ => {
                        let _ = write!(written, "[{place}]");
                    }
                }
                written
            }
        }
    }

    /// Looks at the part of this number.
    pub(crate) fn with<R>(&self, id: u32, look: impl FnOnce(&Tree) -> R) -> Option<R> {
        self.find(id, self.root(id)?).map(look)
    }
}
