//! From the rules as they are written to compiled rules. All faults are reported.

use std::sync::Arc;

use portcullis_core::access::split_resource;
use portcullis_document::Fault;

use super::faults::Faults;
use super::rules::{AccessRules, PathPattern, ResourceKey, Rule, RuleEntry, Shortcut, StaticRule};
use super::selectors::Selector;
use super::subjects::Subjects;
use super::template::Template;
use super::verbs::{Verb, Verbs};
use crate::expression::Expression;
use crate::kinds::{Kinds, VertexKind};
use crate::spec::{ProfileSpec, RuleSpec, SelectorSpec, ShortcutSpec, StaticSpec};
use crate::vertex::KindId;

impl AccessRules {
    /// Checks and compiles.
    pub(crate) fn compile(
        spec: &ProfileSpec,
        kinds: &Arc<Kinds>,
        targets: &[KindId],
        faults: &mut Vec<Fault>,
    ) -> Self {
        let mut faults = Faults(faults);
        let subjects = Subjects::compile(&spec.subjects, kinds, targets, &mut faults);
        let rules = Self {
            subjects,
            on_miss: spec.on_miss,
            upstream_is_looser: spec.upstream_is_looser,
            kinds: Arc::clone(kinds),
            ..Self::default()
        };
        let mut compiler = Compiler {
            spec,
            rules,
            faults,
        };
        for (index, rule) in spec.rules.iter().enumerate() {
            let rule = compiler.rule(rule, index, &format!("rules[{index}]"));
            compiler.rules.rules.push(rule);
        }
        for (index, rule) in spec.static_rules.iter().enumerate() {
            let rule = compiler.static_rule(rule, index, &format!("static[{index}]"));
            compiler.rules.statics.push(rule);
        }
        compiler.rules
    }
}

struct Compiler<'a, 'f> {
    spec: &'a ProfileSpec,
    rules: AccessRules,
    faults: Faults<'f>,
}

/// Where a list of resources belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    AccessRules,
    Static,
}

impl Compiler<'_, '_> {
    fn rule(&mut self, spec: &RuleSpec, index: usize, at: &str) -> Rule {
        let subjects = self.subjects(spec.subjects.as_deref(), at);
        let always = self.verbs(&spec.always, &format!("{at}.always"), false);
        let path = self.verbs(&spec.path, &format!("{at}.path"), false);
        let mut verbs = always.clone();
        verbs.union(&path);
        for (i, verb) in spec.path.iter().enumerate() {
            if always.has(Verb::new(verb)) {
                self.faults.add(
                    format!("{at}.path[{i}]"),
                    format!("`{verb}` is already in `always`"),
                );
            }
        }
        let mut named = Vec::new();
        for (i, spec) in spec.named.iter().enumerate() {
            let at = format!("{at}.named[{i}]");
            let some = self.some_verbs(&spec.verbs, &format!("{at}.verbs"), false);
            verbs.union(&some);
            let name = self.filled(&spec.name, &format!("{at}.name"), subjects);
            named.extend(name.map(|name| (some, name)));
        }
        let mut shortcuts = Vec::new();
        for (i, spec) in spec.shortcuts.iter().enumerate() {
            shortcuts.push(self.shortcut(spec, &format!("{at}.shortcuts[{i}]"), subjects));
        }
        let lists = [&spec.always, &spec.path];
        if lists.iter().all(|l| l.is_empty()) && spec.named.is_empty() && shortcuts.is_empty() {
            self.faults
                .add(at, "the rule allows nothing: it has no verbs");
        }
        let selectors = self.selectors(spec, &path, at, subjects);
        if spec.delete_unknown && !path.has(Verb::new("delete")) {
            self.faults
                .add(format!("{at}.deleteUnknown"), "`delete` is not in `path`");
        }
        let namespaces = self.namespaces(spec.namespaces.as_deref(), at, subjects);
        if spec.namespace_reason.is_some() && namespaces.is_none() {
            self.faults
                .add(format!("{at}.namespaceReason"), "there are no `namespaces`");
        }
        self.resources(
            &spec.resources,
            index,
            at,
            List::AccessRules,
            !path.is_empty(),
        );
        self.subresources(spec, at);
        Rule {
            subjects,
            shortcuts,
            namespaces,
            namespace_reason: spec.namespace_reason.as_deref().map(Into::into),
            verb_reason: spec.verb_reason.as_deref().map(Into::into),
            subresources: spec
                .subresources
                .iter()
                .map(|s| s.as_str().into())
                .collect(),
            any_subresource: spec.subresources.iter().any(|s| s == "*"),
            always,
            named,
            verbs,
            path,
            selects_name: selectors.iter().any(Selector::is_about_name),
            selectors,
            delete_unknown: spec.delete_unknown,
            on_miss: spec.on_miss,
        }
    }

