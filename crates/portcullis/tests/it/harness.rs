//! What all tests share: the running program, other servers. Clients, reviews, verdicts, certificates,
//! folders and waiting are in `portcullis-testing`.

mod acjs;
mod demonstration;
mod gate;
mod program;
mod repository;
mod rest;

pub(crate) use acjs::{Acjs, AcjsSetup};
pub(crate) use demonstration::Demonstration;
pub(crate) use gate::{Gate, Setup};
pub(crate) use portcullis_testing::controller::{Controller, answered, no, yes};
pub(crate) use portcullis_testing::policies::native as acjs;
pub(crate) use portcullis_testing::{
    Answer, Client, Connection, Folder, Metrics, PATIENCE, Pki, Review, Verdict, access, chain,
    container, eventually, free_port, path_access, pod, pod_security, pod_with, privileged,
    request, tls, until,
};
pub(crate) use program::{Ran, program, run, run_at, run_in};
pub(crate) use repository::repository;
pub(crate) use rest::{Rest, RestAnswer, RestCall};
