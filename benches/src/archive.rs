//! What kept decisions take on disk, and how fast they are replayed.
//!
//! A server with PodSecurity and three policies is sent reviews that differ (`fixture::varied`), no
//! faster than it keeps its decisions. Then it is stopped, its files are looked at, and the program
//! reads and replays what it kept against the very same configuration, which must change nothing.

mod program;
pub(crate) mod sender;
mod size;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use self::program::Program;
pub(crate) use self::size::Size;
use crate::certificate::Certificate;
use crate::cli::Archived;
use crate::failure::{Context, Failure, Result};
use crate::fixture::varied::Varied;
use crate::ledger::Ledger;
use crate::log::Log;
use crate::output;
use crate::policies::Set;
use crate::server::{self, Server};
use crate::setup::Setup;
use crate::statistics::{Summary, of_cost, of_rate};
use crate::transport::Places;

/// Requests under way while as many decisions as possible are kept.
const UNDER_WAY: usize = 16;
/// So many decisions are made before all of them must be kept: several batches, and never so many that
/// the server drops one.
const AT_ONCE: usize = 2_048;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Archive {
    /// The mean of the bodies that were sent, in bytes.
    pub(crate) request_bytes: f64,
    /// Decisions that came as fast as they were kept.
    pub(crate) crowd: Size,
    /// Decisions of which each was kept before the next was made.
    pub(crate) alone: Size,
    /// The same after the server had time to merge them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) merged: Option<Size>,
    /// How fast those of the crowd are replayed.
    pub(crate) replays: Vec<Replay>,
}

/// Decisions replayed against one set of policies, a few times.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Replay {
    /// What the set was named with.
    pub(crate) with: &'static str,
    /// How many decisions.
    pub(crate) decisions: u64,
    /// How many of them come out the same; the others can't be told.
    pub(crate) same: u64,
    /// How long it took, in seconds.
    pub(crate) seconds: Summary,
    /// Decisions in a second.
    pub(crate) per_second: Summary,
    /// Decisions in a second of processor time.
    pub(crate) per_core: Summary,
}

/// Keeps decisions, looks at their size, and replays them.
pub(crate) fn run(portcullis: &Path, how: &Archived) -> Result<Archive> {
    let dir = tempfile::Builder::new()
        .prefix("portcullis-bench-")
        .tempdir();
    let dir = dir.context("no directory for this run")?;
    let certificate = Certificate::make(dir.path())?;
    let (decisions, alone) = (how.decisions as usize, how.alone as usize);
    let reviews = Varied::new()?;

    output::tell(&format!("keeping {decisions} decisions"));
    let crowd = Keeper::new(portcullis, &dir.path().join("crowd"), &certificate)?;
    let request_bytes = crowd.serve(|places| {
        let mut bytes = 0;
        for first in (0..decisions).step_by(AT_ONCE) {
            let numbers = first..decisions.min(first + AT_ONCE);
            let ledger = Ledger::begin(places.tcp)?;
            let count = numbers.len() as u64;
            bytes += sender::send_all(&places.unix, &reviews, numbers, UNDER_WAY)?;
            all_kept(&ledger, count)?;
        }
        Ok(bytes as f64 / decisions as f64)
    })?;
    let in_crowd = crowd.size(decisions as u64, 0)?;

    output::tell(&format!("keeping {alone} decisions, one by one"));
    let keeper = Keeper::new(portcullis, &dir.path().join("alone"), &certificate)?;
    keeper.serve(|_| Ok(()))?;
    let empty = size::database(&keeper.data)?;
    keeper.serve(|places| {
        let mut sender = sender::Sender::connect(&places.unix)?;
        for number in 0..alone {
            let ledger = Ledger::begin(places.tcp)?;
            sender.send(&reviews.review(number))?;
            all_kept(&ledger, 1)?;
        }
        Ok(())
    })?;
    let of_alone = keeper.size(alone as u64, empty)?;
    let mut merged = None;
    if how.merge > 0 {
        output::tell(&format!("waiting {} s for them to be merged", how.merge));
        keeper.serve(|_| {
            std::thread::sleep(Duration::from_secs(how.merge.into()));
            Ok(())
        })?;
        merged = Some(keeper.size(alone as u64, empty)?);
    }

    output::tell(&format!("replaying {decisions} decisions"));
    let times = usize::from(how.replays);
    let replays = crowd.replays(decisions as u64, times)?;
    Ok(Archive {
        request_bytes,
        crowd: in_crowd,
        alone: of_alone,
        merged,
        replays,
    })
}

