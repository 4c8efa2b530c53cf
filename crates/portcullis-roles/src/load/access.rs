//! Reading who has what in a tenant or at the root of the API: `role-mappings` and
//! `anonymous-read-access`, or the older `admin-rules` and `access-rules`.

use serde_json::{Map, Value};

use super::super::role::{ADMIN, READ};
use super::super::rule::Rule;
use super::super::scope::{Mapping, Scope};
use super::definitions::{Definitions, Used};
use super::findings::{At, Findings, kind};
use super::reach;

/// Who has what.
#[derive(Debug)]
pub(super) struct Access {
    anonymous_read: bool,
    mappings: Vec<Mapped>,
}

/// The roles of one rule.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) rule: String,
    pub(super) at: At,
    pub(super) roles: Vec<(At, String)>,
}

/// Something that has mappings.
#[derive(Debug)]
pub(super) struct Place {
    /// In words, like "tenant `t1`".
    pub(super) whose: String,
    /// Whether it is the root of the API.
    pub(super) is_root: bool,
    pub(super) at: At,
}

impl Access {
    /// Who has what when nothing is said.
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
    map: &Map<String, Value>,
    place: &Place,
    definitions: &Definitions,
    used: &mut Used,
    findings: &mut Findings,
) -> Access {
    let mut reader = Reader {
        place,
        definitions,
        used,
        findings,
    };
    let anonymous = reader.flag(map, "anonymous-read-access");
    let mut mappings = match map.get("role-mappings") {
        Some(value) => reader.mappings(value),
        None => Vec::new(),
    };
    let admins = reader.older(map, "admin-rules");
    let readers = reader.older(map, "access-rules");
    if anonymous == Some(true) && !readers.is_empty() {
        let message = "`anonymous-read-access: true` contradicts `access-rules`, which turn it off";
        reader.fault(&place.at.key("anonymous-read-access"), message);
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

struct Reader<'r> {
    place: &'r Place,
    definitions: &'r Definitions,
    used: &'r mut Used,
    findings: &'r mut Findings,
}

impl Reader<'_> {
    fn fault(&mut self, at: &At, message: impl AsRef<str>) {
        let message = format!("{}: {}", self.place.whose, message.as_ref());
        self.findings.fault(at, message);
    }

    fn flag(&mut self, map: &Map<String, Value>, key: &str) -> Option<bool> {
        match map.get(key)? {
            Value::Bool(flag) => Some(*flag),
            other => {
                let wrong = format!("`{key}` must be `true` or `false`, not {}", kind(other));
                self.fault(&self.place.at.key(key), wrong);
                None
            }
        }
    }

    fn mappings(&mut self, value: &Value) -> Vec<Mapped> {
        let at = self.place.at.key("role-mappings");
        let whose = format!("{}: `role-mappings`", self.place.whose);
        let Some(map) = self.findings.map(value, &at, &whose) else {
            return Vec::new();
        };
        let mut mappings = Vec::new();
        for (rule, value) in map {
            let at = at.key(rule);
            self.use_rule(rule, &at);
            let whose = format!("{}: a role of the rule `{rule}`", self.place.whose);
            let mut roles: Vec<(At, String)> = Vec::new();
            for (at, role) in self.findings.texts(value, &at, &whose) {
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
    fn older(&mut self, map: &Map<String, Value>, key: &str) -> Vec<(At, String)> {
        let Some(value) = map.get(key) else {
            return Vec::new();
        };
        let at = self.place.at.key(key);
        if map.contains_key("role-mappings") {
            let message = format!(
                "`role-mappings` and `{key}` can't be used together; map the rules of `{key}` to a role instead"
            );
            self.fault(&at, message);
        }
        let whose = format!("{}: a rule of `{key}`", self.place.whose);
        let mut rules: Vec<(At, String)> = Vec::new();
        for (at, rule) in self.findings.texts(value, &at, &whose) {
            self.use_rule(rule, &at);
            rules.push((at, rule.to_owned()));
        }
        if value.as_array().is_some_and(Vec::is_empty) {
            let message = format!("{}: `{key}` is empty: it has no effect", self.place.whose);
            self.findings.warn(&at, message);
        }
        rules
    }

    fn use_rule(&mut self, rule: &str, at: &At) {
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

    fn use_role(&mut self, role: &str, at: &At) {
        self.used.roles.insert(role.to_owned());
        if !self.definitions.roles.has(role) {
            let message = format!("{}: the role `{role}` is not defined", self.place.whose);
            let known = self.definitions.roles.names();
            self.findings
                .unknown(at, message, "known roles", role, known);
        }
    }
}
