//! `portcullis generate authorization`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use portcullis_config::{AuthorizerDriver, GraphProfile, Listening, Loaded};
use serde_json::{Value, json};

use super::manifests::{self, Format, name_part};
use super::place::{Place, PlaceArguments};
use super::{authority, loaded};
use crate::arguments::Configuration;
use crate::commands::failure::{Failure, remark};
use crate::exit::Exit;
use crate::output;

/// Where the files are on the machine of the API server, unless the command line says something else.
const DIRECTORY: &str = "/etc/kubernetes/portcullis";
/// Users of the control plane, without whom nothing is scheduled or started. The API server itself, and everyone in the
/// group `system:masters`, may do everything before any authorizer is asked.
const CONTROL_PLANE: [&str; 4] = [
    "system:cloud-controller-manager",
    "system:kube-controller-manager",
    "system:kube-proxy",
    "system:kube-scheduler",
];
/// The chain that is asked at the plain path.
const DEFAULT: &str = "default";

#[derive(Debug, Args)]
pub(super) struct Authorization {
    #[command(flatten)]
    configuration: Configuration,
    #[command(flatten)]
    place: PlaceArguments,
    /// CA certificates of Portcullis' listener, in PEM format [default: those in the listener's certificate file].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ca: Option<PathBuf>,
    /// Where the kubeconfig files will be on the machine of the API server.
    #[arg(long, value_name = "DIR", default_value = DIRECTORY)]
    directory: PathBuf,
    /// Client certificate of the API server, as a path on its machine.
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_certificate: Option<PathBuf>,
    /// Key of the client certificate, as a path on the machine of the API server.
    #[arg(long, value_name = "FILE", requires = "client_certificate")]
    client_key: Option<PathBuf>,
    /// Write `authorization.yaml` and `CHAIN.kubeconfig` into this directory instead of printing them.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    write: Option<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
}

/// A file, or what would be one.
struct Document {
    file: String,
    value: Value,
}

/// Prints or writes the files.
pub(super) fn run(authorization: &Authorization) -> Result<Exit, Failure> {
    let loaded = loaded(&authorization.configuration, Listening::Optional)?;
    let place = authorization.place.place(&loaded)?;
    if loaded.chains.is_empty() {
        let message = "the configuration has no chain of authorizers: see `authorization.chains`";
        return Err(Failure::new(Exit::Nothing, message));
    }
    let bundle = authority::bundle(authorization.ca.as_deref(), &loaded)?;
    if let Place::Service(_) = place {
        remark(
            "the API server looks up the name of the Service itself: where it can't resolve names of the cluster, use --url",
        );
    }
    let needs_certificate = authority::reviewing(&loaded)
        .and_then(|listener| listener.tls.as_ref())
        .is_some_and(|tls| tls.client_ca.is_some());
    if needs_certificate && authorization.client_certificate.is_none() {
        remark(
            "the listener requires client certificates: give those of the API server with --client-certificate and --client-key",
        );
    }
    let names = names(loaded.chains.keys());
    let mut documents = vec![Document {
        file: "authorization.yaml".to_owned(),
        value: configuration(authorization, &loaded, &names, &place),
    }];
    for (chain, name) in &names {
        documents.push(Document {
            file: file(name),
            value: kubeconfig(authorization, chain, &place, bundle.as_deref()),
        });
    }
    match &authorization.write {
        None => {
            let all: Vec<Value> = documents.into_iter().map(|one| one.value).collect();
            manifests::print(&all, authorization.output);
        }
        Some(directory) => write(directory, &documents, authorization.output)?,
    }
    Ok(Exit::Yes)
}

fn write(directory: &Path, documents: &[Document], format: Format) -> Result<(), Failure> {
    let wrong = |path: &Path, error: &std::io::Error| {
        let message = format!("cannot write {}: {}", path.display(), output::reason(error));
        Failure::new(Exit::Failed, message)
    };
    std::fs::create_dir_all(directory).map_err(|error| wrong(directory, &error))?;
    for Document { file, value } in documents {
        let path = directory.join(file);
        let text = manifests::text(std::slice::from_ref(value), format);
        std::fs::write(&path, text).map_err(|error| wrong(&path, &error))?;
        output::hint(&format!("wrote {}", path.display()));
    }
    Ok(())
}

fn file(name: &str) -> String {
    format!("{name}.kubeconfig")
}

/// A name for each chain that Kubernetes takes, each once.
fn names<'a>(chains: impl Iterator<Item = &'a String>) -> BTreeMap<&'a str, String> {
    let mut taken = BTreeSet::new();
    let name = |chain: &'a String| {
        let plain = match name_part(chain) {
            empty if empty.is_empty() => "chain".to_owned(),
            plain => plain,
        };
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        let name = candidates.find(|name| taken.insert(name.clone()));
        (chain.as_str(), name.unwrap_or(plain))
    };
    chains.map(name).collect()
}

