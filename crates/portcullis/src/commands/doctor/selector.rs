//! Label selectors of Kubernetes, as objects have them.

use std::collections::BTreeMap;

use serde_json::Value;

/// Labels of an object.
pub(super) type Labels = BTreeMap<String, String>;

/// The label that every namespace has.
pub(super) const NAME: &str = "kubernetes.io/metadata.name";

/// The labels of an object.
pub(super) fn labels(object: &Value) -> Labels {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}

/// What is known of a namespace that can't be read.
pub(super) fn labels_of_name(name: &str) -> Labels {
    Labels::from([(NAME.to_owned(), name.to_owned())])
}

/// Whether a selector selects these labels. An empty one, or none, selects everything. What can't be understood is taken
/// for selected, as nothing may be called fine that is unknown.
pub(super) fn selects(selector: Option<&Value>, labels: &Labels) -> bool {
    let Some(selector) = selector else {
        return true;
    };
    let equal = selector.get("matchLabels").and_then(Value::as_object);
    let mut equal = equal.into_iter().flatten();
    let has_all = equal.all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str());
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let mut expressions = expressions.into_iter().flatten();
    has_all && expressions.all(|expression| holds(expression, labels))
}

/// Whether a selector leaves nothing out.
pub(super) fn is_empty(selector: Option<&Value>) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        other => other.is_null(),
    };
    let parts = ["matchLabels", "matchExpressions"];
    selector.is_none_or(|selector| {
        parts
            .iter()
            .all(|part| selector.get(part).is_none_or(is_empty))
    })
}

fn holds(expression: &Value, labels: &Labels) -> bool {
    let text = |key: &str| expression.get(key).and_then(Value::as_str);
    let Some(key) = text("key") else {
        return true;
    };
    let found = labels.get(key);
    let values = expression.get("values").and_then(Value::as_array);
    let is_listed = found.is_some_and(|found| {
        let mut values = values.into_iter().flatten();
        values.any(|value| value.as_str() == Some(found))
    });
    match text("operator") {
        Some("In") => is_listed,
        Some("NotIn") => !is_listed,
        Some("Exists") => found.is_some(),
        Some("DoesNotExist") => found.is_none(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_those_of_kubernetes() {
        let labels = Labels::from([("a".to_owned(), "1".to_owned())]);
        for (selector, expected) in [
            (json!({}), true),
            (json!({"matchLabels": {"a": "1"}}), true),
            (json!({"matchLabels": {"a": "2"}}), false),
            (json!({"matchLabels": {"b": "1"}}), false),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["1"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}),
                false,
            ),
            (
                json!({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}),
                false,
            ),
        ] {
            assert_eq!(selects(Some(&selector), &labels), expected, "{selector}");
        }
        assert!(selects(None, &labels));
        assert!(is_empty(None) && is_empty(Some(&json!({"matchLabels": {}}))));
        assert!(!is_empty(Some(&json!({"matchLabels": {"a": "1"}}))));
    }
}
