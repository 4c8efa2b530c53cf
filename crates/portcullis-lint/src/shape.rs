//! What is known of a value: its shape, and what its members are.

use crate::kubernetes::{self, OBJECT_META};
use crate::scope::Candidate;

mod builtin;

/// More alternatives than this are not told apart.
const MOST: usize = 64;
/// Lists of lists are followed so deep.
const DEEPEST: usize = 6;

/// What is known of a value, null and undefined aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Nothing is known.
    Any,
    /// It is null, undefined or empty.
    Nothing,
    Text,
    Number,
    Truth,
    /// `object` or `oldObject`; its kind depends on the place in the code.
    Root(Root),
    /// `req`.
    Request,
    /// `req.kind`.
    RequestKind,
    /// The name of the object's kind.
    KindName,
    /// The name of the operation.
    OperationName,
    /// An object of this type of Kubernetes.
    Fields(&'static str),
    /// A part of an object whose kind is not known.
    Loose(Loose),
    List(Box<Shape>),
    Map(Box<Shape>),
    OneOf(Vec<Shape>),
}

/// Which object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    New,
    Old,
}

/// Parts that look like those of pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loose {
    Spec,
    Template,
    Container,
}

/// What a member of a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    Found(Shape),
    /// There is no such member, but these.
    Missing(Vec<&'static str>),
    /// It is not known.
    Unknown,
}

/// The kinds that objects may have at a place; nothing if it may be any.
pub(crate) type Kinds = Option<Vec<Candidate>>;

impl Shape {
    pub(crate) fn list(inner: Self) -> Self {
        match inner.depth() < DEEPEST {
            true => Self::List(Box::new(inner)),
            false => Self::Any,
        }
    }

    fn depth(&self) -> usize {
        match self {
            Self::List(inner) | Self::Map(inner) => 1 + inner.depth(),
            Self::OneOf(all) => all.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// What a word of the table means.
    fn of_word(word: &'static str) -> Self {
        if let Some(inner) = word.strip_prefix('[') {
            return Self::list(Self::of_word(inner));
        }
        if let Some(inner) = word.strip_prefix('{') {
            return Self::Map(Box::new(Self::of_word(inner)));
        }
        match word {
            "text" => Self::Text,
            "number" => Self::Number,
            "truth" => Self::Truth,
            "any" => Self::Any,
            name => Self::Fields(name),
        }
    }

    /// Either of both.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (one, other) if one == other => one,
            (Self::List(one), Self::List(other)) => Self::list(one.or(*other)),
            (one, other) => {
                let mut all = one.alternatives();
                for each in other.alternatives() {
                    if !all.contains(&each) {
                        all.push(each);
                    }
                }
                match all.len() {
                    0..=MOST => Self::OneOf(all),
                    _ => Self::Any,
                }
            }
        }
    }

    pub(crate) fn any_of(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::Nothing, Self::or)
    }

    fn alternatives(self) -> Vec<Self> {
        match self {
            Self::OneOf(all) => all,
            one => vec![one],
        }
    }

    /// Whether it may be such a value, as far as is known.
    pub(crate) fn includes(&self, wanted: &Self) -> bool {
        match self {
            Self::OneOf(all) => all.contains(wanted),
            one => one == wanted,
        }
    }

    /// What the elements of a list are.
    pub(crate) fn element(&self) -> Self {
        match self {
            Self::List(inner) => (**inner).clone(),
            Self::Nothing => Self::Nothing,
            Self::Text => Self::Text,
            Self::OneOf(all) => Self::any_of(all.iter().map(Self::element)),
            _ => Self::Any,
        }
    }

    /// What is behind a key that is not known, or a number.
    pub(crate) fn indexed(&self) -> Self {
        match self {
            Self::Map(inner) => (**inner).clone(),
            Self::List(_) | Self::Nothing => self.element(),
            _ => Self::Any,
        }
    }

    /// What a member is, of an object of one of these kinds.
    pub(crate) fn member(&self, name: &str, kinds: &Kinds, is_job: bool) -> Lookup {
        if builtin::is_of_every_object(name) {
            return Lookup::Unknown;
        }
        match self {
            Self::Any | Self::Nothing => Lookup::Unknown,
            Self::Root(_) => of_object(name, kinds, is_job),
            Self::Request => builtin::of_request(name),
            Self::RequestKind => builtin::of_kind(name),
            Self::Fields(fields) => of_fields(fields, name),
            Self::Loose(part) => of_loose(*part, name),
            Self::Map(inner) => Lookup::Found((**inner).clone()),
            Self::List(_) => builtin::of_list(name),
            Self::Text | Self::KindName | Self::OperationName => builtin::of_text(name),
            Self::Number => builtin::of_number(name),
            Self::Truth => builtin::of_truth(name),
            Self::OneOf(all) => combined(all.iter().map(|shape| shape.member(name, kinds, is_job))),
        }
    }
}

