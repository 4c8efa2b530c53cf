//! Which requests a policy is asked about, as far as rules need it.

mod resources;

use portcullis_core::{Door, Operation};

use crate::kubernetes::{self, Kind};
pub(crate) use resources::{Resource, resource as resource_of};

/// The group of CI jobs.
const CI_GROUP: &str = "ci.portcullis.dev";

/// A `match`. What is absent matches everything.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The doors; never empty.
    pub doors: Vec<Door>,
    /// The operations.
    pub operations: Option<Vec<Operation>>,
    /// Kinds, as written.
    pub kinds: Option<Vec<String>>,
    /// Resources, as kubectl names them.
    pub resources: Option<Vec<String>>,
    /// Patterns for namespaces.
    pub namespaces: Option<Vec<String>>,
    /// Whether the labels of the namespace matter.
    pub selects_namespaces: bool,
    /// Patterns for paths.
    pub paths: Option<Vec<String>>,
    /// Reviews come at Portcullis' own paths only, as they do unless a file of acjs says otherwise.
    pub has_own_paths: bool,
}

/// One entry of `match.kinds`. What is absent may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pattern<'a> {
    pub(crate) group: Option<&'a str>,
    pub(crate) version: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
}

/// A kind that a request may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Candidate {
    /// One that Kubernetes has.
    Known(&'static Kind),
    /// One of which nothing but the name is known.
    Custom(String),
}

impl Candidate {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Known(kind) => kind.name,
            Self::Custom(name) => name,
        }
    }
}

impl<'a> Pattern<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let part = |text: &'a str| (text != "*").then_some(text);
        let parts: Vec<&str> = text.split('/').collect();
        let (group, version, kind) = match parts.as_slice() {
            [version, kind] if is_version(version) => (Some(""), part(version), part(kind)),
            [group, kind] => (part(group), None, part(kind)),
            [group, version, kind] => (part(group), part(version), part(kind)),
            _ => (None, None, part(text)),
        };
        Self {
            group,
            version,
            kind,
        }
    }

    /// The kinds of Kubernetes that it means.
    pub(crate) fn known(self) -> impl Iterator<Item = &'static Kind> {
        let fits = |wanted: Option<&str>, found: &str| wanted.is_none_or(|wanted| wanted == found);
        kubernetes::kinds().iter().filter(move |kind| {
            fits(self.group, kind.group)
                && fits(self.version, kind.version)
                && fits(self.kind, kind.name)
        })
    }
}

fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit())
}

impl Scope {
    /// Whether reviews of Kubernetes come.
    pub(crate) fn is_for_kubernetes(&self) -> bool {
        self.doors.contains(&Door::Kubernetes)
    }

    /// Whether CI jobs come.
    pub(crate) fn is_for_jobs(&self) -> bool {
        self.doors.contains(&Door::Ci)
    }

    pub(crate) fn has_operation(&self, operation: Operation) -> bool {
        let all = self.operations.as_ref();
        all.is_none_or(|all| all.contains(&operation))
    }

    /// Every kind that requests may be about; nothing if it may be any.
    pub(crate) fn candidates(&self) -> Option<Vec<Candidate>> {
        let by_resources = self.of_resources();
        let Some(by_kinds) = self.of_kinds() else {
            return by_resources;
        };
        let Some(by_resources) = by_resources else {
            return Some(by_kinds);
        };
        let both = by_kinds.into_iter();
        Some(both.filter(|one| by_resources.contains(one)).collect())
    }

    /// The kinds of the resources; nothing if one of them may be of any.
    fn of_resources(&self) -> Option<Vec<Candidate>> {
        // What jobs are a resource of is not in the table.
        if self.is_for_jobs() {
            return None;
        }
        let mut found = Vec::new();
        for text in self.resources.as_ref()? {
            let known = Resource::new(text).kinds()?;
            found.extend(known.into_iter().map(Candidate::Known));
        }
        (!found.is_empty()).then_some(found)
    }

    /// The kinds that `kinds` names.
    fn of_kinds(&self) -> Option<Vec<Candidate>> {
        let mut found = Vec::new();
        let Some(written) = &self.kinds else {
            // Only jobs come, of which the fields are not in the table.
            let job = || vec![Candidate::Custom("Job".to_owned())];
            return (!self.is_for_kubernetes()).then(job);
        };
        for text in written {
            let pattern = Pattern::new(text);
            let name = pattern.kind?;
            let before = found.len();
            if self.is_for_kubernetes() {
                found.extend(pattern.known().map(Candidate::Known));
            }
            let may_be_job = self.is_for_jobs()
                && name == "Job"
                && pattern.group.is_none_or(|group| group == CI_GROUP);
            if may_be_job || found.len() == before {
                found.push(Candidate::Custom(name.to_owned()));
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kinds: &[&str], doors: &[Door]) -> Vec<String> {
        let scope = Scope {
            doors: doors.to_vec(),
            kinds: Some(kinds.iter().map(|&kind| kind.to_owned()).collect()),
            ..Scope::default()
        };
        let candidates = scope.candidates().unwrap().into_iter();
        let written = candidates.map(|candidate| match candidate {
            Candidate::Known(kind) => kind.written(),
            Candidate::Custom(name) => format!("? {name}"),
        });
        written.collect()
    }

    #[test]
    fn kinds_are_found_by_group_and_version() {
        let kubernetes = [Door::Kubernetes];
        assert_eq!(
            names(&["Pod", "v1/Secret"], &kubernetes),
            ["v1/Pod", "v1/Secret"]
        );
        assert_eq!(
            names(&["HorizontalPodAutoscaler"], &kubernetes),
            [
                "autoscaling/v1/HorizontalPodAutoscaler",
                "autoscaling/v2/HorizontalPodAutoscaler"
            ]
        );
        assert_eq!(
            names(&["apps/*/Deployment"], &kubernetes),
            ["apps/v1/Deployment"]
        );
        assert_eq!(names(&["example.org/Pod"], &kubernetes), ["? Pod"]);
        assert_eq!(
            names(&["batch/Job"], &[Door::Kubernetes, Door::Ci]),
            ["batch/v1/Job"]
        );
        assert_eq!(
            names(&["Job"], &[Door::Kubernetes, Door::Ci]),
            ["batch/v1/Job", "? Job"]
        );
        assert_eq!(names(&["Job"], &[Door::Ci]), ["? Job"]);
    }

    #[test]
    fn a_pattern_for_every_kind_says_nothing() {
        let scope = Scope {
            doors: vec![Door::Kubernetes],
            kinds: Some(vec!["Pod".to_owned(), "apps/*".to_owned()]),
            ..Scope::default()
        };
        assert_eq!(scope.candidates(), None);
    }
}
