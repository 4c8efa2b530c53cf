//! Checks of `graph`.

use std::path::Path;

use portcullis_watch::Access;

use crate::{
    model::{GraphProfile, GraphProfileSpec, GraphSource, GraphSpec},
    notes::Notes,
    options::{Listening, LoadOptions},
    profile::{self, ReadProfile},
};
use portcullis_document::{Document, Origin, Source};

const OBJECTS_FLAG: &str = "--objects";
/// Set in every container of a cluster.
pub(super) const CLUSTER_VARIABLE: &str = "KUBERNETES_SERVICE_HOST";

/// Checks and resolves the profiles.
pub(crate) fn graph(
    document: &Document,
    spec: &GraphSpec,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Vec<GraphProfile> {
    let mut profiles: Vec<GraphProfile> = Vec::new();
    for (index, declared) in spec.profiles.iter().enumerate() {
        let at = format!("graph.profiles[{index}]");
        check_name(document, &at, declared, &profiles, notes);
        let source = source(document, &at, declared, options, notes);
        let Some(read) = read(document, &at, declared, notes) else {
            continue;
        };
        profiles.push(GraphProfile {
            name: declared.name.clone(),
            profile: read.profile,
            text: read.text,
            source,
            compat: declared.compat.into(),
            selectors: declared.selectors.into(),
            origin: Origin::of(document, &at),
        });
    }
    let takes_flag = |one: &GraphProfileSpec| named_sources(one).is_empty();
    if options.objects.is_some() && !spec.profiles.iter().any(takes_flag) {
        let message =
            "every profile of `graph.profiles` has its own source, so nothing would read it";
        notes.fault(Source::named(OBJECTS_FLAG).fault(None, "", message));
    }
    profiles
}

fn check_name(
    document: &Document,
    at: &str,
    declared: &GraphProfileSpec,
    earlier: &[GraphProfile],
    notes: &mut Notes,
) {
    let (name, at) = (&declared.name, format!("{at}.name"));
    if name.is_empty() {
        notes.fault(document.fault(&at, "the name is empty"));
    }
    if let Some(first) = earlier.iter().find(|other| other.name == *name) {
        let place = first.origin.place();
        let message = format!("the profile `{name}` is declared twice, first at {place}");
        notes.fault(document.fault(&at, message));
    }
}

fn read(
    document: &Document,
    at: &str,
    declared: &GraphProfileSpec,
    notes: &mut Notes,
) -> Option<ReadProfile> {
    let (named, at) = (declared.profile.as_str(), format!("{at}.profile"));
    if let Some(read) = profile::built_in(named) {
        return notes.keep(read);
    }
    let file = document.source.resolve(Path::new(named));
    notes.watch(&file);
    match profile::of_file(&file) {
        Ok(read) => notes.keep(read),
        Err(reason) => {
            let file = file.display();
            let message = format!(
                "`{named}` is not a built-in profile, and `{file}` can't be read: {reason}"
            );
            let fault = document.fault(&at, message);
            notes.fault(fault.with_known("built-in profiles", named, profile::names()));
            None
        }
    }
}

/// The keys of a source that are given.
fn named_sources(declared: &GraphProfileSpec) -> Vec<&'static str> {
    let given = [
        ("objects", declared.objects.is_some()),
        ("kubeconfig", declared.kubeconfig.is_some()),
        ("inCluster", declared.in_cluster),
    ];
    let given = given.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(key, _)| key).collect()
}

/// The way to a cluster by the kubeconfig that stands at `at`.
pub(super) fn kubeconfig(
    document: &Document,
    at: &str,
    file: &Path,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Access {
    // Judging manifests alone needs no credentials.
    if options.listeners == Listening::Ignored {
        return Access::Kubeconfig(document.source.resolve(file));
    }
    let known_faults = notes.faults.len();
    let access = Access::Kubeconfig(notes.named_key(document, at, file));
    if notes.faults.len() == known_faults
        && let Err(error) = access.check()
    {
        notes.fault(document.fault(at, error.to_string()));
    }
    access
}

fn source(
    document: &Document,
    at: &str,
    declared: &GraphProfileSpec,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> GraphSource {
    if let [first, second, ..] = named_sources(declared).as_slice() {
        let message = format!("`{first}` and `{second}` can't be combined: give one source");
        notes.fault(document.fault(&format!("{at}.{second}"), message));
    }
    if let Some(objects) = &declared.objects {
        let folder = document.source.resolve(objects);
        if let Err(reason) = std::fs::read_dir(&folder) {
            let folder = folder.display();
            let message = format!("cannot read the directory `{folder}`: {reason}");
            notes.fault(document.fault(&format!("{at}.objects"), message));
        }
        return GraphSource::Directory(folder);
    }
    if let Some(file) = &declared.kubeconfig {
        let at = format!("{at}.kubeconfig");
        return GraphSource::Cluster(kubeconfig(document, &at, file, options, notes));
    }
    if declared.in_cluster {
        return GraphSource::Cluster(Access::InCluster);
    }
    let name = &declared.name;
    match &options.objects {
        Some(folder) => {
            if let Err(reason) = std::fs::read_dir(folder) {
                let folder = folder.display();
                let message = format!("cannot read the directory `{folder}`: {reason}");
                notes.fault(Source::named(OBJECTS_FLAG).fault(None, "", message));
            }
            GraphSource::Directory(folder.clone())
        }
        None if options.variable(CLUSTER_VARIABLE).is_some() => {
            GraphSource::Cluster(Access::InCluster)
        }
        None => {
            let message = format!(
                "the profile `{name}` has no source of objects: give it `objects`, `kubeconfig` or \
                 `inCluster`, or start with {OBJECTS_FLAG} DIR"
            );
            match options.listeners {
                Listening::Needed => notes.fault(document.fault(at, message)),
                Listening::Optional | Listening::Ignored => notes.warn(message),
            }
            GraphSource::Nowhere
        }
    }
}
