//! Expressions of profiles: CEL, bounded, with additional functions that profiles need.
//!
//! Values are JSON; whole numbers are `int` where they fit. A member or entry that is not there, or a
//! member of null, makes the whole expression [`Missing`](ExpressionError::Missing), which its user reads
//! as nothing, null or false, never as an error. All other failures are errors with a message. As in
//! CEL, `false && x` is false and `true || x` is true whatever is wrong with `x`, on either side.
//!
//! The text is read by the parser of the `cel` crate and computed here, straight over the JSON trees of
//! the variables, so that nothing is converted and every step is counted: an expression that takes too
//! many steps or makes too much text fails.
//!
//! Beyond the standard:
//!
//! | Function | Value |
//! |---|---|
//! | `lookup(kind, namespace, name)` | the object as far as it is kept, or null |
//! | `exists(kind, namespace, name)` | whether the object is there |
//! | `neighbours(kind, namespace, name, other)` | `{kind, namespace, name}` of each vertex of kind `other` that an edge leads to from this one; not in sources |
//! | `expired(text)` | whether the time is past; true if there is none |
//! | `sha256(text)` | lower hex digits |
//! | `csr(text)` | subject and names of a PEM certificate request in base64, or null |
//! | `base64Decode(text)` | the text, or null |
//! | `changedKeys(a, b)` | keys of members that differ between two maps; null is an empty map |
//! | `equalExcept(a, b, [paths])` | whether two values are equal but for the members at these paths |
//! | `get(value, path, default)` | the member at a path, or the default if it is missing or null |
//! | `text.removePrefix(p)`, `text.removeSuffix(s)` | the text without it, or the text itself |
//! | `text.split(s)`, `list.join(s)` | a list of texts, a text |
//! | `text.substring(a, b)` | letters from number `a` on, up to before `b` |
//! | `text.lowerAscii()`, `text.upperAscii()`, `text.trim()` | the text |
//!
//! Where `expired`, `get`, `changedKeys` and `equalExcept` take a value, a missing one is null. `has(a.b.c)`
//! is false if `a.b` is missing. Paths are like `spec.resources[0].name`, `metadata.annotations['a/b']`, with
//! `*` for any member or entry, or lists of members.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use crate::lookups::{LookupResult, Lookups};
use crate::vertex::Vertex;
use evaluate::Run;
use node::Node;
use value::Val;

mod certificate;
mod compare;
mod compile;
mod evaluate;
mod functions;
mod node;
pub(crate) mod path;
mod value;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use compile::together;
pub(crate) use value::check_bounds;

/// How many objects may be looked up in one scope.
const MAX_LOOKUPS: usize = 1_000;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    variables: Vec<String>,
    node: Node,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ExpressionError {
    /// A member that it names is not there.
    Missing,
    /// It needs objects that must be read first.
    Needs(Vec<Vertex>),
    /// An object that it needs could not be read.
    Unavailable(String),
    /// It can't be computed, and why.
    Failed(String),
}

/// A kind that an expression looks up by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LooksUp<'e> {
    /// The kind.
    pub kind: &'e str,
    /// Whether members of the object are needed (`lookup`), or only its existence (`exists`).
    pub wants_members: bool,
}

/// What an expression sees: variables by name, other objects, the time.
pub(crate) struct Scope<'a> {
    variables: Vec<(&'a str, Cow<'a, Value>)>,
    lookups: &'a dyn Lookups,
    now: SystemTime,
    too_large: Option<String>,
    looked_up: RefCell<HashMap<Vertex, Option<usize>>>,
    objects: Arena,
    until: RefCell<Option<SystemTime>>,
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// What an evaluation depended on besides its variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Depends {
    /// Objects it looked up, found or not.
    pub objects: Vec<Vertex>,
    /// The next moment at which `expired()` would answer otherwise.
    pub until: Option<SystemTime>,
}

