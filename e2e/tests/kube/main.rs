//! Portcullis under a real kube-apiserver, seen through `kubectl`.
//!
//! `e2e/kube/run` (that is `make e2e-kube`) builds what is needed and runs
//! this. It needs two environment variables, and without them it says so in
//! one line and passes:
//!
//! - `KUBE_PROGRAMS`: the directory with etcd, kube-apiserver and kubectl;
//! - `PORTCULLIS`: the binary to judge.
//!
//! All tests share one control plane; each has a namespace of its own, and a
//! Portcullis of its own that is registered for that namespace only. Logs stay
//! in `target/tmp/kube-<process id>` until the next run.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail loudly; clippy.toml covers test functions, not their helpers"
)]

mod audit;
mod authorization;
mod control;
mod dry_run;
mod events;
mod failure;
mod generate;
mod graph;
mod image_policy;
mod limits;
mod load;
mod lookups;
mod managed;
mod manifests;
mod nodes;
mod oracle;
mod pod_security;
mod pods;
mod policies;
mod reinvocation;
mod rolling;
mod services;
mod suite;
mod tls;