/// A member of one of several values: it must be missing in all of them to be missing.
fn combined(all: impl Iterator<Item = Lookup>) -> Lookup {
    let mut shape = None;
    let mut known = Vec::new();
    let mut is_missing = false;
    for lookup in all {
        match lookup {
            Lookup::Unknown => return Lookup::Unknown,
            Lookup::Found(one) => {
                shape = Some(shape.map_or(one.clone(), |shape: Shape| shape.or(one)));
            }
            Lookup::Missing(names) => {
                is_missing = true;
                known.extend(names);
            }
        }
    }
    known.sort_unstable();
    known.dedup();
    match shape {
        Some(shape) => Lookup::Found(shape),
        None if is_missing => Lookup::Missing(known),
        None => Lookup::Unknown,
    }
}

fn of_fields(name: &str, field: &str) -> Lookup {
    match kubernetes::fields(name) {
        None => Lookup::Unknown,
        Some(fields) => match fields.get(field) {
            Some(word) => Lookup::Found(Shape::of_word(word)),
            None => Lookup::Missing(fields.keys().copied().collect()),
        },
    }
}

fn of_object(name: &str, kinds: &Kinds, is_job: bool) -> Lookup {
    match (name, kinds) {
        ("kind", _) => Lookup::Found(Shape::KindName),
        ("apiVersion", _) => Lookup::Found(Shape::Text),
        (_, Some(kinds)) => combined(kinds.iter().map(|kind| match kind {
            Candidate::Known(kind) => {
                let fields = kind.fields.map(|fields| of_fields(fields, name));
                fields.unwrap_or(Lookup::Unknown)
            }
            Candidate::Custom(_) => Lookup::Unknown,
        })),
        // Every object of Kubernetes has the same metadata.
        ("metadata", None) if !is_job => Lookup::Found(Shape::Fields(OBJECT_META)),
        ("spec", None) => Lookup::Found(Shape::Loose(Loose::Spec)),
        (_, None) => Lookup::Unknown,
    }
}

fn of_loose(part: Loose, name: &str) -> Lookup {
    let list = || Lookup::Found(Shape::list(Shape::Loose(Loose::Container)));
    match (part, name) {
        (Loose::Spec, "containers" | "initContainers" | "ephemeralContainers") => list(),
        (Loose::Spec, "template" | "jobTemplate") => Lookup::Found(Shape::Loose(Loose::Template)),
        (Loose::Template, "spec") => Lookup::Found(Shape::Loose(Loose::Spec)),
        _ => Lookup::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Pattern;

    fn object_of(kinds: &[&str]) -> Kinds {
        let known = kinds.iter().flat_map(|kind| Pattern::new(kind).known());
        Some(known.map(Candidate::Known).collect())
    }

    fn follow(kinds: &Kinds, path: &[&str]) -> Lookup {
        let mut shape = Shape::Root(Root::New);
        for name in path {
            match shape.member(name, kinds, false) {
                Lookup::Found(next) => shape = next,
                other => return other,
            }
        }
        Lookup::Found(shape)
    }

    #[test]
    fn fields_of_several_kinds_are_missing_only_in_all_of_them() {
        let kinds = object_of(&["Pod", "apps/Deployment"]);
        let containers = follow(&kinds, &["spec", "containers"]);
        assert_eq!(
            containers,
            Lookup::Found(Shape::list(Shape::Fields("core.v1.Container")))
        );
        assert!(matches!(
            follow(&kinds, &["spec", "template"]),
            Lookup::Found(_)
        ));
        let Lookup::Missing(known) = follow(&kinds, &["spec", "container"]) else {
            panic!("it is there");
        };
        assert!(known.contains(&"containers") && known.contains(&"replicas"));
    }

    #[test]
    fn of_an_unknown_kind_only_the_metadata_is_known() {
        assert!(matches!(
            follow(&None, &["metadata", "label"]),
            Lookup::Missing(_)
        ));
        assert_eq!(follow(&None, &["spec", "anything"]), Lookup::Unknown);
        let custom = Some(vec![Candidate::Custom("Certificate".to_owned())]);
        assert_eq!(follow(&custom, &["spec", "anything"]), Lookup::Unknown);
    }

    #[test]
    fn alternatives_are_bounded() {
        let deep = (0..100).fold(Shape::Text, |shape, _| Shape::list(shape));
        assert!(deep.depth() <= DEEPEST + 1);
        let all = kubernetes::kinds().iter().filter_map(|kind| kind.fields);
        let many = Shape::any_of(all.map(Shape::Fields));
        assert_eq!(many, Shape::Any);
        assert_eq!(Shape::Text.or(Shape::Nothing), Shape::Text);
        assert_eq!(Shape::Text.or(Shape::Any), Shape::Any);
    }
}
