//! What one object contributes: its edges, and what is malformed about it.

use std::rc::Rc;

use serde_json::Value;

use crate::engine::Edge;
use crate::expression::{Expression, ExpressionError, Scope};
use crate::kinds::{Kinds, VertexKind};
use crate::names;
use crate::sources::{EdgeRule, OfRule, Source};
use crate::vertex::{KindId, VertexRef};

/// How many edges an object may contribute.
const MAX_EDGES: usize = 10_000;

/// One end of an edge, with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnedVertex {
    pub(super) kind: KindId,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// An edge and the graphs it is in.
#[derive(Debug)]
pub(super) struct Contributed<'s> {
    /// The end that was named.
    named: OwnedVertex,
    /// The other end, if it is not the object itself.
    of: Option<Rc<OwnedVertex>>,
    rule: &'s EdgeRule,
}

impl Contributed<'_> {
    /// Whether it is in this graph.
    pub(super) fn is_in(&self, graph: usize) -> bool {
        self.rule.graphs.contains(&graph)
    }

    /// As the graph knows it; `own` is the object.
    pub(super) fn edge<'e>(&'e self, own: &'e OwnedVertex) -> Edge<'e> {
        let other = self.of.as_deref().unwrap_or(own);
        let (from, to) = match self.rule.leads_away {
            true => (other, &self.named),
            false => (&self.named, other),
        };
        Edge {
            from: from.vertex(),
            to: to.vertex(),
        }
    }
}

impl OwnedVertex {
    /// As the graph knows it.
    pub(super) fn vertex(&self) -> VertexRef<'_> {
        VertexRef {
            kind: self.kind,
            namespace: &self.namespace,
            name: &self.name,
        }
    }
}

/// What an object contributes.
#[derive(Debug, Default)]
pub(super) struct Contribution<'s> {
    /// Whether it counts at all.
    pub(super) is_there: bool,
    pub(super) edges: Vec<Contributed<'s>>,
    pub(super) malformed: Vec<String>,
}

/// Looks at an object, which is `self` in the scope.
pub(super) fn look<'s>(
    source: &'s Source,
    kinds: &Kinds,
    own: &OwnedVertex,
    scope: &Scope<'_>,
) -> Contribution<'s> {
    let mut evaluation = EdgeEvaluation {
        kinds,
        own,
        scope,
        contribution: Contribution::default(),
    };
    evaluation.contribution.is_there = match &source.only {
        Some(only) => evaluation.holds(only, "only"),
        None => true,
    };
    if !evaluation.contribution.is_there {
        return evaluation.contribution;
    }
    for (when, says) in &source.malformed {
        if evaluation.holds(when, "malformed") {
            evaluation.contribution.malformed.push(says.clone());
        }
    }
    for rule in &source.edges {
        evaluation.edges(rule);
    }
    evaluation.contribution
}

struct EdgeEvaluation<'l, 's> {
    kinds: &'l Kinds,
    own: &'l OwnedVertex,
    scope: &'l Scope<'l>,
    contribution: Contribution<'s>,
}

