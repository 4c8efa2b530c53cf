//! A profile: from its specification to its compiled form.
//!
//! [`ProfileSpec`] is the shape; the parts are checked and compiled by `sources`, `access_rules`
//! (`subjects`, `rules`, `static`) and `admission`. All faults are reported at once.

use std::sync::Arc;
use std::time::SystemTime;

use portcullis_document::Fault;

use crate::access_rules::{AccessRules, Subject};
use crate::admission::{Admission, AdmissionRequest, Judgement};
use crate::expression;
use crate::fault::known_kind;
use crate::kinds::{Kinds, VertexKind};
use crate::lookups::Lookups;
use crate::sources::Sources;
use crate::spec::ProfileSpec;
use crate::vertex::KindId;
use summary::Summary;

pub(crate) mod summary;

/// A profile that can be used.
#[derive(Debug)]
pub struct Profile {
    /// What it is for.
    pub description: Option<String>,
    /// A human-readable summary.
    pub summary: Summary,
    /// Kinds of vertices.
    pub kinds: Arc<Kinds>,
    /// Kinds that agents stand for; each has a graph of its own.
    pub targets: Vec<KindId>,
    /// What is watched, and what it contributes.
    pub sources: Sources,
    /// Who may do what.
    pub rules: AccessRules,
    /// What is required of what agents write.
    pub(crate) admission: Option<Admission>,
}

impl Profile {
    /// Checks and compiles a profile.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, at least one fault.
    pub fn compile(spec: &ProfileSpec) -> Result<Self, Vec<Fault>> {
        let compiled = expression::together(|| Self::compile_here(spec));
        compiled.unwrap_or_else(|why| Err(vec![Fault::at("", why.to_string())]))
    }

    fn compile_here(spec: &ProfileSpec) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let kinds = Arc::new(kinds(spec, &mut faults));
        let targets = targets(spec, &kinds, &mut faults);
        let sources = Sources::compile(&spec.sources, &kinds, &targets, &mut faults);
        let rules = AccessRules::compile(spec, &kinds, &targets, &mut faults);
        let admission = spec.admission.as_ref();
        let admission = admission.map(|a| Admission::compile(a, spec, &kinds, &mut faults));
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            description: spec.description.clone(),
            summary: Summary::of(spec),
            kinds,
            targets,
            sources,
            rules,
            admission,
        })
    }

    /// Judges one request of this agent by the admission rules.
    pub fn admit_agent(
        &self,
        subject: &Subject,
        request: &AdmissionRequest<'_>,
        lookups: &dyn Lookups,
        now: SystemTime,
    ) -> Judgement {
        match &self.admission {
            Some(admission) => admission.judge(subject, request, lookups, now),
            None => Judgement::NotApplicable,
        }
    }

    /// Whether this profile judges what agents write at all.
    pub fn judges_admission(&self) -> bool {
        self.admission.is_some()
    }
}

fn kinds(spec: &ProfileSpec, faults: &mut Vec<Fault>) -> Kinds {
    let mut kinds: Vec<VertexKind> = Vec::new();
    for (name, vertex) in &spec.vertices {
        let at = format!("vertices.{name}");
        let plain = |c: char| c.is_ascii_alphanumeric();
        if name.is_empty() || !name.chars().all(plain) {
            faults.push(Fault::at(
                &at,
                "invalid kind: only letters and digits are allowed",
            ));
        }
        if vertex.resource.is_empty() {
            faults.push(Fault::at(format!("{at}.resource"), "the resource is empty"));
        }
        let twin = kinds
            .iter()
            .find(|k| k.group == vertex.group && k.resource == vertex.resource);
        if let Some(twin) = twin {
            let message = format!("`{}` already has this resource", twin.name);
            faults.push(Fault::at(format!("{at}.resource"), message));
        }
        kinds.push(VertexKind {
            name: name.clone(),
            group: vertex.group.clone(),
            version: vertex.version.clone().unwrap_or_else(|| "v1".to_owned()),
            resource: vertex.resource.clone(),
            namespaced: vertex.namespaced,
        });
    }
    if kinds.len() > usize::from(u16::MAX) {
        faults.push(Fault::at("vertices", "there are too many kinds"));
    }
    Kinds::new(kinds)
}

fn targets(spec: &ProfileSpec, kinds: &Kinds, faults: &mut Vec<Fault>) -> Vec<KindId> {
    if spec.targets.is_empty() {
        faults.push(Fault::at("targets", "name at least one kind"));
    }
    let mut targets = Vec::new();
    for (index, name) in spec.targets.iter().enumerate() {
        let at = format!("targets[{index}]");
        match known_kind(kinds, name, &at, faults) {
            Some(id) if targets.contains(&id) => {
                faults.push(Fault::at(at, format!("`{name}` is named twice")));
            }
            Some(id) => targets.push(id),
            None => {}
        }
    }
    targets
}
