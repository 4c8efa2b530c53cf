//! Questions of authorization, and what is answered.

use std::fmt;

use portcullis_e2e::Connection;
use serde_json::{Value, json};

/// Where an API server takes questions about others.
pub(crate) const API_SERVER: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) user: &'static str,
    pub(crate) groups: &'static [&'static str],
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) who: Who,
    pub(crate) verb: &'static str,
    pub(crate) group: &'static str,
    pub(crate) resource: &'static str,
    pub(crate) subresource: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Key, operator and values of a requirement about fields.
    pub(crate) fields: Vec<(&'static str, &'static str, Vec<String>)>,
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed,
    NoOpinion,
    Denied,
}

impl Request {
    pub(crate) fn new(
        who: Who,
        verb: &'static str,
        (group, resource): (&'static str, &'static str),
        (namespace, name): (&str, &str),
    ) -> Self {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Self {
            who,
            verb,
            group,
            resource,
            subresource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            fields: Vec::new(),
        }
    }

    fn review(&self) -> Value {
        let mut attributes = json!({"verb": self.verb, "group": self.group, "version": "v1", "resource": self.resource});
        for (key, value) in [
            ("subresource", self.subresource),
            ("namespace", &self.namespace),
            ("name", &self.name),
        ] {
            if !value.is_empty() {
                attributes[key] = value.into();
            }
        }
        if !self.fields.is_empty() {
            let requirement = |(key, operator, values): &(_, _, Vec<_>)| json!({"key": key, "operator": operator, "values": values});
            let requirements: Vec<_> = self.fields.iter().map(requirement).collect();
            attributes["fieldSelector"] = json!({"requirements": requirements});
        }
        json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {},
            "spec": {"user": self.who.user, "groups": self.who.groups, "resourceAttributes": attributes},
        })
    }

    /// Asks there.
    pub(crate) fn ask(&self, connection: &mut Connection, path: &str) -> Verdict {
        let (status, answer) = connection
            .post(path, &self.review())
            .unwrap_or_else(|error| panic!("{self} at {path}: {error}"));
        assert!(matches!(status, 200 | 201), "{self} at {path}: {answer}");
        let says = |key: &str| answer["status"][key] == true;
        match (says("allowed"), says("denied")) {
            (true, false) => Verdict::Allowed,
            (false, false) => Verdict::NoOpinion,
            (_, true) => Verdict::Denied,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.who.user, self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        write!(f, " {}/{}", self.namespace, self.name)?;
        for (key, operator, values) in &self.fields {
            write!(f, " {key} {operator} {values:?}")?;
        }
        Ok(())
    }
}
