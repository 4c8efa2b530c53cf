//! ResourceQuotas as they are read.

use std::borrow::Cow;

use serde_json::Value;

use crate::plugins::document;
use crate::pod::view::view;
use crate::pod::{Amount, Map, ShapeError, read_value};
use crate::quantity::ResourceList;

use super::requirement::{Operator, Requirement};

/// A quota of a namespace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quota {
    /// Its name.
    pub(super) name: String,
    /// Which incarnation of that name it is.
    pub(super) uid: String,
    /// The most that may be used.
    pub(super) hard: ResourceList,
    /// What is used.
    pub(super) used: ResourceList,
    /// What objects must be for it to apply to them.
    pub(super) scopes: Vec<Requirement>,
}

impl Quota {
    /// Reads a quota of the cluster. What it limits counts from when it is written, so that nothing slips through
    /// until the status tells what is used.
    ///
    /// # Errors
    ///
    /// When it can't be read, with its name.
    pub(super) fn read(object: &Value) -> Result<Self, String> {
        let name = document::name_in(object);
        Self::from_object(name, object).map_err(|error| format!("ResourceQuota {name:?}: {error}"))
    }

    fn from_object(name: &str, object: &Value) -> Result<Self, ShapeError> {
        let written: Written<'_> = read_value(object)?;
        let hard = match &written.status.hard {
            Some(hard) => ResourceList::read(hard, &"status.hard")?,
            None => ResourceList::read(&written.spec.hard, &"spec.hard")?,
        };
        let scopes = written.spec.scopes.iter();
        let mut scopes: Vec<_> = scopes.map(|scope| Requirement::of_scope(scope)).collect();
        let expressions = &written.spec.scope_selector.match_expressions;
        for (index, expression) in expressions.iter().enumerate() {
            let operator = Operator::named(&expression.operator).ok_or_else(|| ShapeError {
                path: format!("spec.scopeSelector.matchExpressions[{index}].operator"),
                message: "expected one of In, NotIn, Exists, DoesNotExist".to_owned(),
            })?;
            let values = expression.values.iter();
            scopes.push(Requirement {
                scope: expression.scope_name.as_ref().to_owned(),
                operator,
                values: values.map(|value| value.as_ref().to_owned()).collect(),
            });
        }
        let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
        Ok(Self {
            name: name.to_owned(),
            uid: uid.unwrap_or_default().to_owned(),
            hard,
            used: ResourceList::read(&written.status.used, &"status.used")?,
            scopes,
        })
    }
}

view! {
    /// A quota.
    struct Written<'a> {
        /// Specification.
        spec: WrittenSpec<'a> = "spec",
        /// Status.
        status: WrittenStatus<'a> = "status",
    }
}

view! {
    /// Specification of a quota.
    struct WrittenSpec<'a> {
        /// What may be used.
        hard: Map<'a, Amount<'a>> = "hard",
        /// Scopes without values.
        scopes: Vec<Cow<'a, str>> = "scopes",
        /// Scopes with values.
        scope_selector: WrittenSelector<'a> = "scopeSelector",
    }
}

view! {
    /// Scopes with values.
    struct WrittenSelector<'a> {
        /// All of them.
        match_expressions: Vec<WrittenExpression<'a>> = "matchExpressions",
    }
}

view! {
    /// A scope with values.
    struct WrittenExpression<'a> {
        /// Name of the scope.
        scope_name: Cow<'a, str> = "scopeName",
        /// How the values count.
        operator: Cow<'a, str> = "operator",
        /// Names of classes.
        values: Vec<Cow<'a, str>> = "values",
    }
}

view! {
    /// Status of a quota.
    struct WrittenStatus<'a> {
        /// What may be used, as far as usage is known.
        hard: Option<Map<'a, Amount<'a>>> = "hard",
        /// What is used.
        used: Map<'a, Amount<'a>> = "used",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_counts_where_there_is_one() {
        let mut object = json!({
            "metadata": {"name": "compute", "uid": "u1"},
            "spec": {"hard": {"pods": 5}, "scopes": ["BestEffort"], "scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]},
            ]}},
        });
        let quota = Quota::read(&object).unwrap();
        assert_eq!(
            (quota.hard.to_string(), quota.used.to_string()),
            ("pods=5".into(), String::new())
        );
        let scopes: Vec<String> = quota.scopes.iter().map(ToString::to_string).collect();
        assert_eq!(
            scopes,
            ["{BestEffort Exists []}", "{PriorityClass In [high]}"]
        );
        object["status"] = json!({"hard": {"pods": 4}, "used": {"pods": 2}});
        let quota = Quota::read(&object).unwrap();
        assert_eq!(
            (quota.hard.to_string(), quota.used.to_string()),
            ("pods=4".into(), "pods=2".into())
        );
    }

    #[test]
    fn what_can_not_be_read_is_named() {
        for (status, selector, expected) in [
            (
                json!({"hard": {"pods": "many"}}),
                json!({}),
                r#"ResourceQuota "compute": status.hard.pods: `many` is not a quantity"#,
            ),
            (
                json!({}),
                json!({"matchExpressions": [{"scopeName": "PriorityClass", "operator": "Is"}]}),
                "ResourceQuota \"compute\": spec.scopeSelector.matchExpressions[0].operator: \
                 expected one of In, NotIn, Exists, DoesNotExist",
            ),
        ] {
            let object = json!({"metadata": {"name": "compute"}, "spec": {"scopeSelector": selector}, "status": status});
            assert_eq!(Quota::read(&object).unwrap_err(), expected);
        }
    }
}
