//! Labels in a `match`: those of the object, and Kubernetes' selectors of objects and namespaces.

use std::collections::BTreeMap;

use portcullis_core::access::Requirement;
use portcullis_core::{Attributes, Document, Door, Operation, Tree};
use portcullis_kube::cluster_objects::Unknown;
use portcullis_kube::{Namespaces, selector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MatchFault, Matcher};

/// A label selector, as Kubernetes writes it. All of it must be met; an empty one selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(rename = "LabelSelector")]
pub(crate) struct LabelSelector {
    /// Labels with these values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) match_labels: Option<BTreeMap<String, String>>,
    /// Requirements for labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) match_expressions: Option<Vec<LabelExpression>>,
}

/// A requirement for a label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LabelExpression")]
pub(crate) struct LabelExpression {
    /// The label.
    key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    operator: String,
    /// The values of `In` and `NotIn`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    values: Vec<String>,
}

/// A selector that can be asked.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    pub(super) written: LabelSelector,
    requirements: Vec<Requirement>,
}

impl Selector {
    /// As it is written below this key; nothing if it selects everything.
    pub(super) fn read(
        written: Option<&LabelSelector>,
        at: &str,
        faults: &mut Vec<MatchFault>,
    ) -> Option<Self> {
        let written = written?;
        let mut requirements = Vec::new();
        for (key, value) in written.match_labels.iter().flatten() {
            let one = requirement(key, "In", vec![value.clone()]);
            if !selector::is_label_requirement(&one) {
                let message = format!("invalid label `{key}: {value}`");
                faults.push((format!("{at}.matchLabels"), message));
            }
            requirements.push(one);
        }
        let expressions = written.match_expressions.iter().flatten().enumerate();
        for (index, expression) in expressions {
            let LabelExpression {
                key,
                operator,
                values,
            } = expression;
            let one = requirement(key, operator, values.clone());
            if !selector::is_label_requirement(&one) {
                let message = "invalid requirement: expected `key`, `operator: In` or `NotIn` with `values`, or \
                               `operator: Exists` or `DoesNotExist` without";
                let at = format!("{at}.matchExpressions[{index}]");
                faults.push((at, message.to_owned()));
            }
            requirements.push(one);
        }
        let written = written.clone();
        (!requirements.is_empty()).then_some(Self {
            written,
            requirements,
        })
    }

    /// Whether it selects one of these objects. One that is absent or can't have labels is not selected, whatever
    /// is required.
    fn selects_one_of(&self, objects: [Option<&Document>; 2]) -> bool {
        let mut labels = objects.into_iter().map(Labels::of);
        labels.any(|labels| labels.can_be() && self.selects(|key| labels.get(key)))
    }

    fn selects<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        selector::is_met(&self.requirements, label)
    }
}

fn requirement(key: &str, operator: &str, values: Vec<String>) -> Requirement {
    Requirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values,
    }
}

/// The labels of an object.
struct Labels(Option<Tree>);

impl Labels {
    fn of(object: Option<&Document>) -> Self {
        Self(object.and_then(|object| object.tree().ok()))
    }

    fn metadata(&self) -> Option<&Tree> {
        self.0.as_ref()?.get("metadata")
    }

    /// Whether the object is there, and is one that can have labels.
    fn can_be(&self) -> bool {
        self.metadata().is_some()
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.metadata()?.get("labels")?.get(key)?.as_str()
    }
}

impl Matcher {
    /// Whether it depends on labels of the object.
    pub fn looks_at_labels(&self) -> bool {
        // Those of a namespace itself are what its selector is about.
        self.labels.is_some() || self.object_selector.is_some() || self.looks_at_namespaces()
    }

    /// Whether it depends on labels of namespaces.
    pub fn looks_at_namespaces(&self) -> bool {
        self.namespace_selector.is_some()
    }

    /// The namespace whose labels must be looked up to tell whether the policy is asked about a request; nothing if
    /// that can be told from the request alone.
    pub fn namespace_of<'r>(&self, request: &'r Attributes) -> Option<&'r str> {
        let is_looked_up = self.looks_at_namespaces()
            && request.door == Door::Kubernetes
            && !request.namespace.is_empty()
            && own_labels(request).is_none()
            && self.mismatch_in_request(request).is_none();
        is_looked_up.then_some(request.namespace.as_str())
    }

    /// Whether the object has the labels; on DELETE the old one.
    pub(super) fn has_labels(&self, request: &Attributes) -> bool {
        let Some(wanted) = &self.labels else {
            return true;
        };
        let object = match request.operation {
            Operation::Delete => request.old_object.as_ref(),
            _ => request.object.as_ref(),
        };
        let labels = Labels::of(object);
        let mut wanted = wanted.iter();
        wanted.all(|(key, value)| labels.get(key) == Some(value.as_str()))
    }

    /// Whether the selector selects the object, as it is or as it was.
    pub(super) fn selects_object(&self, request: &Attributes) -> bool {
        let objects = [request.object.as_ref(), request.old_object.as_ref()];
        let selector = self.object_selector.as_ref();
        selector.is_none_or(|selector| selector.selects_one_of(objects))
    }

    /// Whether the selector selects the namespace of the object, or the namespace that the object is. Other objects
    /// outside of namespaces are always selected, as in Kubernetes. CI jobs are in no namespace of Kubernetes.
    pub(super) fn selects_namespace(
        &self,
        request: &Attributes,
        namespaces: &dyn Namespaces,
    ) -> Result<bool, Unknown> {
        let Some(selector) = &self.namespace_selector else {
            return Ok(true);
        };
        if request.door != Door::Kubernetes {
            return Ok(false);
        }
        if let Some(labels) = own_labels(request) {
            return Ok(selector.selects(|key| labels.get(key)));
        }
        if request.namespace.is_empty() {
            return Ok(true);
        }
        let found = namespaces.get(&request.namespace)?;
        let labels = found.as_deref().map(|namespace| &namespace.labels);
        Ok(selector.selects(|key| labels?.get(key).map(String::as_str)))
    }
}

/// The labels of the object if it is a namespace as a whole, which may not be known elsewhere yet.
fn own_labels(request: &Attributes) -> Option<Labels> {
    if !is_namespace(request) || !request.subresource.is_empty() {
        return None;
    }
    let object = match request.operation {
        Operation::Delete => request.old_object.as_ref(),
        _ => request.object.as_ref(),
    };
    Some(Labels::of(object)).filter(Labels::can_be)
}

/// Whether a request is about a namespace itself, although it names one.
pub(super) fn is_namespace(request: &Attributes) -> bool {
    request.resource.group.is_empty() && request.resource.resource == "namespaces"
}
