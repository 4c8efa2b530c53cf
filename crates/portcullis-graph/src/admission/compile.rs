//! Compiles the admission rules.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use portcullis_document::Fault;

use super::evaluate::{TEXT_VALUES, VARIABLES};
use super::resource::ResourceName;
use super::rule::{Case, Named, Requirement, Rule};
use super::template::Template;
use super::{Admission, Refusal};
use crate::expression::{Expression, LooksUp};
use crate::fault::known_kind;
use crate::kinds::Kinds;
use crate::spec::{
    AdmissionRuleSpec, AdmissionSpec, CaseSpec, LetSpec, ProfileSpec, RefusalSpec, RequireSpec,
    SourceSpec,
};

const OPERATIONS: [&str; 4] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];
const DEFAULT_CODE: u16 = 403;

impl Admission {
    /// Checks and compiles.
    pub(crate) fn compile(
        admission: &AdmissionSpec,
        spec: &ProfileSpec,
        kinds: &Arc<Kinds>,
        faults: &mut Vec<Fault>,
    ) -> Self {
        let subjects = spec.subjects.iter().map(|subject| subject.id.as_str());
        let mut compiler = Compiler {
            kinds,
            subjects: subjects.collect(),
            sources: &spec.sources,
            faults,
        };
        let other = |refusal: &Option<RefusalSpec>, at: &str, compiler: &mut Compiler<'_>| {
            let refusal = refusal.as_ref()?;
            compiler.refusal(refusal.code, &refusal.message, &[], at)
        };
        let at = "admission.otherResources";
        let other_resources = other(&admission.other_resources, at, &mut compiler);
        let at = "admission.otherOperations";
        let other_operations = other(&admission.other_operations, at, &mut compiler);
        let mut rules = Vec::new();
        let mut by_resource: HashMap<ResourceName, Vec<usize>> = HashMap::new();
        for (number, rule) in admission.rules.iter().enumerate() {
            let at = format!("admission.rules[{number}]");
            for resource in compiler.resources(rule, &at) {
                let numbers = by_resource.entry(resource).or_default();
                numbers.push(rules.len());
            }
            rules.push(compiler.rule(rule, at));
        }
        Self {
            kinds: Arc::clone(kinds),
            skip_existing: admission.skip_existing,
            other_resources,
            other_operations,
            rules,
            by_resource,
        }
    }
}

struct Compiler<'a> {
    kinds: &'a Kinds,
    subjects: Vec<&'a str>,
    sources: &'a [SourceSpec],
    faults: &'a mut Vec<Fault>,
}

