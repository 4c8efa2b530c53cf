//! Certificates that Portcullis makes itself: several servers that start at once, rotations of certificate and CA
//! under load, and what others do to the Secret and to `caBundle`.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use portcullis_e2e::{Balancer, Cluster, Phase, Portcullis, PortcullisConfig, until, until_some};
use serde_json::{Value, json};

use crate::load::under_load;
use crate::suite::{Space, in_namespace};

const REPLICAS: usize = 3;
/// The namespace of the Secret: one that the webhooks are not asked about.
const KEYS: &str = "managed-keys";
const SECRET: &str = "portcullis-tls";
/// May do what `docs/kubernetes.md` says, and no more.
const KEEPER: &str = "keeper";
/// A CA lasts 80 s, and is replaced after 52 s.
const VALIDITY: Duration = Duration::from_secs(20);
/// Connections that end soon, so that API servers look at the certificate again and again.
const CONFIGURATION: &str = "\
admission: {order: [AlwaysAdmit]}
limits: {maxConnectionAge: 2s}
shutdown: {delay: 0s, grace: 5s}
";

#[test]
fn certificate_and_ca_are_rotated_and_repaired_without_one_failed_request() {
    in_namespace("managed", |space| {
        let keys = space.kubectl.in_namespace(KEYS);
        space.kubectl.run(&["create", "namespace", KEYS]).succeeds();
        grant(space);
        let mut servers: Vec<Portcullis> =
            (0..REPLICAS).map(|number| prepare(space, number)).collect();
        let balancer = Balancer::start();
        balancer.set_endpoints(servers.iter().map(Portcullis::port).collect());
        let mut webhook = space.webhook(Phase::Validating, &servers[0]);
        webhook.url = balancer.url("/validate");
        webhook.authorities = String::new();
        webhook.timeout_seconds = 30;
        let webhooks = space.webhooks(Phase::Validating, vec![webhook]);
        webhooks.put();

        // All at once: one of them makes the certificate, and all of them become ready.
        thread::scope(|scope| {
            for server in &mut servers {
                scope.spawn(move || server.start_again());
            }
        });
        let first = Seen::now(space);
        assert_eq!(first.authorities.len(), 1, "{first:?}");
        let created = servers.iter().filter(|server| {
            server
                .file("portcullis.log")
                .contains("CA and certificate created")
        });
        assert_eq!(created.count(), 1);
        for server in &servers {
            let health = server.health().unwrap();
            assert!(health.contains("[+]certificates ok"), "{health}");
            assert!(!server.file("portcullis.log").contains("PRIVATE KEY"));
        }
        let outcomes = under_load(space, |load| {
            load.wait_for_more();
            overwrite_bundle(space);
            until(
                "the caBundle to be repaired",
                Duration::from_secs(10),
                || Seen::now(space).bundle == first.bundle,
            );
            load.wait_for_more();

            let second = wait_for("another certificate", space, |now| {
                now.served != first.served
            });
            assert_eq!(second.authorities, first.authorities);
            load.wait_for_more();

            // The CA changes: first there are two, then the first one is gone.
            let both = wait_for("another CA", space, |now| now.authorities.len() == 2);
            assert!(both.authorities.is_superset(&first.authorities));
            load.wait_for_more();
            let third = wait_for("the first CA to be removed", space, |now| {
                now.authorities.is_disjoint(&first.authorities)
            });
            load.wait_for_more();

            // Emptied, as the chart's rights permit it: another CA, and the one before stays trusted.
            let empty = json!({"data": {"ca.crt": "", "ca.key": "", "tls.crt": "", "tls.key": ""}});
            keys.run(&["patch", "secret", SECRET, "-p", &empty.to_string()])
                .succeeds();
            let third = wait_for("the Secret to be filled again", space, |now| {
                !now.served.is_empty()
                    && now.served != third.served
                    && !now.authorities.is_subset(&third.authorities)
            });
            load.wait_for_more();

            let in_use = |server: &Portcullis| {
                server
                    .file("portcullis.log")
                    .matches("certificate in use")
                    .count()
            };
            let before: Vec<usize> = servers.iter().map(in_use).collect();
            keys.run(&["delete", "secret", SECRET]).succeeds();
            let again = wait_for("the Secret to be made again", space, |now| {
                now.served != third.served && !now.authorities.is_subset(&third.authorities)
            });
            assert!(
                again.authorities.is_superset(&third.authorities),
                "{again:?} {third:?}"
            );
            until(
                "the new certificate to be in use",
                Duration::from_secs(20),
                || {
                    let mut counts = servers.iter().map(in_use).zip(&before);
                    counts.all(|(now, before)| now > *before)
                },
            );
            load.wait_for_more();
        });
        let all: usize = outcomes.values().sum();
        println!("managed certificates of {REPLICAS} servers: {all} requests, {outcomes:?}");
        for server in &servers {
            print!("{}", kept(&server.file("portcullis.log")));
        }
        assert_eq!(outcomes.keys().collect::<Vec<_>>(), ["201"], "{outcomes:?}");
    });
}

