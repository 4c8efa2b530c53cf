//! Test cases in YAML: `*.test.yaml`.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_core::Operation;
use portcullis_kube::cluster_objects::StaticObjects;
use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::Value;

use super::answer::{NAMESPACE, Request};
use super::expect::Expectation;
use super::read_documents;
use portcullis_document::yaml::{self, Dialect};
use portcullis_document::{Document, Fault, Faults, Node, Source};

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// Its place in the file, from 0.
    pub index: usize,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What is asked.
    pub request: Request,
    /// What is expected.
    pub expect: Expectation,
}

/// Test cases of policies: requests, and what is expected of the answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Tests")]
struct CaseFile {
    /// The cases.
    tests: Vec<CaseSpec>,
}

/// One request, and what is expected of the answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Test")]
struct CaseSpec {
    /// Name of the case.
    name: String,
    /// The object; a manifest.
    object: Option<Node>,
    /// Instead of `object`: a file beside this one with the object.
    file: Option<String>,
    /// The existing object, for UPDATE and DELETE.
    old_object: Option<Node>,
    /// CREATE, UPDATE, DELETE or CONNECT; by default CREATE.
    operation: Option<String>,
    /// The user who asks; by default `portcullis-test`.
    user: Option<String>,
    /// Groups of the user; `system:authenticated` is added.
    #[serde(default)]
    groups: Vec<String>,
    /// Namespace of an object that names none; by default `default`.
    namespace: Option<String>,
    /// Labels of the object's namespace, in addition to those of the configuration.
    #[serde(default)]
    namespace_labels: BTreeMap<String, String>,
    /// The objects of the cluster, for `kube.get`, `kube.list` and plug-ins; manifests.
    kube: Option<Vec<Node>>,
    /// Whether nothing would be stored.
    #[serde(default)]
    dry_run: bool,
    /// What is expected of the answer.
    expect: ExpectSpec,
}

/// What is expected of an answer. Only keys that are given are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Expectation")]
struct ExpectSpec {
    /// Whether the request is allowed.
    allowed: bool,
    /// The policy or plug-in that denies.
    policy: Option<String>,
    /// A regular expression that must match the message.
    message: Option<String>,
    /// Regular expressions, each of which must match a warning.
    #[serde(default)]
    warnings: Vec<String>,
    /// The whole object afterwards; what an API server fills in may be left out.
    object: Option<Node>,
    /// The whole JSON patch.
    patch: Option<Node>,
}

/// The JSON Schema of `*.test.yaml`, draft 2020-12.
pub fn tests_schema() -> Value {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<CaseFile>()
        .to_value()
}

/// Reads the cases of a file, or says everything that is wrong with them.
///
/// # Errors
///
/// Unknown keys, missing ones, patterns and objects that make no sense.
pub fn read_cases(source: &Arc<Source>) -> Result<Vec<Case>, Faults> {
    let document = yaml::parse_as(source, Dialect::Kubernetes)?;
    let file: CaseFile = portcullis_document::read::typed(source, &document.root)?;
    let mut reader = Reader {
        document: &document,
        faults: Vec::new(),
    };
    let specs = file.tests.into_iter().enumerate();
    let cases = specs.map(|(index, spec)| reader.case(index, spec));
    let cases = cases.collect();
    match Faults::from_list(reader.faults) {
        Some(faults) => Err(faults),
        None => Ok(cases),
    }
}

