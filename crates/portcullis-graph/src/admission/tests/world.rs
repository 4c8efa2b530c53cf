//! A fixture for admission tests: rules, known objects, and one request after the other.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_core::UserInfo;
use portcullis_core::sync::Mutex;
use portcullis_document::Fault;
use serde_json::{Value, json};

use super::super::{Admission, AdmissionRequest, Judgement};
use crate::access_rules::Subject;
use crate::built_in;
use crate::kinds::{Kinds, VertexKind};
use crate::lookups::{LookupResult, Lookups};
use crate::spec::ProfileSpec;
use crate::vertex::{KindId, Vertex};

/// What is known, and what can't be.
#[derive(Default)]
pub(super) struct Known {
    pub(super) found: HashMap<Vertex, LookupResult>,
    edges: Vec<(Vertex, Vertex)>,
}

impl Lookups for Known {
    fn find(&self, wanted: &Vertex) -> LookupResult {
        self.found
            .get(wanted)
            .cloned()
            .unwrap_or(LookupResult::Absent)
    }

    fn neighbours(&self, wanted: &Vertex, kind: &str) -> Vec<Vertex> {
        let from = self.edges.iter().filter(|(from, _)| from == wanted);
        let to = from.map(|(_, to)| to.clone());
        to.filter(|to| to.kind == kind).collect()
    }
}

/// Rules, and what is known.
pub(super) struct World {
    pub(super) admission: Arc<Admission>,
    pub(super) known: Known,
}

/// A request and who asks.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) subject: (&'static str, &'static str, &'static str),
    pub(super) operation: &'static str,
    pub(super) resource: &'static str,
    pub(super) key: String,
    pub(super) object: Option<Value>,
    pub(super) old_object: Option<Value>,
}

