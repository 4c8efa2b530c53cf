//! `portcullis generate`: manifests and files that a cluster needs, from the configuration.
//!
//! The same configuration gives the same text. Nothing is sent anywhere: the output is for kubectl, for a repository,
//! or for the control plane's disk.

mod authority;
mod authorization;
mod manifests;
mod place;
mod rbac;
mod webhooks;

use clap::{Args, Subcommand};
use portcullis_config::{ConfigSource, Listening, Loaded};

use super::failure::{Failure, ended};
use crate::arguments::{Admission, Configuration, load_options};
use crate::exit::Exit;

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(subcommand)]
    command: GenerateCommand,
}

#[derive(Debug, Subcommand)]
enum GenerateCommand {
    /// Print the webhook registrations for what the configuration judges.
    ///
    /// Rules name what plug-ins and the `match` of policies are about, where that is known. Requests in kube-system,
    /// kube-node-lease and the namespace of the Service are exempt. Where rules cover leases, nodes or access reviews,
    /// conditions leave out what the cluster needs to start Portcullis again, and a note says what is not judged.
    Webhooks(webhooks::Webhooks),
    /// Print an `AuthorizationConfiguration`, and the kubeconfig of each chain of authorizers.
    Authorization(authorization::Authorization),
    /// Print the roles that the configuration needs to read a cluster, and no more.
    Rbac(rbac::Rbac),
}

/// Does what the command line says.
pub(super) fn run(generate: &Generate) -> Exit {
    ended(match &generate.command {
        GenerateCommand::Webhooks(webhooks) => webhooks::run(webhooks),
        GenerateCommand::Authorization(authorization) => authorization::run(authorization),
        GenerateCommand::Rbac(rbac) => rbac::run(rbac),
    })
}

/// The configuration; with its listeners only if they matter, so that their files need not be on this machine.
fn loaded(configuration: &Configuration, listeners: Listening) -> Result<Loaded, Failure> {
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let file = configuration.file();
    let mut options = load_options(ConfigSource::File(&file), &Admission::default(), &known);
    options.listeners = listeners;
    portcullis_config::load(&options).map_err(|faults| Failure::faults(&faults))
}
