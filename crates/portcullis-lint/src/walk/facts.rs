//! Which kinds and operations are possible at a place of the code.

use portcullis_core::Operation;

use crate::scope::{Candidate, Pattern, Scope};
use crate::shape::Kinds;

/// What is possible at a place. If no operation or no kind is, the place is never reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) kinds: Kinds,
    pub(crate) operations: Operations,
}

/// More kinds than this are not told apart.
const MOST: usize = 256;

/// A set of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operations(u8);

impl Operations {
    const ALL: Self = Self(0b1111);

    pub(crate) fn of(all: &[Operation]) -> Self {
        Self(all.iter().fold(0, |bits, one| bits | Self::bit(*one)))
    }

    const fn bit(operation: Operation) -> u8 {
        match operation {
            Operation::Create => 1,
            Operation::Update => 2,
            Operation::Delete => 4,
            Operation::Connect => 8,
        }
    }

    pub(crate) fn contains(self, operation: Operation) -> bool {
        self.0 & Self::bit(operation) != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether none but these are possible, and at least one of them.
    pub(crate) fn is_within(self, all: &[Operation]) -> bool {
        !self.is_empty() && self.0 & !Self::of(all).0 == 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Facts {
    /// What a `match` says; of a module nothing is known.
    pub(crate) fn of(scope: Option<&Scope>) -> Self {
        let operations = scope.and_then(|scope| scope.operations.as_deref());
        Self {
            kinds: scope.and_then(Scope::candidates),
            operations: operations.map_or(Operations::ALL, Operations::of),
        }
    }

    /// Either of both.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let kinds = match (&self.kinds, &other.kinds) {
            (Some(one), Some(other)) if one.len() + other.len() <= MOST => {
                let more = other.iter().filter(|kind| !one.contains(kind));
                Some(one.iter().chain(more).cloned().collect())
            }
            _ => None,
        };
        Self {
            kinds,
            operations: self.operations.or(other.operations),
        }
    }

    /// The same where the object's kind is, or is not, one of these.
    pub(crate) fn with_kinds(&self, names: &[&str], is: bool, has_jobs: bool) -> Self {
        let kinds = match &self.kinds {
            Some(kinds) => {
                let fits = |kind: &&Candidate| names.contains(&kind.name()) == is;
                Some(kinds.iter().filter(fits).cloned().collect())
            }
            None if is && names.len() <= MOST => Some(of_names(names, has_jobs)),

            None => None,
        };
        Self {
            kinds,
            operations: self.operations,
        }
    }

    /// The same where the operation is, or is not, one of these.
    pub(crate) fn with_operations(&self, all: &[Operation], is: bool) -> Self {
        let wanted = Operations::of(all);
        Self {
            kinds: self.kinds.clone(),
            operations: match is {
                true => self.operations.and(wanted),
                false => self.operations.without(wanted),
            },
        }
    }
}

/// What kinds of these names may be.
fn of_names(names: &[&str], has_jobs: bool) -> Vec<Candidate> {
    let mut found = Vec::new();
    for name in names {
        let before = found.len();
        found.extend(Pattern::new(name).known().map(Candidate::Known));
        if found.len() == before || (has_jobs && *name == "Job") {
            found.push(Candidate::Custom((*name).to_owned()));
        }
    }
    found
}
