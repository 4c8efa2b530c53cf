//! Reading `authorization-rule`.

use portcullis_document::{Located, Node, Value, path};

use super::super::rule::{Alternative, ExpectedValue, Rule, Term};
use super::super::template::Template;
use super::findings::{Findings, sorted};
use super::spec::RuleSpec;

/// How deep lists and maps of conditions may be nested.
const DEEPEST: usize = 32;

/// How long the key of a claim may be, with all that leads to it.
const LONGEST_KEY: usize = 1024;

/// Reads a rule.
pub(super) fn read(spec: &RuleSpec, at: &str, findings: &mut Findings<'_>) -> Option<Rule> {
    let faults = findings.faults.len();
    let name = spec.name.as_str();
    let at = path::key(at, "conditions");
    let mut reader = Reader {
        name,
        findings,
        alternatives: Vec::new(),
    };
    reader.any_of(&spec.conditions, &at, DEEPEST);
    let alternatives = reader.alternatives;
    if findings.faults.len() > faults {
        return None;
    }
    if alternatives.is_empty() {
        let message = format!("rule `{name}` has no condition that can be met: it never matches");
        findings.warn(&at, message);
    }
    Some(Rule {
        name: name.to_owned(),
        alternatives,
    })
}

struct Reader<'r, 'd> {
    name: &'r str,
    findings: &'r mut Findings<'d>,
    alternatives: Vec<Alternative<Template>>,
}

impl Reader<'_, '_> {
    fn fault(&mut self, at: &str, message: impl AsRef<str>) {
        let message = format!("rule `{}`: {}", self.name, message.as_ref());
        self.findings.fault(at, message);
    }

    /// A list, one item of which must hold, or an item.
    fn any_of(&mut self, node: &Node, at: &str, deeper: usize) {
        let Some(deeper) = deeper.checked_sub(1) else {
            return self.fault(at, "the conditions are nested too deep");
        };
        match &node.value {
            Value::Seq(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.any_of(item, &path::index(at, index), deeper);
                }
            }
            Value::Map(entries) => {
                let mut terms = Vec::new();
                self.all_of(entries, at, None, &mut terms, deeper);
                if entries.is_empty() {
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
                format!("a condition must be a map of claims, not {}", other.kind()),
            ),
        }
    }

    /// A map, every entry of which must hold; `above` leads to it.
    fn all_of(
        &mut self,
        entries: &[(Located<String>, Node)],
        at: &str,
        above: Option<&str>,
        terms: &mut Vec<Term<Template>>,
        deeper: usize,
    ) {
        for (key, node) in sorted(entries) {
            let at = path::key(at, key);
            let claim = match above {
                None => key.to_owned(),
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
            match &node.value {
                Value::Map(inner) if inner.is_empty() => {
                    self.fault(&at, format!("no value is given for the claim `{claim}`"));
                }
                Value::Map(inner) => self.all_of(inner, &at, Some(&claim), terms, deeper),
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
    fn leaf(&mut self, value: &Value, at: &str, claim: &str) -> Vec<ExpectedValue<Template>> {
        let Value::Seq(items) = value else {
            return self.wanted(value, at, claim).into_iter().collect();
        };
        if items.is_empty() {
            self.fault(at, format!("the list for the claim `{claim}` is empty"));
        }
        let mut any_of = Vec::new();
        for (index, item) in items.iter().enumerate() {
            any_of.extend(self.wanted(item, &path::index(at, index), claim));
        }
        any_of
    }

    fn wanted(&mut self, value: &Value, at: &str, claim: &str) -> Option<ExpectedValue<Template>> {
        let wrong = match value {
            Value::Str(text) => match Template::parse(text) {
                Ok(template) => return Some(ExpectedValue::Text(template)),
                Err(wrong) => format!("{wrong} (claim `{claim}`)"),
            },
            Value::Bool(flag) => return Some(ExpectedValue::Flag(*flag)),
            Value::Int(number) => return Some(ExpectedValue::Number((*number).into())),
            Value::UInt(number) => return Some(ExpectedValue::Number((*number).into())),
            other => {
                let found = match other {
                    Value::Float(_) => "a fraction",
                    other => other.kind(),
                };
                format!(
                    "the claim `{claim}` can be compared with a text, a boolean, a whole number or a list of those, not with {found}"
                )
            }
        };
        self.fault(at, wrong);
        None
    }
}