fn configuration(
    authorization: &Authorization,
    loaded: &Loaded,
    names: &BTreeMap<&str, String>,
    place: &Place,
) -> Value {
    let chains = names
        .iter()
        .filter_map(|(chain, name)| Some((name, loaded.chains.get(*chain)?)));
    let mut authorizers: Vec<Value> = chains
        .map(|(name, chain)| {
            let file = authorization.directory.join(file(name));
            let asked = Asked::of(loaded, chain);
            // What was not known a moment ago must not be denied for long.
            let (allowed, denied) = match asked.changes {
                true => ("10s", "1s"),
                false => ("30s", "30s"),
            };
            let mut webhook = json!({
                "timeout": "3s",
                "authorizedTTL": allowed,
                "unauthorizedTTL": denied,
                "subjectAccessReviewVersion": "v1",
                "matchConditionSubjectAccessReviewVersion": "v1",
                "failurePolicy": if asked.denies { "Deny" } else { "NoOpinion" },
                "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": file},
            });
            let conditions = asked.conditions(place);
            if let (false, Some(webhook)) = (conditions.is_empty(), webhook.as_object_mut()) {
                let conditions: Vec<Value> = conditions
                    .into_iter()
                    .map(|expression| json!({"expression": expression}))
                    .collect();
                webhook.insert("matchConditions".to_owned(), conditions.into());
            }
            let name = format!("portcullis-{name}");
            json!({"type": "Webhook", "name": name, "webhook": webhook})
        })
        .collect();
    authorizers.push(json!({"type": "Node", "name": "node"}));
    authorizers.push(json!({"type": "RBAC", "name": "rbac"}));
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": authorizers,
    })
}

/// What is known of a chain.
struct Asked {
    /// Whether it can deny: then it must not be passed over. One that can only allow leaves what it can't answer to the
    /// next authorizer.
    denies: bool,
    /// Whether its answers change with the objects of a cluster.
    changes: bool,
    /// A group of each agent, if it is only about agents.
    groups: Option<BTreeSet<String>>,
}

impl Asked {
    fn of(loaded: &Loaded, names: &[String]) -> Self {
        let mut asked = Self {
            denies: false,
            changes: false,
            groups: Some(BTreeSet::new()),
        };
        for name in names {
            let found = loaded.authorizers.iter().find(|one| one.name == *name);
            match found.map(|one| one.driver) {
                Some(AuthorizerDriver::Graph) => {
                    let graph = loaded.graphs.iter().find(|one| one.name == *name);
                    asked.changes = true;
                    asked.denies |= graph.is_none_or(|one| one.profile.summary.denies);
                    let known = asked.groups.take();
                    asked.groups = known.zip(graph.and_then(groups)).map(|(mut all, more)| {
                        all.extend(more);
                        all
                    });
                }
                Some(AuthorizerDriver::Abac | AuthorizerDriver::AlwaysAllow) => asked.groups = None,
                Some(AuthorizerDriver::AlwaysDeny) | None => {
                    asked.groups = None;
                    asked.denies = true;
                }
            }
        }
        asked
    }

    /// Who is asked about: agents alone, or everyone but those who start Portcullis again.
    fn conditions(&self, place: &Place) -> Vec<String> {
        match &self.groups {
            Some(groups) if !groups.is_empty() => {
                let is_in = |group: &String| format!("{} in request.groups", quoted(group));
                vec![groups.iter().map(is_in).collect::<Vec<_>>().join(" || ")]
            }
            _ if self.denies => {
                let mut exempt = BTreeSet::from(["kube-system"]);
                exempt.extend(place.namespace());
                let accounts = exempt.iter().map(|namespace| {
                    let group = format!("system:serviceaccounts:{namespace}");
                    format!("!({} in request.groups)", quoted(&group))
                });
                let nodes = "!('system:nodes' in request.groups)".to_owned();
                let users = CONTROL_PLANE.map(quoted).join(", ");
                let control_plane = format!("!(request.user in [{users}])");
                accounts.chain([nodes, control_plane]).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// One group of each agent of a profile that is the same for all of them.
fn groups(graph: &GraphProfile) -> Option<Vec<String>> {
    let subjects = graph.profile.summary.subjects.iter();
    let fixed = |groups: &Vec<String>| groups.iter().find(|group| !group.contains('{')).cloned();
    subjects.map(|subject| fixed(&subject.groups)).collect()
}

/// A text in CEL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn kubeconfig(
    authorization: &Authorization,
    chain: &str,
    place: &Place,
    bundle: Option<&str>,
) -> Value {
    let path = match chain {
        DEFAULT => "/authorize".to_owned(),
        other => format!("/authorize/{}", portcullis_core::percent::encoded(other)),
    };
    let mut cluster = json!({"server": place.url(&path)});
    if let (Some(bundle), Some(cluster)) = (bundle, cluster.as_object_mut()) {
        cluster.insert("certificate-authority-data".to_owned(), bundle.into());
    }
    let user = match (&authorization.client_certificate, &authorization.client_key) {
        (Some(certificate), Some(key)) => {
            json!({"client-certificate": certificate, "client-key": key})
        }
        _ => json!({}),
    };
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "portcullis", "cluster": cluster}],
        "users": [{"name": "kube-apiserver", "user": user}],
        "contexts": [{"name": "portcullis", "context": {"cluster": "portcullis", "user": "kube-apiserver"}}],
        "current-context": "portcullis",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_has_a_file_of_its_own() {
        let chains = ["default", "Seed", "seed", "_"].map(str::to_owned);
        let names = names(chains.iter());
        let found: Vec<(&str, &str)> = names.iter().map(|(c, n)| (*c, n.as_str())).collect();
        let expected = [
            ("Seed", "seed-2"),
            ("_", "chain"),
            ("default", "default"),
            ("seed", "seed"),
        ];
        let mut swapped = expected;
        swapped[0].1 = "seed";
        swapped[3].1 = "seed-2";
        assert!(found == expected || found == swapped, "{found:?}");
    }

    #[test]
    fn quotes_stay_in_their_text() {
        assert_eq!(quoted("a'b\\c"), "'a\\'b\\\\c'");
    }
}
