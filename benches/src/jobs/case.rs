//! What is measured: how jobs are submitted, who admits them, and where they are kept.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::JobEffort;

/// Where jobs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Database {
    /// A file in the data directory.
    Sqlite,
    /// A server of its own, on loopback, with its default durability.
    Postgres,
}

/// Who admits jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Admission {
    /// Nobody: a job is pending at once.
    None,
    /// A configured policy for the door `ci`.
    Policy,
    /// A controller with a policy of its own.
    Code,
    /// A webhook on loopback that answers at once.
    Webhook,
}

/// How jobs are submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Submission {
    /// One by one.
    Single,
    /// Twenty in a pipeline.
    Pipeline,
}

/// Whether decisions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DecisionLog {
    /// They are, as by default.
    On,
    /// They are not.
    Off,
}

impl Database {
    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

impl Admission {
    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Policy => "policy",
            Self::Code => "code",
            Self::Webhook => "webhook",
        }
    }

    /// Whether there is a decision to keep for every job.
    pub(super) fn decides(self) -> bool {
        self != Self::None
    }
}

impl Submission {
    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Pipeline => "pipeline",
        }
    }

    /// Jobs in a request.
    pub(super) fn jobs(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Pipeline => 20,
        }
    }
}

impl DecisionLog {
    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }

    /// The `decisions` key; none where the default is meant.
    pub(super) fn settings(self) -> Option<(String, Value)> {
        let off = json!({"store": false});
        (self == Self::Off).then(|| ("decisions".to_owned(), off))
    }
}

/// One thing to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Case {
    pub(crate) database: Database,
    pub(crate) submission: Submission,
    pub(crate) admission: Admission,
    pub(crate) log: DecisionLog,
    /// Requests under way at once.
    pub(crate) connections: usize,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (database, submission) = (self.database.name(), self.submission.name());
        let (admission, log) = (self.admission.name(), self.log.name());
        let connections = self.connections;
        write!(
            f,
            "{database}, {submission}, {admission}, log {log}, {connections} under way"
        )
    }
}

/// These values, or all of them.
fn chosen<T: ValueEnum + Clone>(given: &[T]) -> Vec<T> {
    match given {
        [] => T::value_variants().to_vec(),
        given => given.to_vec(),
    }
}

/// Databases that are meant.
pub(crate) fn databases(effort: &JobEffort) -> Vec<Database> {
    chosen(&effort.database)
}

/// Everything that is meant, in the order of the report.
pub(crate) fn cases(effort: &JobEffort) -> Vec<Case> {
    let mut cases = Vec::new();
    for database in databases(effort) {
        for submission in chosen(&effort.submission) {
            for log in chosen(&effort.decision_log) {
                for admission in chosen(&effort.admission) {
                    for connections in &effort.job_connections {
                        cases.push(Case {
                            database,
                            submission,
                            admission,
                            log,
                            connections: usize::from(*connections),
                        });
                    }
                }
            }
        }
    }
    cases
}
