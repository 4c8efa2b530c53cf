//! The command line of `portcullis init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder to write; it may exist, but nothing in it is written over.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// What the policies judge.
    #[arg(long, value_enum, default_value_t = Template::Kubernetes)]
    pub(crate) template: Template,
}

/// What the policies of a starter folder judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// Objects of Kubernetes.
    Kubernetes,
    /// CI jobs.
    Ci,
}
