//! From what a door decided to a line that may be recorded.
//!
//! Lines are made where the decision was made, right after its answer is on its way: what they are made
//! of is still available there, and everything is freed by the thread that allocated it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use portcullis_core::clock;
use portcullis_core::sync::{Condvar, Mutex};
use portcullis_record::{Masker, Material, Written};

use super::counts::DecisionCounts;
use super::queue::{Item, Queue};

/// Bytes of bodies that lines may be made of at the same time.
const MOST_BYTES: usize = 64 << 20;
/// The part of them that is kept free for denials.
const RESERVED: usize = 4;
/// What one decision takes besides its body, about.
const OVERHEAD: usize = 8 << 10;

/// Makes lines, and hands them to the writer.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) queue: Arc<Queue>,
    pub(super) counts: DecisionCounts,
    under_way: Arc<UnderWay>,
}

/// Bytes of the bodies that lines are being made of.
#[derive(Debug, Default)]
struct UnderWay {
    bytes: AtomicUsize,
    lock: Mutex<()>,
    settled: Condvar,
}

/// A part of them, as long as it lives.
///
/// INVARIANT: what was added is subtracted once, whatever happens to the task that makes the line.
#[derive(Debug)]
struct Share {
    under_way: Arc<UnderWay>,
    bytes: usize,
}

impl UnderWay {
    /// A share of so many bytes, if they stay below the limit.
    fn share(self: &Arc<Self>, bytes: usize, limit: usize) -> Option<Share> {
        let share = Share {
            under_way: Arc::clone(self),
            bytes,
        };
        let before = self.bytes.fetch_add(bytes, Ordering::AcqRel);
        (before + bytes <= limit).then_some(share)
    }

    fn is_settled(&self) -> bool {
        self.bytes.load(Ordering::Acquire) == 0
    }

    /// Waits until all are done, or gives up at the deadline.
    fn settle(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(clock::monotonic());
        let held = self.lock.lock();
        let _ = self
            .settled
            .wait_timeout_while(held, left, |()| !self.is_settled());
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let UnderWay {
            bytes,
            lock,
            settled,
        } = &*self.under_way;
        if bytes.fetch_sub(self.bytes, Ordering::AcqRel) == self.bytes {
            // A waiting thread has checked before, or checks now.
            drop(lock.lock());
            settled.notify_all();
        }
    }
}

impl Intake {
    pub(super) fn new(queue: Arc<Queue>, counts: DecisionCounts) -> Self {
        Self {
            queue,
            counts,
            under_way: Arc::default(),
        }
    }

    /// Makes the line of a decision once the present task has nothing more to do, and hands it on. One
    /// that finds no room is dropped.
    pub(super) fn take(self: &Arc<Self>, material: Material, masker: Arc<Masker>) {
        let intake = Arc::clone(self);
        let bytes = (*material.body.0).as_ref().len() + OVERHEAD;
        let limit = match material.decided.is_allowed() {
            true => MOST_BYTES - MOST_BYTES / RESERVED,
            false => MOST_BYTES,
        };
        let Some(share) = intake.under_way.share(bytes, limit) else {
            intake.counts.dropped_full();
            return;
        };
        tokio::spawn(async move {
            if let Some(written) = intake.write(&material, &masker)
                && intake.queue.offer(Item::new(written)).is_err()
            {
                intake.counts.dropped_full();
            }
            drop(material);
            drop(share);
        });
    }

    /// The line of a decision; none if it can't be masked.
    pub(super) fn write(&self, material: &Material, masker: &Masker) -> Option<Written> {
        let written = masker.write(material);
        let written = written.inspect_err(|why| {
            self.counts.dropped_unmaskable();
            tracing::warn!("a decision was dropped: {why}");
        });
        let written = written.ok()?;
        if written.is_truncated {
            self.counts.truncated();
        }
        Some(written)
    }

    /// Waits until all lines are made, or gives up at the deadline.
    pub(super) fn settle(&self, deadline: Instant) {
        self.under_way.settle(deadline);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use portcullis_core::{DecisionId, Peer};
    use portcullis_record::Action;
    use prometheus_client::registry::Registry;

    use super::super::queue::Gathering;
    use super::*;

    fn action() -> Action {
        Action {
            id: DecisionId::new(SystemTime::UNIX_EPOCH),
            permission: "autohold".to_owned(),
            method: "POST".to_owned(),
            path: "/api/tenant/t/project/p/autohold".to_owned(),
            peer: Peer::default(),
            tenant: Some("t".to_owned()),
            parameters: Vec::new(),
            user: "alice".to_owned(),
            issuer: None,
            allowed: true,
            message: String::new(),
            rule: None,
            role: None,
            misses: Vec::new(),
            rules: Vec::new(),
            roles: Vec::new(),
            status: 200,
            duration: Duration::ZERO,
        }
    }

    #[tokio::test]
    async fn what_has_no_body_is_kept_as_well() {
        let queue = Arc::new(Queue::default());
        let counts = DecisionCounts::new(&mut Registry::default());
        let intake = Arc::new(Intake::new(Arc::clone(&queue), counts));
        let material =
            Material::of_action(action(), SystemTime::UNIX_EPOCH, "sha256:gate".into(), None);
        intake.take(material, Arc::new(Masker::default()));
        while !intake.under_way.is_settled() {
            tokio::task::yield_now().await;
        }
        let gathering = Gathering {
            items: 1,
            bytes: usize::MAX,
            time: Duration::ZERO,
            idle: Duration::ZERO,
        };
        let taken = queue.take(gathering).items;
        assert_eq!(taken.len(), 1);
        let summary = taken.first().map(|item| &item.written.summary);
        assert_eq!(summary.map(|s| s.kind.as_str()), Some("Autohold"));
    }

    #[test]
    fn what_is_under_way_is_settled_even_after_a_panic() {
        let under_way = Arc::new(UnderWay::default());
        assert!(under_way.share(11, 10).is_none());
        assert!(under_way.is_settled(), "what found no room takes none");
        let share = under_way.share(10, 10).unwrap();
        assert!(under_way.share(1, 10).is_none());
        let making = std::thread::spawn(move || {
            let _share = share;
            panic!("on purpose");
        });
        under_way.settle(clock::monotonic() + Duration::from_secs(60));
        assert!(making.join().is_err());
        assert!(under_way.is_settled());
    }
}
