//! The configuration as the server uses it: complete, checked, with every path
//! resolved.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc};

use portcullis_core::{FailureMode, PolicyMode};
use portcullis_graph::{Compat, Profile, Selectors};
use portcullis_host::HostSettings;
use portcullis_record::Masker;
use portcullis_store::Location;

use super::{
    document::{Document, Node},
    fault::Fault,
    model::{
        AuthenticatorDriver, AuthorizerDriver, Limits, Log, Namespace, PendingMutation, Principal,
        Service, Severity, Shutdown,
    },
    path,
    source::Source,
    units::Duration,
    warning::Warning,
};
use crate::matcher::Matcher;

/// A whole configuration.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration file; nothing for the built-in one.
    pub file: Option<PathBuf>,
    /// Where the server listens; at least one, or none when loaded for use without a server.
    pub listeners: Vec<Listener>,
    /// An acjs file that listens at a unix socket, so that policies know which user calls.
    pub by_socket: bool,
    /// The plug-ins that run, in their order.
    pub plugins: Vec<PluginEntry>,
    /// What the validating path does when the chain would still change the object.
    pub pending_mutation: PendingMutation,
    /// The policies in JavaScript.
    pub policies: Policies,
    /// Namespaces that plug-ins know without a cluster.
    pub namespaces: Vec<Namespace>,
    /// Limits.
    pub limits: Limits,
    /// Every authorizer that is declared or that a chain names.
    pub authorizers: Vec<Authorizer>,
    /// Profiles of the graph, in the order of the configuration.
    pub graphs: Vec<GraphProfile>,
    /// Names of authorizers by name of the chain; each name is in `authorizers`.
    pub chains: BTreeMap<String, Vec<String>>,
    /// Who is believed, and where it says what people may do.
    pub access: AccessSettings,
    /// What is kept of decisions.
    pub decisions: Decisions,
    /// What is logged, and how.
    pub log: Log,
    /// How the server shuts down.
    pub shutdown: Shutdown,
    /// Every file that was read or named, absolute: what a watcher watches.
    pub files: Vec<PathBuf>,
    /// What is odd but not wrong.
    pub warnings: Vec<Warning>,
    /// Key files that others can read here. That matters where the server runs, not where its
    /// configuration is checked.
    pub exposed: Vec<Warning>,
}

/// A place where the server listens.
#[derive(Debug, Clone)]
pub struct Listener {
    /// The name, once only.
    pub name: String,
    /// The address or socket.
    pub bind: Bind,
    /// TLS; never on a unix socket.
    pub tls: Option<Tls>,
    /// What is served here, each once, at least one.
    pub serves: Vec<Service>,
    /// The most connections it may have; the share of all that is left otherwise.
    pub connections: Option<u32>,
    /// How paths are understood.
    pub style: Style,
    /// Where it is configured.
    pub origin: Origin,
}

/// How the paths of a listener are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A door for each path.
    Doors,
    /// As acjs has it: every path and method is a review, health and metrics aside.
    Acjs,
}

/// Everything about policies.
#[derive(Debug)]
pub struct Policies {
    /// JavaScript that is run before them.
    pub globals: Arc<Source>,
    /// The policies, in the order they are asked.
    pub list: Vec<Policy>,
    /// The modules that policies are or import.
    pub modules: Vec<Module>,
    /// Where each mark of coverage stands; none unless coverage is wanted.
    pub marks: Vec<MarkPlace>,
    /// What happens when no policy has an opinion.
    pub default_action: DefaultAction,
    /// Host calls of policies.
    pub host: HostSettings,
}

/// Who is believed, and where it says what people may do. None of the files has been read yet.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// The tenants file, and where it is named.
    pub tenants: Option<(PathBuf, Origin)>,
    /// Authenticators: how callers are identified.
    pub authenticators: Vec<Authenticator>,
    /// Browser sessions.
    pub sessions: SessionSettings,
}

