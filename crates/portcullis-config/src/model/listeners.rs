//! The `listeners` key: what is written, and the listeners that a server binds.

use std::{borrow::Cow, fmt, net::SocketAddr, path::PathBuf};

use portcullis_core::vocabulary;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error as DeError, Visitor},
};

use portcullis_document::Origin;

use super::{ManagedCertificate, ManagedSpec};

/// A place where the server listens: either `tcp` or `unix`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Listener")]
pub(crate) struct ListenerSpec {
    /// The name in logs and metrics, unique.
    pub(crate) name: String,
    /// A TCP address, like `127.0.0.1:8443` or `[::1]:8443`.
    pub(crate) tcp: Option<String>,
    /// A unix socket.
    pub(crate) unix: Option<UnixSpec>,
    /// TLS on a TCP listener.
    pub(crate) tls: Option<TlsSpec>,
    /// Allows plain TCP beyond loopback.
    #[serde(default)]
    pub(crate) insecure: bool,
    /// The maximum number of connections on this listener; by default as many as `limits.connections` leaves.
    #[schemars(range(min = 1))]
    pub(crate) connections: Option<u32>,
    /// What is served here.
    #[schemars(length(min = 1))]
    pub(crate) serves: Vec<Service>,
}

/// A unix socket.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "UnixSocket")]
pub(crate) struct UnixSpec {
    /// The path of the socket.
    pub(crate) path: PathBuf,
    /// Its mode in octal digits.
    pub(crate) mode: Option<ModeSpec>,
    /// Its owner: a user name or number.
    pub(crate) owner: Option<Principal>,
    /// Its group: a group name or number.
    pub(crate) group: Option<Principal>,
}

/// TLS: `certificate` and `key`, `managed`, or `development`; with `clientCA`, clients must present a certificate.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Tls")]
pub(crate) struct TlsSpec {
    /// The file with the certificate and its chain, PEM.
    pub(crate) certificate: Option<PathBuf>,
    /// The file with the private key, PEM.
    pub(crate) key: Option<PathBuf>,
    /// The file with the trusted CA certificates for clients, PEM.
    #[serde(rename = "clientCA")]
    pub(crate) client_ca: Option<PathBuf>,
    /// Creates a development certificate when the server starts.
    #[serde(default)]
    pub(crate) development: bool,
    /// A certificate that the server makes and rotates itself.
    pub(crate) managed: Option<ManagedSpec>,
}

// Which door a request goes through, and so a decision is made at, is a `portcullis_core::Door`.
vocabulary! {
    /// What a listener serves.
    #[derive(PartialOrd, Ord, JsonSchema)]
    pub enum Service {
        /// Kubernetes reviews: admission and authorization.
        Kubernetes = "kubernetes",
        /// The REST API.
        Api = "api",
        /// CI jobs.
        Ci = "ci",
        /// The web pages.
        Web = "web",
        /// Metrics for Prometheus.
        Metrics = "metrics",
        /// Liveness and readiness.
        Health = "health",
    }
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

impl Listener {
    /// Whether something is served here.
    pub fn serves(&self, service: Service) -> bool {
        self.serves.contains(&service)
    }
}

/// How the paths of a listener are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A door for each path.
    Doors,
    /// As acjs has it: every path and method is a review, health and metrics aside.
    Acjs,
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
    /// A certificate that is kept in a cluster.
    Managed(Box<ManagedCertificate>),
}

/// The mode of a socket as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModeSpec {
    /// In quotes: octal digits.
    Text(String),
    /// Without quotes: whether `0660`, `660` or `0o660` was written, only the file knows.
    Number,
}

/// A user or a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// By name.
    Name(String),
    /// By number.
    Id(u32),
}

impl<'de> Deserialize<'de> for ModeSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ModeVisitor)
    }
}

struct ModeVisitor;

impl Visitor<'_> for ModeVisitor {
    type Value = ModeSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a mode like \"0660\"")
    }

    fn visit_str<E>(self, text: &str) -> Result<ModeSpec, E> {
        Ok(ModeSpec::Text(text.to_owned()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<ModeSpec, E> {
        Ok(ModeSpec::Number)
    }

    /// `0660` is not an integer in YAML 1.2.
    fn visit_f64<E>(self, _: f64) -> Result<ModeSpec, E> {
        Ok(ModeSpec::Number)
    }
}

impl<'de> Deserialize<'de> for Principal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PrincipalVisitor)
    }
}

struct PrincipalVisitor;

impl Visitor<'_> for PrincipalVisitor {
    type Value = Principal;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name or a number")
    }

    fn visit_str<E: DeError>(self, text: &str) -> Result<Principal, E> {
        if text.is_empty() {
            return Err(E::custom("the name is empty"));
        }
        Ok(text
            .parse()
            .map_or_else(|_| Principal::Name(text.to_owned()), Principal::Id))
    }

    fn visit_u64<E: DeError>(self, id: u64) -> Result<Principal, E> {
        u32::try_from(id)
            .map(Principal::Id)
            .map_err(|_| E::custom(format!("`{id}` is too large for a user or group ID")))
    }
}

impl JsonSchema for ModeSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Mode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "number"], "pattern": "^0?[0-7]{3,4}$", "examples": ["0660"]})
    }
}

impl JsonSchema for Principal {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Principal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "integer"], "minLength": 1, "minimum": 0, "maximum": u32::MAX})
    }
}
