//! Reading `authorization-rule`.

use serde_json::{Map, Value};

use super::super::claim::whole;
use super::super::rule::{Alternative, Rule, Term, Wanted};
use super::super::template::Template;
use super::findings::{At, Findings, kind};

/// How deep lists and maps of conditions may be nested.
const DEEPEST: usize = 32;

/// How long the key of a claim may be, with all that leads to it.
const LONGEST_KEY: usize = 1024;

/// What a rule may have.
const KEYS: &[&str] = &["name", "conditions"];

/// Reads a rule that has this name.
pub(super) fn read(
    name: &str,
    map: &Map<String, Value>,
    at: &At,
    findings: &mut Findings,
) -> Option<Rule> {
    let faults = findings.faults.len();
    for key in map.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let message = format!("rule `{name}`: unknown key `{key}`");
        findings.unknown(
            &at.key(key),
            message,
            "known keys of a rule",
            key,
            KEYS.iter().copied(),
        );
    }
    let mut reader = Reader {
        name,
        findings,
        alternatives: Vec::new(),
    };
    match map.get("conditions") {
        None => {
            let message = format!("rule `{name}` has no `conditions`");
            reader.findings.fault(at, message);
        }
        Some(conditions) => reader.any_of(conditions, &at.key("conditions"), DEEPEST),
    }
    let alternatives = reader.alternatives;
    if findings.faults.len() > faults {
        return None;
    }
    if alternatives.is_empty() {
        let message = format!("rule `{name}` has no condition that can be met: it never matches");
        findings.warn(&at.key("conditions"), message);
    }
    Some(Rule {
        name: name.to_owned(),
        alternatives,
    })
}

struct Reader<'r> {
    name: &'r str,
    findings: &'r mut Findings,
    alternatives: Vec<Alternative<Template>>,
}

impl Reader<'_> {
    fn fault(&mut self, at: &At, message: impl AsRef<str>) {
        let message = format!("rule `{}`: {}", self.name, message.as_ref());
        self.findings.fault(at, message);
    }

    /// A list, one item of which must hold, or an item.
    fn any_of(&mut self, value: &Value, at: &At, deeper: usize) {
        let Some(deeper) = deeper.checked_sub(1) else {
            return self.fault(at, "the conditions are nested too deep");
        };
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.any_of(item, &at.item(index), deeper);
                }
            }
            Value::Object(map) => {
                let mut terms = Vec::new();
                self.all_of(map, at, None, &mut terms, deeper);
                if map.is_empty() {
                    let message = format!(
                        "rule `{}`: an empty condition matches every authenticated caller",
                        self.name
                    );
                    self.findings.warn(at, message);
                }
                self.alternatives.push(Alternative { terms });
            }
            other => self.fault(
                at,
                format!("a condition must be a map of claims, not {}", kind(other)),
            ),
        }
    }

    /// A map, every entry of which must hold; `above` leads to it.
    fn all_of(
        &mut self,
        map: &Map<String, Value>,
        at: &At,
        above: Option<&str>,
        terms: &mut Vec<Term<Template>>,
        deeper: usize,
    ) {
        for (key, value) in map {
            let at = at.key(key);
            let claim = match above {
                None => key.clone(),
                Some(above) => format!("{above}.{key}"),
            };
            let Some(deeper) = deeper.checked_sub(1) else {
                self.fault(&at, "the conditions are nested too deep");
                continue;
            };
            if claim.len() > LONGEST_KEY || claim.matches('.').count() > DEEPEST {
                self.fault(&at, "the key of the claim is too long");
                continue;
            }
            match value {
                Value::Object(inner) if inner.is_empty() => {
                    self.fault(&at, format!("no value is given for the claim `{claim}`"));
                }
                Value::Object(inner) => self.all_of(inner, &at, Some(&claim), terms, deeper),
                leaf => {
                    let any_of = self.leaf(leaf, &at, &claim);
                    terms.push(Term {
                        claim: claim.into_boxed_str(),
                        any_of,
                    });
                }
            }
        }
    }

    /// What a claim must be.
    fn leaf(&mut self, value: &Value, at: &At, claim: &str) -> Vec<Wanted<Template>> {
        let Value::Array(items) = value else {
            return self.wanted(value, at, claim).into_iter().collect();
        };
        if items.is_empty() {
            self.fault(at, format!("the list for the claim `{claim}` is empty"));
        }
        let mut any_of = Vec::new();
        for (index, item) in items.iter().enumerate() {
            any_of.extend(self.wanted(item, &at.item(index), claim));
        }
        any_of
    }

    fn wanted(&mut self, value: &Value, at: &At, claim: &str) -> Option<Wanted<Template>> {
        let wrong = match value {
            Value::String(text) => match Template::parse(text) {
                Ok(template) => return Some(Wanted::Text(template)),
                Err(wrong) => format!("{wrong} (claim `{claim}`)"),
            },
            Value::Bool(flag) => return Some(Wanted::Flag(*flag)),
            Value::Number(number) if !number.is_f64() => {
                return whole(number).map(Wanted::Number);
            }
            other => format!(
                "the claim `{claim}` can be compared with a string, a boolean, an integer or a list of those, not with {}",
                kind(other)
            ),
        };
        self.fault(at, wrong);
        None
    }
}
