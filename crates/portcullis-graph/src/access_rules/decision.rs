//! The answer to one request: rules in order, then static rules.
//!
//! Inside a rule the order is: shortcuts, namespaces, subresource, verbs that are always allowed, names,
//! other verbs, selectors, a name at all, deletion of what is not known, the path.

use portcullis_core::access::ResourceTarget;
use portcullis_core::{AuthorizerError, clock};
use serde_json::json;

use super::rules::{AccessRules, Resource, ResourceKeyRef, Rule, RuleEntry, Shortcut};
use super::subjects::Recognized;
use super::template::Template;
use super::verbs::Verb;
use super::{Compat, Selectors};
use crate::engine::Reach;
use crate::expression::{Expression, ExpressionError, Scope};
use crate::kinds::Mismatch;
use crate::lookups::Nothing;
use crate::vertex::VertexRef;

/// Whether vertices lead to what the subject stands for.
pub(crate) trait Paths {
    /// Whether `from` leads to `to`.
    fn leads(&self, from: VertexRef<'_>, to: VertexRef<'_>) -> Reach;
}

/// A request of an agent.
pub(crate) struct AgentRequest<'a> {
    pub(crate) subject: &'a Recognized<'a>,
    pub(crate) verb: Verb<'a>,
    pub(crate) compat: Compat,
    pub(crate) selectors: Selectors,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is allowed, by what, and how.
    Allowed(RuleRef, AllowedBy),
    /// Some rules are about it; the one that came closest, and where it ended.
    Missed(usize, MissReason),
    /// No rule is about it.
    NoRule,
}

/// A rule by its number in the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleRef {
    Rule(usize),
    Static(usize),
}

/// How a rule allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllowedBy {
    Shortcut(usize),
    Always,
    Named(usize),
    Selector(usize),
    /// The API server can't send selectors.
    NoSelectors,
    UnknownDelete,
    Path,
    Static,
}

/// Where a rule ended, in the order of its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MissReason {
    Namespace,
    Subresource,
    Verb,
    Selector,
    NoName,
    /// The verb is for objects of other names.
    Name,
    /// The namespace contradicts the scope of the resource.
    Scope(Mismatch),
    Unknown,
    NoPath,
}

impl AccessRules {
    /// Decides about a resource.
    ///
    /// # Errors
    ///
    /// When an expression can't be computed.
    pub(crate) fn decide(
        &self,
        request: &AgentRequest<'_>,
        target: &ResourceTarget,
        paths: &impl Paths,
    ) -> Result<Outcome, AuthorizerError> {
        let key = ResourceKeyRef {
            group: &target.group,
            resource: &target.resource,
        };
        let Some(resource) = self.resources.get(&key) else {
            return Ok(Outcome::NoRule);
        };
        let mut closest: Option<(usize, MissReason)> = None;
        for entry in resource.rules.iter().filter(|entry| entry.is_about(target)) {
            let Some(rule) = self.rules.get(entry.rule) else {
                continue;
            };
            if rule.subjects & request.subject.agent.bit == 0 {
                continue;
            }
            match self.ask(rule, entry, resource, request, target, paths)? {
                Ok(how) => return Ok(Outcome::Allowed(RuleRef::Rule(entry.rule), how)),
                Err(why)
                    if closest.is_none_or(|before| self.is_closer(before, (entry.rule, why))) =>
                {
                    closest = Some((entry.rule, why));
                }
                Err(_) => {}
            }
        }
        for entry in &resource.statics {
            let Some(rule) = self.statics.get(entry.rule) else {
                continue;
            };
            let part = entry.subresource.as_deref().unwrap_or("");
            if rule.subjects & request.subject.agent.bit != 0
                && (part == target.subresource || part == "*")
                && rule.verbs.has(request.verb)
                && is_one_of(rule.namespaces.as_deref(), request, &target.namespace)
            {
                return Ok(Outcome::Allowed(
                    RuleRef::Static(entry.rule),
                    AllowedBy::Static,
                ));
            }
        }
        Ok(closest.map_or(Outcome::NoRule, |(rule, why)| Outcome::Missed(rule, why)))
    }

