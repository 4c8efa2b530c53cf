//! Much data at once, to look at pages and lists with: a data directory with decisions, and objects for a graph.
//!
//! Decisions are stored by the store itself, in the batches of a busy server. They are the same in every run but for their times, which are
//! those of the last hours. Among the names there are rare ones, for filters that find little: the user `rare`, the kind `Lease`, the
//! policy `rarely`.

mod decisions;
mod objects;

use std::path::PathBuf;

use clap::Args;

use crate::failure::Result;
use crate::output;

/// What is written, and where.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).multiple(true).args(["data_dir", "objects"]))]
pub(crate) struct Options {
    /// Data directory to store decisions in.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// How many decisions are stored.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    decisions: u32,
    /// Over how many hours until now they were made.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
    hours: u32,
    /// Directory to write objects to, for the graph profile `node`.
    #[arg(long, value_name = "DIR")]
    objects: Option<PathBuf>,
    /// How many vertices the graph of these objects has.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(3..=1_000_000))]
    vertices: u32,
}

/// Writes it.
pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(dir) = &options.data_dir {
        decisions::store(dir, options.decisions, options.hours)?;
        output::tell(&format!(
            "{} decisions are in {}",
            options.decisions,
            dir.display()
        ));
    }
    if let Some(dir) = &options.objects {
        objects::write(dir, options.vertices)?;
        output::tell(&format!(
            "{} vertices are in {}",
            options.vertices,
            dir.display()
        ));
    }
    Ok(())
}