struct Reader<'a> {
    document: &'a Document,
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn case(&mut self, index: usize, spec: CaseSpec) -> Case {
        let at = &format!("tests[{index}]");
        let operation = spec.operation.as_deref().and_then(|name| {
            let known = name.to_ascii_uppercase().parse::<Operation>().ok();
            if known.is_none() {
                let message = format!(
                    "unknown operation `{name}`: expected CREATE, UPDATE, DELETE or CONNECT"
                );
                self.fault(at, "operation", message);
            }
            known
        });
        let object = match (spec.object, spec.file) {
            (Some(_), Some(_)) => {
                self.fault(at, "file", "give `object` or `file`, not both");
                None
            }
            (Some(object), None) => Some(object.to_json()),
            (None, Some(file)) => {
                let namespace = spec.namespace.as_deref().filter(|name| !name.is_empty());
                self.object_of_file(at, &file, namespace.unwrap_or(NAMESPACE))
            }
            (None, None) => None,
        };
        let objects = spec.kube.map(|list| self.cluster(at, &list));
        let request = Request {
            object,
            old_object: spec.old_object.map(|old| old.to_json()),
            operation,
            user: spec.user,
            groups: spec.groups,
            namespace: spec.namespace.filter(|name| !name.is_empty()),
            namespace_labels: spec.namespace_labels,
            objects,
            dry_run: spec.dry_run,
        };
        self.check_objects(at, &request);
        let expect = self.expectation(&format!("{at}.expect"), spec.expect);
        Case {
            name: spec.name,
            index,
            line: self.document.root.nearest(at).position.line,
            request,
            expect,
        }
    }

    /// The objects of the cluster.
    fn cluster(&mut self, at: &str, list: &[Node]) -> StaticObjects {
        let mut objects = StaticObjects::default();
        for (index, object) in list.iter().enumerate() {
            if let Err(why) = objects.add(object.to_json()) {
                self.fault(at, &format!("kube[{index}]"), why.to_string());
            }
        }
        objects
    }

    fn check_objects(&mut self, at: &str, request: &Request) {
        let is_read = |faults: &[Fault]| faults.iter().all(|f| !f.path.starts_with(at));
        if !is_read(&self.faults) {
            return;
        }
        if let Err(message) = request.manifest() {
            self.fault(at, "object", message);
        }
        if let Some(Err(message)) = request.old_object.as_ref().map(|o| request.completed(o)) {
            self.fault(at, "oldObject", message);
        }
    }

    fn expectation(&mut self, at: &str, spec: ExpectSpec) -> Expectation {
        let message = spec.message;
        let message = message.and_then(|text| self.pattern(at, "message", &text));
        let warnings = spec.warnings.iter().enumerate();
        Expectation {
            allowed: spec.allowed,
            policy: spec.policy,
            message,
            warnings: warnings
                .filter_map(|(index, text)| self.pattern(at, &format!("warnings[{index}]"), text))
                .collect(),
            object: spec.object.map(|object| object.to_json()),
            patch: spec.patch.map(|patch| patch.to_json()),
        }
    }

    fn pattern(&mut self, at: &str, key: &str, text: &str) -> Option<Regex> {
        match Regex::new(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                // The last line says what is wrong, those before it show where.
                let text = error.to_string();
                let why = text.lines().last().unwrap_or_default();
                let why = why.trim_start_matches("error: ");
                self.fault(at, key, format!("not a regular expression: {why}"));
                None
            }
        }
    }

    /// The one object of a file that a case names.
    fn object_of_file(&mut self, at: &str, named: &str, namespace: &str) -> Option<Value> {
        let path = self.document.source.resolve(named.as_ref());
        let source = match super::read_file(&path) {
            Ok(source) => source,
            Err(fault) => {
                self.fault(at, "file", fault.to_string());
                return None;
            }
        };
        let mut objects = Vec::new();
        for item in read_documents(&source, namespace) {
            match item.into_manifest() {
                Ok(manifest) => objects.push(manifest.object),
                Err(fault) => {
                    self.faults.push(*fault);
                    return None;
                }
            }
        }
        let count = objects.len();
        let only = objects.pop().filter(|_| count == 1);
        if only.is_none() {
            let message = format!("`{}` holds {count} objects: expected one", path.display());
            self.fault(at, "file", message);
        }
        only
    }

    fn fault(&mut self, at: &str, key: &str, message: impl Into<String>) {
        let path = format!("{at}.{key}");
        self.faults.push(self.document.fault(&path, message));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_shipped_schema_is_that_of_the_types() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
        let path = folder.join("tests.schema.json");
        let current = tests_schema();
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, format!("{current:#}\n")).unwrap();
        }
        let shipped = fs::read(&path).unwrap_or_default();
        let shipped: Option<Value> = serde_json::from_slice(&shipped).ok();
        assert!(
            shipped == Some(current),
            "{} is stale: run the tests with UPDATE_SCHEMA=1",
            path.display()
        );
    }
}
