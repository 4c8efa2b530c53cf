//! The configuration of `ResourceQuota`: what may only be used where a quota covers it.

use portcullis_document::Fault;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::object::Object;
use crate::plugins::config::{self, TypeMeta};
use crate::plugins::tolerations::unsupported;

use super::requirement::{Operator, Requirement, SCOPES};

pub(super) const TYPE: TypeMeta = TypeMeta {
    api_versions: &["apiserver.config.k8s.io/v1"],
    kind: "ResourceQuotaConfiguration",
};

/// Configuration of `ResourceQuota`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Configuration {
    /// What may only be used where a quota covers it.
    limited_resources: Option<Vec<Object<WrittenLimit>>>,
}

/// What may only be used where a quota covers it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenLimit {
    /// API group; without it, the core group.
    api_group: Option<String>,
    /// Resource, like `pods`.
    #[schemars(required)]
    resource: Option<String>,
    /// Usage of resources whose names contain one of these, like `.storageclass.storage.k8s.io/requests.storage`.
    match_contains: Option<Vec<String>>,
    /// Objects in one of these scopes.
    match_scopes: Option<Vec<Object<WrittenScope>>>,
}

/// A scope with the values it is limited to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct WrittenScope {
    /// Name of the scope.
    #[schemars(required, schema_with = "scope_schema")]
    scope_name: Option<String>,
    /// How the values count.
    #[schemars(required, schema_with = "operator_schema")]
    operator: Option<String>,
    /// Names of classes; for `In` and `NotIn`.
    values: Option<Vec<String>>,
}

fn scope_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "description": "Name of the scope.",
        "type": "string",
        "enum": json!(SCOPES),
    })
}

fn operator_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "description": "How the values count.",
        "type": "string",
        "enum": json!(Operator::ALL.map(Operator::name)),
    })
}

/// What may only be used where a quota covers it.
#[derive(Clone, Debug)]
pub(super) struct LimitedResource {
    /// API group, empty for the core group.
    pub(super) group: String,
    /// Resource, like `pods`.
    pub(super) resource: String,
    /// Parts of names of resources.
    pub(super) contains: Vec<String>,
    /// Scopes of objects.
    pub(super) scopes: Vec<Requirement>,
}

/// Reads the configuration, or reports everything that is wrong with it.
pub(super) fn read(configuration: Option<&Value>) -> Result<Vec<LimitedResource>, Vec<Fault>> {
    let configuration: Configuration = match config::given(configuration) {
        Some(value) => config::decode_typed(value, TYPE)?,
        None => Configuration::default(),
    };
    let mut faults = Vec::new();
    let mut limited = Vec::new();
    let written = configuration.limited_resources.unwrap_or_default();
    for (index, Object(written)) in written.into_iter().enumerate() {
        let at = format!("limitedResources[{index}]");
        let resource = written.resource.unwrap_or_default();
        if resource.is_empty() {
            faults.push(Fault::at(format!("{at}.resource"), "Required value"));
        }
        let scopes = written.match_scopes.unwrap_or_default();
        let scopes = scopes
            .into_iter()
            .enumerate()
            .filter_map(|(index, Object(scope))| {
                let at = format!("{at}.matchScopes[{index}]");
                scope.check(&at, &mut faults)
            });
        limited.push(LimitedResource {
            group: written.api_group.unwrap_or_default(),
            resource,
            scopes: scopes.collect(),
            contains: written.match_contains.unwrap_or_default(),
        });
    }
    if faults.is_empty() {
        Ok(limited)
    } else {
        Err(faults)
    }
}

impl WrittenScope {
    fn check(self, at: &str, faults: &mut Vec<Fault>) -> Option<Requirement> {
        let mut fault = |key: &str, message: String| {
            faults.push(Fault::at(format!("{at}.{key}"), message));
        };
        let scope = self.scope_name.unwrap_or_default();
        if !SCOPES.contains(&scope.as_str()) {
            fault("scopeName", unsupported(&scope, &SCOPES));
        }
        let operator = self.operator.unwrap_or_default();
        let Some(known) = Operator::named(&operator) else {
            let names = Operator::ALL.map(Operator::name);
            fault("operator", unsupported(&operator, &names));
            return None;
        };
        let values = self.values.unwrap_or_default();
        match known {
            Operator::In | Operator::NotIn if values.is_empty() => {
                fault("values", format!("must be given for operator {operator}"));
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                fault(
                    "values",
                    format!("must not be given for operator {operator}"),
                );
            }
            _ => {}
        }
        Some(Requirement {
            scope,
            operator: known,
            values,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn configuration(limited: Value) -> Value {
        json!({
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "ResourceQuotaConfiguration",
            "limitedResources": limited,
        })
    }

    #[test]
    fn every_key_is_read() {
        let limited = read(Some(&configuration(json!([
            {"resource": "pods", "matchScopes": [
                {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]},
                {"scopeName": "BestEffort", "operator": "Exists"},
            ]},
            {"apiGroup": "apps", "resource": "deployments", "matchContains": ["count/"]},
        ]))))
        .expect("a configuration");
        let [pods, deployments] = limited.as_slice() else {
            panic!("{limited:?}");
        };
        assert_eq!((pods.group.as_str(), pods.resource.as_str()), ("", "pods"));
        assert_eq!(pods.scopes[0].to_string(), "{PriorityClass In [high]}");
        assert_eq!(pods.scopes[1], Requirement::of_scope("BestEffort"));
        assert_eq!(deployments.group, "apps");
        assert_eq!(deployments.contains, ["count/"]);
        for nothing in [None, Some(Value::Null), Some(configuration(Value::Null))] {
            assert!(read(nothing.as_ref()).expect("a configuration").is_empty());
        }
    }

    #[test]
    fn faults_name_their_place() {
        let fault = |limited: Value| {
            let faults = read(Some(&configuration(limited))).expect_err("faults");
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("; ")
        };
        let scope = |scope: Value| fault(json!([{"resource": "pods", "matchScopes": [scope]}]));
        assert_eq!(
            fault(json!([{}])),
            "limitedResources[0].resource: Required value"
        );
        assert!(fault(json!([{"resources": "pods"}])).contains("did you mean `resource`"));
        assert_eq!(
            scope(json!({"scopeName": "PriorityClass", "operator": "Is", "values": ["a"]})),
            "limitedResources[0].matchScopes[0].operator: Unsupported value: \"Is\": supported values: \
             \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\""
        );
        assert!(
            scope(json!({"scopeName": "Priority", "operator": "Exists"}))
                .contains("\"CrossNamespacePodAffinity\"")
        );
        assert_eq!(
            scope(json!({"scopeName": "PriorityClass", "operator": "In"})),
            "limitedResources[0].matchScopes[0].values: must be given for operator In"
        );
        assert_eq!(
            scope(json!({"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]})),
            "limitedResources[0].matchScopes[0].values: must not be given for operator Exists"
        );
        let untyped = read(Some(&json!({"limitedResources": []}))).expect_err("faults");
        assert_eq!(untyped.len(), 2);
    }
}
