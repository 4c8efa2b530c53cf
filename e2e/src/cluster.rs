//! A real Kubernetes control plane: etcd and kube-apiserver on loopback.
//!
//! No kubelet, no scheduler, no controllers: pods stay pending, namespaces
//! never finish terminating, no default service account appears (so the
//! `ServiceAccount` plug-in is off). What the API server decides is real.

mod files;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::{Authority, Connection, Kubectl, Process, free_ports, until, until_some};

/// Where the programs of the control plane are.
#[derive(Clone, Debug)]
pub struct Programs(PathBuf);

/// Someone who may sign in with a token.
#[derive(Clone, Copy, Debug)]
pub struct User {
    /// The name.
    pub name: &'static str,
    /// The groups, besides `system:authenticated`.
    pub groups: &'static [&'static str],
}

/// An authorization webhook, asked before RBAC.
#[derive(Clone, Debug)]
pub struct AuthorizationWebhook {
    /// Its name in the authorization configuration.
    pub name: &'static str,
    /// Where it is asked, with the path.
    pub url: String,
    /// The version of the SubjectAccessReview it is sent: `v1` or `v1beta1`.
    pub version: &'static str,
    /// `NoOpinion` or `Deny`: what follows when it cannot be asked.
    pub failure_policy: &'static str,
    /// Only requests of this user are sent to it.
    pub user: &'static str,
}

/// What a cluster is started with.
#[derive(Clone, Debug, Default)]
pub struct ClusterConfig<'a> {
    /// Who may sign in, besides the administrator.
    pub users: &'a [User],
    /// Authorization webhooks, in order; RBAC comes last.
    pub authorizers: &'a [AuthorizationWebhook],
    /// Admission plug-ins of the API server itself to switch on.
    pub enabled_plugins: &'a [&'a str],
    /// Admission plug-ins of the API server itself to switch off.
    pub disabled_plugins: &'a [&'a str],
    /// Configuration of the API server's own plug-ins: name and configuration object.
    pub plugin_configurations: &'a [(&'a str, Value)],
    /// The API server's own Node authorizer comes last, in place of RBAC.
    pub only_nodes: bool,
    /// Where Services get their addresses from; by default a network that leads nowhere.
    pub service_range: Option<&'a str>,
}

/// A running control plane. Dropping it kills it; its directory stays.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    directory: PathBuf,
    port: u16,
    store_port: u16,
    /// What the API server is started with.
    arguments: Vec<String>,
    server: Process,
    _store: Process,
}

/// `kubectl proxy`: the API server without TLS, as the administrator.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    _process: Process,
}

impl Proxy {
    /// A connection to the API server.
    #[must_use]
    pub fn connection(&self) -> Connection {
        Connection::new(self.port)
    }
}

/// The user that may do everything.
pub(crate) const ADMINISTRATOR: &str = "admin";

impl Programs {
    /// The directory named by `KUBE_PROGRAMS`, as `e2e/kube/build` prints it.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        env::var_os("KUBE_PROGRAMS").map(|directory| Self(directory.into()))
    }

    /// The directory.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.0.clone()
    }

    pub(crate) fn path(&self, program: &str) -> PathBuf {
        self.0.join(program)
    }
}

