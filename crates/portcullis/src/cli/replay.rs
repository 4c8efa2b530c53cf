//! The command line of `portcullis replay`.

use std::path::PathBuf;

use clap::Args;

use super::moment::{Moment, moment};
use super::{Output, Store};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing would change, 1 something would, 2 usage, 3 invalid or missing policies or configuration, 5 the record can't be read, 6 nothing to replay"
)]
pub(crate) struct Replay {
    /// The new policies: a folder, in place of the policies of what was recorded.
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub(crate) policies: Option<PathBuf>,
    /// The new configuration, in place of everything that judged. There is no default: it is never the
    /// one in force.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Recorded decisions, one on each line, or - for standard input.
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["data_dir", "store", "server", "token", "ca"])]
    pub(crate) file: Option<PathBuf>,
    /// Only what was decided since: 30m, 24h or 7d ago, a day like 2026-10-01, or a time.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<Moment>,
    /// How many examples to show of each kind of change.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) examples: usize,
    /// How to print the results.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) store: Store,
}
