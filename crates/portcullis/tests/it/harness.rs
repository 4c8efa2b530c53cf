//! What all tests share: servers, clients, certificates, reviews.

mod acjs;
mod answer;
mod certificates;
mod connection;
mod controller;
mod demonstration;
mod folder;
mod gate;
mod metrics;
mod ports;
mod program;
mod repository;
mod rest;
mod review;
pub(crate) mod tls;
mod verdict;
mod wait;

pub(crate) use acjs::{Acjs, AcjsSetup, acjs};
pub(crate) use answer::Answer;
pub(crate) use certificates::{Identity, Pki};
pub(crate) use connection::{Connection, post, post_bytes, raw, raw_then_close, request};
pub(crate) use controller::{Controller, answered, no, yes};
pub(crate) use demonstration::Demonstration;
pub(crate) use folder::Folder;
pub(crate) use gate::{Gate, Setup, chain};
pub(crate) use metrics::Metrics;
pub(crate) use ports::free_port;
pub(crate) use program::{Ran, program, run, run_in};
pub(crate) use repository::repository;
pub(crate) use rest::{Rest, RestAnswer, RestCall};
pub(crate) use review::{
    Review, access, container, path_access, pod, pod_security, pod_with, privileged,
};
pub(crate) use verdict::Verdict;
pub(crate) use wait::{PATIENCE, eventually, until};
