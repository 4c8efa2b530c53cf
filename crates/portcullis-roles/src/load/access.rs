//! Reading who has what in a tenant or at the root of the API: `role-mappings` and
//! `anonymous-read-access`, or the older `admin-rules` and `access-rules`.

use std::collections::BTreeMap;

use portcullis_document::path;

use super::super::role::{ADMIN, READ};
use super::super::rule::Rule;
use super::super::scope::{Mapping, Scope};
use super::definitions::{Definitions, Used};
use super::findings::Findings;
use super::mapping::{Mapped, Place};
use super::reach;
use super::spec::Texts;

/// Who has what.
#[derive(Debug)]
pub(super) struct Access {
    anonymous_read: bool,
    mappings: Vec<Mapped>,
}

/// What a tenant or the root of the API says of access.
#[derive(Debug)]
pub(super) struct AccessSpec {
    pub(super) role_mappings: Option<BTreeMap<String, Texts>>,
    pub(super) anonymous_read_access: Option<bool>,
    pub(super) admin_rules: Option<Texts>,
    pub(super) access_rules: Option<Texts>,
}

impl Access {
    /// Who has what by default.
    pub(super) fn open() -> Self {
        Self {
            anonymous_read: true,
            mappings: Vec::new(),
        }
    }

    /// Makes a scope of it.
    pub(super) fn scope(&self, tenant: Option<&str>, definitions: &Definitions) -> Scope {
        let mappings = self.mappings.iter().filter_map(|mapped| {
            let rule = definitions.rules.get(&mapped.rule)?;
            let roles = mapped.roles.iter();
            let roles = roles.filter_map(|(_, name)| definitions.roles.get(name).cloned());
            Some(Mapping::new(rule.here(tenant), roles.collect()))
        });
        Scope::new(tenant, self.anonymous_read, mappings.collect())
    }
}

/// Reads who has what.
pub(super) fn read(
    spec: &AccessSpec,
    place: &Place,
    definitions: &Definitions,
    used: &mut Used,
    findings: &mut Findings<'_>,
) -> Access {
    let mut reader = Reader {
        place,
        definitions,
        used,
        findings,
    };
    let anonymous = spec.anonymous_read_access;
    let mut mappings = match &spec.role_mappings {
        Some(mappings) => reader.mappings(mappings),
        None => Vec::new(),
    };
    let is_mapped = spec.role_mappings.is_some();
    let admins = reader.older(spec.admin_rules.as_ref(), "admin-rules", is_mapped);
    let readers = reader.older(spec.access_rules.as_ref(), "access-rules", is_mapped);
    if anonymous == Some(true) && !readers.is_empty() {
        let message = "`anonymous-read-access: true` contradicts `access-rules`, which turn it off";
        reader.fault(&path::key(&place.at, "anonymous-read-access"), message);
    }
    let anonymous_read = anonymous.unwrap_or(readers.is_empty());
    reach::warn_mappings(
        &mappings,
        place,
        anonymous_read,
        definitions,
        reader.findings,
    );
    for (rules, role) in [(admins, ADMIN), (readers, READ)] {
        for (at, rule) in rules {
            if mappings.iter().all(|mapped| mapped.rule != rule) {
                let roles = vec![(at.clone(), role.to_owned())];
                mappings.push(Mapped { rule, at, roles });
            }
        }
    }
    Access {
        anonymous_read,
        mappings,
    }
}

struct Reader<'r, 'd> {
    place: &'r Place,
    definitions: &'r Definitions,
    used: &'r mut Used,
    findings: &'r mut Findings<'d>,
}

impl Reader<'_, '_> {
    fn fault(&mut self, at: &str, message: impl AsRef<str>) {
        let message = format!("{}: {}", self.place.whose, message.as_ref());
        self.findings.fault(at, message);
    }

    fn mappings(&mut self, written: &BTreeMap<String, Texts>) -> Vec<Mapped> {
        let at = path::key(&self.place.at, "role-mappings");
        let mut mappings = Vec::new();
        for (rule, texts) in written {
            let at = path::key(&at, rule);
            self.use_rule(rule, &at);
            let mut roles: Vec<(String, String)> = Vec::new();
            for (at, role) in texts.iter(&at) {
                self.use_role(role, &at);
                if roles.iter().any(|(_, other)| other == role) {
                    let message = format!(
                        "{}: the rule `{rule}` has the role `{role}` twice",
                        self.place.whose
                    );
                    self.findings.warn(&at, message);
                } else {
                    roles.push((at, role.to_owned()));
                }
            }
            let rule = rule.clone();
            mappings.push(Mapped { rule, at, roles });
        }
        mappings
    }

    /// The rules of an older setting.
    fn older(
        &mut self,
        texts: Option<&Texts>,
        key: &str,
        is_mapped: bool,
    ) -> Vec<(String, String)> {
        let Some(texts) = texts else {
            return Vec::new();
        };
        let at = path::key(&self.place.at, key);
        if is_mapped {
            let message = format!(
                "`role-mappings` and `{key}` can't be used together; map the rules of `{key}` to a role instead"
            );
            self.fault(&at, message);
        }
        let mut rules: Vec<(String, String)> = Vec::new();
        for (at, rule) in texts.iter(&at) {
            self.use_rule(rule, &at);
            rules.push((at, rule.to_owned()));
        }
        if texts.is_empty() {
            let message = format!("{}: `{key}` is empty: it has no effect", self.place.whose);
            self.findings.warn(&at, message);
        }
        rules
    }

    fn use_rule(&mut self, rule: &str, at: &str) {
        self.used.rules.insert(rule.to_owned());
        let whose = &self.place.whose;
        if !self.definitions.rules.has(rule) {
            let message = format!("{whose}: the rule `{rule}` is not defined");
            let known = self.definitions.rules.names();
            self.findings
                .unknown(at, message, "known rules", rule, known);
        } else if self.place.is_root
            && self
                .definitions
                .rules
                .get(rule)
                .is_some_and(Rule::names_tenant)
        {
            let message = format!(
                "{whose}: the rule `{rule}` names the tenant, but there is none here: it never matches"
            );
            self.findings.warn(at, message);
        }
    }

    fn use_role(&mut self, role: &str, at: &str) {
        self.used.roles.insert(role.to_owned());
        if !self.definitions.roles.has(role) {
            let message = format!("{}: the role `{role}` is not defined", self.place.whose);
            let known = self.definitions.roles.names();
            self.findings
                .unknown(at, message, "known roles", role, known);
        }
    }
}
