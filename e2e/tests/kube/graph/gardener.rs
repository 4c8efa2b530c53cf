//! The `gardener` profile as an authorization webhook, before RBAC, which lets gardenlets do nothing.
//!
//! The API server asks a Portcullis that in turn watches that API server. Portcullis is there before the
//! custom resources are: kinds that aren't served are empty until they are.

use std::time::Duration;

use portcullis_e2e::{
    Answer, AuthorizationWebhook, Cluster, ClusterConfig, Kubectl, Portcullis, PortcullisConfig,
    Signal, User, until,
};
use serde_json::{Value, json};

use super::custom_resources::definitions;
use super::objects::{list, namespace, object, secret};
use super::requests::{Request, Verdict, Who};
use crate::suite::in_namespace;

const GROUPS: &[&str] = &["gardener.cloud:system:seeds"];
const ONE: &str = "gardener.cloud:system:seed:s1";
const TWO: &str = "gardener.cloud:system:seed:s2";
const USERS: &[User] = &[
    User {
        name: ONE,
        groups: GROUPS,
    },
    User {
        name: TWO,
        groups: GROUPS,
    },
];
/// Effects are to be seen within ten seconds; a machine that has much else to do gets more.
const LIMIT: Duration = Duration::from_secs(60);
/// Resources that were not served are looked for now and then.
const LONG: Duration = Duration::from_secs(120);

struct Garden {
    cluster: Cluster,
    portcullis: Portcullis,
    kubectl: Kubectl,
}

#[test]
fn gardenlets_reach_what_their_seeds_need() {
    in_namespace("graph-gardener", |space| {
        let directory = space.suite.directory.join(space.name);
        let mut garden = Garden::start(
            &directory.join("cluster"),
            |configuration| {
                Portcullis::prepare(PortcullisConfig {
                    directory: &directory.join("portcullis"),
                    authority: &space.suite.authority,
                    client_authority: None,
                    configuration,
                    files: &[],
                })
            },
            space,
        );
        garden.resources_come_later();
        garden.requests_are_allowed_and_refused();
        garden.changes_count();
        garden.an_api_server_that_restarts_is_watched_again();
        garden.what_was_compacted_is_listed_again();
    });
}

impl Garden {
    fn start(
        directory: &std::path::Path,
        prepare: impl FnOnce(&str) -> Portcullis,
        space: &crate::suite::Space,
    ) -> Self {
        let kubeconfig = Cluster::kubeconfig(directory);
        let mut portcullis = prepare(&format!(
            "graph: {{profiles: [{{name: gardener, profile: gardener, kubeconfig: {}}}]}}\n\
             authorization: {{chains: {{seed: [gardener]}}}}\n",
            json!(kubeconfig),
        ));
        let webhook = |name, user| AuthorizationWebhook {
            name,
            version: "v1",
            url: portcullis.url("/authorize/seed"),
            failure_policy: "Deny",
            user,
        };
        let cluster = Cluster::start(
            space.suite.programs.clone(),
            directory,
            &space.suite.authority,
            &ClusterConfig {
                users: USERS,
                authorizers: &[webhook("one", ONE), webhook("two", TWO)],
                ..ClusterConfig::default()
            },
        );
        portcullis.start_again();
        let kubectl = cluster.kubectl();
        Self {
            cluster,
            portcullis,
            kubectl,
        }
    }

    /// What a gardenlet gets to see.
    fn sees(&self, user: &str, arguments: &[&str]) -> Answer {
        let kubectl = self.kubectl.signed_in_as(user);
        kubectl.run(&[&["get", "--output=name"], arguments].concat())
    }

    fn until_sees(&self, user: &str, arguments: &[&str], wanted: bool, limit: Duration) {
        let what = format!("{user} {arguments:?}: {wanted}");
        until(&what, limit, || {
            self.sees(user, arguments).is_success() == wanted
        });
    }

    fn create(&self, objects: &[Value]) {
        let text = list(objects).to_string();
        let create = ["create", "--validate=strict", "-f", "-"];
        self.kubectl.run_with_input(&create, &text).succeeds();
    }

    fn patch(&self, kind: &str, key: &str, patch: &Value) {
        let (namespace, name) = key.rsplit_once('/').unwrap_or(("default", key));
        let patch = format!("--patch={patch}");
        let kubectl = self.kubectl.in_namespace(namespace);
        kubectl
            .run(&["patch", kind, name, "--type=merge", &patch])
            .succeeds();
    }