/// Somebody who says who asks.
#[derive(Debug, Clone)]
pub struct Authenticator {
    /// Its name, unique.
    pub name: String,
    /// How callers are authenticated.
    pub driver: AuthenticatorDriver,
    /// What `iss` is.
    pub issuer: String,
    /// What `aud` must be; empty for drivers without tokens.
    pub audience: String,
    /// The realm.
    pub realm: String,
    /// Whether its realm is the default.
    pub is_default: bool,
    /// The shared secret.
    pub secret_file: Option<PathBuf>,
    /// The public key.
    pub public_key_file: Option<PathBuf>,
    /// The private key.
    pub private_key_file: Option<PathBuf>,
    /// Where the provider's keys are.
    pub keys_url: Option<String>,
    /// Who the provider knows us as.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret_file: Option<PathBuf>,
    /// What is asked for at signing in.
    pub scopes: Vec<String>,
    /// Authorities for the provider's certificate.
    pub ca_file: Option<PathBuf>,
    /// The claim that identifies the user.
    pub uid_claim: String,
    /// Whether `zuul.admin` counts.
    pub allow_authz_override: bool,
    /// How old a token may be.
    pub max_validity: Option<std::time::Duration>,
    /// The tolerated clock skew.
    pub skew: std::time::Duration,
    /// Where it is configured.
    pub origin: Origin,
}

/// Browser sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSettings {
    /// How long one lasts.
    pub lifetime: std::time::Duration,
    /// The key that signs them; in the data directory.
    pub key_file: Option<PathBuf>,
    /// How browsers reach this server, without a slash at the end.
    pub public_url: Option<String>,
}

/// What is kept of decisions.
#[derive(Debug, Clone)]
pub struct Decisions {
    /// Whether decisions are kept in the store.
    pub is_stored: bool,
    /// The store; the one in the data directory.
    pub location: Option<Location>,
    /// How long decisions are kept.
    pub retention: std::time::Duration,
    /// How many bytes they may take in the store.
    pub max_size: u64,
    /// What is masked in them.
    pub masker: Arc<Masker>,
    /// Whether a decision that can't be kept is refused.
    pub required: bool,
    /// Where else they go.
    pub json_lines: Option<JsonLines>,
}

/// Where lines of JSON go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonLines {
    /// To standard output.
    StandardOutput,
    /// To the end of a file.
    File(PathBuf),
}

/// What happens when no policy has an opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultAction {
    /// The request is allowed.
    Allow,
    /// The request is denied.
    #[default]
    Reject,
}

/// A policy, ready for the engine.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its name, unique.
    pub name: String,
    /// Which requests it is asked about.
    pub matcher: Matcher,
    /// What a denial by this policy means.
    pub mode: PolicyMode,
    /// What is run.
    pub code: Code,
    /// What its author wrote.
    pub text: Arc<Source>,
    /// What its author says of it.
    pub about: About,
}

/// What the author of a policy says of it, for reports. Nothing is judged by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// What it is for.
    pub description: Option<String>,
    /// How much a violation matters.
    pub severity: Option<Severity>,
    /// What it belongs to.
    pub category: Option<String>,
    /// A page that says more.
    pub link: Option<String>,
}

/// What is run for a policy.
#[derive(Debug, Clone)]
pub enum Code {
    /// The body of a function.
    Body(String),
    /// The default export of the module at this place.
    Module(usize),
}

/// An ES module as a function body.
#[derive(Debug, Clone)]
pub struct Module {
    /// Its name in messages.
    pub name: String,
    /// What stands before it: its imports.
    pub header: String,
    /// Its text.
    pub code: String,
    /// What stands behind it: its exports.
    pub footer: String,
    /// What its author wrote.
    pub text: Arc<Source>,
}

/// A mark of coverage.
#[derive(Debug, Clone)]
pub struct MarkPlace {
    /// The text it is in.
    pub text: Arc<Source>,
    /// The line of the statement behind it.
    pub line: u32,
}

