//! One request of a test, and what the chain answers.

use std::collections::BTreeMap;

use portcullis_core::{Operation, PolicyStep, StepOutcome};
use serde_json::{Value, json};

use super::blueprint::{Blueprint, Memory};
use super::observed::ConsoleLine;
use super::{Judged, Manifest, Offline, ReviewRequest, asker, job, review_text};
use portcullis_kube::Namespace;
use portcullis_kube::cluster_objects::StaticObjects;

/// The namespace of objects that name none.
pub(super) const NAMESPACE: &str = "default";
/// The default user.
const USER: &str = "portcullis-test";

/// What a test asks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The object; on DELETE it may be missing.
    pub object: Option<Value>,
    /// The object as it is before an UPDATE or a DELETE.
    pub old_object: Option<Value>,
    /// CREATE unless said.
    pub operation: Option<Operation>,
    /// The user.
    pub user: Option<String>,
    /// The groups of who asks, besides `system:authenticated`.
    pub groups: Vec<String>,
    /// The namespace, where the object names none.
    pub namespace: Option<String>,
    /// Labels of the object's namespace, over those of the configuration.
    pub namespace_labels: BTreeMap<String, String>,
    /// The objects of the cluster, in place of those that were given for all tests.
    pub objects: Option<StaticObjects>,
    /// Nothing will be stored.
    pub dry_run: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The verdict.
    pub allowed: bool,
    /// Why not.
    pub message: String,
    /// What denied: a policy, or else a plug-in.
    pub policy: Option<String>,
    /// Whether it was denied only because no decision could be made.
    pub undecided: bool,
    /// Remarks for the person who asked.
    pub warnings: Vec<String>,
    /// The changes, as a JSON patch.
    pub patch: Value,
    /// The object after them; as it was after a denial; null when it is deleted.
    pub object: Value,
    /// What each policy did.
    pub steps: Vec<PolicyStep>,
    /// What policies wrote.
    pub written: Vec<ConsoleLine>,
    /// The marks of coverage that were passed.
    pub covered: Vec<u32>,
}

impl Request {
    /// The manifest this is about.
    ///
    /// # Errors
    ///
    /// When there is none, or it is not an object.
    pub(super) fn manifest(&self) -> Result<Manifest, String> {
        let object = match (self.operation, &self.object, &self.old_object) {
            (Some(Operation::Delete), _, Some(old)) => old,
            (_, Some(object), _) => object,
            _ => return Err("there is no object to judge".to_owned()),
        };
        self.completed(object)
    }

    /// An object as an API server would complete it.
    pub(super) fn completed(&self, object: &Value) -> Result<Manifest, String> {
        let namespace = job::project(object).or(self.namespace.as_deref());
        Manifest::new(object.clone(), namespace.unwrap_or(NAMESPACE)).map_err(|e| e.message)
    }

    /// What is known of the namespace beside the configuration.
    fn labelled(&self, name: &str) -> Option<Namespace> {
        (!self.namespace_labels.is_empty()).then(|| Namespace {
            name: name.to_owned(),
            labels: self.namespace_labels.clone(),
            annotations: BTreeMap::new(),
        })
    }
}

impl Blueprint {
    /// Asks a chain that was built for this request alone. Policies keep what they keep in `memory`.
    ///
    /// # Errors
    ///
    /// When the request can't be asked.
    pub fn answer(&self, request: &Request, memory: &Memory) -> Result<Answer, String> {
        let manifest = request.manifest()?;
        let offline = self
            .build_with(
                request.labelled(&manifest.namespace),
                request.objects.as_ref(),
                memory,
            )
            .map_err(|faults| faults.to_string())?;
        self.answer_of(&offline, request)
    }

    /// Asks a chain that may have been asked before. Labels of namespaces and objects of the cluster are those that it was
    /// built with.
    ///
    /// # Errors
    ///
    /// When the request can't be asked.
    pub fn answer_of(&self, offline: &Offline, request: &Request) -> Result<Answer, String> {
        let manifest = request.manifest()?;
        let operation = request.operation.unwrap_or(Operation::Create);
        let old = match (operation, &request.old_object) {
            (Operation::Delete, _) | (_, None) => None,
            (_, Some(old)) => Some(request.completed(old)?),
        };
        let user = match &request.user {
            Some(user) => asker(user, &request.groups),
            None => job::user_of_job(&manifest, &request.groups)
                .unwrap_or_else(|| asker(USER, &request.groups)),
        };
        let question = ReviewRequest {
            operation,
            old: old.as_ref(),
            user: &user,
            dry_run: request.dry_run,
            uid: "00000000-0000-4000-8000-000000000000",
        };
        let judged = offline.judge(&review_text(&manifest, question));
        let mut answer = judged.map(Answer::of).map_err(|fault| fault.message)?;
        if !self.marks().is_empty() {
            // Marks keep lines, but move columns.
            answer.steps.iter_mut().for_each(|step| step.column = None);
        }
        Ok(answer)
    }
}

impl Answer {
    fn of(judged: Judged) -> Self {
        let (verdict, object) = (judged.verdict, judged.request.object);
        let tree = object.as_ref();
        let object = if verdict.is_allowed() {
            tree.and_then(|d| d.value().ok())
        } else {
            tree.and_then(|d| d.original().ok())
        };
        Self {
            allowed: verdict.is_allowed(),
            undecided: verdict.is_undecided(),
            message: verdict
                .denial()
                .map_or(String::new(), |d| d.message.clone()),
            policy: verdict
                .policy
                .clone()
                .or(verdict.plugin.as_deref().map(str::to_owned)),
            patch: json!(verdict.patch),
            object: object.cloned().unwrap_or_default(),
            steps: verdict
                .trace
                .into_iter()
                .filter(|step| step.outcome != StepOutcome::Skipped)
                .flat_map(|step| step.policies)
                .collect(),
            warnings: verdict.warnings,
            written: judged.written,
            covered: judged.covered,
        }
    }

    /// As a test in JavaScript sees it.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "allowed": self.allowed,
            "message": self.message,
            "policy": self.policy,
            "undecided": self.undecided,
            "warnings": self.warnings,
            "patch": self.patch,
            "object": self.object,
        })
    }
}
