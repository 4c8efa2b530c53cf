//! Which tables move, and by what.

/// What says which rows of a table belong to something that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// The ids of pipelines, in this column.
    Pipelines(&'static str),
    /// The ids of jobs, in this column.
    Jobs(&'static str),
}

/// A table whose rows move with jobs.
#[derive(Debug)]
pub(super) struct Part {
    /// The table of what is in use; the one of the archive has its name after `archived_`.
    pub(super) table: &'static str,
    /// Its rows are those with this key.
    pub(super) key: Key,
    /// All columns; the archive has `day` as well.
    pub(super) columns: &'static str,
}

impl Part {
    /// The table of the archive.
    pub(super) fn archived(&self) -> String {
        format!("archived_{}", self.table)
    }
}

/// All of them. What belongs to something comes after it.
pub(super) const PARTS: &[Part] = &[
    Part {
        table: "pipelines",
        key: Key::Pipelines("id"),
        columns: "root, id, project, name, git_ref, for_change, status, live, version, created_at, finished_at, \
                  origin, stages, definition",
    },
    Part {
        table: "jobs",
        key: Key::Jobs("id"),
        columns: "root, id, project, pipeline, stage, name, status, live, attempt, version, created_at, queued_at, \
                  started_at, finished_at, deadline, runner, allowed_to_fail, promoted, definition, state, admission",
    },
    Part {
        table: "admission_decisions",
        key: Key::Jobs("job"),
        columns: "root, job, attempt, position, controller, verdict, decided_at, body",
    },
    Part {
        table: "deliveries",
        key: Key::Jobs("job"),
        columns: "root, id, project, job, attempt, controller, state, webhook_id, token_hash, created_at, next_at, \
                  leased_until, leased_by, deadline, tries, answer",
    },
];

/// Tables beside the archive whose rows stay where they are, and are deleted by their day.
const STAYING: [&str; 3] = ["traces", "trace_chunks", "artifacts"];

/// All tables that have a partition for each day, where there are any, and whose rows are deleted by it.
pub(in crate::jobs) fn daily_tables() -> impl DoubleEndedIterator<Item = String> {
    let staying = STAYING.into_iter().map(str::to_owned);
    PARTS.iter().map(Part::archived).chain(staying)
}
