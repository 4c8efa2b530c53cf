//! Names of users and groups at the other end of unix sockets, cached for a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::unistd::{Gid, Group, Uid, User};
use portcullis_core::clock;
use portcullis_core::sync::Mutex;

/// Names are looked up again after this long.
const FRESH: Duration = Duration::from_secs(60);
/// Names kept at the same time.
const KEPT: usize = 1024;

/// Names of users and groups.
#[derive(Debug, Clone, Default)]
pub struct UnixNames {
    known: Arc<Mutex<HashMap<(u32, u32), Known>>>,
}

/// What was found, and when.
type Known = (Instant, Option<Names>);

/// Names of a user and a group.
type Names = (String, String);

impl UnixNames {
    /// The names, if both have one. Asking the system may take its time: nothing else waits.
    pub async fn look_up(&self, uid: u32, gid: u32) -> Option<(String, String)> {
        if let Some(names) = self.remembered(uid, gid) {
            return names;
        }
        let own = self.clone();
        let found = tokio::task::spawn_blocking(move || own.look_up_now(uid, gid));
        found.await.ok()?
    }

    /// The same on a thread that may wait.
    pub fn look_up_now(&self, uid: u32, gid: u32) -> Option<Names> {
        if let Some(names) = self.remembered(uid, gid) {
            return names;
        }
        let names = ask(uid, gid);
        let mut known = self.known.lock();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert((uid, gid), (clock::monotonic(), names.clone()));
        names
    }

    fn remembered(&self, uid: u32, gid: u32) -> Option<Option<Names>> {
        let known = self.known.lock();
        let (since, names) = known.get(&(uid, gid))?;
        let age = clock::monotonic().saturating_duration_since(*since);
        (age < FRESH).then(|| names.clone())
    }
}

fn ask(uid: u32, gid: u32) -> Option<Names> {
    let user = User::from_uid(Uid::from_raw(uid)).ok()??;
    let group = Group::from_gid(Gid::from_raw(gid)).ok()??;
    Some((user.name, group.name))
}
