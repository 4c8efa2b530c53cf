//! What all tests share: the running program, reviews, verdicts, other servers. Clients, certificates, folders and
//! waiting are those of every crate.

mod acjs;
mod controller;
mod demonstration;
mod gate;
mod metrics;
mod program;
mod repository;
mod rest;
mod review;
mod verdict;

pub(crate) use acjs::{Acjs, AcjsSetup, acjs};
pub(crate) use controller::{Controller, answered, no, yes};
pub(crate) use demonstration::Demonstration;
pub(crate) use gate::{Gate, Setup, chain};
pub(crate) use metrics::Metrics;
pub(crate) use portcullis_testing::{
    Answer, Connection, Folder, PATIENCE, Pki, eventually, free_port, post, post_bytes, raw,
    raw_then_close, request, tls, until,
};
pub(crate) use program::{Ran, program, run, run_in};
pub(crate) use repository::repository;
pub(crate) use rest::{Rest, RestAnswer, RestCall};
pub(crate) use review::{
    Review, access, container, path_access, pod, pod_security, pod_with, privileged,
};
pub(crate) use verdict::Verdict;