impl Listener {
    /// Whether something is served here.
    pub fn serves(&self, service: Service) -> bool {
        self.serves.contains(&service)
    }
}

/// An address or a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bind {
    /// TCP.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(UnixSocket),
}

/// A unix socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnixSocket {
    /// Its path.
    pub path: PathBuf,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner, if it is to be changed.
    pub owner: Option<Principal>,
    /// Its group, if it is to be changed.
    pub group: Option<Principal>,
}

/// TLS of a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tls {
    /// What the server shows.
    pub identity: Identity,
    /// Authorities that clients' certificates must come from.
    pub client_ca: Option<PathBuf>,
}

/// What a server shows of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// A certificate from files.
    Files {
        /// The certificate and its chain, PEM.
        certificate: PathBuf,
        /// The private key, PEM.
        key: PathBuf,
    },
    /// A certificate made at start.
    Development,
}

/// A plug-in of the chain.
#[derive(Debug, Clone)]
pub struct PluginEntry {
    /// The name under which it is registered.
    pub name: String,
    /// What follows when it fails.
    pub failure: FailureMode,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Its own configuration.
    pub configuration: Option<serde_json::Value>,
    /// Where its configuration stands, or else where it is named.
    pub origin: Origin,
}

/// An authorizer.
#[derive(Debug, Clone)]
pub struct Authorizer {
    /// The name that chains use.
    pub name: String,
    /// How it decides.
    pub driver: AuthorizerDriver,
    /// For ABAC, always: the file of attributes.
    pub file: Option<PathBuf>,
    /// Where it is declared, or else where it is named.
    pub origin: Origin,
}

/// A profile of the graph, and where its objects come from.
#[derive(Debug, Clone)]
pub struct GraphProfile {
    /// The name, once only.
    pub name: String,
    /// The profile.
    pub profile: Arc<Profile>,
    /// The text it was made from.
    pub text: Arc<Source>,
    /// Where its objects come from.
    pub source: GraphSource,
    /// Which answer is used where the safe one and upstream's differ.
    pub compat: Compat,
    /// Whether the API server forwards selectors.
    pub selectors: Selectors,
    /// Where it is declared.
    pub origin: Origin,
}

/// Where objects come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphSource {
    /// A directory of manifests.
    Directory(PathBuf),
    /// A cluster, by kubeconfig.
    Kubeconfig(PathBuf),
    /// The cluster that the server runs in.
    InCluster,
    /// Not said; only where nothing is served.
    Nowhere,
}

/// Where a part of the configuration stands, to give faults found later a place.
#[derive(Debug, Clone)]
pub struct Origin {
    source: Arc<Source>,
    path: String,
    node: Option<Node>,
}

impl Origin {
    /// A part of a document.
    pub(crate) fn of(document: &Document, path: &str) -> Self {
        Self {
            source: Arc::clone(&document.source),
            path: path.to_owned(),
            node: Some(document.root.nearest(path).clone()),
        }
    }

    /// A flag or environment variable.
    pub fn named(label: &str) -> Self {
        Self {
            source: Source::named(label),
            path: String::new(),
            node: None,
        }
    }

    /// A fault at a path inside this part, like `defaults.enforce`; the empty
    /// path is the part itself.
    pub fn fault(&self, path: &str, message: impl Into<String>) -> Fault {
        let position = self.node.as_ref().map(|node| node.nearest(path).position);
        self.source
            .fault(position, path::join(&self.path, path), message)
    }

    /// The file, or the flag or environment variable.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The place as `file:line:column`.
    pub fn place(&self) -> String {
        match &self.node {
            Some(node) => format!(
                "{}:{}:{}",
                self.source.label(),
                node.position.line,
                node.position.column
            ),
            None => self.source.label().to_owned(),
        }
    }
}
