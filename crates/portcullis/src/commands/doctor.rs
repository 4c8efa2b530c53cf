//! `portcullis doctor`: looks at everything around a server, and says what to do.
//!
//! Each check is a module that adds [`Finding`]s. Nothing is started and nothing is changed: files and stores are opened
//! for reading, and the only request to a cluster that is not a read is a dry run.

mod api_server;
mod certificates;
mod clock;
mod cluster;
mod configuration;
mod credentials;
mod data;
mod files;
mod finding;
mod limits;
mod reach;
mod registered;
mod registrations;
mod selector;
mod server;
mod services;
mod shown;
mod store;

use std::path::PathBuf;

use clap::{Args, ValueHint};
use portcullis_core::clock::wall;

use self::finding::{Finding, Findings};
use self::registrations::Again;
use super::text::data::Output;
use super::text::error;
use crate::arguments::Configuration;
use crate::exit::Exit;
use crate::{data_dir, output};

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    configuration: Configuration,
    /// Data directory of the server [default: the one `serve` uses].
    #[arg(long, value_name = "DIR", env = "PORTCULLIS_DATA_DIR", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,
    /// The cluster to look at [default: `KUBECONFIG`, the cluster that this is a pod of, or `~/.kube/config`].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
    /// Do not look at any cluster.
    #[arg(long, conflicts_with = "kubeconfig")]
    no_cluster: bool,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Checks everything, and prints what was found.
pub(super) fn run(doctor: &Doctor) -> Exit {
    let now = wall();
    let mut findings = Findings::default();
    let file = doctor.configuration.file();
    let loaded = configuration::check(&file, &mut findings);
    let directory = doctor.data_dir.clone().map_or_else(data_dir::standard, Ok);
    if let Some(loaded) = &loaded {
        files::check(loaded, &mut findings);
        certificates::check(loaded, now, &mut findings);
        data::check(&directory, loaded, &mut findings);
        let time = store::check(directory.as_ref().ok(), loaded, &mut findings);
        if let Some((place, time)) = time {
            findings.add(clock::compared(&place, time, wall()));
        }
        limits::check(loaded, &mut findings);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            error::tell(&format!("cannot start: {}", output::reason(&error)));
            return Exit::Failed;
        }
    };
    if let Some(loaded) = &loaded {
        runtime.block_on(server::check(loaded, &mut findings));
    }
    match doctor.no_cluster {
        true => findings.add(Finding::skipped("cluster", "", "--no-cluster is given")),
        false => {
            let access = cluster::access(doctor.kubeconfig.as_deref());
            let again = Again {
                file: &file,
                loaded: loaded.as_ref(),
            };
            runtime.block_on(cluster::check(access, again, now, &mut findings));
        }
    }
    findings.print(doctor.output);
    match findings.are_fine() {
        true => Exit::Yes,
        false => Exit::No,
    }
}
