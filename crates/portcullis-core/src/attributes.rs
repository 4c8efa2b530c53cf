//! A request for admission: who, which operation, on which object.
//!
//! [`Attributes`] is the same for every door. The wire shapes of Kubernetes and CI stay in their
//! doors; what only a door knows (path, peer) is carried in [`DoorContext`].

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::trace_context::TraceContext;
use crate::vocabulary;

vocabulary! {
    /// The door a request came through, and a decision was made at.
    #[derive(JsonSchema)]
    pub enum Door {
        /// Kubernetes admission: `AdmissionReview`.
        Kubernetes = "kubernetes",
        /// Kubernetes authorization: `SubjectAccessReview`.
        Authorization = "authorization",
        /// A CI job.
        Ci = "ci",
        /// Portcullis' own REST API and pages.
        Api = "api",
    }
}

vocabulary! {
    /// What is about to happen to the object, as Kubernetes names it.
    #[derive(PartialOrd, Ord)]
    pub enum Operation {
        /// A new object.
        Create = "CREATE",
        /// A change of an object.
        Update = "UPDATE",
        /// The end of an object.
        Delete = "DELETE",
        /// A connection to an object, such as `exec`.
        Connect = "CONNECT",
    }
}

/// The type of an object: `apps/v1, Deployment`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Kind {
    /// API group, empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Kind, like `Pod`.
    pub kind: String,
}

/// API group of CI jobs.
pub const CI_GROUP: &str = "ci.portcullis.dev";
/// Kind of CI jobs.
pub const CI_JOB: &str = "Job";

impl Kind {
    /// Whether this is `kind` of `group`, in any version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

/// The name of a collection in the API: `apps/v1, deployments`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Resource {
    /// API group, empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Resource, like `pods`.
    pub resource: String,
}

impl Resource {
    /// Whether this is `resource` of `group`, in any version.
    pub fn is(&self, group: &str, resource: &str) -> bool {
        self.group == group && self.resource == resource
    }
}

impl fmt::Display for Resource {
    /// `deployments.apps`, `pods`: as Kubernetes names it in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// The user who sends a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// Name of the user.
    pub username: String,
    /// Stable identifier of the user.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Groups the user is in.
    #[serde(deserialize_with = "null_as_default")]
    pub groups: Vec<String>,
    /// What else the authenticator knows.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The group of all users that Kubernetes knows.
pub const AUTHENTICATED: &str = "system:authenticated";

/// The groups that Kubernetes puts a service account into besides [`AUTHENTICATED`], by its user name; `None`
/// for other users.
pub fn service_account_groups(username: &str) -> Option<[String; 2]> {
    let account = username.strip_prefix("system:serviceaccount:")?;
    let (namespace, _) = account.split_once(':')?;
    Some([
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
    ])
}

/// Writers of other languages say `null` for an empty list or map.
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// One request for admission.
#[derive(Debug, Clone)]
pub struct Attributes {
    /// The door it came through.
    pub door: Door,
    /// The caller's identifier of the request.
    pub uid: String,
    /// What is about to happen.
    pub operation: Operation,
    /// Type of the object.
    pub kind: Kind,
    /// Collection of the object.
    pub resource: Resource,
    /// Part of the object the request is for, like `status`; empty for the object itself.
    pub subresource: String,
    /// Name of the object as asked for; empty when the server will generate it.
    pub name: String,
    /// Namespace, empty for objects without one.
    pub namespace: String,
    /// The user.
    pub user: UserInfo,
    /// The object as it shall be; absent on DELETE.
    pub object: Option<Document>,
    /// The object as it is; present on UPDATE and DELETE.
    pub old_object: Option<Document>,
    /// Options of the operation, as sent.
    pub options: Option<Document>,
    /// Nothing will be stored, so nothing may be done.
    pub dry_run: bool,
    /// When the request came, for plug-ins that count.
    pub received: Instant,
    /// When an answer is no longer needed.
    pub deadline: Option<Instant>,
    /// What only the door knows.
    pub context: Arc<DoorContext>,
}

impl Attributes {
    /// `pods "web"`: how Kubernetes names the object of a denial.
    pub fn subject(&self) -> String {
        format!("{} {:?}", self.resource, self.name)
    }
}

/// What a door knows of a request besides its content.
#[derive(Debug, Clone, Default)]
pub struct DoorContext {
    /// HTTP method.
    pub method: String,
    /// Path and query, as sent.
    pub uri: String,
    /// Headers, names in lower case, in the order sent.
    pub headers: Vec<(String, String)>,
    /// The type the caller asked for before conversion.
    pub request_kind: Option<Kind>,
    /// The collection the caller asked for before conversion.
    pub request_resource: Option<Resource>,
    /// The part of the object the caller asked for before conversion.
    pub request_subresource: String,
    /// The other end of the connection.
    pub peer: Peer,
    /// When the request came, as people count.
    pub time: Option<SystemTime>,
    /// The trace it is a part of.
    pub trace: Option<TraceContext>,
}

/// The other end of a connection, as far as it is known.
#[derive(Debug, Clone, Default)]
pub struct Peer {
    /// Network address.
    pub address: Option<SocketAddr>,
    /// Credentials of a process on this machine.
    pub unix: Option<UnixPeer>,
    /// Verified client certificate.
    pub certificate: Option<Arc<PeerCertificate>>,
}

/// Credentials of the process at the other end of a unix socket, as reported by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnixPeer {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Process id, where the kernel reports it.
    pub pid: Option<i32>,
}

/// A client certificate that was verified against the listener's CA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerCertificate {
    /// The whole subject, like `O=system:masters, CN=client`.
    pub subject: String,
    /// Common name: Kubernetes reads it as the user.
    pub common_name: Option<String>,
    /// Organizations: Kubernetes reads them as groups.
    pub organizations: Vec<String>,
    /// The certificates as sent, DER, the client's own first.
    pub chain: Vec<Vec<u8>>,
}
