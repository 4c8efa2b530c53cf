//! What a server and its database have used: processor time, and bytes written.

use std::time::{Duration, Instant};

use crate::clock;
use crate::failure::Result;
use crate::proc;

/// Whose use is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// The server's process.
    pub(super) server: u32,
    /// The process that all processes of the database are children of.
    pub(super) database: Option<u32>,
}

/// What had been used at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) at: Instant,
    pub(super) server: Duration,
    pub(super) database: Duration,
    /// By this program.
    pub(super) own: Duration,
    /// By everything on the machine.
    pub(super) machine: Duration,
    /// Bytes that server and database had written to disk; none where the kernel does not say.
    pub(super) written: Option<u64>,
}

impl Usage {
    /// Now.
    pub(super) fn now(of: Measured) -> Result<Self> {
        let database = match of.database {
            Some(pid) => proc::family(pid)?,
            None => Vec::new(),
        };
        // Of those that ended their parent knows.
        let ended = of
            .database
            .map_or(Ok(Duration::ZERO), proc::ended_children_time_of)?;
        let living = database.iter().filter_map(|pid| proc::cpu_time(*pid).ok());
        // Of the database one may end meanwhile.
        let by_database = database.iter().filter_map(|pid| proc::written_bytes(*pid));
        let by_database: u64 = by_database.sum();
        Ok(Self {
            at: clock::now(),
            server: proc::cpu_time(of.server)?,
            database: living.sum::<Duration>() + ended,
            own: proc::cpu_time(std::process::id())?,
            machine: proc::machine_time()?,
            written: proc::written_bytes(of.server).map(|bytes| bytes + by_database),
        })
    }

    /// What was used since then.
    pub(super) fn since(&self, before: &Self) -> Used {
        let written = self.written.zip(before.written);
        Used {
            seconds: self.at.saturating_duration_since(before.at).as_secs_f64(),
            server: self.server.saturating_sub(before.server).as_secs_f64(),
            database: self.database.saturating_sub(before.database).as_secs_f64(),
            own: self.own.saturating_sub(before.own).as_secs_f64(),
            machine: self.machine.saturating_sub(before.machine).as_secs_f64(),
            written: written.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

/// What was used in a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    /// The time.
    pub(super) seconds: f64,
    /// Seconds of a processor.
    pub(super) server: f64,
    pub(super) database: f64,
    pub(super) own: f64,
    pub(super) machine: f64,
    pub(super) written: Option<u64>,
}

impl Used {
    /// Processors that others kept busy.
    pub(super) fn others(&self) -> f64 {
        let ours = self.server + self.database + self.own;
        ((self.machine - ours) / self.seconds).max(0.0)
    }
}
