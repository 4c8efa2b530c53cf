//! What all tests share: one control plane, and namespaces in it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use portcullis_e2e::{
    Authority, Cluster, ClusterConfig, FailurePolicy, Kubectl, Phase, Portcullis, PortcullisConfig,
    Programs, Webhook, Webhooks, until,
};

use crate::authorization;

/// The shared control plane and what it was started with.
pub(crate) struct Suite {
    pub(crate) cluster: Cluster,
    pub(crate) authority: Authority,
    pub(crate) programs: Programs,
    pub(crate) directory: PathBuf,
    /// Answers the API server's questions of authorization; never stopped.
    _authorizer: Portcullis,
    /// The same for users whose authorizer may be stopped.
    pub(crate) fragile_authorizer: Mutex<Portcullis>,
}

/// A namespace of one test.
pub(crate) struct Space {
    pub(crate) suite: &'static Suite,
    pub(crate) name: &'static str,
    /// The administrator's `kubectl`, in this namespace.
    pub(crate) kubectl: Kubectl,
}

static SUITE: LazyLock<Option<Suite>> = LazyLock::new(|| {
    let programs = Programs::from_environment();
    let (Some(programs), Some(_)) = (programs, Portcullis::program()) else {
        // Past libtest's capture of output, which would swallow it.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: portcullis-e2e kube: KUBE_PROGRAMS and PORTCULLIS are not set; run e2e/kube/run",
        );
        return None;
    };
    Some(Suite::start(programs))
});

/// Runs a test in a namespace of its own, or skips it.
pub(crate) fn in_namespace(name: &'static str, test: impl FnOnce(&Space)) {
    if let Some(suite) = SUITE.as_ref() {
        test(&Space::create(suite, name));
    }
}

impl Suite {
    fn start(programs: Programs) -> Self {
        let directory = fresh_directory(Path::new(env!("CARGO_TARGET_TMPDIR")));
        let authority = Authority::new("portcullis-e2e");
        let authorizer = |name: &str| {
            Portcullis::start(PortcullisConfig {
                directory: &directory.join(name),
                authority: &authority,
                client_authority: None,
                configuration: authorization::CONFIGURATION,
                files: &[("abac.jsonl", authorization::RULES)],
            })
        };
        let steady = authorizer("authorizer");
        let fragile = authorizer("fragile-authorizer");
        let cluster = Cluster::start(
            programs.clone(),
            &directory.join("cluster"),
            &authority,
            &ClusterConfig {
                users: authorization::USERS,
                authorizers: &authorization::webhooks(&steady, &fragile),
                // They would do what the Portcullis under test is to do.
                disabled_plugins: &["DefaultTolerationSeconds", "PodSecurity"],
                ..ClusterConfig::default()
            },
        );
        Self {
            cluster,
            authority,
            programs,
            directory,
            _authorizer: steady,
            fragile_authorizer: Mutex::new(fragile),
        }
    }
}

impl Space {
    pub(crate) fn create(suite: &'static Suite, name: &'static str) -> Self {
        let kubectl = suite.cluster.kubectl();
        kubectl.run(&["create", "namespace", name]).succeeds();
        let kubectl = kubectl.in_namespace(name);
        Self {
            suite,
            name,
            kubectl,
        }
    }

    /// A Portcullis with this configuration, not registered yet.
    pub(crate) fn portcullis(&self, name: &str, configuration: &str) -> Portcullis {
        Portcullis::start(PortcullisConfig {
            directory: &self.suite.directory.join(self.name).join(name),
            authority: &self.suite.authority,
            client_authority: None,
            configuration,
            files: &[],
        })
    }

    /// A Portcullis with this configuration, in charge of this namespace.
    pub(crate) fn gate(&self, phase: Phase, configuration: &str) -> Portcullis {
        let portcullis = self.portcullis("gate", configuration);
        self.webhooks(phase, vec![self.webhook(phase, &portcullis)])
            .register();
        portcullis
    }

    /// The usual entry for a Portcullis in a webhook configuration.
    pub(crate) fn webhook(&self, phase: Phase, portcullis: &Portcullis) -> Webhook {
        Webhook {
            name: self.webhook_name(phase),
            url: portcullis.url(path(phase)),
            authorities: self.suite.authority.certificate(),
            failure_policy: FailurePolicy::Fail,
            timeout_seconds: 10,
            reinvocation: false,
        }
    }

    /// A webhook configuration for this namespace.
    pub(crate) fn webhooks(&self, phase: Phase, entries: Vec<Webhook>) -> Webhooks<'_> {
        Webhooks {
            kubectl: &self.kubectl,
            namespace: self.name,
            phase,
            entries,
        }
    }

    /// The name under which [`Space::webhook`] registers.
    pub(crate) fn webhook_name(&self, phase: Phase) -> String {
        let verb = path(phase).trim_start_matches('/');
        format!("{verb}.{}.portcullis.dev", self.name)
    }

    /// What `kubectl create -f -` prints when the validating webhook refuses with `text`.
    pub(crate) fn refusal(&self, text: &str) -> String {
        self.refusal_of(Phase::Validating, "Forbidden", text)
    }

    /// The same for a webhook of either phase and a reason.
    pub(crate) fn refusal_of(&self, phase: Phase, reason: &str, text: &str) -> String {
        format!(
            "Error from server ({reason}): error when creating \"STDIN\": admission webhook \"{}\" denied the request: {text}",
            self.webhook_name(phase),
        )
    }

    /// Lets users do that to pods here, through RBAC; waits until it holds for the first.
    pub(crate) fn grant(&self, users: &[&str], verb: &str) {
        let subjects = users.iter().map(|user| format!("--user={user}"));
        let mut binding = vec!["create", "rolebinding", verb, "--role", verb];
        let subjects: Vec<_> = subjects.collect();
        binding.extend(subjects.iter().map(String::as_str));
        self.kubectl
            .run(&["create", "role", verb, "--verb", verb, "--resource=pods"])
            .succeeds();
        self.kubectl.run(&binding).succeeds();
        let first = self.kubectl.impersonating(users[0]);
        until("the role binding", Duration::from_secs(10), || {
            first.run(&["auth", "can-i", verb, "pods"]).is_success()
        });
    }
}

fn path(phase: Phase) -> &'static str {
    match phase {
        Phase::Mutating => "/mutate",
        Phase::Validating => "/validate",
    }
}

/// A new directory for this run; those of runs that are over are removed.
fn fresh_directory(parent: &Path) -> PathBuf {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let over = name
            .to_str()
            .and_then(|name| name.strip_prefix("kube-"))
            .is_some_and(|id| !Path::new("/proc").join(id).exists());
        if over {
            // Somebody else may be removing it too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let directory = parent.join(format!("kube-{}", process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Ends the threads of a scope also when the test fails.
pub(crate) struct OnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
