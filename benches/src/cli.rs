//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::jobs::{Admission, Database, DecisionLog, Submission};
use crate::run::{Effort, Programs};
use crate::scenario::Group;
use crate::transport::Transport;
use crate::{ceiling, fill};

/// Measures Portcullis next to a server that answers the same to all.
#[derive(Debug, Parser)]
#[command(
    name = "portcullis-bench",
    version,
    about,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure throughput, latency and processor time under load.
    Run {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        load: Load,
        #[command(flatten)]
        output: Output,
    },
    /// Measure the time from start to ready, and memory at rest.
    Start {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        starts: Starts,
        #[command(flatten)]
        output: Output,
    },
    /// Measure what kept decisions take on disk, and how fast they are replayed.
    Decisions {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        archived: Archived,
        #[command(flatten)]
        output: Output,
    },
    /// Measure role checks, requests of people who are known, and the memory of many sessions.
    Roles {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        roles: RoleEffort,
        #[command(flatten)]
        output: Output,
    },
    /// Measure the relationship graph: load, memory, checks and changes.
    Graph {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        graph: GraphEffort,
        #[command(flatten)]
        output: Output,
    },
    /// Measure the admission of CI jobs: from submission to pending, on both databases.
    Jobs {
        /// An older build, measured in the same rounds.
        #[arg(long, value_name = "PATH")]
        before: Option<PathBuf>,
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        jobs: JobEffort,
        #[command(flatten)]
        output: Output,
    },
    /// Measure runners: taking jobs, asking in vain, and waiting for them.
    Runners {
        /// An older build, measured too.
        #[arg(long, value_name = "PATH")]
        before: Option<PathBuf>,
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        runners: RunnerEffort,
        #[command(flatten)]
        output: Output,
    },
    /// All of these, in one report; decisions, roles and the graph only if their group is measured whole, CI jobs
    /// only if their group is named.
    All {
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        load: Load,
        #[command(flatten)]
        starts: Starts,
        #[command(flatten)]
        archived: Archived,
        #[command(flatten)]
        roles: RoleEffort,
        #[command(flatten)]
        graph: GraphEffort,
        #[command(flatten)]
        jobs: JobEffort,
        #[command(flatten)]
        output: Output,
    },
    /// Measure two builds of the program beside each other, and print the ratios; for CI jobs see `jobs --before`.
    Compare {
        /// The older build.
        #[arg(long, value_name = "PATH")]
        before: PathBuf,
        #[command(flatten)]
        program: Program,
        #[command(flatten)]
        load: Load,
        #[command(flatten)]
        output: Output,
    },
    /// Write much data to try lists and pages with: decisions in a data directory, objects for a graph.
    Fill(fill::Options),
    /// Serve as the ceiling, until killed.
    Ceiling(ceiling::Options),
}

/// What is measured.
#[derive(Debug, Args)]
pub(crate) struct Program {
    /// The program to measure.
    #[arg(long, value_name = "PATH", default_value = "target/release/portcullis")]
    pub(crate) portcullis: PathBuf,
    /// Where the programs of the peers are; `scripts/bench-peers` builds them.
    #[arg(long, value_name = "DIR", default_value = ".cache/peers")]
    pub(crate) peers_dir: PathBuf,
}

/// How load is put on it.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// How long each measurement takes.
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Requests under way at once, any number of times; 16 without, for some scenarios 8 and 64 too.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) connections: Vec<u16>,
    /// How often everything is measured.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) rounds: u16,
    /// A scenario to measure, any number of times; all of the groups without.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Vec<String>,
    /// A group of scenarios to measure, any number of times; all but the peers and CI jobs without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) group: Vec<Group>,
    /// Measure the peers too: those of acjs and OPA that are there.
    #[arg(long)]
    pub(crate) peers: bool,
    /// A transport to measure, any number of times; those of each scenario without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) transport: Vec<Transport>,
}

/// How starts are measured.
#[derive(Debug, Args)]
pub(crate) struct Starts {
    /// How often each configuration is started.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) starts: u16,
}

/// How kept decisions are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Archived {
    /// How many decisions are kept, looked at and replayed.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(100..=200_000))]
    pub(crate) decisions: u32,
    /// How many decisions are kept one by one, for their size.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub(crate) alone: u32,
    /// For how many seconds the server is then left alone with them, to see what it merges; 0 for not.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=3600))]
    pub(crate) merge: u32,
    /// How often they are replayed.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) replays: u16,
}

/// How roles are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoleEffort {
    /// How long each measurement of requests with roles takes.
    #[arg(long, value_name = "N", default_value_t = 0.4, value_parser = seconds)]
    pub(crate) role_seconds: f64,
    /// How often each request with roles is measured.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) role_rounds: u16,
    /// How many tokens, and how many cookies, are used again and again.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=16_000))]
    pub(crate) sessions: u32,
    /// How many connections are held open at once.
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub(crate) held: u32,
    /// How often all of them are used.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(3..))]
    pub(crate) passes: u16,
}

/// How the relationship graph is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct GraphEffort {
    /// How often graphs are loaded, and how often they are asked by two threads.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) graph_rounds: u16,
    /// How long two threads ask each time.
    #[arg(long, value_name = "N", default_value_t = 0.5, value_parser = seconds)]
    pub(crate) graph_seconds: f64,
    /// How often each kind of question is asked, in turns with a plain search.
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) graph_goes: u16,
}