    /// Whether a miss is closer than the one before: its rule got further, or has selectors to name.
    fn is_closer(&self, before: (usize, MissReason), now: (usize, MissReason)) -> bool {
        let can_name = |rule: usize| {
            self.rules
                .get(rule)
                .is_some_and(|r| !r.selectors.is_empty())
        };
        before.1 < now.1
            || (before.1 == MissReason::Selector
                && now.1 == MissReason::Selector
                && !can_name(before.0)
                && can_name(now.0))
    }

    /// Decides about a path that is not a resource.
    pub(crate) fn decide_path(&self, request: &AgentRequest<'_>, path: &str) -> Outcome {
        let found = self.statics.iter().position(|rule| {
            rule.subjects & request.subject.agent.bit != 0
                && rule.verbs.has(request.verb)
                && rule.paths.iter().any(|pattern| pattern.fits(path))
        });
        found.map_or(Outcome::NoRule, |rule| {
            Outcome::Allowed(RuleRef::Static(rule), AllowedBy::Static)
        })
    }

    fn ask(
        &self,
        rule: &Rule,
        entry: &RuleEntry,
        resource: &Resource,
        request: &AgentRequest<'_>,
        target: &ResourceTarget,
        paths: &impl Paths,
    ) -> Result<Result<AllowedBy, MissReason>, AuthorizerError> {
        let (subject, verb) = (request.subject, request.verb);
        for (number, shortcut) in rule.shortcuts.iter().enumerate() {
            if self.takes(shortcut, request, target)? {
                return Ok(Ok(AllowedBy::Shortcut(number)));
            }
        }
        if !is_one_of(rule.namespaces.as_deref(), request, &target.namespace) {
            return Ok(Err(MissReason::Namespace));
        }
        let listed = || rule.subresources.iter().any(|s| **s == *target.subresource);
        if !target.subresource.is_empty()
            && entry.subresource.is_none()
            && !rule.any_subresource
            && !listed()
        {
            return Ok(Err(MissReason::Subresource));
        }
        if rule.always.has(verb) {
            return Ok(Ok(AllowedBy::Always));
        }
        let mut named = rule.named.iter();
        let named =
            named.position(|(verbs, name)| verbs.has(verb) && name.is(subject, &target.name));
        if let Some(number) = named {
            return Ok(Ok(AllowedBy::Named(number)));
        }
        if !rule.verbs.has(verb) {
            return Ok(Err(MissReason::Verb));
        }
        let by_path = rule.path.has(verb);
        if by_path && verb.is_collective() && (target.name.is_empty() || rule.selects_name) {
            let said = by_selectors(rule, request, target);
            if let Some(answer) = said {
                return Ok(answer);
            }
        }
        if target.name.is_empty() {
            return Ok(Err(MissReason::NoName));
        }
        if !by_path {
            return Ok(Err(MissReason::Name));
        }
        let deletes_as_upstream = verb.is_delete() && request.compat == Compat::Upstream;
        let from = match resource.vertex(target) {
            Ok(Some(from)) => from,
            // What can't be is not known either, which is enough for upstream.
            Ok(None) | Err(_) if deletes_as_upstream => return Ok(Ok(AllowedBy::UnknownDelete)),
            Ok(None) => return Ok(Err(MissReason::Unknown)),
            Err(mismatch) => return Ok(Err(MissReason::Scope(mismatch))),
        };
        Ok(match paths.leads(from, subject.stands_for()) {
            Reach::Yes => Ok(AllowedBy::Path),
            Reach::No => Err(MissReason::NoPath),
            Reach::Unknown if deletes_as_upstream || (verb.is_delete() && rule.delete_unknown) => {
                Ok(AllowedBy::UnknownDelete)
            }
            Reach::Unknown => Err(MissReason::Unknown),
        })
    }

