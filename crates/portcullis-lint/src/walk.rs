//! Follows values through the code of a policy, from `object` and `req`, and notes what rules need.
//!
//! Each expression is looked at once. What it holds is a [`Shape`]; what is not understood holds [`Shape::Any`].
//! Conditions narrow the kinds and operations that are possible behind them.

mod calls;
mod expressions;
mod facts;
mod names;
mod narrow;
mod patterns;
mod statements;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use portcullis_script::Tree;
use swc_common::Span;

pub(crate) use self::facts::Facts;
use crate::scope::Scope;
use crate::shape::{Lookup, Root, Shape};

/// What the walk saw.
#[derive(Debug)]
pub(crate) enum Event {
    /// A member is read, written or called.
    Member(Member),
    /// Two values are compared.
    Comparison(Comparison),
}

/// A member of a value.
#[derive(Debug)]
pub(crate) struct Member {
    /// What the value is.
    pub(crate) base: Shape,
    pub(crate) name: String,
    /// What is there.
    pub(crate) found: Lookup,
    /// Where the name stands.
    pub(crate) at: Range<usize>,
    /// It is read by `?.`.
    pub(crate) is_optional: bool,
    pub(crate) facts: Facts,
}

/// A comparison by `===`, `==`, `!==`, `!=`, `case` or `includes`.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) left: Operand,
    pub(crate) right: Operand,
    /// Without conversions, as `===` does it.
    pub(crate) is_strict: bool,
    pub(crate) at: Range<usize>,
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct Operand {
    pub(crate) shape: Shape,
    /// The text, if it is written out.
    pub(crate) text: Option<String>,
    /// It is the result of `typeof`.
    pub(crate) is_typeof: bool,
    /// It is `NaN`.
    pub(crate) is_nan: bool,
    pub(crate) at: Range<usize>,
}

/// What is known while code is followed.
pub(crate) struct Walk<'t> {
    tree: &'t Tree<'t>,
    events: Vec<Event>,
    /// What names hold, the innermost scope last.
    scopes: Vec<HashMap<String, Shape>>,
    /// Names that get a value, or whose value is changed, after their declaration.
    changed: HashSet<String>,
    /// The code may change what kind the object has.
    changes_kind: bool,
    /// What is possible here.
    facts: Facts,
    /// What is possible where nothing is known of the code before.
    base: Facts,
    /// CI jobs may come.
    has_jobs: bool,
    /// What the functions around return.
    returns: Vec<Shape>,
    /// What has a type is what its author says it is.
    types: Types,
}

/// Whether types in the text are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    /// What is annotated, or behind `as`, may be anything.
    Believed,
    /// Values are followed as if there were none.
    Ignored,
}

/// Follows the whole text.
pub(crate) fn walk(tree: &Tree<'_>, scope: Option<&Scope>, types: Types) -> Vec<Event> {
    let base = Facts::of(scope);
    let mut walk = Walk {
        tree,
        events: Vec::new(),
        scopes: vec![HashMap::new()],
        changed: names::changed(tree.items()),
        changes_kind: names::changes_kind(tree.items()),
        facts: base.clone(),
        base,
        has_jobs: scope.is_none_or(Scope::is_for_jobs),
        returns: vec![Shape::Nothing],
        types,
    };
    walk.items(tree.items());
    walk.events
}

/// Whether the name stands for what Portcullis gives to policies: nothing else is bound to it at the top.
pub(crate) fn bound_anywhere(tree: &Tree<'_>) -> HashSet<String> {
    names::bound_anywhere(tree.items())
}

impl Walk<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        self.tree.range(span)
    }

    /// What a name holds.
    fn name(&self, name: &str) -> Shape {
        let bound = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        if let Some(shape) = bound {
            return match self.changed.contains(name) {
                true => Shape::Any,
                false => shape.clone(),
            };
        }
        if self.changed.contains(name) {
            return Shape::Any;
        }
        match name {
            "object" => Shape::Root(Root::New),
            "oldObject" => Shape::Root(Root::Old),
            "req" | "request" => Shape::Request,
            "undefined" => Shape::Nothing,
            _ => Shape::Any,
        }
    }

    /// What a value is that may have a type.
    fn typed(&self, has_type: bool, shape: Shape) -> Shape {
        match has_type && self.types == Types::Believed {
            true => Shape::Any,
            false => shape,
        }
    }

    /// Whether a name is bound by the code.
    fn is_bound(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(name))
    }

    fn bind(&mut self, name: &str, shape: Shape) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), shape);
        }
    }

    /// Looks a member up, without noting it.
    fn lookup(&self, base: &Shape, name: &str) -> Lookup {
        base.member(name, &self.facts.kinds, self.has_jobs)
    }

    /// What a member holds; notes that it is used.
    fn member(&mut self, base: Shape, name: &str, at: Range<usize>, is_optional: bool) -> Shape {
        let found = self.lookup(&base, name);
        let shape = match &found {
            Lookup::Found(shape) => shape.clone(),
            Lookup::Missing(_) | Lookup::Unknown => Shape::Any,
        };
        if base != Shape::Any {
            self.events.push(Event::Member(Member {
                base,
                name: name.to_owned(),
                found,
                at,
                is_optional,
                facts: self.facts.clone(),
            }));
        }
        shape
    }

    /// Runs `inner` with what `facts` say, and goes back to what was known before.
    fn within<T>(&mut self, facts: Facts, inner: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.facts, facts);
        let result = inner(self);
        self.facts = before;
        result
    }

    /// Runs `inner` in a scope of its own.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inner(self);
        self.scopes.pop();
        result
    }
}
