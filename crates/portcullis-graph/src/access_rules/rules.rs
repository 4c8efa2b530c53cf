//! The compiled rules of a profile, found by API group and resource.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};

use super::selectors::Selector;
use super::subjects::Subjects;
use super::template::Template;
use super::verbs::Verbs;
use crate::expression::Expression;
use crate::kinds::{Kinds, Scope};
use crate::spec::OnMiss;
use crate::vertex::KindId;

/// The compiled subjects, rules and static rules of a profile.
#[derive(Debug, Default)]
pub struct AccessRules {
    pub(crate) subjects: Subjects,
    pub(super) resources: HashMap<ResourceKey, Resource>,
    pub(super) rules: Vec<Rule>,
    pub(super) statics: Vec<StaticRule>,
    pub(super) on_miss: OnMiss,
    /// Whether `compat: upstream` means something.
    pub(crate) upstream_is_looser: bool,
    pub(crate) kinds: Arc<Kinds>,
}

/// API group and resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourceKey {
    pub(super) group: Box<str>,
    pub(super) resource: Box<str>,
}

/// The same, borrowed.
pub(super) struct ResourceKeyRef<'a> {
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
}

impl Hash for ResourceKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ResourceKeyRef {
            group: &self.group,
            resource: &self.resource,
        }
        .hash(state);
    }
}

impl Hash for ResourceKeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.resource.hash(state);
        self.group.hash(state);
    }
}

impl Equivalent<ResourceKey> for ResourceKeyRef<'_> {
    fn equivalent(&self, key: &ResourceKey) -> bool {
        *self.resource == *key.resource && *self.group == *key.group
    }
}

/// What there is about a resource.
#[derive(Debug, Default)]
pub(super) struct Resource {
    /// The kind of its vertices and whether they are in namespaces.
    pub(super) kind: Option<(KindId, Scope)>,
    /// Rules, in the order of the profile.
    pub(super) rules: Vec<RuleEntry>,
    /// Static rules, in the order of the profile.
    pub(super) statics: Vec<RuleEntry>,
}

/// A rule about a resource, or about one subresource alone.
#[derive(Debug)]
pub(super) struct RuleEntry {
    pub(super) rule: usize,
    pub(super) subresource: Option<Box<str>>,
}

/// What some subjects may do to some resources.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) subjects: u64,
    pub(super) shortcuts: Vec<Shortcut>,
    pub(super) namespaces: Option<Vec<Template>>,
    pub(super) namespace_reason: Option<Box<str>>,
    pub(super) verb_reason: Option<Box<str>>,
    pub(super) subresources: Vec<Box<str>>,
    pub(super) any_subresource: bool,
    pub(super) always: Verbs,
    pub(super) named: Vec<(Verbs, Template)>,
    /// All verbs it is about.
    pub(super) verbs: Verbs,
    /// Verbs that a path may allow.
    pub(super) path: Verbs,
    pub(super) selectors: Vec<Selector>,
    /// Whether a selector is about the name of the object.
    pub(super) selects_name: bool,
    pub(super) delete_unknown: bool,
    pub(super) on_miss: Option<OnMiss>,
}

impl Rule {
    /// The selectors that are worth naming: the plain ones, unless there are none.
    pub(super) fn named_selectors(&self) -> Vec<&Selector> {
        let is_plain = |one: &&Selector| !matches!(one, Selector::All(_));
        let plain: Vec<_> = self.selectors.iter().filter(is_plain).collect();
        match plain.is_empty() {
            true => self.selectors.iter().collect(),
            false => plain,
        }
    }
}

/// Something that is always allowed.
#[derive(Debug)]
pub(super) struct Shortcut {
    pub(super) verbs: Verbs,
    pub(super) namespace: Option<Template>,
    pub(super) name: Option<Template>,
    pub(super) prefix: Option<Template>,
    pub(super) expression: Option<Expression>,
}

/// Something that is allowed whatever the graph says.
#[derive(Debug)]
pub(super) struct StaticRule {
    pub(super) subjects: u64,
    pub(super) verbs: Verbs,
    pub(super) namespaces: Option<Vec<Template>>,
    pub(super) paths: Vec<PathPattern>,
}

/// A path that is not a resource.
#[derive(Debug)]
pub(super) struct PathPattern {
    pub(super) text: Box<str>,
    /// Whether anything may follow.
    pub(super) open_end: bool,
}

impl PathPattern {
    pub(super) fn fits(&self, path: &str) -> bool {
        match path.strip_prefix(&*self.text) {
            Some(rest) => self.open_end || rest.is_empty(),
            None => false,
        }
    }
}