impl Cluster {
    /// Starts a control plane in `directory` and waits until it is ready.
    ///
    /// `authority` signs the API server's certificate and the client
    /// certificate it shows to webhooks that ask for one.
    #[must_use]
    pub fn start(
        programs: Programs,
        directory: &Path,
        authority: &Authority,
        config: &ClusterConfig<'_>,
    ) -> Self {
        fs::create_dir_all(directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let [port, client_port, peer_port] = free_ports();
        let store = start_etcd(&programs, directory, client_port, peer_port);
        files::write(directory, port, authority, config);
        let arguments = arguments(port, client_port, config);
        let server = start_api_server(&programs, directory, &arguments);
        let mut cluster = Self {
            programs,
            directory: directory.to_owned(),
            port,
            store_port: client_port,
            arguments,
            server,
            _store: store,
        };
        cluster.wait_until_ready();
        cluster
    }

    /// `kubectl` as the administrator, in the namespace `default`.
    #[must_use]
    pub fn kubectl(&self) -> Kubectl {
        Kubectl::new(&self.programs, &self.directory)
    }

    /// The port of the API server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The token of the administrator.
    #[must_use]
    pub fn administrator_token(&self) -> String {
        files::token(ADMINISTRATOR)
    }

    /// The administrator's kubeconfig of a cluster that is, or will be, started in `directory`.
    #[must_use]
    pub fn kubeconfig(directory: &Path) -> PathBuf {
        directory.join("kubeconfig.json")
    }

    /// Ends the API server. What is stored stays.
    pub fn stop_server(&mut self) {
        self.server.stop();
    }

    /// Starts the API server again, on the same port, and waits until it is ready.
    pub fn start_server(&mut self) {
        self.server = start_api_server(&self.programs, &self.directory, &self.arguments);
        self.wait_until_ready();
    }

    /// Makes the store forget everything but how it is now: older versions can't be watched from
    /// any more, once the API server has forgotten them, too.
    ///
    /// # Panics
    /// When the store refuses.
    pub fn compact(&self) {
        let mut store = Connection::new(self.store_port);
        let any = serde_json::json!({"key": "AA=="});
        let (_, found) = store.post("/v3/kv/range", &any).expect("etcd answers");
        let revision = found.pointer("/header/revision");
        let compaction = serde_json::json!({"revision": revision, "physical": true});
        let (status, answer) = store
            .post("/v3/kv/compaction", &compaction)
            .expect("etcd answers");
        assert_eq!(status, 200, "{answer}");
    }

    /// The API server without TLS.
    #[must_use]
    pub fn proxy(&self) -> Proxy {
        let [port] = free_ports();
        let mut command = Command::new(self.programs.path("kubectl"));
        command
            .arg(format!(
                "--kubeconfig={}",
                Self::kubeconfig(&self.directory).display()
            ))
            .args(["proxy", &format!("--port={port}")]);
        let log = self.directory.join("kubectl-proxy.log");
        let mut process = Process::start("kubectl proxy", &mut command, &log);
        until("kubectl proxy", Duration::from_secs(60), || {
            process.must_run();
            crate::http::get(port, "/readyz").is_some()
        });
        Proxy {
            port,
            _process: process,
        }
    }

    /// The entries of the audit log so far.
    #[must_use]
    pub fn audit_log(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.directory.join("audit.log")).unwrap_or_default();
        // The last line may be half written.
        log.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Waits for the audit entry of a finished request that satisfies `wanted`.
    #[track_caller]
    pub fn audited(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        until_some(what, Duration::from_secs(10), || {
            self.audit_log().into_iter().find(|entry| wanted(entry))
        })
    }

    fn wait_until_ready(&mut self) {
        let kubectl = self.kubectl();
        let port = self.port;
        until(
            &format!("kube-apiserver on port {port} to be ready"),
            Duration::from_secs(60),
            || {
                self.server.must_run();
                kubectl.run(&["get", "--raw", "/readyz"]).is_success()
            },
        );
        // Made by a controller inside the server, after it is ready.
        until("the default namespace", Duration::from_secs(20), || {
            kubectl.run(&["get", "namespace", "default"]).is_success()
        });
    }
}

fn start_etcd(programs: &Programs, directory: &Path, client_port: u16, peer_port: u16) -> Process {
    let client = format!("http://127.0.0.1:{client_port}");
    let peer = format!("http://127.0.0.1:{peer_port}");
    let mut command = Command::new(programs.path("etcd"));
    command
        .arg("--data-dir")
        .arg(directory.join("etcd"))
        .args(["--listen-client-urls", &client])
        .args(["--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer])
        .args(["--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &format!("default={peer}")])
        .args(["--unsafe-no-fsync", "--log-level=warn"]);
    Process::start("etcd", &mut command, &directory.join("etcd.log"))
}

fn arguments(port: u16, store_port: u16, config: &ClusterConfig<'_>) -> Vec<String> {
    let disabled = [config.disabled_plugins, &["ServiceAccount"]].concat();
    let mut arguments = vec![
        format!("--etcd-servers=http://127.0.0.1:{store_port}"),
        format!("--secure-port={port}"),
        format!("--disable-admission-plugins={}", disabled.join(",")),
        format!(
            "--service-cluster-ip-range={}",
            config.service_range.unwrap_or("10.0.0.0/24")
        ),
    ];
    if !config.enabled_plugins.is_empty() {
        let enabled = config.enabled_plugins.join(",");
        arguments.push(format!("--enable-admission-plugins={enabled}"));
    }
    let fixed = [
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--tls-cert-file=server.crt",
        "--tls-private-key-file=server.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-signing-key-file=service-account.key",
        "--service-account-key-file=service-account.crt",
        "--token-auth-file=tokens.csv",
        "--authorization-config=authorization.json",
        "--allow-privileged",
        "--audit-policy-file=audit-policy.json",
        "--audit-log-path=audit.log",
        "--admission-control-config-file=admission.json",
    ];
    arguments.extend(fixed.map(str::to_owned));
    arguments
}

fn start_api_server(programs: &Programs, directory: &Path, arguments: &[String]) -> Process {
    let mut command = Command::new(programs.path("kube-apiserver"));
    command.current_dir(directory).args(arguments);
    Process::start(
        "kube-apiserver",
        &mut command,
        &directory.join("kube-apiserver.log"),
    )
}