impl Expression {
    /// Compiles. `variables` are the names that it may use.
    ///
    /// # Errors
    ///
    /// What is wrong, with line and column within the text where that is known.
    pub(crate) fn compile(text: &str, variables: &[&str]) -> Result<Self, String> {
        Ok(Self {
            variables: variables.iter().map(|&name| name.to_owned()).collect(),
            node: compile::compile(text, variables)?,
        })
    }

    /// Computes the value.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) fn evaluate(&self, scope: &Scope<'_>) -> Result<Value, ExpressionError> {
        self.run(scope, |run| run.json(&self.node))
    }

    /// Whether it is true; what is missing is false.
    ///
    /// # Errors
    ///
    /// When it can't be computed, or is neither true nor false.
    pub(crate) fn holds(&self, scope: &Scope<'_>) -> Result<bool, ExpressionError> {
        let truth = self.run(scope, |run| match run.value(&self.node)? {
            Val::Bool(truth) => Ok(truth),
            other => {
                let words = format!("it is {}, not true or false", other.type_name());
                Err(ExpressionError::Failed(words))
            }
        });
        match truth {
            Err(ExpressionError::Missing) => Ok(false),
            truth => truth,
        }
    }

    /// The kinds it looks up, as far as they are written out.
    pub(crate) fn looks_up(&self) -> Vec<LooksUp<'_>> {
        let mut kinds = Vec::new();
        self.node.walk(&mut |node| {
            if let Node::Call(function, arguments) = node
                && let Some(Node::Text(kind)) = arguments.first()
            {
                let wants_members = *function == functions::Function::Lookup;
                if wants_members || *function == functions::Function::Exists {
                    kinds.push(LooksUp {
                        kind,
                        wants_members,
                    });
                }
            }
            true
        });
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// Whether it asks for neighbours, which change without any object that it could name.
    pub(crate) fn asks_neighbours(&self) -> bool {
        let mut found = false;
        self.node.walk(&mut |node| {
            found |= matches!(node, Node::Call(functions::Function::Neighbours, _));
            true
        });
        found
    }

    /// Whether it looks up objects of a kind that is not written out.
    pub(crate) fn looks_up_unnamed(&self) -> bool {
        let mut found = false;
        self.node.walk(&mut |node| {
            if let Node::Call(functions::Function::Lookup | functions::Function::Exists, given) =
                node
            {
                found |= !matches!(given.first(), Some(Node::Text(_)));
            }
            true
        });
        found
    }

    /// The members of a variable that it looks at, each with everything below it; nothing if it looks at the
    /// variable as a whole.
    pub(crate) fn reads(&self, variable: &str) -> Option<Vec<Vec<String>>> {
        let number = self.variables.iter().position(|name| name == variable)?;
        let mut chains = Vec::new();
        let mut whole = false;
        self.node.walk(&mut |node| {
            let at = match node {
                Node::Get(of, path, default) if default.is_constant() => {
                    of.chain().map(|(number, mut chain)| {
                        chain.extend(path.0.iter().map_while(|step| match step {
                            path::Step::Member(name) => Some(name.as_str()),
                            path::Step::Any => None,
                        }));
                        (number, chain)
                    })
                }
                _ => node.chain(),
            };
            let Some((of, chain)) = at else {
                return true;
            };
            if of == number {
                whole |= chain.is_empty();
                chains.push(chain.into_iter().map(str::to_owned).collect());
            }
            false
        });
        (!whole).then_some(chains)
    }

    fn run<'s, R>(
        &'s self,
        scope: &'s Scope<'_>,
        compute: impl FnOnce(&mut Run<'s>) -> Result<R, ExpressionError>,
    ) -> Result<R, ExpressionError> {
        if let Some(words) = &scope.too_large {
            return Err(ExpressionError::Failed(words.clone()));
        }
        let run = AssertUnwindSafe(|| compute(&mut Run::new(scope, &self.variables)));
        catch_unwind(run).unwrap_or_else(|_| {
            let words = "it can't be computed".to_owned();
            Err(ExpressionError::Failed(words))
        })
    }
}