impl Compiler<'_> {
    fn resources(&mut self, rule: &AdmissionRuleSpec, at: &str) -> BTreeSet<ResourceName> {
        if rule.resources.is_empty() {
            let at = format!("{at}.resources");
            self.faults
                .push(Fault::at(at, "name at least one resource"));
        }
        let mut names = BTreeSet::new();
        for (number, text) in rule.resources.iter().enumerate() {
            let at = format!("{at}.resources[{number}]");
            match ResourceName::parse(text) {
                Some(name) => {
                    names.insert(name);
                }
                None => self.faults.push(Fault::at(
                    at,
                    format!("invalid resource `{text}`: expected `resource[.group][/subresource]`"),
                )),
            }
        }
        names
    }

    fn rule(&mut self, rule: &AdmissionRuleSpec, at: String) -> Rule {
        if rule.operations.is_empty() {
            let at = format!("{at}.operations");
            self.faults
                .push(Fault::at(at, "name at least one operation"));
        }
        for (number, operation) in rule.operations.iter().enumerate() {
            let at = format!("{at}.operations[{number}]");
            self.one_of("operation", "operations", operation, &OPERATIONS, at);
        }
        for (number, subject) in rule.subjects.iter().flatten().enumerate() {
            let at = format!("{at}.subjects[{number}]");
            let known = self.subjects.clone();
            self.one_of("subject", "ids of `subjects`", subject, &known, at);
        }
        let subjects = rule.subjects.as_ref();
        let subjects = subjects.map(|ids| ids.iter().map(|id| Arc::from(id.as_str())).collect());
        if rule.cases.is_empty() && rule.otherwise.is_none() {
            let message = "without cases, `otherwise` must have a message";
            self.faults.push(Fault::at(format!("{at}.cases"), message));
        }
        let cases = rule.cases.iter().enumerate();
        let cases = cases.map(|(number, case)| self.case(case, format!("{at}.cases[{number}]")));
        let cases = cases.collect();
        let place = format!("{at}.otherwise");
        let otherwise = rule.otherwise.as_ref();
        let (code, message) = otherwise.map_or((None, "forbidden"), |r| (r.code, &r.message));
        let otherwise = self.refusal(code, message, &[], &place);
        Rule {
            place: at,
            operations: rule.operations.clone(),
            subjects,
            cases,
            otherwise: otherwise.unwrap_or_else(|| Refusal::nothing(place)),
        }
    }

    fn case(&mut self, case: &CaseSpec, at: String) -> Case {
        let variables: Vec<&str> = VARIABLES.to_vec();
        let when = case.when.as_ref();
        let when = when.and_then(|text| self.expression(text, &variables, &format!("{at}.when")));
        let mut values: Vec<Named> = Vec::new();
        for (number, value) in case.values.iter().enumerate() {
            let at = format!("{at}.let[{number}]");
            values.extend(self.value(value, &values, &at));
        }
        let require = case.require.iter().enumerate();
        let require = require.filter_map(|(number, requirement)| {
            self.requirement(requirement, &values, &format!("{at}.require[{number}]"))
        });
        let require = require.collect();
        Case {
            place: at,
            when,
            values,
            require,
        }
    }

    fn value(&mut self, value: &LetSpec, before: &[Named], at: &str) -> Option<Named> {
        let name = &value.name;
        let at_name = format!("{at}.name");
        if !is_identifier(name) {
            let message =
                "invalid name: must begin with a letter and contain only letters, digits and `_`";
            self.faults.push(Fault::at(at_name, message));
            return None;
        }
        let is_taken = VARIABLES.contains(&name.as_str())
            || TEXT_VALUES.contains(&name.as_str())
            || before.iter().any(|other| other.name == *name);
        if is_taken {
            let message = format!("`{name}` is already defined");
            self.faults.push(Fault::at(at_name, message));
            return None;
        }
        let names = names_of(before);
        let expression = self.expression(&value.value, &names, &format!("{at}.value"))?;
        Some(Named {
            name: name.clone(),
            value: expression,
            needs: needs(identifiers(&value.value), before),
        })
    }

    fn requirement(
        &mut self,
        requirement: &RequireSpec,
        values: &[Named],
        at: &str,
    ) -> Option<Requirement> {
        let that = self.expression(&requirement.that, &names_of(values), &format!("{at}.that"));
        let refusal = self.refusal(requirement.code, &requirement.message, values, at);
        let refusal = refusal?;
        Some(Requirement {
            that: that?,
            needs: needs(identifiers(&requirement.that), values),
            text_needs: needs(refusal.message.names(), values),
            refusal,
        })
    }

    fn refusal(
        &mut self,
        code: Option<u16>,
        message: &str,
        values: &[Named],
        at: &str,
    ) -> Option<Refusal> {
        let code = code.unwrap_or(DEFAULT_CODE);
        if !(400..=599).contains(&code) {
            let message = format!("invalid status {code}: expected 400 to 599");
            self.faults.push(Fault::at(format!("{at}.code"), message));
        }
        let at_message = format!("{at}.message");
        if message.trim().is_empty() {
            self.faults
                .push(Fault::at(&at_message, "must not be empty: give the reason"));
        }
        let template = match Template::parse(message) {
            Ok(template) => template,
            Err(why) => {
                self.faults.push(Fault::at(at_message, why));
                return None;
            }
        };
        let known = TEXT_VALUES.into_iter();
        let known: Vec<&str> = known
            .chain(values.iter().map(|v| v.name.as_str()))
            .collect();
        for name in template.names() {
            let at = at_message.clone();
            self.one_of("value", "values of texts", name, &known, at);
        }
        Some(Refusal {
            code,
            message: template,
            place: at.to_owned(),
        })
    }

    fn expression(&mut self, text: &str, variables: &[&str], at: &str) -> Option<Expression> {
        let expression = match Expression::compile(text, variables) {
            Ok(expression) => expression,
            Err(why) => {
                self.faults.push(Fault::at(at, why));
                return None;
            }
        };
        for LooksUp {
            kind,
            wants_members,
        } in expression.looks_up()
        {
            if known_kind(self.kinds, kind, at, self.faults).is_none() {
                continue;
            }
            // What is not watched is read as a whole.
            let source = self.sources.iter().find(|source| source.kind == kind);
            if wants_members && source.is_some_and(|source| source.keep.is_empty()) {
                let message = format!("the source of `{kind}` has no fields to look up");
                self.faults.push(Fault::at(at, message));
            }
        }
        Some(expression)
    }

    fn one_of(&mut self, what: &str, list: &str, given: &str, known: &[&str], at: String) {
        if known.contains(&given) {
            return;
        }
        let fault = Fault::at(at, format!("unknown {what} `{given}`"));
        let fault = fault.with_known(list, given, known.iter().copied());
        self.faults.push(fault);
    }
}

impl Refusal {
    /// Stands for one that could not be compiled.
    fn nothing(place: String) -> Self {
        Self {
            code: DEFAULT_CODE,
            message: Template::default(),
            place,
        }
    }
}

fn names_of(values: &[Named]) -> Vec<&str> {
    let values = values.iter().map(|value| value.name.as_str());
    VARIABLES.into_iter().chain(values).collect()
}

/// The numbers of the values of these names and of those they need, in order.
fn needs<'a>(names: impl Iterator<Item = &'a str>, values: &[Named]) -> Vec<usize> {
    let mut numbers = BTreeSet::new();
    for name in names {
        if let Some(number) = values.iter().position(|value| value.name == name) {
            numbers.insert(number);
            let its = values.get(number).map(|value| value.needs.iter());
            numbers.extend(its.into_iter().flatten());
        }
    }
    numbers.into_iter().collect()
}

fn is_identifier(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    begins && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The words of an expression that can be variables: neither texts nor members. Should one be something else,
/// a value more is computed, which does no harm.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    let mut before = ' ';
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let length = match first {
                '\'' | '"' => quoted(rest, first),
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (part, after) = rest.split_at_checked(length)?;
            let is_member = before == '.';
            rest = after;
            if !first.is_whitespace() {
                before = first;
            }
            if is_identifier(part) && !is_member {
                return Some(part);
            }
        }
    })
}

/// How long the text in quotes is that this begins with.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + quote.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_neither_texts_nor_members() {
        let cases: [(&str, &[&str]); 6] = [
            ("shoot.spec.seedName == subject.name", &["shoot", "subject"]),
            ("a == 'seed it\\'s b' + c", &["a", "c"]),
            ("f(x)[y].z \"w\" in v", &["f", "x", "y", "in", "v"]),
            ("a . b + 1", &["a"]),
            ("'never closed a", &[]),
            ("é + a_1", &["a_1"]),
        ];
        for (text, expected) in cases {
            assert_eq!(identifiers(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