/// What is stored at a moment.
#[derive(Debug)]
struct Seen {
    bundle: String,
    authorities: BTreeSet<String>,
    served: String,
}

impl Seen {
    fn now(space: &Space) -> Self {
        Self::found(space)
            .unwrap_or_else(|| panic!("there is no Secret or no webhook configuration"))
    }

    fn found(space: &Space) -> Option<Self> {
        let get = |kind: &str, name: &str, namespace: &str| -> Option<Value> {
            let kubectl = space.kubectl.in_namespace(namespace);
            let answer = kubectl.run(&["get", kind, name, "-o", "json"]);
            answer.is_success().then(|| answer.json())
        };
        let secret = get("secret", SECRET, KEYS)?;
        let webhooks = get(
            "validatingwebhookconfiguration",
            "portcullis-managed",
            "default",
        )?;
        let text = |value: &Value| {
            let bytes = BASE64_STANDARD.decode(value.as_str()?).ok()?;
            String::from_utf8(bytes).ok()
        };
        let bundle = text(&webhooks["webhooks"][0]["clientConfig"]["caBundle"])?;
        assert_eq!(secret["type"], "kubernetes.io/tls");
        Some(Self {
            authorities: bundle
                .split_inclusive("-----END CERTIFICATE-----\n")
                .map(str::to_owned)
                .collect(),
            served: text(&secret["data"]["tls.crt"])?,
            bundle,
        })
    }
}

fn wait_for(what: &str, space: &Space, is_so: impl Fn(&Seen) -> bool) -> Seen {
    until_some(what, VALIDITY * 6, || {
        Seen::found(space).filter(|now| is_so(now))
    })
}

/// What `docs/kubernetes.md` says a server needs to be allowed.
fn grant(space: &Space) {
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "portcullis-certificates"},
            "rules": [{
                "apiGroups": ["admissionregistration.k8s.io"],
                "resources": ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
                "resourceNames": ["portcullis-managed"],
                "verbs": ["get", "patch"],
            }],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "portcullis-certificates"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "portcullis-certificates"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": KEEPER}],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "portcullis-certificates", "namespace": KEYS},
            "rules": [
                {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [SECRET], "verbs": ["get", "update"]},
                {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]},
            ],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "portcullis-certificates", "namespace": KEYS},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "portcullis-certificates"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": KEEPER}],
        },
    ]});
    let kubectl = space.kubectl.in_namespace(KEYS);
    kubectl.create(&objects).succeeds();
}

/// A server that keeps its own certificate, with the rights of the keeper.
fn prepare(space: &Space, number: usize) -> Portcullis {
    let directory = space
        .suite
        .directory
        .join(space.name)
        .join(format!("replica-{number}"));
    let path = Cluster::kubeconfig(&space.suite.directory.join("cluster"));
    let mut kubeconfig: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    kubeconfig["contexts"][0]["context"]["user"] = json!(KEEPER);
    let kubeconfig = kubeconfig.to_string();
    let server = Portcullis::prepare(PortcullisConfig {
        directory: &directory,
        authority: &space.suite.authority,
        client_authority: None,
        configuration: CONFIGURATION,
        files: &[("kubeconfig.json", &kubeconfig)],
    });
    let validity = VALIDITY.as_secs();
    let managed = format!(
        "managed: {{secret: {KEYS}/{SECRET}, webhooks: [portcullis-managed], validity: {validity}s, \
         renewBefore: 8s, kubeconfig: kubeconfig.json}}"
    );
    let text = server.file("portcullis.yaml");
    let text = text.replace("certificate: tls.crt, key: tls.key", &managed);
    server.replace_file("portcullis.yaml", &text);
    server
}

/// As a tool does that applies its manifests again: with another CA.
fn overwrite_bundle(space: &Space) {
    let other = BASE64_STANDARD.encode(space.suite.authority.certificate());
    let patch = json!([
        {"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": other},
        // Requests that meet it in the meantime are not to count.
        {"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"},
    ]);
    let patch = patch.to_string();
    let name = "portcullis-managed";
    let command = [
        "patch",
        "validatingwebhookconfiguration",
        name,
        "--type=json",
        "-p",
        &patch,
    ];
    space.kubectl.run(&command).succeeds();
    until(
        "the caBundle to be repaired",
        Duration::from_secs(10),
        || {
            let now = Seen::now(space);
            !now.bundle.contains(&space.suite.authority.certificate())
        },
    );
    let patch = json!([{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}])
        .to_string();
    let command = [
        "patch",
        "validatingwebhookconfiguration",
        name,
        "--type=json",
        "-p",
        &patch,
    ];
    space.kubectl.run(&command).succeeds();
}

/// The lines of a log about certificates.
fn kept(log: &str) -> String {
    let is_about = |line: &&str| line.contains("portcullis_server::managed");
    let lines = log.lines().filter(is_about).map(|line| format!("{line}\n"));
    lines.collect()
}
