//! Keepers at work, with an API server that stores what they write and compares versions as a real one does.

mod api_server;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_certificates::{Certificate, Contents, Terms};
use portcullis_config::ManagedCertificate;
use portcullis_core::sync::Mutex;
use portcullis_testing::{Folder, until};
use portcullis_watch::{Access, NamespacedName};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{Keeper, ManagedCertificates};
use api_server::{ApiServer, MUTATING, SECRETS, VALIDATING};

const SECRET: &str = "portcullis-tls";

/// Some replicas, and the cluster that they share.
struct World {
    runtime: Runtime,
    folder: Folder,
    api: ApiServer,
    replicas: Vec<Replica>,
}

struct Replica {
    certificates: ManagedCertificates,
    keeper: Arc<Keeper>,
    /// The expiry of everything it has served.
    served: Arc<Mutex<Vec<i64>>>,
}

impl World {
    fn new() -> Self {
        let _ = Arc::unwrap_or_clone(portcullis_net::provider()).install_default();
        let world = Self {
            runtime: Runtime::new().unwrap(),
            folder: Folder::new(),
            api: ApiServer::start(),
            replicas: Vec::new(),
        };
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": world.api.url()}}],
            "users": [{"name": "u", "user": {"token": "s3cret"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        });
        world.folder.write("kubeconfig", kubeconfig.to_string());
        world.api.put_webhooks(VALIDATING, "portcullis");
        world.api.put_webhooks(MUTATING, "portcullis");
        world
    }

    fn settings(&self) -> ManagedCertificate {
        ManagedCertificate {
            secret: NamespacedName {
                namespace: "portcullis".to_owned(),
                name: SECRET.to_owned(),
            },
            webhooks: vec!["portcullis".to_owned()],
            service: None,
            terms: Terms {
                owner: "portcullis CA".to_owned(),
                names: ["portcullis.portcullis.svc".to_owned()].into(),
                validity: Duration::from_secs(3600),
                // Looks every 200 ms, an overlap of one second.
                renew_before: Duration::from_secs(4),
            },
            access: Access::Kubeconfig(self.folder.path("kubeconfig")),
        }
    }

    /// Starts a replica with these settings.
    fn start(&mut self, settings: &ManagedCertificate) -> usize {
        let certificates = ManagedCertificates::default();
        let keeper = certificates.keeper(settings);
        let served: Arc<Mutex<Vec<i64>>> = Arc::default();
        let seen = Arc::clone(&served);
        let _runtime = self.runtime.enter();
        certificates.put_in_force(vec![(
            Arc::clone(&keeper),
            Box::new(move |expires_at| seen.lock().push(expires_at)),
        )]);
        self.replicas.push(Replica {
            certificates,
            keeper,
            served,
        });
        self.replicas.len() - 1
    }

    fn ready(&mut self) -> usize {
        let replica = self.start(&self.settings());
        self.wait_until_ready(replica);
        replica
    }

    fn wait_until_ready(&self, replica: usize) {
        until("a trusted certificate", || {
            self.replicas[replica].keeper.health().fault.is_none()
        });
    }

    fn trouble(&self, replica: usize) -> Option<String> {
        self.replicas[replica].keeper.health().trouble
    }

    fn contents(&self) -> Contents {
        Contents::read(&self.api.secret(SECRET).unwrap()).unwrap()
    }
}

impl Replica {
    fn serves(&self) -> Option<Certificate> {
        self.keeper.served()
    }
}

#[test]
fn replicas_that_start_at_once_share_one_certificate() {
    let mut world = World::new();
    let settings = world.settings();
    for _ in 0..3 {
        world.start(&settings);
    }
    for replica in 0..3 {
        world.wait_until_ready(replica);
    }
    let contents = world.contents();
    let served = Some(contents.serving().certificate.clone());
    for replica in &world.replicas {
        assert_eq!(replica.serves(), served);
        assert_eq!(replica.served.lock().len(), 1);
        assert_eq!(replica.certificates.health(), Some(replica.keeper.health()));
    }
    assert_eq!(world.api.written(SECRETS), 1);
    for kind in [VALIDATING, MUTATING] {
        assert_eq!(
            world.api.bundles(kind, "portcullis"),
            [contents.bundle(), contents.bundle()]
        );
        world.api.assert_untouched(kind, "portcullis");
    }
    let secret = world.api.object(SECRETS, SECRET).unwrap();
    assert_eq!(secret["type"], "kubernetes.io/tls");
    assert_eq!(
        secret["metadata"]["annotations"]["portcullis.dev/managed"],
        "true"
    );
}

#[test]
fn names_come_from_the_webhooks_if_none_are_given() {
    let mut world = World::new();
    let mut settings = world.settings();
    settings.terms.names.clear();
    let replica = world.start(&settings);
    world.wait_until_ready(replica);
    let served = world.replicas[replica].serves().unwrap();
    let names: Vec<_> = served.names().iter().map(String::as_str).collect();
    assert_eq!(names, ["127.0.0.1", "hooks.portcullis.svc"]);
}

#[test]
fn without_access_it_is_not_ready_and_goes_on_trying() {
    let mut world = World::new();
    world.api.refuse(Some(403));
    let replica = world.start(&world.settings());
    until("a failure", || world.trouble(replica).is_some());
    let health = world.replicas[replica].keeper.health();
    assert_eq!(health.fault, Some("there is no certificate yet"));
    assert_eq!(
        health.trouble.unwrap(),
        "cannot read the Secret `portcullis/portcullis-tls`: the API server answered 403: refused"
    );
    world.api.refuse(None);
    world.wait_until_ready(replica);
    // Later it goes on with what it has.
    world.api.refuse(Some(500));
    until("a failure", || world.trouble(replica).is_some());
    assert_eq!(world.replicas[replica].keeper.health().fault, None);
    world.api.refuse(None);
    until("well again", || world.trouble(replica).is_none());
}

#[test]
fn a_bundle_that_others_overwrite_is_repaired_and_nothing_else() {
    let mut world = World::new();
    let replica = world.ready();
    let bundle = world.contents().bundle();
    world.api.change(VALIDATING, "portcullis", |object| {
        object["webhooks"][1]["clientConfig"]["caBundle"] = json!("b3RoZXI=");
        object["webhooks"][1]["timeoutSeconds"] = json!(7);
    });
    until("the bundle to be repaired", || {
        world.api.bundles(VALIDATING, "portcullis") == [bundle.clone(), bundle.clone()]
    });
    let object = world.api.object(VALIDATING, "portcullis").unwrap();
    assert_eq!(object["webhooks"][1]["timeoutSeconds"], 7);
    assert_eq!(world.replicas[replica].served.lock().len(), 1);
}

#[test]
fn a_webhook_configuration_may_come_later() {
    let mut world = World::new();
    let mut settings = world.settings();
    settings.webhooks.push("later".to_owned());
    let replica = world.start(&settings);
    world.wait_until_ready(replica);
    until("a remark", || world.trouble(replica).is_some());
    assert_eq!(
        world.trouble(replica).unwrap(),
        "webhook configurations not found: later"
    );
    world.api.put_webhooks(MUTATING, "later");
    let bundle = world.contents().bundle();
    until("the bundle to be published", || {
        world.api.bundles(MUTATING, "later") == [bundle.clone(), bundle.clone()]
    });
    until("well", || world.trouble(replica).is_none());
}

#[test]
fn a_deleted_secret_is_made_again_without_a_moment_of_distrust() {
    let mut world = World::new();
    let (first, second) = (world.ready(), world.ready());
    let before = world.contents();
    world.api.remove(SECRETS, SECRET);
    let is_other = |replica: usize| {
        let served = world.replicas[replica].serves().unwrap();
        let bundles = world.api.bundles(VALIDATING, "portcullis");
        for bundle in &bundles {
            let trusted = Certificate::all_from_pem(bundle.as_bytes()).unwrap();
            assert!(trusted.iter().any(|one| one.has_signed(&served)));
        }
        served != before.serving().certificate
    };
    until("another certificate", || is_other(first) & is_other(second));
    let after = world.contents();
    assert_eq!(
        world.replicas[first].serves(),
        world.replicas[second].serves()
    );
    // What the old authority has signed stays trusted.
    assert!(after.trusted().contains(&before.trusted()[0]) && after.trusted().len() == 2);
}

#[test]
fn a_secret_of_others_is_left_alone() {
    let mut world = World::new();
    let others = json!({
        "metadata": {"name": SECRET, "namespace": "portcullis", "labels": {"app.kubernetes.io/managed-by": "Helm"}},
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": "eA==", "tls.key": "czNjcmV0"},
    });
    world.api.put(SECRETS, SECRET, others);
    let before = world.api.object(SECRETS, SECRET);
    let replica = world.start(&world.settings());
    until("a failure", || world.trouble(replica).is_some());
    assert_eq!(
        world.trouble(replica).unwrap(),
        "the Secret `portcullis/portcullis-tls` was not made by Portcullis: delete it, or name another one"
    );
    assert_eq!(world.api.object(SECRETS, SECRET), before);
    // An empty one is for us to fill, and keeps what it has.
    world.api.change(SECRETS, SECRET, |object| {
        object["data"] = json!({"tls.crt": "", "tls.key": "", "other": "eA=="});
    });
    world.wait_until_ready(replica);
    let filled = world.api.object(SECRETS, SECRET).unwrap();
    assert_eq!(
        filled["metadata"]["labels"]["app.kubernetes.io/managed-by"],
        "Helm"
    );
    assert_eq!(filled["data"]["other"], "eA==");
    // Emptied, as one does who may not delete it, it is filled again.
    let first = filled["data"]["tls.crt"].clone();
    world.api.change(SECRETS, SECRET, |object| {
        object["data"] = json!({"ca.crt": "", "ca.key": "", "tls.crt": "", "tls.key": ""});
    });
    until("it to be filled again", || {
        let now = world.api.object(SECRETS, SECRET).unwrap();
        now["data"]["tls.crt"] != "" && now["data"]["tls.crt"] != first
    });
    // Damaged later, it is made again.
    world.api.change(SECRETS, SECRET, |object| {
        object["data"]["tls.key"] = json!("eA==")
    });
    until("it to be repaired", || {
        Contents::read(&world.api.secret(SECRET).unwrap()).is_ok()
    });
}

#[test]
fn a_clock_that_is_wrong_makes_no_certificates() {
    let mut world = World::new();
    for (seconds, word) in [(-86_400, "ahead of"), (86_400, "behind")] {
        world.api.set_clock(seconds);
        let replica = world.start(&world.settings());
        until("a failure", || world.trouble(replica).is_some());
        let trouble = world.trouble(replica).unwrap();
        let said = format!("s {word} that of the API server: no certificate is made");
        assert!(
            trouble.starts_with("the clock of this machine is 8") && trouble.ends_with(&said),
            "{trouble}"
        );
        assert_eq!(world.api.object(SECRETS, SECRET), None);
        world.replicas.clear();
    }
    world.api.set_clock(5);
    world.ready();
}

#[test]
fn a_bundle_that_may_not_be_written_is_not_trusted() {
    let mut world = World::new();
    world.api.refuse_method(Some("PATCH"));
    let replica = world.start(&world.settings());
    until("a failure", || {
        world.trouble(replica).is_some() && world.replicas[replica].serves().is_some()
    });
    let health = world.replicas[replica].keeper.health();
    assert_eq!(
        health.fault,
        Some("the CA certificate is not yet in the webhook configurations")
    );
    assert_eq!(
        health.trouble.unwrap(),
        "cannot patch the ValidatingWebhookConfiguration `portcullis`: the API server answered 403: refused"
    );
    world.api.refuse_method(None);
    world.wait_until_ready(replica);
}

#[test]
fn other_settings_begin_with_what_is_served() {
    let mut world = World::new();
    let replica = world.ready();
    let before = world.replicas[replica].serves();
    let mut settings = world.settings();
    let certificates = &world.replicas[replica].certificates;
    // The same settings are the same keeper, as at most reloads.
    assert!(Arc::ptr_eq(
        &certificates.keeper(&settings),
        &world.replicas[replica].keeper
    ));
    settings
        .terms
        .names
        .insert("other.portcullis.svc".to_owned());
    let keeper = certificates.keeper(&settings);
    assert_eq!(keeper.served(), before);
    assert_eq!(keeper.health().fault, None);
    let _runtime = world.runtime.enter();
    let told: Arc<Mutex<Vec<i64>>> = Arc::default();
    let seen = Arc::clone(&told);
    certificates.put_in_force(vec![(
        Arc::clone(&keeper),
        Box::new(move |expires_at| seen.lock().push(expires_at)),
    )]);
    assert_eq!(told.lock().len(), 1);
    until("a certificate with both names", || {
        let served = keeper.served();
        served.is_some_and(|served| served.names().len() == 2)
    });
    assert!(world.replicas[replica].certificates.health().is_some());
    certificates.put_in_force(Vec::new());
    assert_eq!(certificates.health(), None);
}

#[test]
fn the_time_of_expiry_is_told() {
    let mut world = World::new();
    let replica = world.ready();
    let now = portcullis_core::clock::wall().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(now.unwrap().as_secs()).unwrap();
    let told = world.replicas[replica].served.lock()[0];
    assert!((now + 3000..=now + 3600).contains(&told), "{told}");
    assert_eq!(world.replicas[replica].keeper.expires_at(), Some(told));
}

#[test]
fn listeners_with_the_same_settings_share_a_keeper() {
    let world = World::new();
    let certificates = ManagedCertificates::default();
    let settings = world.settings();
    let first = certificates.keeper(&settings);
    assert!(Arc::ptr_eq(&first, &certificates.keeper(&settings)));
    let other = ManagedCertificate {
        webhooks: Vec::new(),
        ..settings.clone()
    };
    assert!(!Arc::ptr_eq(&first, &certificates.keeper(&other)));
    // A configuration that was not put in force leaves nothing behind.
    let address = Arc::downgrade(&first);
    drop(first);
    assert!(address.upgrade().is_none());
    assert_eq!(certificates.keeper(&settings).settings(), &settings);
}
