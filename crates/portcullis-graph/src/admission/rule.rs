//! One admission rule: cases, and what each requires.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::evaluate::Inputs;
use super::template::bounded;
use super::{Judgement, Refusal};
use crate::expression::{Expression, ExpressionError, Scope};
use crate::lookups::Lookups;

/// What is required of what agents write to some resources.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) place: String,
    pub(super) operations: Vec<String>,
    /// All if there is none.
    pub(super) subjects: Option<Vec<Arc<str>>>,
    pub(super) cases: Vec<Case>,
    pub(super) otherwise: Refusal,
}

/// One case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) place: String,
    pub(super) when: Option<Expression>,
    pub(super) values: Vec<Named>,
    pub(super) require: Vec<Requirement>,
}

/// A value with a name, computed when it is first needed.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) value: Expression,
    /// Numbers of the values it needs itself, all before it.
    pub(super) needs: Vec<usize>,
}

/// Something that must be true, or the denial.
#[derive(Debug)]
pub(super) struct Requirement {
    pub(super) that: Expression,
    /// Numbers of the values it needs, those that they need included, in order.
    pub(super) needs: Vec<usize>,
    /// Numbers of the values its text needs.
    pub(super) text_needs: Vec<usize>,
    pub(super) refusal: Refusal,
}

impl Rule {
    /// Whether it is about this operation.
    pub(super) fn has_operation(&self, operation: &str) -> bool {
        self.operations.iter().any(|o| o == operation)
    }

    /// Whether it is for this subject.
    pub(super) fn is_for(&self, subject: &str) -> bool {
        let subjects = self.subjects.as_ref();
        subjects.is_none_or(|subjects| subjects.iter().any(|id| **id == *subject))
    }

    /// What it says of a request.
    pub(super) fn judge(
        &self,
        inputs: &Inputs<'_>,
        lookups: &dyn Lookups,
        now: SystemTime,
    ) -> Judgement {
        let mut scope = Scope::new(lookups, now);
        inputs.fill(&mut scope);
        for case in &self.cases {
            let holds = match &case.when {
                Some(when) => when.holds(&scope),
                None => Ok(true),
            };
            match holds {
                Ok(true) => return case.judge(inputs, scope),
                Ok(false) => {}
                Err(error) => {
                    let place = format!("{}.when", case.place);
                    if let Some(judgement) = undecided(error, &place) {
                        return judgement;
                    }
                }
            }
        }
        self.otherwise.judgement(|name| inputs.text_value(name))
    }
}

impl Case {
    fn judge<'s>(&'s self, inputs: &Inputs<'_>, mut scope: Scope<'s>) -> Judgement {
        let mut known: BTreeMap<usize, Value> = BTreeMap::new();
        for (number, requirement) in self.require.iter().enumerate() {
            let place = || format!("{}.require[{number}]", self.place);
            if let Err(judgement) = self.compute(&requirement.needs, &mut known, &mut scope) {
                return judgement;
            }
            let holds = match requirement.that.holds(&scope) {
                Ok(holds) => holds,
                Err(error) => match undecided(error, &place()) {
                    Some(judgement) => return judgement,
                    None => false,
                },
            };
            if holds {
                continue;
            }
            // A text that can't have its values does without them.
            let _ = self.compute(&requirement.text_needs, &mut known, &mut scope);
            let of_let = |name: &str| {
                let number = self.values.iter().position(|value| value.name == name)?;
                Some(known.get(&number).cloned().unwrap_or_default())
            };
            let refusal = &requirement.refusal;
            return refusal
                .judgement(|name| of_let(name).unwrap_or_else(|| inputs.text_value(name)));
        }
        Judgement::Pass
    }

    /// Computes these values, unless they are known.
    fn compute<'s>(
        &'s self,
        needs: &[usize],
        known: &mut BTreeMap<usize, Value>,
        scope: &mut Scope<'s>,
    ) -> Result<(), Judgement> {
        for &number in needs {
            let Some(named) = self.values.get(number) else {
                continue;
            };
            if known.contains_key(&number) {
                continue;
            }
            let value = match named.value.evaluate(scope) {
                Ok(value) => value,
                Err(error) => match undecided(error, &format!("{}.let[{number}]", self.place)) {
                    Some(judgement) => return Err(judgement),
                    None => Value::Null,
                },
            };
            scope.set_owned(&named.name, value.clone());
            known.insert(number, value);
        }
        Ok(())
    }
}

/// What follows from an expression without a value; nothing if a member was just missing.
fn undecided(error: ExpressionError, place: &str) -> Option<Judgement> {
    match error {
        ExpressionError::Missing => None,
        ExpressionError::Needs(wanted) => Some(Judgement::Needs(wanted)),
        ExpressionError::Unavailable(why) => Some(Judgement::Failed(why)),
        ExpressionError::Failed(why) => Some(Judgement::Refuse {
            code: 400,
            message: format!("cannot check the object: {}", bounded(&why)),
            rule: place.to_owned(),
        }),
    }
}