    /// Portcullis itself is asked, without an API server.
    fn answer(
        &self,
        user: &'static str,
        verb: &'static str,
        what: (&'static str, &'static str),
        of: (&str, &str),
    ) -> Verdict {
        let who = Who {
            user,
            groups: GROUPS,
        };
        let mut connection = self.portcullis.connection();
        Request::new(who, verb, what, of).ask(&mut connection, "/authorize/seed")
    }

    fn resources_come_later(&self) {
        let cloud_profiles = ("core.gardener.cloud", "cloudprofiles");
        let answer = self.answer(ONE, "get", cloud_profiles, ("", "cp1"));
        assert_eq!(answer, Verdict::NoOpinion);
        self.create(&definitions());
        self.kubectl
            .run(&[
                "wait",
                "--for=condition=established",
                "crd",
                "--all",
                "--timeout=120s",
            ])
            .succeeds();
        self.create(&fixture());
        let status =
            json!({"status": {"generatedSecretRef": {"namespace": "garden", "name": "generated"}}});
        self.kubectl
            .run(&[
                "patch",
                "backupbucket",
                "bb1",
                "--subresource=status",
                "--type=merge",
                &format!("--patch={status}"),
            ])
            .succeeds();
        for what in [
            &["cloudprofile", "cp1"][..],
            &["project", "p1"],
            &["secret", "infra1", "--namespace=garden-shared"],
            &["secret", "generated", "--namespace=garden"],
            &["secret", "pull", "--namespace=garden"],
            &[
                "secret",
                "bootstrap-token-3b7093",
                "--namespace=kube-system",
            ],
            &["configmap", "cluster-identity", "--namespace=kube-system"],
        ] {
            self.until_sees(ONE, what, true, LONG);
        }
    }

    fn requests_are_allowed_and_refused(&self) {
        let allowed = |user: &str, what: &[&str]| {
            self.sees(user, what).succeeds();
        };
        let refused = |user: &str, what: &[&str]| {
            let answer = self.sees(user, what).fails();
            assert!(answer.stderr.contains("is forbidden"), "{answer:?}");
            answer
        };
        for what in [
            &["cloudprofile", "cp1"][..],
            &["project", "p1"],
            &["namespace", "garden-p1"],
            &["secret", "infra1", "--namespace=garden-shared"],
            &["secret", "backup", "--namespace=garden"],
            &["secret", "generated", "--namespace=garden"],
            &["secret", "pull", "--namespace=garden"],
            &["secretbinding", "sb1", "--namespace=garden-p1"],
            &["shoot", "sh1", "--namespace=garden-p1"],
            &["configmap", "audit", "--namespace=garden-p1"],
            &["controllerdeployment", "cd1"],
            &["bastion", "ba1", "--namespace=garden-p1"],
        ] {
            allowed(ONE, what);
            let answer = refused(TWO, what);
            assert!(
                answer.stderr.contains("no relationship found"),
                "{answer:?}"
            );
        }
        // Selectors, which the API server forwards.
        let label = "--selector=name.seed.gardener.cloud/s1=true";
        allowed(ONE, &["shoots", "--all-namespaces", label]);
        refused(ONE, &["shoots", "--all-namespaces"]);
        refused(TWO, &["shoots", "--all-namespaces", label]);
        let field = "--field-selector=spec.seedName=s1";
        allowed(ONE, &["bastions", "--all-namespaces", field]);
        refused(
            ONE,
            &[
                "bastions",
                "--all-namespaces",
                "--field-selector=spec.seedName=s2",
            ],
        );
        refused(
            ONE,
            &[
                "bastions",
                "--all-namespaces",
                "--field-selector=spec.seedName!=s2",
            ],
        );
        // Objects that aren't there: whoever may know is told so.
        let answer = self.sees(ONE, &["secret", "sh1.ca-cluster", "--namespace=garden-p1"]);
        assert!(answer.stderr.contains("NotFound"), "{answer:?}");
        refused(TWO, &["secret", "sh1.ca-cluster", "--namespace=garden-p1"]);
        // Everybody may read buckets; only their own may write the status.
        allowed(TWO, &["backupbucket", "bb1"]);
        let write = |user: &str| {
            let patch = r#"--patch={"status":{"lastOperation":{"type":"Reconcile"}}}"#;
            let kubectl = self.kubectl.signed_in_as(user).in_namespace("garden-p1");
            kubectl.run(&[
                "patch",
                "shoot",
                "sh1",
                "--subresource=status",
                "--type=merge",
                patch,
            ])
        };
        write(ONE).succeeds();
        write(TWO).fails();
        // What no rule names.
        refused(ONE, &["pods", "--all-namespaces"]);
        // Those who are no gardenlets are none of Portcullis' business: RBAC.
        self.kubectl.run(&["get", "pods"]).succeeds();
    }

