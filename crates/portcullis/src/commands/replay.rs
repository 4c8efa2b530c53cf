//! `portcullis replay`: decides recorded requests again by another policy set.
//!
//! ```text
//! file | store -> source -> portcullis_gate::replay (all cores) -> report -> table | json | yaml
//!                                     \-> progress, on a terminal
//! ```

mod file;
mod source;
mod stored;
mod table;

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use portcullis_config::ConfigSource;
use portcullis_gate::replay::{ChangeKind, Replay as Engine, Report, RunError};

use self::file::File;
use self::source::Source;
use self::stored::Stored;
use super::text::{error, json, plain, yaml};
use crate::arguments::{Admission, Filter, Moment, Store, load_options, moment};
use crate::commands::text::data::Output;
use crate::commands::text::progress::{self, Bar, Total};
use crate::commands::text::terminal::Terminal;
use crate::exit::Exit;
use crate::output;
use crate::source::{self as decisions, SourceError};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing would change, 1 something would, 2 usage, 3 invalid or missing policies or configuration, 5 the record can't be read, 6 nothing to replay"
)]
pub(crate) struct Replay {
    /// The new policies: a folder or file, in place of the recorded policies.
    #[arg(long, value_name = "DIR|FILE", conflicts_with = "config")]
    policies: Option<PathBuf>,
    /// The new configuration, in place of the recorded one. There is no default.
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Recorded decisions, one per line, or - for standard input.
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["data_dir", "store", "server", "token", "ca"])]
    file: Option<PathBuf>,
    /// Only decisions since: 30m, 24h or 7d ago, a day like 2026-10-01, or a time.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<Moment>,
    /// How many examples to show of each kind of change.
    #[arg(long, value_name = "N", default_value_t = 5)]
    examples: usize,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(flatten)]
    store: Store,
}

/// Decides again, and prints what would change.
pub(super) fn run(replay: &Replay) -> Exit {
    let new = match (&replay.policies, &replay.config) {
        (Some(folder), _) => ConfigSource::Policies(folder),
        (None, Some(file)) => ConfigSource::File(file),
        (None, None) => {
            error::usage(
                "replay",
                "no policies given: give the new ones with --policies DIR or --config FILE",
            );
            return Exit::Usage;
        }
    };
    let registry = portcullis_gate::registry();
    let known = registry.names();
    let engine = match Engine::load(&load_options(new, &Admission::default(), &known)) {
        Ok(engine) => engine,
        Err(faults) => {
            error::faults(&faults);
            return Exit::Invalid;
        }
    };
    for warning in engine.warnings() {
        error::warn(warning);
    }
    let since = replay.since.as_ref().map(|since| since.at);
    let engine = engine.since(since).examples(replay.examples);
    let total = Total::default();
    let source = match open_source(replay, &total) {
        Ok(source) => source,
        Err(error) => {
            error::tell(&error.to_string());
            return error.exit;
        }
    };
    let mut bar = Bar::new(progress::is_shown(), "decisions", total);
    let ran = engine.run(|sink| source.read(sink), &mut |now| {
        bar.show(now.done, &format!("{} would change", now.changed));
    });
    drop(bar);
    match ran {
        Ok(report) => tell(&report, replay),
        Err(RunError::Invalid(faults)) => {
            error::faults(&faults);
            Exit::Invalid
        }
        Err(RunError::Source(error)) => {
            error::tell(&error.to_string());
            error.exit
        }
    }
}

/// The source the command line names. A store leaves out what is older than asked for.
fn open_source(replay: &Replay, total: &Total) -> Result<Box<dyn Source>, SourceError> {
    match &replay.file {
        Some(file) => Ok(Box::new(File::open(file, total)?)),
        None => Ok(Box::new(Stored {
            source: decisions::open(&replay.store)?,
            filter: Filter {
                since: replay.since.clone(),
                ..Filter::default()
            },
            total: total.clone(),
        })),
    }
}

fn tell(report: &Report, replay: &Replay) -> Exit {
    for failed in report.failures() {
        let why = plain::printable(failed.why);
        output::tell(&format!("line {}: {why}", failed.line));
    }
    if report.is_empty() && report.failed == 0 {
        output::tell(&nothing(report));
        return Exit::Nothing;
    }
    match replay.output {
        Output::Table => output::data(&table::write(report, Terminal::of_output())),
        Output::Json => output::data(&json::pretty(&report.to_json())),
        Output::Yaml => output::data(&yaml::write(&report.to_json())),
    }
    output::hint(&closing_line(report));
    match (report.is_changed(), report.failed) {
        (true, _) => Exit::No,
        (false, 0) => Exit::Yes,
        (false, _) => Exit::Failed,
    }
}

/// Why nothing was decided again.
fn nothing(report: &Report) -> String {
    let mut why = Vec::new();
    if report.older > 0 {
        let decisions = counted(report.older);
        why.push(format!("{decisions} older than asked for"));
    }
    if report.not_judged > 0 {
        let decisions = counted(report.not_judged);
        why.push(format!("{decisions} that the new set does not judge"));
    }
    if report.passed_over > 0 {
        let decisions = counted(report.passed_over);
        why.push(format!("{decisions} of the API, which roles decide"));
    }
    let why = match why.is_empty() {
        true => String::new(),
        false => format!(" ({})", why.join(", ")),
    };
    format!("nothing to replay: no recorded decision matched{why}")
}

/// What it comes to, and how fast.
fn closing_line(report: &Report) -> String {
    let changed: u64 = ChangeKind::ALL.iter().map(|k| report.count(*k)).sum();
    let mut line = match changed {
        0 => format!("nothing would change in {}", counted(report.decisions)),
        changed => format!("{changed} of {} would change", counted(report.decisions)),
    };
    if report.unknown() > 0 {
        let _ = write!(line, ", {} undetermined", report.unknown());
    }
    if report.passed_over > 0 {
        let _ = write!(line, ", {} of the API skipped", report.passed_over);
    }
    if report.failed > 0 {
        let _ = write!(line, ", {} could not be read", lines(report.failed));
    }
    // The speed of a few says nothing.
    if report.decisions >= 1000 {
        let milliseconds = report.elapsed.as_millis().max(1);
        let speed = u128::from(report.decisions) * 1000 / milliseconds;
        let seconds = report.elapsed.as_secs_f64();
        let _ = write!(line, " ({seconds:.1} s, {speed} decisions/s)");
    }
    line
}

fn counted(count: u64) -> String {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    plain::counted(count, "decision", "decisions")
}

fn lines(count: u64) -> String {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    plain::counted(count, "line", "lines")
}
