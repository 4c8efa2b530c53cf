//! Portcullis judged from outside.
//!
//! The pieces an end-to-end suite is put together from: a real Kubernetes
//! control plane ([`Cluster`]), the programs people talk to it with
//! ([`Kubectl`], [`Helm`]), a running Portcullis ([`Portcullis`]), one address for
//! several of them ([`Balancer`]) and the registration as a webhook
//! ([`Webhooks`]). Everything is a real process on loopback, and every
//! process ends with the suite, however the suite ends ([`Process`]).
//!
//! Nothing here knows a crate of the product: the suites see what users see. What
//! cannot be set up is a panic that says so, for there is nobody to handle it.
//!
//! Start reading at `tests/kube/main.rs`.
#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "a harness that cannot do its work fails loudly and says why"
)]

mod answer;
mod balancer;
mod cluster;
mod helm;
mod http;
mod kubectl;
mod portcullis;
mod process;
mod webhooks;

pub use answer::Answer;
pub use balancer::Balancer;
pub use cluster::{AuthorizationWebhook, Cluster, ClusterConfig, Programs, Proxy, User};
pub use helm::{Helm, HelmPrograms};
pub use http::Connection;
pub use kubectl::Kubectl;
pub use portcullis::{Portcullis, PortcullisConfig};
pub use portcullis_testing::{
    Authority, Identity, eventually_within as until_some, free_ports, until_within as until,
};
pub use process::{Process, Signal};
pub use webhooks::{FailurePolicy, Phase, Webhook, Webhooks};