    fn changes_count(&self) {
        let binding = &["secretbinding", "sb1", "--namespace=garden-p1"][..];
        let credentials = &["secret", "infra1", "--namespace=garden-shared"][..];
        // The shoot moves: while its status has the old seed, both reach it.
        self.patch_status("s1");
        self.patch(
            "shoot",
            "garden-p1/sh1",
            &json!({"spec": {"seedName": "s2"}}),
        );
        self.until_sees(TWO, binding, true, LIMIT);
        self.until_sees(TWO, credentials, true, LIMIT);
        self.sees(ONE, credentials).succeeds();
        self.patch_status("s2");
        self.until_sees(ONE, credentials, false, LIMIT);
        self.sees(TWO, credentials).succeeds();
        // The binding goes, and comes back with another secret: the shoot's own edge to it has stayed.
        let kubectl = self.kubectl.in_namespace("garden-p1");
        kubectl.run(&["delete", "secretbinding", "sb1"]).succeeds();
        self.until_sees(TWO, credentials, false, LIMIT);
        self.create(&[
            secret("garden-shared/infra2"),
            binding_to("garden-shared", "infra2"),
        ]);
        self.until_sees(
            TWO,
            &["secret", "infra2", "--namespace=garden-shared"],
            true,
            LIMIT,
        );
        self.sees(TWO, credentials).fails();
        // The token is for seeds that are not there: now this one is.
        let token = &[
            "secret",
            "bootstrap-token-3b7093",
            "--namespace=kube-system",
        ][..];
        self.sees(ONE, token).succeeds();
        self.create(&[seed("s3", &json!({}))]);
        self.until_sees(ONE, token, false, LIMIT);
    }

    fn patch_status(&self, seed: &str) {
        let patch = format!("--patch={}", json!({"status": {"seedName": seed}}));
        let kubectl = self.kubectl.in_namespace("garden-p1");
        let status = [
            "patch",
            "shoot",
            "sh1",
            "--subresource=status",
            "--type=merge",
            &patch,
        ];
        kubectl.run(&status).succeeds();
    }

    fn an_api_server_that_restarts_is_watched_again(&mut self) {
        let secrets = ("", "secrets");
        let shared = ("garden-shared", "infra2");
        self.cluster.stop_server();
        // Nobody to ask, but what is known is known.
        assert_eq!(self.answer(TWO, "get", secrets, shared), Verdict::Allowed);
        assert_eq!(self.answer(ONE, "get", secrets, shared), Verdict::NoOpinion);
        until("the lost watches to be told", LIMIT, || {
            let health = self.portcullis.health().unwrap_or_default();
            health.contains("shoots.core.gardener.cloud: ")
        });
        self.cluster.start_server();
        self.patch(
            "shoot",
            "garden-p1/sh1",
            &json!({"spec": {"seedName": "s1"}}),
        );
        until("the move back", LIMIT, || {
            self.answer(ONE, "get", secrets, shared) == Verdict::Allowed
        });
    }

