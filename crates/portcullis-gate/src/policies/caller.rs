//! The process at the other end of a unix socket, as policies see it.

use portcullis_core::UnixPeer;
use serde_json::{Value, json};

use crate::unix_names::UnixNames;

/// Describes callers.
#[derive(Debug, Default)]
pub(super) struct Callers {
    names: UnixNames,
}

impl Callers {
    /// The process as policies see it; null where its user or group has no name.
    pub(super) fn describe(&self, peer: UnixPeer) -> Value {
        match self.names.look_up_now(peer.uid, peer.gid) {
            Some((user, group)) => json!({"Pid": peer.pid, "Uid": peer.uid, "Gid": peer.gid,
                "Username": user, "Group": group}),
            None => Value::Null,
        }
    }
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
