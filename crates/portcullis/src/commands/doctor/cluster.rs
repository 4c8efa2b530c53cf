//! The cluster: which one is looked at, and everything that is looked at in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use portcullis_core::clock::wall;
use portcullis_gate::registration::VITAL_NAMESPACES;
use portcullis_watch::{Access, Cluster};
use serde_json::Value;

use super::api_server::{TIME, refusal};
use super::finding::{Finding, Findings};
use super::registered::{Phase, Registered, Target};
use super::registrations::Again;
use super::selector::{Labels, labels, labels_of_name};
use super::{clock, credentials, reach, registrations, services, shown};

const CHECK: &str = "cluster";

/// How the cluster is reached: as the command line says, else as kubectl does.
pub(super) fn access(kubeconfig: Option<&Path>) -> Option<Access> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(file) = kubeconfig {
        return Some(Access::Kubeconfig(file.to_owned()));
    }
    if let Some(files) = variable("KUBECONFIG") {
        let first = std::env::split_paths(&files).next();
        return first.map(Access::Kubeconfig);
    }
    if variable("KUBERNETES_SERVICE_HOST").is_some() {
        return Some(Access::InCluster);
    }
    let usual = PathBuf::from(variable("HOME")?).join(".kube/config");
    usual.exists().then_some(Access::Kubeconfig(usual))
}

/// Looks at a cluster.
pub(super) async fn check(
    access: Option<Access>,
    again: Again<'_>,
    now: SystemTime,
    findings: &mut Findings,
) {
    let Some(access) = access else {
        let why = "no cluster is known: give --kubeconfig FILE";
        findings.add(Finding::skipped(CHECK, "", why));
        return;
    };
    let place = match &access {
        Access::Kubeconfig(file) => file.display().to_string(),
        Access::InCluster => "the cluster of this pod".to_owned(),
    };
    findings.extend(credentials::check(&access, now));
    let fix = "check that the API server runs, and that the kubeconfig is right: kubectl get --raw /version";
    let cluster = match Cluster::connect(&access).await {
        Ok(cluster) => cluster,
        Err(error) => {
            findings.add(Finding::problem(CHECK, place, error, fix));
            return;
        }
    };
    match cluster.look("/version", TIME).await {
        Ok(answer) if answer.is_success() => {
            let version = answer.body.get("gitVersion").and_then(Value::as_str);
            let message = format!("Kubernetes {}", version.unwrap_or("of an unknown version"));
            findings.add(Finding::ok(CHECK, place, message));
            if let Some(time) = answer.time {
                findings.add(clock::compared("the API server", time, wall()));
            }
        }
        Ok(answer) => {
            findings.add(Finding::problem(CHECK, place, refusal(&answer), fix));
            return;
        }
        Err(why) => {
            findings.add(Finding::problem(CHECK, place, why, fix));
            return;
        }
    }
    look_at_registrations(&cluster, again, now, findings).await;
}

async fn look_at_registrations(
    cluster: &Cluster,
    again: Again<'_>,
    now: SystemTime,
    findings: &mut Findings,
) {
    let mut all = Vec::new();
    for phase in Phase::ALL {
        let resource = phase.resource();
        let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}?limit=1000");
        match cluster.look(&path, TIME).await {
            Ok(answer) if answer.is_success() => {
                all.extend(Registered::of_list(phase, &answer.body));
            }
            Ok(answer) => {
                let why = format!("{resource} can't be listed: {}", refusal(&answer));
                findings.add(Finding::skipped(registrations::CHECK, "", why));
                return;
            }
            Err(why) => {
                findings.add(Finding::skipped(registrations::CHECK, "", why));
                return;
            }
        }
    }
    let namespaces = namespaces(cluster, &all).await;
    let chains = match again.loaded {
        Some(loaded) => shown::chains(cluster, loaded, now, findings).await,
        None => Vec::new(),
    };
    let checked = registrations::check(&all, again, &chains, &namespaces, now);
    findings.extend(checked);
    for (namespace, name, port) in called_services(&all) {
        findings.extend(services::check(cluster, &namespace, &name, port).await);
    }
    for one in &all {
        findings.add(reach::check(cluster, one).await);
    }
}

/// The services that are called, each once.
fn called_services(all: &[Registered]) -> Vec<(String, String, u64)> {
    let mut found: Vec<(String, String, u64)> = Vec::new();
    for one in all {
        if let Target::Service {
            namespace,
            name,
            port,
            ..
        } = one.target()
        {
            let service = (namespace, name, port);
            if !found.contains(&service) {
                found.push(service);
            }
        }
    }
    found
}

/// The labels of the namespaces that must not be locked out.
async fn namespaces(cluster: &Cluster, all: &[Registered]) -> BTreeMap<String, Labels> {
    let own = called_services(all)
        .into_iter()
        .map(|(namespace, ..)| namespace);
    let mut found = BTreeMap::new();
    for name in own.chain(VITAL_NAMESPACES.map(str::to_owned)) {
        let path = format!(
            "/api/v1/namespaces/{}",
            portcullis_core::percent::encoded(&name)
        );
        let labels = match cluster.look(&path, TIME).await {
            Ok(answer) if answer.is_success() => labels(&answer.body),
            _ => labels_of_name(&name),
        };
        found.insert(name, labels);
    }
    found
}
