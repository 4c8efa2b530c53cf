//! What Portcullis adds to the creation of pods: through a real API server, with no webhook, with one that admits
//! everything, and with the reference policies.
//!
//! All three are measured in one run, in turns, each in a namespace of its own, so that what the machine does beside it
//! is the same for all. `scripts/bench-cluster` builds what is needed and runs this; docs/benchmarks.md has figures.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot be done fails loudly, and its output is a table"
)]

mod arguments;
mod figures;
mod load;
mod pod;

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_e2e::{
    Authority, Cluster, ClusterConfig, FailurePolicy, Kubectl, Phase, Portcullis, PortcullisConfig,
    Programs, Webhook, Webhooks,
};

use arguments::Arguments;
use figures::Figures;
use load::Load;
use serde_json::json;

/// One way to guard a namespace; its name is that of the namespace.
struct Way {
    name: &'static str,
    /// The configuration of the server behind the webhook, if there is one.
    configuration: Option<String>,
    /// What every pod that was created must hold, because the policies put it there.
    changed: Option<&'static str>,
}

/// The reference policies: those of the benchmark of the program alone (docs/benchmarks.md).
const POLICIES: [(&str, &str); 3] = [
    (
        "name",
        include_str!("../../../../benches/fixtures/policies/name.js"),
    ),
    (
        "images",
        include_str!("../../../../benches/fixtures/policies/images.js"),
    ),
    (
        "gitrepo",
        include_str!("../../../../benches/fixtures/policies/gitrepo.js"),
    ),
];

fn ways() -> [Way; 3] {
    let policies = POLICIES.map(|(name, code)| {
        json!({"name": name, "code": code, "match": {"kinds": ["Pod"], "operations": ["CREATE"]}})
    });
    [
        Way {
            name: "no-webhook",
            configuration: None,
            changed: None,
        },
        Way {
            name: "always-admit",
            configuration: Some("admission: {order: [AlwaysAdmit]}\n".to_owned()),
            changed: None,
        },
        Way {
            name: "reference",
            configuration: Some(format!(
                "policies: {}\ndefaultAction: allow\n",
                json!(policies)
            )),
            changed: Some("gitrepo-init-"),
        },
    ]
}

fn main() {
    let arguments = Arguments::parse(std::env::args().skip(1)).unwrap_or_else(|message| {
        println!("{message}");
        std::process::exit(2);
    });
    let programs = Programs::from_environment().expect("KUBE_PROGRAMS names the control plane");
    let directory = directory();
    let authority = Authority::new("portcullis-bench");
    let cluster = Cluster::start(
        programs,
        &directory.join("cluster"),
        &authority,
        &ClusterConfig {
            disabled_plugins: &["DefaultTolerationSeconds", "PodSecurity"],
            ..ClusterConfig::default()
        },
    );
    let kubectl = cluster.kubectl();
    let ways = ways();
    let _servers: Vec<_> = ways
        .iter()
        .filter_map(|way| guard(way, &kubectl, &directory, &authority))
        .collect();

    let mut figures: Vec<Figures> = ways.iter().map(|way| Figures::new(way.name)).collect();
    // The first round warms up and does not count.
    for round in 0..=arguments.rounds {
        for turn in 0..ways.len() {
            let place = (round + turn) % ways.len();
            let (Some(way), Some(figures)) = (ways.get(place), figures.get_mut(place)) else {
                continue;
            };
            let load = Load {
                cluster: &cluster,
                namespace: way.name,
                changed: way.changed,
                pods: arguments.pods,
            };
            let alone = load.run(1);
            let together = load.run(arguments.clients);
            if round > 0 {
                figures.add(&alone, &together);
            }
            remove_pods(&kubectl, way.name);
        }
    }
    println!("{}", figures::table(&figures, &arguments));
    drop(cluster);
    // What is worth keeping was printed.
    let _ = fs::remove_dir_all(directory);
}

/// Creates the namespace, and puts a server in charge of its pods.
fn guard(
    way: &Way,
    kubectl: &Kubectl,
    directory: &Path,
    authority: &Authority,
) -> Option<Portcullis> {
    kubectl.run(&["create", "namespace", way.name]).succeeds();
    let configuration = way.configuration.as_deref()?;
    let folder = directory.join(way.name);
    let server = Portcullis::start(PortcullisConfig {
        directory: &folder,
        authority,
        client_authority: None,
        configuration,
        files: &[],
    });
    Webhooks {
        kubectl: &kubectl.in_namespace(way.name),
        namespace: way.name,
        phase: Phase::Mutating,
        entries: vec![Webhook {
            name: format!("{}.bench.portcullis.dev", way.name),
            url: server.url("/mutate"),
            authorities: authority.certificate(),
            failure_policy: FailurePolicy::Fail,
            timeout_seconds: 10,
            reinvocation: false,
        }],
    }
    .register();
    Some(server)
}

fn remove_pods(kubectl: &Kubectl, namespace: &str) {
    kubectl
        .in_namespace(namespace)
        .run(&["delete", "pods", "--all", "--wait=false"])
        .succeeds();
}

fn directory() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("portcullis-bench-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a folder for the run");
    directory
}
