//! Conditions that others wrote in CEL, such as `matchConditions` of Kubernetes: whether one is true of a value.
//!
//! What is missing is an error here, as it is there, and an expression with functions that are not known has no answer.

use std::time::UNIX_EPOCH;

use serde_json::Value;

use crate::expression::{Expression, ExpressionError, Scope};
use crate::lookups::Nothing;

/// Whether an expression over these variables is true; nothing if that can't be told.
#[must_use]
pub fn condition_holds(expression: &str, variables: &[(&str, &Value)]) -> Option<bool> {
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    let compiled = Expression::compile(expression, &names).ok()?;
    let mut scope = Scope::new(&Nothing, UNIX_EPOCH);
    for (name, value) in variables {
        scope.set(name, value);
    }
    match compiled.evaluate(&scope) {
        Ok(value) => value.as_bool(),
        Err(
            ExpressionError::Missing
            | ExpressionError::Needs(_)
            | ExpressionError::Unavailable(_)
            | ExpressionError::Failed(_),
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_or_unknown_has_no_answer() {
        let request =
            json!({"userInfo": {"groups": ["system:nodes"]}, "resource": {"resource": "nodes"}});
        let holds = |text: &str| condition_holds(text, &[("request", &request)]);
        for (text, expected) in [
            ("'system:nodes' in request.userInfo.groups", Some(true)),
            ("!('system:nodes' in request.userInfo.groups)", Some(false)),
            ("request.resource.resource in ['pods', 'nodes']", Some(true)),
            (
                "has(request.namespace) && request.namespace != ''",
                Some(false),
            ),
            ("request.namespace == 'a'", None),
            ("request.resource.resource", None),
            (
                "authorizer.requestResource.check('breakglass').allowed()",
                None,
            ),
            ("object.metadata.name == 'a'", None),
            ("(", None),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
    }
}
