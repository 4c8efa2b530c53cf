//! The tables and columns of rows that are written together.

use crate::database::{Change, Table, Type};

pub(super) static JOBS: Table = Table {
    name: "jobs",
    columns: &[
        ("root", Type::Text),
        ("id", Type::Number),
        ("project", Type::Text),
        ("pipeline", Type::Number),
        ("stage", Type::Text),
        ("name", Type::Text),
        ("created_at", Type::Number),
        ("definition", Type::Text),
        ("status", Type::Text),
        ("live", Type::Number),
        ("attempt", Type::Number),
        ("queued_at", Type::Number),
        ("started_at", Type::Number),
        ("finished_at", Type::Number),
        ("deadline", Type::Number),
        ("runner", Type::Number),
        ("allowed_to_fail", Type::Number),
        ("promoted", Type::Number),
        ("state", Type::Text),
        ("admission", Type::Text),
        ("version", Type::Number),
    ],
};

/// The last columns of [`JOBS`] are those that change.
pub(super) static SAVED_JOBS: Change = Change {
    name: "jobs",
    keys: &[
        ("root", Type::Text),
        ("id", Type::Number),
        ("version", Type::Number),
    ],
    condition: "",
    sets: &[
        ("status", Type::Text),
        ("live", Type::Number),
        ("attempt", Type::Number),
        ("queued_at", Type::Number),
        ("started_at", Type::Number),
        ("finished_at", Type::Number),
        ("deadline", Type::Number),
        ("runner", Type::Number),
        ("allowed_to_fail", Type::Number),
        ("promoted", Type::Number),
        ("state", Type::Text),
        ("admission", Type::Text),
        ("version", Type::Number),
    ],
};

pub(super) static LEFT_QUEUE: Change = Change {
    name: "pending_jobs",
    keys: &[("root", Type::Text), ("job", Type::Number)],
    condition: "",
    sets: &[],
};

pub(super) static QUEUE: Table = Table {
    name: "pending_jobs",
    columns: &[
        ("root", Type::Text),
        ("job", Type::Number),
        ("project", Type::Text),
        ("promoted", Type::Number),
        ("protected", Type::Number),
        ("tags", Type::Text),
        ("accepted", Type::Text),
        ("rejected", Type::Text),
        ("queued_at", Type::Number),
        ("lane", Type::Number),
    ],
};

pub(super) static RUNNING: Table = Table {
    name: "running_jobs",
    columns: &[
        ("root", Type::Text),
        ("job", Type::Number),
        ("project", Type::Text),
        ("runner", Type::Number),
        ("manager", Type::Text),
        ("shared", Type::Number),
    ],
};

pub(super) static STOPPED_RUNNING: Change = Change {
    name: "running_jobs",
    keys: &[("root", Type::Text), ("job", Type::Number)],
    condition: "",
    sets: &[],
};

pub(super) static DECISIONS: Table = Table {
    name: "admission_decisions",
    columns: &[
        ("root", Type::Text),
        ("job", Type::Number),
        ("attempt", Type::Number),
        ("position", Type::Number),
        ("controller", Type::Number),
        ("verdict", Type::Text),
        ("decided_at", Type::Number),
        ("body", Type::Text),
    ],
};

pub(super) static EXEMPTION_USES: Table = Table {
    name: "exemption_uses",
    columns: &[
        ("root", Type::Text),
        ("exemption", Type::Number),
        ("used_at", Type::Number),
    ],
};

pub(super) static DELIVERIES: Table = Table {
    name: "deliveries",
    columns: &[
        ("root", Type::Text),
        ("id", Type::Number),
        ("project", Type::Text),
        ("job", Type::Number),
        ("attempt", Type::Number),
        ("controller", Type::Number),
        ("state", Type::Text),
        ("webhook_id", Type::Text),
        ("token_hash", Type::Text),
        ("created_at", Type::Number),
        ("next_at", Type::Number),
        ("leased_until", Type::Number),
        ("leased_by", Type::Text),
        ("deadline", Type::Number),
        ("tries", Type::Text),
        ("answer", Type::Text),
    ],
};

pub(super) static SAVED_DELIVERIES: Change = Change {
    name: "deliveries",
    keys: &[("root", Type::Text), ("id", Type::Number)],
    condition: "",
    sets: &[
        ("state", Type::Text),
        ("next_at", Type::Number),
        ("leased_until", Type::Number),
        ("leased_by", Type::Text),
        ("tries", Type::Text),
        ("answer", Type::Text),
    ],
};

/// Open deliveries of a job that no longer needs an answer.
pub(super) static CANCELED_DELIVERIES: Change = Change {
    name: "deliveries",
    keys: &[("root", Type::Text), ("job", Type::Number)],
    condition: "state IN ('waiting', 'delivered')",
    sets: &[
        ("state", Type::Text),
        ("leased_until", Type::Number),
        ("leased_by", Type::Text),
    ],
};
