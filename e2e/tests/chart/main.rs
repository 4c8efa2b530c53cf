//! The chart in `deploy/helm/portcullis`, judged by the real helm and a real kube-apiserver.
//!
//! `scripts/test-chart` (that is `make e2e-chart`) builds what is needed and runs this. It needs three environment
//! variables, and without them it says so in one line and passes:
//!
//! - `HELM_PROGRAMS`: the directory with helm and the definitions of custom resources;
//! - `KUBE_PROGRAMS`: the directory with etcd, kube-apiserver and kubectl;
//! - `PORTCULLIS`: the binary to judge.
//!
//! There is no kubelet. What it would do is done by [`node::Node`]: the files of the volumes are written, and the server is
//! started with the arguments of the container. Services have addresses in 127.64.0.0/24, so that the API server calls the
//! server by the Service that the chart creates, and nothing in the release is changed for the test.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail loudly; clippy.toml covers test functions, not their helpers"
)]

mod apply;
mod guide;
mod lifecycle;
mod managed;
mod node;
mod rendered;
mod schema;
mod suite;
mod templates;
