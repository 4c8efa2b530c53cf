//! Signals to all processes of a PostgreSQL.

use std::fs;
use std::process::Command;

use super::Postgres;
use crate::until;

impl Postgres {
    /// Kills all its processes at once, as a machine that goes away would. [`Postgres::begin`] starts it again.
    pub fn kill(&self) {
        let pids = self.processes();
        signal("-KILL", &pids);
        until("PostgreSQL is gone", || {
            pids.iter().all(|pid| parent(pid).is_none())
        });
    }

    /// Holds it still: connections stay open, and nothing answers.
    pub fn pause(&self) {
        // The first one first, so that no more are started.
        let first = self.main_process();
        signal("-STOP", std::slice::from_ref(&first));
        signal("-STOP", &self.processes());
    }

    /// Lets it go on.
    pub fn resume(&self) {
        signal("-CONT", &self.processes());
    }

    fn main_process(&self) -> String {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(file).expect("PostgreSQL is running");
        text.lines().next().unwrap().trim().to_owned()
    }

    /// The ids of its processes, the main one first.
    fn processes(&self) -> Vec<String> {
        let first = self.main_process();
        let all = fs::read_dir("/proc").unwrap();
        let names = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let children: Vec<String> = names
            .filter(|name| parent(name).as_deref() == Some(first.as_str()))
            .collect();
        std::iter::once(first).chain(children).collect()
    }
}

/// The id of the parent of a process that has not ended.
fn parent(pid: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may contain anything.
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?;
    (state != "Z" && state != "X").then(|| parent.to_owned())
}

fn signal(name: &str, pids: &[String]) {
    // A process of a connection may have ended meanwhile.
    let _ = Command::new("kill").arg(name).args(pids).output().unwrap();
}
