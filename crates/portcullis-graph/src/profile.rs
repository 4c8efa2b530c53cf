//! A profile: from what is written to what is used.
//!
//! [`spec`] is the shape; the parts are checked and compiled by those that use them: `sources` by
//! `state`, `subjects`, `rules` and `static` by `authorizer`, `admission` by
//! `admission`. All faults are reported at once.

use std::sync::Arc;

use super::admission::Admission;
use super::authorizer::Rules;
use super::expression;
use super::kinds::{KindId, Kinds, VertexKind};
use super::state::Sources;
use spec::ProfileSpec;
use summary::Summary;

pub(crate) mod spec;
pub(crate) mod summary;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where, like `sources[3].edges[1].names`.
    pub path: String,
    /// What.
    pub message: String,
    /// What would be right, where that can be listed: what the list is of, what was written, the list.
    pub known: Option<(String, String, Vec<String>)>,
}

impl Fault {
    /// Something wrong there.
    pub(crate) fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            known: None,
        }
    }
}

/// A profile that can be used.
#[derive(Debug)]
pub struct Profile {
    /// What it is for.
    pub description: Option<String>,
    /// What it is about, for people.
    pub summary: Summary,
    /// Kinds of vertices.
    pub kinds: Arc<Kinds>,
    /// Kinds that agents stand for; each has a graph of its own.
    pub targets: Vec<KindId>,
    /// What is watched, and what it contributes.
    pub sources: Sources,
    /// Who may do what.
    pub rules: Rules,
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
        let rules = Rules::compile(spec, &kinds, &targets, &mut faults);
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

/// The kind of this name; a fault if there is none.
pub(crate) fn known_kind(
    kinds: &Kinds,
    name: &str,
    at: &str,
    faults: &mut Vec<Fault>,
) -> Option<KindId> {
    let id = kinds.id(name);
    if id.is_none() {
        let known = kinds.iter().map(|(_, kind)| kind.name.clone()).collect();
        let mut fault = Fault::at(at, format!("unknown kind `{name}`"));
        fault.known = Some(("kinds of `vertices`".to_owned(), name.to_owned(), known));
        faults.push(fault);
    }
    id
}
