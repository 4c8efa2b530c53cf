//! Which sessions were ended before their time, as far as this server knows.
//!
//! The store has them all; this is a copy for the path of requests, refreshed every few seconds, so that
//! what another server ended counts here too.
//!
//! INVARIANT: as long as the store was never read, every session counts as ended.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwapOption;
use portcullis_authn::Session;

/// Which sessions were ended.
#[derive(Debug, Default)]
pub(crate) struct EndedSessions(ArcSwapOption<Known>);

#[derive(Debug)]
struct Known {
    sessions: HashSet<String>,
    subjects: HashMap<String, SystemTime>,
}

impl EndedSessions {
    /// These, and no others.
    pub(crate) fn learn(&self, ended: portcullis_store::EndedSessions) {
        self.0.store(Some(Arc::new(Known {
            sessions: ended.sessions.into_iter().collect(),
            subjects: ended.subjects.into_iter().collect(),
        })));
    }

    /// Whether a session was ended.
    pub(crate) fn has(&self, session: &Session) -> bool {
        let known = self.0.load();
        let Some(known) = known.as_ref() else {
            return true;
        };
        let ended = known.subjects.get(&session.identity.uid);
        known.sessions.contains(&*session.id) || ended.is_some_and(|at| session.begun <= *at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use portcullis_authn::{SessionKey, Sessions};
    use portcullis_core::{AdminOf, Identity};

    use super::*;

    fn session(uid: &str, begun: SystemTime) -> Session {
        let sessions = Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(60));
        let identity = Identity {
            claims: serde_json::Map::new(),
            uid: uid.to_owned(),
            admin: AdminOf::Nothing,
        };
        let cookie = sessions.seal(&identity, "R", begun).unwrap();
        sessions.open(&cookie, begun).unwrap()
    }

    #[test]
    fn sessions_end_alone_or_with_their_subject() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let (one, other) = (session("alice", at(100)), session("alice", at(101)));
        let ended = EndedSessions::default();
        assert!(ended.has(&one), "nothing is known yet");
        ended.learn(portcullis_store::EndedSessions::default());
        assert!(!ended.has(&one) && !ended.has(&other));
        ended.learn(portcullis_store::EndedSessions {
            sessions: vec![one.id.to_string()],
            subjects: vec![("bob".to_owned(), at(1000))],
        });
        assert!(ended.has(&one) && !ended.has(&other));
        ended.learn(portcullis_store::EndedSessions {
            sessions: Vec::new(),
            subjects: vec![("alice".to_owned(), at(100) + Duration::from_millis(5))],
        });
        assert!(ended.has(&one) && !ended.has(&other));
    }
}