/// Waits until so many decisions are kept; none may be dropped.
pub(crate) fn all_kept(ledger: &Ledger, decided: u64) -> Result<()> {
    let (counts, _) = ledger.settle(decided)?;
    match counts.dropped {
        0 => Ok(()),
        dropped => Err(Failure::new(format!(
            "{dropped} of {decided} decisions were dropped"
        ))),
    }
}

/// A configuration that keeps every decision, and its data.
struct Keeper<'a> {
    program: Program<'a>,
    configuration: PathBuf,
    places: Places,
    data: PathBuf,
}

impl<'a> Keeper<'a> {
    fn new(portcullis: &'a Path, dir: &Path, certificate: &Certificate) -> Result<Self> {
        let data = dir.join("data");
        std::fs::create_dir_all(&data).context(data.display())?;
        let places = Places::free(dir)?;
        let subject = (Setup::Everything, Log::Kept);
        Ok(Self {
            configuration: server::write_configuration(subject, dir, &places, certificate)?,
            program: Program {
                path: portcullis,
                dir: dir.to_owned(),
            },
            places,
            data,
        })
    }

    /// Serves while this goes on, and stops cleanly.
    fn serve<T>(&self, meanwhile: impl FnOnce(&Places) -> Result<T>) -> Result<T> {
        let Program { path, dir } = &self.program;
        let mut command = server::portcullis(path, &self.configuration, &self.data);
        let mut server = Server::spawn(&mut command, dir)?;
        server.wait_until_ready(self.places.tcp)?;
        let outcome = meanwhile(&self.places)?;
        server.stop()?;
        Ok(outcome)
    }

    /// What so many decisions take, if this much was there without any.
    fn size(&self, decisions: u64, empty_bytes: u64) -> Result<Size> {
        let database_bytes = size::database(&self.data)?;
        let exported = self.program.export(&self.data)?;
        if exported.lines != decisions {
            let found = exported.lines;
            return Err(Failure::new(format!(
                "{decisions} decisions were kept, but {found} are there"
            )));
        }
        Ok(Size {
            decisions,
            empty_bytes,
            database_bytes,
            line_bytes: exported.bytes,
        })
    }

    /// Replays them against the same configuration, and against the same policies in a folder.
    fn replays(&self, decisions: u64, times: usize) -> Result<Vec<Replay>> {
        let folder = self.program.dir.join("policies");
        std::fs::create_dir_all(&folder).context(folder.display())?;
        let file = folder.join("policies.yaml");
        std::fs::write(&file, Set::Reference.folder_file()).context(file.display())?;
        let sets = [
            ("--config", self.configuration.as_path()),
            ("--policies", folder.as_path()),
        ];
        let of_set = |(with, path): (&'static str, &Path)| -> Result<Replay> {
            let replayed: Result<Vec<_>> = (0..times.max(1))
                .map(|_| self.program.replay(with, path, &self.data))
                .collect();
            let replayed = replayed?;
            if let Some(other) = replayed.iter().find(|one| one.decisions != decisions) {
                let found = other.decisions;
                return Err(Failure::new(format!(
                    "{found} decisions were replayed, not {decisions}"
                )));
            }
            let all = |value: fn(&program::Replayed) -> f64| -> Vec<f64> {
                replayed.iter().map(value).collect()
            };
            let rates = |seconds: Vec<f64>| -> Summary {
                let rate = |seconds: f64| decisions as f64 / seconds;
                of_rate(&seconds.into_iter().map(rate).collect::<Vec<_>>())
            };
            Ok(Replay {
                with,
                decisions,
                same: replayed
                    .iter()
                    .map(|one| one.same)
                    .min()
                    .unwrap_or_default(),
                seconds: of_cost(&all(|one| one.seconds)),
                per_second: rates(all(|one| one.seconds)),
                per_core: rates(all(|one| one.cpu_seconds)),
            })
        };
        sets.into_iter().map(of_set).collect()
    }
}