    fn static_rule(&mut self, spec: &StaticSpec, index: usize, at: &str) -> StaticRule {
        let subjects = self.subjects(spec.subjects.as_deref(), at);
        if spec.resources.is_empty() && spec.paths.is_empty() {
            self.faults.add(at, "it names neither resources nor paths");
        }
        if !spec.resources.is_empty() {
            self.resources(&spec.resources, index, at, List::Static, false);
        }
        let mut paths = Vec::new();
        for (i, path) in spec.paths.iter().enumerate() {
            let (text, open_end) = match path.strip_suffix('*') {
                Some(text) => (text, true),
                None => (path.as_str(), false),
            };
            let text_is_path = text.starts_with('/') || (text.is_empty() && open_end);
            if !text_is_path || text.contains('*') {
                let message = "invalid path: must begin with `/`; `*` is allowed only at the end";
                self.faults.add(format!("{at}.paths[{i}]"), message);
            }
            let text = text.into();
            paths.push(PathPattern { text, open_end });
        }
        StaticRule {
            subjects,
            verbs: self.some_verbs(&spec.verbs, &format!("{at}.verbs"), true),
            namespaces: self.namespaces(spec.namespaces.as_deref(), at, subjects),
            paths,
        }
    }

    fn subjects(&mut self, ids: Option<&[String]>, at: &str) -> u64 {
        let at = format!("{at}.subjects");
        let subjects = &self.rules.subjects;
        subjects.set(ids, &self.spec.subjects, &at, &mut self.faults)
    }

    fn verbs(&mut self, verbs: &[String], at: &str, any: bool) -> Verbs {
        let mut set = Verbs::default();
        for (i, verb) in verbs.iter().enumerate() {
            let at = format!("{at}[{i}]");
            if verb.is_empty() || verb.contains(char::is_whitespace) {
                self.faults.add(at, format!("invalid verb `{verb}`"));
            } else if verb == "*" && !any {
                self.faults
                    .add(at, "name the verbs: `*` is for shortcuts and static rules");
            } else {
                set.add(verb);
            }
        }
        set
    }

    fn some_verbs(&mut self, verbs: &[String], at: &str, any: bool) -> Verbs {
        if verbs.is_empty() {
            self.faults.add(at, "name at least one verb");
        }
        self.verbs(verbs, at, any)
    }

    /// A template whose names all of these subjects have.
    fn template(&mut self, text: &str, at: &str, subjects: u64) -> Option<Template> {
        let template = self.faults.template(at, text, &self.rules.subjects.names)?;
        for number in template.captures() {
            if let Some(agent) = self.rules.subjects.without(number, subjects) {
                let name = self.rules.subjects.names.name(number);
                let message = format!("subject `{}` has no `{{{name}}}`", agent.id);
                self.faults.add(at, message);
                return None;
            }
        }
        Some(template)
    }

    /// The same, and it is not empty.
    fn filled(&mut self, text: &str, at: &str, subjects: u64) -> Option<Template> {
        if text.is_empty() {
            self.faults.add(at, "it is empty");
        }
        self.template(text, at, subjects)
    }

    fn namespaces(
        &mut self,
        written: Option<&[String]>,
        at: &str,
        subjects: u64,
    ) -> Option<Vec<Template>> {
        let written = written?;
        if written.is_empty() {
            let message = "the list is empty; omit `namespaces` for all";
            self.faults.add(format!("{at}.namespaces"), message);
        }
        let mut all = Vec::new();
        for (i, text) in written.iter().enumerate() {
            all.extend(self.filled(text, &format!("{at}.namespaces[{i}]"), subjects));
        }
        Some(all)
    }

    fn shortcut(&mut self, spec: &ShortcutSpec, at: &str, subjects: u64) -> Shortcut {
        let mut template = |text: &Option<String>, key: &str| {
            let text = text.as_ref()?;
            self.filled(text, &format!("{at}.{key}"), subjects)
        };
        let namespace = template(&spec.namespace, "namespace");
        let name = template(&spec.name, "name");
        let prefix = template(&spec.name_prefix, "namePrefix");
        let written = [&spec.name, &spec.name_prefix, &spec.name_expression];
        if written.iter().filter(|text| text.is_some()).count() > 1 {
            let message = "`name`, `namePrefix` and `nameExpression` can't be combined";
            self.faults.add(at, message);
        }
        let expression = spec.name_expression.as_ref().and_then(|text| {
            let at = format!("{at}.nameExpression");
            let compiled = self
                .faults
                .note(&at, Expression::compile(text, &["subject"]))?;
            if !compiled.looks_up().is_empty() {
                self.faults.add(at, "a name can depend only on `subject`");
            }
            Some(compiled)
        });
        Shortcut {
            verbs: self.some_verbs(&spec.verbs, &format!("{at}.verbs"), true),
            namespace,
            name,
            prefix,
            expression,
        }
    }

