//! Decodes a plug-in's configuration into its types, strictly.
//!
//! Unknown keys, wrong types, another `apiVersion` or `kind` are faults, each
//! with the path of its place. What the values mean is checked by the plug-in.
//! A configuration of `null` is an absent configuration.

use portcullis_document::{Fault, read};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The type a configuration has to declare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeMeta {
    /// Versions that are understood, the newest first.
    pub(crate) api_versions: &'static [&'static str],
    /// Kind.
    pub(crate) kind: &'static str,
}

/// What a plug-in that looks at a cluster's objects says where none is configured.
pub(crate) const NEEDS_CLUSTER: &str =
    "it reads objects of the cluster: add the key `kube`, or give the objects with `--objects DIR`";

/// The configuration, if there is one.
pub(crate) fn given(configuration: Option<&Value>) -> Option<&Value> {
    configuration.filter(|value| !value.is_null())
}

/// Rejects any configuration.
pub(crate) fn none(configuration: Option<&Value>) -> Result<(), Vec<Fault>> {
    match given(configuration) {
        None => Ok(()),
        Some(_) => Err(vec![Fault::at("", "takes no configuration")]),
    }
}

/// Decodes a configuration that declares no type.
pub(crate) fn decode<T: DeserializeOwned>(configuration: &Value) -> Result<T, Vec<Fault>> {
    read::json(configuration)
}

/// Decodes a configuration that has to declare its type. The type itself knows
/// nothing of `apiVersion` and `kind`.
pub(crate) fn decode_typed<T: DeserializeOwned>(
    configuration: &Value,
    meta: TypeMeta,
) -> Result<T, Vec<Fault>> {
    let Value::Object(map) = configuration else {
        return decode(configuration);
    };
    let mut rest = map.clone();
    let faults: Vec<Fault> = [
        ("apiVersion", meta.api_versions),
        ("kind", [meta.kind].as_slice()),
    ]
    .into_iter()
    .filter_map(|(key, known)| declared(rest.remove(key), known).map(|m| Fault::at(key, m)))
    .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    decode(&Value::Object(rest))
}

/// What is wrong with a declaration, if anything is.
fn declared(value: Option<Value>, known: &[&str]) -> Option<String> {
    let wanted = known
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(" or ");
    match value {
        Some(Value::String(name)) if known.contains(&name.as_str()) => None,
        Some(Value::String(name)) => Some(format!("unknown value `{name}`, expected {wanted}")),
        None | Some(Value::Null) => Some(format!("missing, expected {wanted}")),
        Some(_) => Some(format!("expected the string {wanted}")),
    }
}

/// The schema of a configuration that declares no type.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// The schema of a configuration that declares its type.
pub(crate) fn typed_schema<T: JsonSchema>(meta: TypeMeta) -> Value {
    let mut schema = schema::<T>();
    if let Some(root) = schema.as_object_mut() {
        let properties = root.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            declare(properties, "apiVersion", meta.api_versions);
            declare(properties, "kind", &[meta.kind]);
        }
        let required = root.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            required.splice(0..0, [json!("apiVersion"), json!("kind")]);
        }
    }
    schema
}

fn declare(properties: &mut Map<String, Value>, key: &str, values: &[&str]) {
    properties.insert(key.to_owned(), json!({"type": "string", "enum": values}));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::object::Object;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[serde(default)]
        #[expect(dead_code, reason = "only decoded")]
        list: Vec<BTreeMap<String, i32>>,
        #[serde(default)]
        #[expect(dead_code, reason = "only decoded")]
        inner: Option<Object<Inner>>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "only decoded")]
        flag: Option<bool>,
    }

    const META: TypeMeta = TypeMeta {
        api_versions: &["example.com/v1", "example.com/v1beta1"],
        kind: "Sample",
    };

    fn text(result: Result<Sample, Vec<Fault>>) -> Vec<String> {
        let faults = result.err().unwrap_or_default();
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn faults_have_a_path_and_plain_words() {
        let cases = [
            (json!({"list": []}), ""),
            (json!([]), "expected a map, found a list"),
            (json!(1), "expected a map, found the number `1`"),
            (
                json!({"lost": 1}),
                "lost: unknown key, did you mean `list`? (known keys: inner, list)",
            ),
            (json!({"inner": {}}), ""),
            (
                json!({"inner": [true]}),
                "inner: expected a map, found a list",
            ),
            (
                json!({"inner": {"flag": 1}}),
                "inner.flag: expected true or false, found the number `1`",
            ),
            (
                json!({"inner": {"flags": 1}}),
                "inner.flags: unknown key, did you mean `flag`? (known keys: flag)",
            ),
            (
                json!({"list": 1}),
                "list: expected a list, found the number `1`",
            ),
            (
                json!({"list": [1]}),
                "list[0]: expected a map, found the number `1`",
            ),
            (
                json!({"list": [{}, {"a": "x"}]}),
                "list[1].a: expected a whole number, found the text `x`",
            ),
        ];
        for (configuration, expected) in cases {
            assert_eq!(text(decode(&configuration)).concat(), expected);
        }
    }

    #[test]
    fn the_declared_type_counts() {
        let good = json!({"apiVersion": "example.com/v1beta1", "kind": "Sample"});
        assert_eq!(text(decode_typed(&good, META)), [] as [&str; 0]);
        let cases = [
            (json!({}), "missing"),
            (json!({"apiVersion": null, "kind": null}), "missing"),
            (
                json!({"apiVersion": "example.com/v2", "kind": "Other"}),
                "unknown value",
            ),
            (json!({"apiVersion": 1, "kind": {}}), "expected the string"),
        ];
        for (configuration, expected) in cases {
            let faults = text(decode_typed(&configuration, META));
            assert_eq!(faults.len(), 2, "{faults:?}");
            assert!(faults[0].starts_with("apiVersion: ") && faults[0].contains(expected));
            assert!(faults[1].starts_with("kind: ") && faults[1].contains(expected));
        }
    }

    #[test]
    fn a_typed_schema_names_its_type() {
        let schema = typed_schema::<Sample>(META);
        assert_eq!(schema["properties"]["kind"]["enum"], json!(["Sample"]));
        assert_eq!(schema["required"], json!(["apiVersion", "kind"]));
        assert!(schema["properties"]["list"].is_object());
    }
}
