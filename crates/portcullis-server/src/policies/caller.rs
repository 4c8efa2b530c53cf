//! Who is at the other end of a unix socket, by name.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::unistd::{Gid, Group, Uid, User};
use portcullis_core::{UnixPeer, clock};
use serde_json::{Value, json};

/// Names are looked up again after this long.
const FRESH: Duration = Duration::from_secs(60);
/// Names kept at the same time.
const KEPT: usize = 1024;

/// Names of users and groups, looked up once in a while.
#[derive(Debug, Default)]
pub(super) struct Callers {
    known: Mutex<HashMap<(u32, u32), Known>>,
}

/// What was found, and when.
type Known = (Instant, Option<Names>);

/// Names of a user and a group.
type Names = (String, String);

impl Callers {
    /// The process as policies see it; null where its user or group has no name.
    pub(super) fn describe(&self, peer: UnixPeer) -> Value {
        match self.names(peer.uid, peer.gid) {
            Some((user, group)) => json!({"Pid": peer.pid, "Uid": peer.uid, "Gid": peer.gid,
                "Username": user, "Group": group}),
            None => Value::Null,
        }
    }

    fn names(&self, uid: u32, gid: u32) -> Option<Names> {
        let now = clock::monotonic();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, names)) = known.get(&(uid, gid))
            && now.saturating_duration_since(*since) < FRESH
        {
            return names.clone();
        }
        let names = look_up(uid, gid);
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert((uid, gid), (now, names.clone()));
        names
    }
}

fn look_up(uid: u32, gid: u32) -> Option<Names> {
    let user = User::from_uid(Uid::from_raw(uid)).ok()??;
    let group = Group::from_gid(Gid::from_raw(gid)).ok()??;
    Some((user.name, group.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_without_a_name_is_nobody() {
        let callers = Callers::default();
        let peer = |uid, gid| UnixPeer {
            uid,
            gid,
            pid: Some(7),
        };
        let root = callers.describe(peer(0, 0));
        assert_eq!(root["Username"], "root");
        assert_eq!((&root["Uid"], &root["Pid"]), (&json!(0), &json!(7)));
        assert_eq!(callers.describe(peer(0, 0)), root);
        assert_eq!(callers.describe(peer(4_123_456_789, 0)), Value::Null);
    }
}