    fn selectors(
        &mut self,
        spec: &RuleSpec,
        path: &Verbs,
        at: &str,
        subjects: u64,
    ) -> Vec<Selector> {
        let at = format!("{at}.selectors");
        if !spec.selectors.is_empty() && !path.has_collective() {
            let message = "none of `list`, `watch` and `deletecollection` is in `path`";
            self.faults.add(&at, message);
        }
        let mut all = Vec::new();
        for (i, spec) in spec.selectors.iter().enumerate() {
            all.extend(self.selector(spec, &format!("{at}[{i}]"), subjects, true));
        }
        all
    }

    fn selector(
        &mut self,
        spec: &SelectorSpec,
        at: &str,
        subjects: u64,
        outer: bool,
    ) -> Option<Selector> {
        let plain = spec.label.is_some() || spec.field.is_some() || spec.equals.is_some();
        if !spec.all.is_empty() {
            if plain {
                self.faults.add(
                    at,
                    "`all` can't be combined with `label`, `field` or `equals`",
                );
            }
            if !outer {
                self.faults.add(at, "`all` can't be nested");
                return None;
            }
            let mut parts = Vec::new();
            for (i, part) in spec.all.iter().enumerate() {
                parts.extend(self.selector(part, &format!("{at}.all[{i}]"), subjects, false));
            }
            return Some(Selector::All(parts));
        }
        let Some(equals) = &spec.equals else {
            self.faults.add(at, "`equals` is missing");
            return None;
        };
        let value = self.filled(equals, &format!("{at}.equals"), subjects);
        match (&spec.label, &spec.field) {
            (Some(label), None) => Some(Selector::Label {
                key: self.filled(label, &format!("{at}.label"), subjects)?,
                value: value?,
            }),
            (None, Some(field)) => {
                if field.is_empty() {
                    self.faults.add(format!("{at}.field"), "it is empty");
                }
                Some(Selector::Field {
                    path: field.as_str().into(),
                    value: value?,
                })
            }
            (Some(_), Some(_)) => {
                self.faults.add(
                    at,
                    "`label` and `field` can't be combined; use `all` for several",
                );
                None
            }
            (None, None) => {
                self.faults.add(at, "`label` or `field` is missing");
                None
            }
        }
    }

    fn subresources(&mut self, spec: &RuleSpec, at: &str) {
        for (i, part) in spec.subresources.iter().enumerate() {
            if part.is_empty() || part.contains('/') {
                let message = format!("invalid subresource `{part}`");
                self.faults.add(format!("{at}.subresources[{i}]"), message);
            }
        }
        if !spec.subresources.is_empty() && spec.resources.iter().all(|r| r.contains('/')) {
            let message = "the rule covers only subresources: name them in `resources`";
            self.faults.add(format!("{at}.subresources"), message);
        }
    }

    /// Makes a rule known for its resources.
    fn resources(&mut self, texts: &[String], rule: usize, at: &str, list: List, needs_kind: bool) {
        let at = format!("{at}.resources");
        if texts.is_empty() {
            self.faults.add(&at, "name at least one resource");
        }
        for (i, text) in texts.iter().enumerate() {
            let at = format!("{at}[{i}]");
            let Some((resource, group, part)) = parse_resource(text) else {
                let message =
                    format!("invalid resource `{text}`: expected `resource.group/subresource`");
                self.faults.add(at, message);
                continue;
            };
            let kind = self.rules.kinds.of_resource(group, resource);
            if needs_kind && kind.is_none() {
                let kinds = self.rules.kinds.iter();
                let known: Vec<_> = kinds.map(|(_, kind)| kind.full_resource()).collect();
                let known = known.iter().map(String::as_str);
                let message = format!(
                    "no kind in `vertices` has the resource `{text}`, so no path starts there"
                );
                self.faults
                    .add_known(at, message, "resources of `vertices`", text, known);
                continue;
            }
            let key = ResourceKey {
                group: group.into(),
                resource: resource.into(),
            };
            let scope = |id| self.rules.kinds.get(id).map(VertexKind::scope);
            let kind = kind.and_then(|id| Some((id, scope(id)?)));
            let known = self.rules.resources.entry(key).or_default();
            known.kind = kind;
            let entries = match list {
                List::AccessRules => &mut known.rules,
                List::Static => &mut known.statics,
            };
            let subresource = part.map(Into::into);
            if entries
                .iter()
                .any(|e| e.rule == rule && e.subresource == subresource)
            {
                self.faults.add(at, format!("`{text}` is named twice"));
                continue;
            }
            entries.push(RuleEntry { rule, subresource });
        }
    }
}

/// `resource.group/subresource`: resource, group (empty if there is none), subresource.
fn parse_resource(text: &str) -> Option<(&str, &str, Option<&str>)> {
    let (resource, group, part) = split_resource(text)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let is_plain = resource.chars().chain(group.chars()).all(plain);
    let part = Some(part).filter(|part| !part.is_empty());
    is_plain.then_some((resource, group, part))
}