    /// The versions that the watches have seen last are forgotten by everybody.
    fn what_was_compacted_is_listed_again(&mut self) {
        let secrets = ("", "secrets");
        self.portcullis.signal(Signal::Pause);
        self.create(&[
            secret("garden-shared/infra3"),
            object(
                "core.gardener.cloud/v1beta1",
                "SecretBinding",
                "garden-p1/sb3",
                json!({"secretRef": {"namespace": "garden-shared", "name": "infra3"}}),
            ),
        ]);
        self.patch(
            "shoot",
            "garden-p1/sh1",
            &json!({"spec": {"secretBindingName": "sb3"}}),
        );
        let kubectl = self.kubectl.in_namespace("garden-p1");
        kubectl.run(&["delete", "bastion", "ba1"]).succeeds();
        self.cluster.compact();
        self.cluster.stop_server();
        self.cluster.start_server();
        self.portcullis.signal(Signal::Resume);
        until("what changed meanwhile", LONG, || {
            self.answer(ONE, "get", secrets, ("garden-shared", "infra3")) == Verdict::Allowed
        });
        until("what is gone", LONG, || {
            let bastions = ("operations.gardener.cloud", "bastions");
            self.answer(ONE, "get", secrets, ("garden-shared", "infra2")) == Verdict::NoOpinion
                && self.answer(ONE, "get", bastions, ("garden-p1", "ba1")) == Verdict::NoOpinion
        });
        // And on it goes.
        self.patch(
            "shoot",
            "garden-p1/sh1",
            &json!({"spec": {"secretBindingName": "sb1"}}),
        );
        self.until_sees(
            ONE,
            &["secret", "infra2", "--namespace=garden-shared"],
            true,
            LIMIT,
        );
    }
}

fn seed(name: &str, spec: &Value) -> Value {
    object(
        "core.gardener.cloud/v1beta1",
        "Seed",
        name,
        json!({"spec": spec}),
    )
}

fn binding_to(namespace: &str, name: &str) -> Value {
    let reference = json!({"secretRef": {"namespace": namespace, "name": name}});
    object(
        "core.gardener.cloud/v1beta1",
        "SecretBinding",
        "garden-p1/sb1",
        reference,
    )
}

fn fixture() -> Vec<Value> {
    let core = |kind, key, members| object("core.gardener.cloud/v1beta1", kind, key, members);
    let credentials =
        json!({"apiVersion": "v1", "kind": "Secret", "namespace": "garden", "name": "backup"});
    let shoot = json!({"metadata": {"labels": {"name.seed.gardener.cloud/s1": "true"}}, "spec": {
        "seedName": "s1", "secretBindingName": "sb1", "cloudProfile": {"kind": "CloudProfile", "name": "cp1"},
        "kubernetes": {"kubeAPIServer": {"auditConfig": {"auditPolicy": {"configMapRef": {"name": "audit"}}}}},
    }});
    vec![
        namespace("garden"),
        namespace("garden-p1"),
        namespace("garden-shared"),
        seed("s1", &json!({"backup": {"credentialsRef": credentials}})),
        seed("s2", &json!({})),
        core("Project", "p1", json!({"spec": {"namespace": "garden-p1"}})),
        core("CloudProfile", "cp1", json!({})),
        core("Shoot", "garden-p1/sh1", shoot),
        binding_to("garden-shared", "infra1"),
        core(
            "BackupBucket",
            "bb1",
            json!({"spec": {"seedName": "s1", "credentialsRef": credentials}}),
        ),
        core("ControllerRegistration", "cr1", json!({})),
        core(
            "ControllerInstallation",
            "ci1",
            json!({"spec": {"registrationRef": {"name": "cr1"}, "deploymentRef": {"name": "cd1"}, "seedRef": {"name": "s1"}}}),
        ),
        object(
            "core.gardener.cloud/v1",
            "ControllerDeployment",
            "cd1",
            json!({"helm": {"ociRepository": {"pullSecretRef": {"name": "pull"}}}}),
        ),
        object(
            "operations.gardener.cloud/v1alpha1",
            "Bastion",
            "garden-p1/ba1",
            json!({"spec": {"seedName": "s1", "shootRef": {"name": "sh1"}}}),
        ),
        core("Shoot", "garden/s3", json!({"spec": {"seedName": "s1"}})),
        object(
            "seedmanagement.gardener.cloud/v1alpha1",
            "ManagedSeed",
            "garden/s3",
            json!({"spec": {"shoot": {"name": "s3"}, "gardenlet": {"bootstrap": "BootstrapToken"}}}),
        ),
        secret("garden/backup"),
        secret("garden/generated"),
        secret("garden/pull"),
        secret("garden-shared/infra1"),
        secret("kube-system/bootstrap-token-3b7093"),
        object("v1", "ConfigMap", "garden-p1/audit", json!({})),
        object("v1", "ConfigMap", "kube-system/cluster-identity", json!({})),
    ]
}
