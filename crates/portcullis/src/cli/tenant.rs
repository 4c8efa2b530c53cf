//! The command line of `portcullis tenant`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::span::span;
use super::{Output, Server};

#[derive(Debug, Args)]
pub(crate) struct Tenant {
    #[command(subcommand)]
    pub(crate) command: TenantCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TenantCommand {
    /// List the tenants that you may see.
    List(TenantList),
    /// Show whether a tenant goes on or is paused, and why.
    #[command(visible_alias = "state")]
    Show(TenantShow),
    /// Hold new pipelines back, discard them, or hold results back.
    ///
    /// What no flag names stays as it is; without a flag new pipelines are held back.
    Pause(TenantPause),
    /// Let everything go on.
    Resume(TenantResume),
}

#[derive(Debug, Args)]
pub(crate) struct TenantList {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct TenantShow {
    /// The tenant.
    #[arg(value_name = "TENANT")]
    pub(crate) tenant: String,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct TenantPause {
    /// The tenant.
    #[arg(value_name = "TENANT")]
    pub(crate) tenant: String,
    /// Hold new pipelines back until the tenant goes on; the same as no flag.
    #[arg(long, conflicts_with = "discard")]
    pub(crate) triggers: bool,
    /// Hold results back: what ends starts nothing further.
    #[arg(long)]
    pub(crate) results: bool,
    /// Discard new pipelines instead of holding them back.
    #[arg(long)]
    pub(crate) discard: bool,
    /// Why; everyone who may see the tenant can read it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Go on by itself after this time: seconds, or a duration like 2h; without it an end that was set
    /// before stays.
    #[arg(long = "for", value_name = "TIME", value_parser = span)]
    pub(crate) lasting: Option<Duration>,
    /// Output format of the state that results.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct TenantResume {
    /// The tenant.
    #[arg(value_name = "TENANT")]
    pub(crate) tenant: String,
    /// Output format of the state that results.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) server: Server,
}