impl<'a> Scope<'a> {
    /// Nothing but other objects and the time.
    pub(crate) fn new(lookups: &'a dyn Lookups, now: SystemTime) -> Self {
        Self {
            variables: Vec::new(),
            lookups,
            now,
            too_large: None,
            looked_up: RefCell::default(),
            objects: Arena::default(),
            until: RefCell::default(),
        }
    }

    /// Adds a variable, or changes it. With a value that is too large (see [`check_bounds`]) every expression
    /// fails.
    pub(crate) fn set(&mut self, name: &'a str, value: &'a Value) {
        self.put(name, Cow::Borrowed(value));
    }

    /// The same, with a value of its own.
    pub(crate) fn set_owned(&mut self, name: &'a str, value: Value) {
        self.put(name, Cow::Owned(value));
    }

    fn put(&mut self, name: &'a str, value: Cow<'a, Value>) {
        if let Err(words) = check_bounds(&value) {
            self.too_large = Some(format!("`{name}` is too large: {words}"));
        }
        match self.variables.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.variables.push((name, value)),
        }
    }

    /// What the evaluations so far depended on.
    pub(crate) fn depends(&self) -> Depends {
        let mut objects: Vec<Vertex> = self.looked_up.borrow().keys().cloned().collect();
        objects.sort();
        Depends {
            objects,
            until: *self.until.borrow(),
        }
    }

    /// The value of a variable.
    fn variable(&self, name: &str) -> Option<&Value> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.as_ref())
    }

    /// An object, asked for once in this scope.
    fn object(&self, wanted: Vertex) -> Result<Option<&Value>, ExpressionError> {
        let known = self.looked_up.borrow().get(&wanted).copied();
        if let Some(number) = known {
            return Ok(number.and_then(|number| self.objects.get(number)));
        }
        if self.looked_up.borrow().len() >= MAX_LOOKUPS {
            return Err(ExpressionError::Failed(format!(
                "it looks up more than {MAX_LOOKUPS} objects"
            )));
        }
        let number = match self.lookups.find(&wanted) {
            LookupResult::Object(object) => {
                check_bounds(&object).map_err(|words| {
                    let Vertex { kind, name, .. } = &wanted;
                    ExpressionError::Unavailable(format!("{kind} {name} is too large: {words}"))
                })?;
                Some(self.objects.put(object))
            }
            LookupResult::Absent => None,
            LookupResult::Unread => return Err(ExpressionError::Needs(vec![wanted])),
            LookupResult::Failed(words) => return Err(ExpressionError::Unavailable(words)),
        };
        self.looked_up.borrow_mut().insert(wanted, number);
        Ok(number.and_then(|number| self.objects.get(number)))
    }

    /// Whether a moment is past; it is remembered when that would change.
    fn is_past(&self, moment: SystemTime) -> bool {
        if moment <= self.now {
            return true;
        }
        let mut until = self.until.borrow_mut();
        *until = Some(until.map_or(moment, |known| known.min(moment)));
        false
    }
}

/// Objects that stay where they are while more are added.
#[derive(Debug, Default)]
struct Arena {
    places: [OnceCell<Arc<Value>>; 16],
    next: OnceCell<Box<Arena>>,
}

impl Arena {
    /// Adds one, and says its number.
    fn put(&self, object: Arc<Value>) -> usize {
        let mut arena = self;
        let mut number = 0;
        loop {
            for place in &arena.places {
                if place.get().is_none() {
                    place.get_or_init(|| object);
                    return number;
                }
                number += 1;
            }
            arena = arena.next.get_or_init(Box::default);
        }
    }

    /// The one of this number.
    fn get(&self, number: usize) -> Option<&Value> {
        let mut arena = self;
        for _ in 0..number / arena.places.len() {
            arena = arena.next.get()?;
        }
        let place = arena.places.get(number % arena.places.len())?;
        place.get().map(Arc::as_ref)
    }
}
