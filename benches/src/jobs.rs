//! What it costs to admit CI jobs: from a submission over the REST API until the job is pending, durably.
//!
//! A measurement starts the server on an empty store (`stand`, `gate`, `postgres`), submits jobs for a while
//! (`requests`, `sender`), waits until all are pending and recorded (`measure`), and looks at each of them (`pending`).
//! The webhook that admits them is in this process (`hook`). Then a store is filled (`backlog`), jobs are read from it
//! (`reads`), and the same is measured on it again. With two programs, both are measured in every round.
//! `runners` measures how jobs leave the queue.

mod backlog;
mod case;
mod gate;
mod hook;
mod measure;
mod pending;
mod postgres;
mod reads;
mod requests;
pub(crate) mod runners;
mod sender;
mod stand;
mod usage;

use std::path::Path;

use serde::Serialize;

pub(crate) use self::backlog::Filled;
pub(crate) use self::case::{Admission, Case, Database, DecisionLog, Submission};
pub(crate) use self::measure::Sample;
pub(crate) use self::reads::Read;
use self::stand::{Place, Purpose, Stand};
use crate::cli::JobEffort;
use crate::failure::{Context, Result};
use crate::output;
use crate::run::turns;

/// Jobs in the store that a backlog is compared with.
const FEW: u64 = 1_000;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Jobs {
    /// How long each measurement took, in seconds.
    pub(crate) seconds: f64,
    /// In the order of the cases; those with a backlog behind the others.
    pub(crate) lines: Vec<Line>,
    /// Stores that were filled.
    pub(crate) filled: Vec<Filled>,
    /// What was read from them.
    pub(crate) reads: Vec<Read>,
}

/// One case, in all rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    pub(crate) case: Case,
    /// Pending jobs that were there before.
    pub(crate) backlog: u64,
    /// One sample a round.
    pub(crate) rounds: Vec<Sample>,
    /// The same with the older build.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<Sample>,
}

impl Line {
    fn new(case: Case, backlog: u64) -> Self {
        Self {
            case,
            backlog,
            rounds: Vec::new(),
            before: Vec::new(),
        }
    }
}

/// A program, and whether it is the older build.
type Build<'a> = (&'a Path, bool);

/// Measures every case, with the older build too if there is one.
pub(crate) fn run(portcullis: &Path, before: Option<&Path>, effort: &JobEffort) -> Result<Jobs> {
    let databases = case::databases(effort);
    let mut bench = Bench {
        stand: Stand::build(&databases)?,
        builds: builds(portcullis, before),
        seconds: effort.job_seconds,
        rounds: usize::from(effort.job_rounds),
    };
    let cases = case::cases(effort);
    let mut jobs = Jobs {
        seconds: effort.job_seconds,
        lines: bench.on_empty_stores(&cases)?,
        filled: Vec::new(),
        reads: Vec::new(),
    };
    for database in databases {
        let of_database = cases.iter().filter(|case| case.database == database);
        let of_database: Vec<Case> = of_database.copied().collect();
        bench.on_filled_stores(database, FEW, &[], &mut jobs)?;
        if effort.backlog > 0 {
            bench.on_filled_stores(database, effort.backlog, &of_database, &mut jobs)?;
        }
    }
    Ok(jobs)
}

/// The older build first.
fn builds<'a>(portcullis: &'a Path, before: Option<&'a Path>) -> Vec<Build<'a>> {
    let older = before.map(|program| (program, true));
    older.into_iter().chain([(portcullis, false)]).collect()
}

/// The programs, and how they are measured.
struct Bench<'a> {
    stand: Stand,
    builds: Vec<Build<'a>>,
    seconds: f64,
    rounds: usize,
}

impl Bench<'_> {
    fn on_empty_stores(&mut self, cases: &[Case]) -> Result<Vec<Line>> {
        let mut lines: Vec<Line> = cases.iter().map(|case| Line::new(*case, 0)).collect();
        self.in_turns(&mut lines, |bench, case, build| {
            let place = bench.stand.place(case.database)?;
            let sample = bench.measure(build, case, &place);
            bench.stand.remove(&place)?;
            sample
        })?;
        Ok(lines)
    }

    /// Fills a store with each program, reads from it, and measures these cases on it.
    fn on_filled_stores(
        &mut self,
        database: Database,
        count: u64,
        cases: &[Case],
        jobs: &mut Jobs,
    ) -> Result<()> {
        let mut places: Vec<(bool, Place)> = Vec::new();
        for build in self.builds.clone() {
            let name = database.name();
            output::tell(&format!("jobs: {count} pending ones in {name}"));
            let filled = backlog::fill(&mut self.stand, build, database, count);
            let (place, filled) = filled.context(format!("{count} jobs in {name}"))?;
            let read = reads::measure(&self.stand, build.0, (&place, &filled), self.seconds / 3.0);
            jobs.reads.extend(read?);
            jobs.filled.push(filled);
            places.push((build.1, place));
        }
        let mut lines: Vec<Line> = cases.iter().map(|case| Line::new(*case, count)).collect();
        self.in_turns(&mut lines, |bench, case, build| {
            let place = places.iter().find(|(is_before, _)| *is_before == build.1);
            let (_, place) = place.context("no store")?;
            bench.measure(build, case, place)
        })?;
        jobs.lines.extend(lines);
        for (_, place) in &places {
            self.stand.remove(place)?;
        }
        Ok(())
    }

    /// Measures every line with every program, round by round.
    fn in_turns(
        &mut self,
        lines: &mut [Line],
        mut measure: impl FnMut(&mut Self, &Case, Build<'_>) -> Result<Sample>,
    ) -> Result<()> {
        let rounds = match lines.is_empty() {
            true => 0,
            false => self.rounds,
        };
        for round in 0..rounds {
            output::tell(&format!("jobs: round {} of {rounds}", round + 1));
            for index in turns(lines.len(), round) {
                let line = lines.get_mut(index).context("no such case")?;
                // Who is first changes from round to round.
                for which in turns(self.builds.len(), round) {
                    let build = *self.builds.get(which).context("no such program")?;
                    let sample = measure(self, &line.case, build).context(line.case)?;
                    match build.1 {
                        true => line.before.push(sample),
                        false => line.rounds.push(sample),
                    }
                }
            }
        }
        Ok(())
    }

    fn measure(&self, (program, _): Build<'_>, case: &Case, place: &Place) -> Result<Sample> {
        let purpose = Purpose {
            admission: case.admission,
            log: case.log,
            connections: case.connections,
        };
        let (gate, measured) = self.stand.start(program, purpose, place)?;
        let hook = &self.stand.hook;
        let sample = measure::measure(&gate, case, (hook, measured), self.seconds)?;
        gate.stop()?;
        Ok(sample)
    }
}