/// How CI jobs are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct JobEffort {
    /// How long jobs are submitted each time.
    #[arg(long, value_name = "N", default_value_t = 3.0, value_parser = seconds)]
    pub(crate) job_seconds: f64,
    /// How often each case of CI jobs is measured.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) job_rounds: u16,
    /// Submissions under way at once, any number of times.
    #[arg(long, value_name = "N", default_values_t = [64], value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) job_connections: Vec<u16>,
    /// A database that jobs are kept in, any number of times; both without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) database: Vec<Database>,
    /// Who admits jobs, any number of times; all without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) admission: Vec<Admission>,
    /// How jobs are submitted, any number of times; both without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) submission: Vec<Submission>,
    /// Whether the decisions on jobs are kept, any number of times; both without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) decision_log: Vec<DecisionLog>,
    /// How many jobs are pending already when everything is measured once more; 0 for not.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    pub(crate) backlog: u64,
}

/// How runners are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunnerEffort {
    /// How many runners poll, and how many wait.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(50..=20_000))]
    pub(crate) runners: u32,
    /// How many jobs are pending at first.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub(crate) runner_backlog: u32,
    /// How long runners poll each time.
    #[arg(long, value_name = "N", default_value_t = 3.0, value_parser = seconds)]
    pub(crate) runner_seconds: f64,
    /// How many jobs are submitted while runners wait.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) wakes: u16,
    /// A database that jobs are kept in, any number of times; both without.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) database: Vec<Database>,
}

impl RunnerEffort {
    /// The databases that are meant.
    pub(crate) fn databases(&self) -> Vec<Database> {
        match self.database.as_slice() {
            [] => Database::value_variants().to_vec(),
            given => given.to_vec(),
        }
    }
}

/// Where the report goes.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// How to print the report.
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
    /// A file for the report as JSON, whatever is printed.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs.
    Json,
}

impl Program {
    /// Where the programs are.
    pub(crate) fn programs(&self) -> Programs<'_> {
        Programs {
            portcullis: &self.portcullis,
            peers: &self.peers_dir,
        }
    }
}

impl Load {
    /// How long and how often.
    pub(crate) fn effort(&self) -> Effort {
        Effort {
            seconds: self.seconds,
            rounds: usize::from(self.rounds),
        }
    }

    /// The groups that are meant.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut groups = match self.group.as_slice() {
            [] => vec![
                Group::Gate,
                Group::Policies,
                Group::Decisions,
                Group::Roles,
                Group::Graph,
            ],
            given => given.to_vec(),
        };
        if self.peers && !groups.contains(&Group::Peers) {
            groups.push(Group::Peers);
        }
        groups
    }

    /// Whether anything is meant that has scenarios.
    pub(crate) fn has_scenarios(&self) -> bool {
        let has_none = |group: &Group| matches!(group, Group::Roles | Group::Graph | Group::Jobs);
        !self.scenario.is_empty() || !self.groups().iter().all(has_none)
    }

    /// Whether everything of this group is meant.
    pub(crate) fn is_whole(&self, group: Group) -> bool {
        self.scenario.is_empty() && self.groups().contains(&group)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.05..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0.05 to 3600".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    fn load(arguments: &[&str]) -> Load {
        let words = ["portcullis-bench", "run"].iter().chain(arguments);
        match Cli::try_parse_from(words).unwrap().command {
            Command::Run { load, .. } => load,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn who_asks_for_something_else_does_not_wait_for_replays() {
        let is_whole = |arguments: &[&str]| load(arguments).is_whole(Group::Decisions);
        assert!(is_whole(&[]) && is_whole(&["--group", "decisions"]));
        assert!(!is_whole(&["--group", "policies"]));
        assert!(!is_whole(&["--scenario", "validating-kept"]));
    }

    #[test]
    fn peers_are_added_to_what_is_measured_anyway() {
        let groups = |arguments: &[&str]| load(arguments).groups();
        let usual = [
            Group::Gate,
            Group::Policies,
            Group::Decisions,
            Group::Roles,
            Group::Graph,
        ];
        assert_eq!(groups(&[]), usual);
        assert_eq!(
            groups(&["--peers"]),
            [usual.as_slice(), &[Group::Peers]].concat()
        );
        assert_eq!(groups(&["--group", "peers", "--peers"]), [Group::Peers]);
    }

    #[test]
    fn what_is_measured_by_itself_needs_no_load() {
        let has_scenarios = |arguments: &[&str]| load(arguments).has_scenarios();
        assert!(has_scenarios(&[]) && has_scenarios(&["--group", "gate"]));
        assert!(has_scenarios(&["--group", "graph", "--scenario", "ABAC"]));
        assert!(!has_scenarios(&["--group", "roles", "--group", "graph"]));
    }

    /// Nobody waits a quarter of an hour for a guide to be typed; that its commands are understood is known
    /// without measuring.
    #[test]
    fn commands_of_the_guide_are_understood() {
        let guide = include_str!("../../docs/benchmarks.md");
        let mut understood = 0;
        for line in guide.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words: Vec<&str> = line.split_whitespace().collect();
            match words.first() {
                Some(&"scripts/bench") => {
                    words.splice(..1, ["portcullis-bench", "all"]);
                }
                Some(&"target/release/portcullis-bench") => {}
                _ => continue,
            }
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
            understood += 1;
        }
        assert!(understood >= 14, "{understood}");
    }

    #[test]
    fn no_time_at_all_is_refused() {
        for given in ["0", "-1", "NaN", "inf", "x"] {
            assert!(seconds(given).is_err(), "{given}");
        }
        assert_eq!(seconds("0.5"), Ok(0.5));
    }
}