    fn takes(
        &self,
        shortcut: &Shortcut,
        request: &AgentRequest<'_>,
        target: &ResourceTarget,
    ) -> Result<bool, AuthorizerError> {
        let subject = request.subject;
        let is = |wanted: &Option<Template>, text: &str| {
            wanted
                .as_ref()
                .is_none_or(|wanted| wanted.is(subject, text))
        };
        let begins = |wanted: &Template| wanted.begins(subject, &target.name);
        let fits = shortcut.verbs.has(request.verb)
            && is(&shortcut.namespace, &target.namespace)
            && is(&shortcut.name, &target.name)
            && shortcut.prefix.as_ref().is_none_or(begins);
        match &shortcut.expression {
            Some(expression) if fits => self.has_name(expression, subject, &target.name),
            _ => Ok(fits),
        }
    }

    /// Whether a name is what an expression says it must be.
    fn has_name(
        &self,
        expression: &Expression,
        subject: &Recognized<'_>,
        name: &str,
    ) -> Result<bool, AuthorizerError> {
        if name.is_empty() {
            return Ok(false);
        }
        let mut scope = Scope::new(&Nothing, clock::wall());
        let kind = self.kinds.name(subject.agent.kind);
        scope.set_owned(
            "subject",
            json!({"id": &*subject.agent.id, "kind": kind, "namespace": subject.namespace, "name": subject.name}),
        );
        match expression.evaluate(&scope) {
            Ok(value) => Ok(value.as_str() == Some(name)),
            Err(ExpressionError::Missing) => Ok(false),
            Err(ExpressionError::Failed(why) | ExpressionError::Unavailable(why)) => Err(
                AuthorizerError(format!("a name could not be computed: {why}")),
            ),
            Err(ExpressionError::Needs(_)) => Err(AuthorizerError(
                "a name could not be computed: it needs other objects".to_owned(),
            )),
        }
    }
}

/// What selectors say about a request for many objects; nothing if they have no say.
fn by_selectors(
    rule: &Rule,
    request: &AgentRequest<'_>,
    target: &ResourceTarget,
) -> Option<Result<AllowedBy, MissReason>> {
    let subject = request.subject;
    match request.selectors {
        Selectors::Forwarded => {
            let mut all = rule.selectors.iter();
            let met = all.position(|selector| selector.is_met(subject, target, request.compat));
            Some(met.map(AllowedBy::Selector).ok_or(MissReason::Selector))
        }
        Selectors::NotForwarded if rule.selectors.is_empty() => None,
        Selectors::NotForwarded => {
            // A name is known even so: a foreign one is read like any single object.
            let own = target.name.is_empty()
                || request.compat == Compat::Upstream
                || rule
                    .selectors
                    .iter()
                    .any(|s| s.asks_for_name(subject, &target.name));
            own.then_some(Ok(AllowedBy::NoSelectors))
        }
    }
}

fn is_one_of(namespaces: Option<&[Template]>, request: &AgentRequest<'_>, namespace: &str) -> bool {
    namespaces.is_none_or(|all| all.iter().any(|n| n.is(request.subject, namespace)))
}

impl RuleEntry {
    fn is_about(&self, target: &ResourceTarget) -> bool {
        self.subresource
            .as_deref()
            .is_none_or(|part| part == target.subresource)
    }
}

impl Resource {
    /// The vertex of the object that a request names; none if it names none, or its kind has none.
    ///
    /// # Errors
    ///
    /// When no such object can be.
    #[inline]
    pub(super) fn vertex<'a>(
        &self,
        target: &'a ResourceTarget,
    ) -> Result<Option<VertexRef<'a>>, Mismatch> {
        let Some((kind, scope)) = self.kind.filter(|_| !target.name.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(VertexRef {
            kind,
            namespace: scope.namespace(&target.namespace)?,
            name: &target.name,
        }))
    }
}

impl Recognized<'_> {
    /// The vertex that it stands for.
    pub(crate) fn stands_for(&self) -> VertexRef<'_> {
        VertexRef {
            kind: self.agent.kind,
            namespace: &self.namespace,
            name: &self.name,
        }
    }
}