/// A vertex or object: `Kind:namespace/name`.
pub(super) fn wanted(kind: &str, key: &str) -> Vertex {
    let (namespace, name) = key.rsplit_once('/').unwrap_or(("", key));
    Vertex {
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

pub(super) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// The kinds of a profile.
fn kinds(spec: &ProfileSpec) -> Arc<Kinds> {
    let kinds = spec.vertices.iter().map(|(name, vertex)| VertexKind {
        name: name.clone(),
        group: vertex.group.clone(),
        version: "v1".to_owned(),
        resource: vertex.resource.clone(),
        namespaced: vertex.namespaced,
    });
    Arc::new(Kinds::new(kinds.collect()))
}

/// The rules of this text, or what is wrong with them.
pub(super) fn compile(text: &str) -> Result<Admission, Vec<Fault>> {
    let spec: ProfileSpec = serde_saphyr::from_str(text).expect("a profile");
    let mut faults = Vec::new();
    let admission = spec.admission.as_ref().expect("admission rules");
    let compiled = Admission::compile(admission, &spec, &kinds(&spec), &mut faults);
    if faults.is_empty() {
        Ok(compiled)
    } else {
        Err(faults)
    }
}

impl World {
    /// The rules of this text; nothing is known.
    pub(super) fn new(text: &str) -> Self {
        let admission = compile(text).unwrap_or_else(|faults| panic!("{faults:#?}"));
        Self {
            admission: Arc::new(admission),
            known: Known::default(),
        }
    }

    /// The rules of a profile that ships.
    pub(super) fn of(profile: &str) -> Self {
        static COMPILED: Mutex<BTreeMap<String, Arc<Admission>>> = Mutex::new(BTreeMap::new());
        let mut compiled = COMPILED.lock();
        let admission = compiled.entry(profile.to_owned()).or_insert_with(|| {
            Self::new(built_in::find(profile).expect("a built-in profile")).admission
        });
        Self {
            admission: Arc::clone(admission),
            known: Known::default(),
        }
    }

    /// An object that is there.
    pub(super) fn with(mut self, kind: &str, key: &str, mut object: Value) -> Self {
        let wanted = wanted(kind, key);
        object["metadata"]["name"] = json!(wanted.name);
        object["metadata"]["namespace"] = json!(wanted.namespace);
        let found = LookupResult::Object(Arc::new(object));
        self.known.found.insert(wanted, found);
        self
    }

    /// An edge that is there.
    pub(super) fn with_edge(mut self, from: (&str, &str), to: (&str, &str)) -> Self {
        let edge = (wanted(from.0, from.1), wanted(to.0, to.1));
        self.known.edges.push(edge);
        self
    }

    /// An object of which only this is known.
    pub(super) fn with_found(mut self, kind: &str, key: &str, found: LookupResult) -> Self {
        self.known.found.insert(wanted(kind, key), found);
        self
    }

    /// What the rules say.
    pub(super) fn judge(&self, ask: &Ask) -> Judgement {
        let (id, kind, key) = ask.subject;
        let target = wanted(kind, key);
        let subject = Subject {
            id: Arc::from(id),
            kind: self.admission.kinds.id(kind).unwrap_or(KindId(0)),
            namespace: target.namespace,
            name: target.name,
        };
        let user = UserInfo {
            username: "somebody".to_owned(),
            ..UserInfo::default()
        };
        let (whole, subresource) = ask.resource.split_once('/').unwrap_or((ask.resource, ""));
        let (resource, group) = whole.split_once('.').unwrap_or((whole, ""));
        let (namespace, name) = ask.key.rsplit_once('/').unwrap_or(("", &ask.key));
        let request = AdmissionRequest {
            operation: ask.operation,
            group,
            resource,
            subresource,
            namespace,
            name,
            user: &user,
            object: ask.object.as_ref(),
            old_object: ask.old_object.as_ref(),
            options: None,
        };
        self.admission.judge(&subject, &request, &self.known, now())
    }

    /// Asserts what the rules say: `ok`, or the code of the denial.
    #[track_caller]
    pub(super) fn expect(&self, ask: &Ask, expected: &str) {
        let Ask {
            operation,
            resource,
            key,
            ..
        } = ask;
        let judgement = self.judge(ask);
        let what = format!(
            "{:?} {operation} {resource} {key}: {judgement:?}",
            ask.subject
        );
        assert_eq!(short(&judgement), expected, "{what}");
    }

    /// The text of a denial.
    #[track_caller]
    pub(super) fn message(&self, ask: &Ask) -> String {
        match self.judge(ask) {
            Judgement::Refuse { message, .. } => message,
            other => panic!("not refused: {other:?}"),
        }
    }
}

fn short(judgement: &Judgement) -> String {
    match judgement {
        Judgement::NotApplicable => "none".to_owned(),
        Judgement::Pass => "ok".to_owned(),
        Judgement::AlreadyExists => "exists".to_owned(),
        Judgement::Refuse { code, .. } => code.to_string(),
        Judgement::Needs(_) => "needs".to_owned(),
        Judgement::Failed(_) => "failed".to_owned(),
    }
}

impl Ask {
    /// To create an object of this key.
    pub(super) fn create(resource: &'static str, key: &str, mut object: Value) -> Self {
        let (namespace, name) = key.rsplit_once('/').unwrap_or(("", key));
        if object.is_object() && !resource.contains('/') {
            object["metadata"]["name"] = json!(name);
            if !namespace.is_empty() {
                object["metadata"]["namespace"] = json!(namespace);
            }
        }
        Self {
            subject: ("", "", ""),
            operation: "CREATE",
            resource,
            key: key.to_owned(),
            object: Some(object),
            old_object: None,
        }
    }

    /// To change it from what it was.
    pub(super) fn update(resource: &'static str, key: &str, old: Value, new: Value) -> Self {
        Self {
            operation: "UPDATE",
            old_object: Some(old),
            ..Self::create(resource, key, new)
        }
    }

    /// To delete it.
    pub(super) fn delete(resource: &'static str, key: &str, old: Value) -> Self {
        Self {
            operation: "DELETE",
            object: None,
            old_object: Some(old),
            ..Self::create(resource, key, json!({}))
        }
    }

    /// The same, asked by this subject: id, kind and key of what it stands for.
    pub(super) fn by(&self, subject: (&'static str, &'static str, &'static str)) -> Self {
        Self {
            subject,
            ..self.clone()
        }
    }
}
