//! `portcullis generate rbac`.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use portcullis_config::{Identity, Listening, Loaded, ManagedCertificate};
use portcullis_gate::{ClusterAccess, cluster_access};
use portcullis_watch::{Access, NamespacedName};
use serde_json::{Value, json};

use super::loaded;
use super::manifests::{self, Format, metadata, name_part};
use super::place::{is_label, namespace};
use crate::arguments::Configuration;
use crate::commands::failure::Failure;
use crate::exit::Exit;

#[derive(Debug, Args)]
pub(super) struct Rbac {
    #[command(flatten)]
    configuration: Configuration,
    /// The service account that Portcullis runs as.
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = "portcullis/portcullis", value_parser = account)]
    service_account: Account,
    /// The name of the roles and bindings.
    #[arg(long, value_name = "NAME", default_value = "portcullis", value_parser = namespace)]
    name: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
}

/// A service account.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Account {
    namespace: String,
    name: String,
}

fn account(text: &str) -> Result<Account, String> {
    let found = text.split_once('/');
    let good = found.filter(|(namespace, name)| is_label(namespace) && is_label(name));
    let (namespace, name) = good.ok_or("expected NAMESPACE/NAME")?;
    Ok(Account {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

/// Prints the roles.
pub(super) fn run(rbac: &Rbac) -> Result<Exit, Failure> {
    let loaded = loaded(&rbac.configuration, Listening::Optional)?;
    let needed = cluster_access(&loaded);
    let managed = managed(&loaded);
    if needed.is_empty() && managed.is_empty() {
        let message = "the configuration reads no cluster, so no permissions are needed";
        return Err(Failure::new(Exit::Nothing, message));
    }
    let mut all = Vec::new();
    for group in needed.chunk_by(|one, next| one.access == next.access) {
        all.extend(of_cluster(rbac, group));
    }
    for certificate in managed {
        all.extend(of_certificate(rbac, certificate));
    }
    manifests::print(&all, rbac.output);
    Ok(Exit::Yes)
}

/// A role for what is read of one cluster, and its binding.
fn of_cluster(rbac: &Rbac, needed: &[ClusterAccess]) -> Vec<Value> {
    let Some(first) = needed.first() else {
        return Vec::new();
    };
    let readers = needed.iter().flat_map(|one| &one.needed_by);
    let readers: BTreeSet<&str> = readers.map(String::as_str).collect();
    let readers = readers.into_iter().collect::<Vec<_>>().join(", ");
    let (name, purpose) = named(&rbac.name, &first.access, readers);
    role_and_binding(rbac, None, &described(&name, &purpose), &rules(needed))
}

/// The certificates that the server manages itself, each once, however many listeners show it.
fn managed(loaded: &Loaded) -> Vec<&ManagedCertificate> {
    let all = loaded.listeners.iter().filter_map(|one| one.tls.as_ref());
    let mut found: Vec<&ManagedCertificate> = Vec::new();
    for tls in all {
        if let Identity::Managed(managed) = &tls.identity
            && !found.contains(&managed.as_ref())
        {
            found.push(managed);
        }
    }
    found
}

/// The roles for a certificate: its Secret, and the registrations that its CA is written to.
fn of_certificate(rbac: &Rbac, managed: &ManagedCertificate) -> Vec<Value> {
    let NamespacedName { namespace, name } = &managed.secret;
    let role = name_part(&format!("{}-{name}", rbac.name));
    let readers = format!("certificate in the Secret {}", managed.secret);
    let (role, purpose) = named(&role, &managed.access, readers);
    let metadata = described(&role, &purpose);
    let published = json!([{
        "apiGroups": ["admissionregistration.k8s.io"],
        "resources": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
        "resourceNames": managed.webhooks,
        "verbs": ["get", "patch"],
    }]);
    // A rule with names can't permit `create`.
    let kept = json!([
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [name], "verbs": ["get", "update"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
    ]);
    let published = match managed.webhooks.is_empty() {
        true => Vec::new(),
        false => role_and_binding(rbac, None, &metadata, &published),
    };
    let kept = role_and_binding(rbac, Some(namespace), &metadata, &kept);
    published.into_iter().chain(kept).collect()
}

/// The name of a role, and what it is for: with a kubeconfig another user has it, perhaps in another cluster.
fn named(name: &str, access: &Access, readers: String) -> (String, String) {
    match access {
        Access::InCluster => (name.to_owned(), readers),
        Access::Kubeconfig(file) => {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy());
            let name = format!("{name}-{}", stem.unwrap_or_default());
            let purpose = format!("{readers}, with {}", file.display());
            (name_part(&name), purpose)
        }
    }
}

fn described(name: &str, purpose: &str) -> Value {
    let mut metadata = metadata(name);
    if let Some(metadata) = metadata.as_object_mut() {
        let annotations = json!({"portcullis.dev/needed-by": purpose});
        metadata.insert("annotations".to_owned(), annotations);
    }
    metadata
}

/// A role in a namespace, or in the whole cluster, and its binding to the service account.
fn role_and_binding(
    rbac: &Rbac,
    namespace: Option<&str>,
    metadata: &Value,
    rules: &Value,
) -> Vec<Value> {
    let name = metadata.get("name").cloned();
    let mut metadata = metadata.clone();
    if let (Some(namespace), Some(metadata)) = (namespace, metadata.as_object_mut()) {
        metadata.insert("namespace".to_owned(), namespace.into());
    }
    let prefix = if namespace.is_some() { "" } else { "Cluster" };
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{prefix}Role"),
        "metadata": metadata,
        "rules": rules,
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{prefix}RoleBinding"),
        "metadata": metadata,
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": format!("{prefix}Role"),
            "name": name,
        },
        "subjects": [{
            "kind": "ServiceAccount",
            "namespace": rbac.service_account.namespace,
            "name": rbac.service_account.name,
        }],
    });
    vec![role, binding]
}

/// One rule for each API group and set of verbs.
fn rules(needed: &[ClusterAccess]) -> Value {
    let mut rules: BTreeMap<(&str, &[&str]), BTreeSet<&str>> = BTreeMap::new();
    for one in needed {
        let key = (one.group.as_str(), one.verbs.as_slice());
        rules.entry(key).or_default().insert(&one.resource);
    }
    let rules = rules.into_iter().map(|((group, verbs), resources)| {
        json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
    });
    rules.collect()
}
