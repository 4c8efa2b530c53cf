//! What a configuration must be able to read in clusters: for RBAC rules, and to check them.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_config::{GraphSource, Loaded};
use portcullis_kube::scoped_access;
use portcullis_watch::Access;

use super::kinds;

/// A resource that must be readable, in all namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAccess {
    /// How the cluster is reached, and as whom.
    pub access: Access,
    /// The API group, empty for the core group.
    pub group: String,
    /// The resource, like `limitranges`.
    pub resource: String,
    /// `get`, `list` and `watch`, as far as needed, sorted.
    pub verbs: Vec<&'static str>,
    /// Whether its objects live in namespaces. They are read in all of them.
    pub is_namespaced: bool,
    /// What needs it: `kube`, or a profile of the graph.
    pub needed_by: Vec<String>,
}

#[derive(Default)]
struct Needed {
    verbs: BTreeSet<&'static str>,
    is_namespaced: bool,
    by: BTreeSet<String>,
}

/// What is needed, by cluster, group and resource.
#[derive(Default)]
struct Collected(BTreeMap<(String, String, String), (Access, Needed)>);

impl Collected {
    fn add(
        &mut self,
        access: &Access,
        (group, resource, is_namespaced): (&str, &str, bool),
        verbs: &[&'static str],
        by: &str,
    ) {
        let cluster = format!("{access:?}");
        let key = (cluster, group.to_owned(), resource.to_owned());
        let (_, needed) = self
            .0
            .entry(key)
            .or_insert_with(|| (access.clone(), Needed::default()));
        needed.is_namespaced = is_namespaced;
        needed.verbs.extend(verbs);
        needed.by.insert(by.to_owned());
    }
}

/// What this configuration must be able to read, by cluster and resource; nothing more is ever asked for.
pub fn cluster_access(loaded: &Loaded) -> Vec<ClusterAccess> {
    let mut all = Collected::default();
    if let Some(kube) = &loaded.kube {
        for kind in kinds(loaded, kube) {
            let resource = kind.likely_resource();
            let place = (
                kind.group.as_ref(),
                resource.as_str(),
                kind.is_likely_namespaced(),
            );
            all.add(&kube.access, place, &["get", "list", "watch"], "kube");
        }
    }
    let is_scoped = loaded.plugins.iter().any(|p| p.name == scoped_access::NAME);
    for declared in &loaded.graphs {
        let GraphSource::Cluster(access) = &declared.source else {
            continue;
        };
        let profile = &declared.profile;
        let by = format!("graph profile `{}`", declared.name);
        let sources = profile.sources.iter().map(|(_, kind)| kind);
        for kind in sources.filter_map(|kind| profile.kinds.get(kind)) {
            let place = (kind.group.as_str(), kind.resource.as_str(), kind.namespaced);
            all.add(access, place, &["list", "watch"], &by);
        }
        if !is_scoped || !profile.judges_admission() {
            continue;
        }
        // Its checks may read any kind that the profile knows.
        for (_, kind) in profile.kinds.iter() {
            let place = (kind.group.as_str(), kind.resource.as_str(), kind.namespaced);
            all.add(access, place, &["get"], &by);
        }
    }
    let all = all.0.into_iter();
    all.map(|((_, group, resource), (access, needed))| ClusterAccess {
        access,
        group,
        resource,
        verbs: needed.verbs.into_iter().collect(),
        is_namespaced: needed.is_namespaced,
        needed_by: needed.by.into_iter().collect(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use portcullis_config::{ConfigSource, Listening, LoadOptions};

    use super::*;

    /// What this configuration needs, a line each.
    fn needed(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("portcullis.yaml");
        fs::write(&file, text).unwrap();
        let registry = crate::registry();
        let known = registry.names();
        let options = LoadOptions {
            source: ConfigSource::File(&file),
            admission_control: None,
            admission_control_config_file: None,
            known_plugins: &known,
            listeners: Listening::Ignored,
            objects: None,
            coverage: false,
            env: &|_| None,
        };
        let loaded = portcullis_config::load(&options).unwrap();
        let line = |one: ClusterAccess| {
            let (verbs, by) = (one.verbs.join(","), one.needed_by.join(","));
            let scope = if one.is_namespaced {
                "namespaced"
            } else {
                "cluster"
            };
            let (group, resource) = (one.group, one.resource);
            format!("{group}/{resource} {verbs} {scope} {by}")
        };
        cluster_access(&loaded).into_iter().map(line).collect()
    }

    #[test]
    fn plug_ins_and_policies_need_what_they_look_up_and_no_more() {
        assert_eq!(needed("{}"), Vec::<String>::new());
        assert_eq!(needed("kube: {}"), Vec::<String>::new());
        let both = "kube: {kinds: [apps/v1/Deployment, v1/ConfigMap]}\n\
            admission: {order: [PodSecurity, AlwaysAdmit]}";
        assert_eq!(
            needed(both),
            [
                "/configmaps get,list,watch namespaced kube",
                "/namespaces get,list,watch cluster kube",
                "/pods get,list,watch namespaced kube",
                "apps/deployments get,list,watch namespaced kube",
            ]
        );
        let selecting = "kube: {}\n\
            policies: [{name: p, code: return, match: {namespaceSelector: {matchLabels: {a: b}}}}]";
        assert_eq!(
            needed(selecting),
            ["/namespaces get,list,watch cluster kube"]
        );
    }

    #[test]
    fn profiles_need_what_they_watch_and_what_their_checks_read() {
        let profile = "graph: {profiles: [{name: n, profile: node, inCluster: true}]}\n";
        let watched = needed(profile);
        assert!(
            watched.contains(&"/pods list,watch namespaced graph profile `n`".to_owned()),
            "{watched:?}"
        );
        assert!(
            watched.iter().all(|line| !line.contains("get")),
            "{watched:?}"
        );
        let checked = needed(&format!("{profile}admission: {{order: [ScopedAccess]}}"));
        assert!(
            checked.contains(&"/pods get,list,watch namespaced graph profile `n`".to_owned()),
            "{checked:?}"
        );
    }
}