impl<'s> EdgeEvaluation<'_, 's> {
    fn wrong(&mut self, called: &str, words: impl std::fmt::Display) {
        let words = format!("{called}: {words}");
        if !self.contribution.malformed.contains(&words) {
            self.contribution.malformed.push(words);
        }
    }

    fn holds(&mut self, expression: &Expression, called: &str) -> bool {
        match expression.holds(self.scope) {
            Ok(truth) => truth,
            Err(error) => {
                self.wrong(called, in_words(error));
                false
            }
        }
    }

    /// The value; null if it is missing, nothing if something is wrong.
    fn value(&mut self, (expression, called): &(Expression, String)) -> Option<Value> {
        match expression.evaluate(self.scope) {
            Ok(value) => Some(value),
            Err(ExpressionError::Missing) => Some(Value::Null),
            Err(error) => {
                self.wrong(called, in_words(error));
                None
            }
        }
    }

    /// The text; empty if it is missing or null, nothing if it is something else.
    fn text(&mut self, expression: &(Expression, String)) -> Option<String> {
        match self.value(expression)? {
            Value::String(text) => Some(text),
            Value::Null => Some(String::new()),
            _ => {
                self.wrong(&expression.1, "expected text");
                None
            }
        }
    }

    fn edges(&mut self, rule: &'s EdgeRule) {
        if let Some((when, called)) = &rule.when
            && !self.holds(when, called)
        {
            return;
        }
        let of = match &rule.of {
            Some(of) => match self.other_end(of) {
                Some(end) => Some(Rc::new(end)),
                None => return,
            },
            None => None,
        };
        let mut namespace = None;
        for names in &rule.names {
            let Some(value) = self.value(names) else {
                continue;
            };
            let mut add = |evaluation: &mut Self, value: Value| match evaluation.end(
                rule,
                value,
                &mut namespace,
            ) {
                Ok(Some(end)) => evaluation.add(rule, of.as_ref(), end),
                Ok(None) => {}
                Err(words) => evaluation.wrong(&names.1, words),
            };
            match value {
                Value::Array(entries) => {
                    for entry in entries {
                        add(self, entry);
                    }
                }
                value => add(self, value),
            }
        }
    }

    fn add(&mut self, rule: &'s EdgeRule, of: Option<&Rc<OwnedVertex>>, named: OwnedVertex) {
        if self.contribution.edges.len() >= MAX_EDGES {
            self.wrong("edges", format_args!("there are more than {MAX_EDGES}"));
            return;
        }
        let of = of.cloned();
        let edge = Contributed { named, of, rule };
        self.contribution.edges.push(edge);
    }

    /// The end that `of` says.
    fn other_end(&mut self, of: &OfRule) -> Option<OwnedVertex> {
        let name = self.text(&of.name)?;
        if name.is_empty() {
            return None;
        }
        let namespace = match &of.namespace {
            _ if !self.is_namespaced(of.kind) => String::new(),
            Some(namespace) => self.text(namespace)?,
            None => self.own.namespace.clone(),
        };
        match self.checked(of.kind, namespace, name) {
            Ok(end) => Some(end),
            Err(words) => {
                self.wrong(&of.name.1, words);
                None
            }
        }
    }

    /// The end that a name or a reference stands for; nothing if it stands for none.
    fn end(
        &mut self,
        rule: &EdgeRule,
        value: Value,
        namespace: &mut Option<Option<String>>,
    ) -> Result<Option<OwnedVertex>, String> {
        let (kind, own_namespace, name) = match value {
            Value::Null => return Ok(None),
            Value::String(name) if name.is_empty() => return Ok(None),
            Value::String(name) => match rule.kinds.as_slice() {
                [kind] => (*kind, String::new(), name),
                _ => return Err("a name alone does not have a kind".to_owned()),
            },
            Value::Object(members) if members.is_empty() => return Ok(None),
            Value::Object(mut members) => {
                let mut text = |member: &str| match members.remove(member) {
                    None | Some(Value::Null) => Ok(None),
                    Some(Value::String(text)) => Ok(Some(text)),
                    Some(_) => Err(format!("the `{member}` of a reference is not text")),
                };
                let kind = text("kind")?.filter(|kind| !kind.is_empty());
                let api_version = text("apiVersion")?;
                let namespace = text("namespace")?.unwrap_or_default();
                let name = text("name")?;
                if name.as_deref() == Some("") {
                    return Ok(None);
                }
                let Some(kind) = self.kind(rule, kind.as_deref(), api_version.as_deref())? else {
                    return Ok(None);
                };
                let name = name.ok_or_else(|| "a reference has no name".to_owned())?;
                (kind, namespace, name)
            }
            _ => return Err("it is neither a name nor a reference".to_owned()),
        };
        let in_namespace = if !self.is_namespaced(kind) {
            String::new()
        } else if !own_namespace.is_empty() {
            own_namespace
        } else {
            let computed = namespace.get_or_insert_with(|| match &rule.namespace {
                Some(expression) => self.text(expression),
                None => Some(self.own.namespace.clone()),
            });
            match computed {
                Some(namespace) => namespace.clone(),
                None => return Ok(None),
            }
        };
        self.checked(kind, in_namespace, name).map(Some)
    }

    /// The kind of a reference, if it is one of the expected ones.
    fn kind(
        &self,
        rule: &EdgeRule,
        kind: Option<&str>,
        api_version: Option<&str>,
    ) -> Result<Option<KindId>, String> {
        let found = match (kind, rule.kinds.as_slice()) {
            (None, [only]) => Some(*only),
            (None, _) => return Err("a reference has no kind".to_owned()),
            (Some(kind), wanted) => {
                let mut wanted = wanted.iter().copied();
                wanted.find(|wanted| self.kinds.name(*wanted) == kind)
            }
        };
        let is_exact = |kind: KindId| {
            let known = self.kinds.get(kind).map(VertexKind::api_version);
            known.as_deref() == api_version
        };
        Ok(found.filter(|kind| !rule.exact || is_exact(*kind)))
    }

    fn is_namespaced(&self, kind: KindId) -> bool {
        self.kinds.get(kind).is_some_and(|kind| kind.namespaced)
    }

    fn checked(
        &self,
        kind: KindId,
        namespace: String,
        name: String,
    ) -> Result<OwnedVertex, String> {
        names::check_name(&name)?;
        if self.is_namespaced(kind) {
            names::check_namespace(&namespace)?;
        }
        Ok(OwnedVertex {
            kind,
            namespace,
            name,
        })
    }
}

fn in_words(error: ExpressionError) -> String {
    match error {
        ExpressionError::Missing => "something is missing".to_owned(),
        ExpressionError::Needs(wanted) => {
            let kind = wanted.first().map_or("", |wanted| wanted.kind.as_str());
            format!("`{kind}` has no source, so it can't be looked up")
        }
        ExpressionError::Unavailable(words) | ExpressionError::Failed(words) => words,
    }
}
