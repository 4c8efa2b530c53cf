//! From what a door decided to a line that may be kept.
//!
//! Lines are made where the decision was made, right after its answer is on its way: what they are made
//! of is still at hand there, and everything is thrown away where it came from.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use portcullis_core::clock;
use portcullis_record::{Masker, Material, Written};

use super::counts::DecisionCounts;
use super::queue::{Item, Queue};

/// What one who waits for the last lines sleeps at a time.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(1);

/// Bytes of bodies that lines may be made of at the same time.
const MOST_BYTES: usize = 128 << 20;
/// What one decision takes besides its body, about.
const OVERHEAD: usize = 8 << 10;

/// Makes lines, and hands them to the writer.
#[derive(Debug)]
pub(super) struct Intake {
    pub(super) queue: Arc<Queue>,
    pub(super) counts: DecisionCounts,
    /// Bytes of the bodies that lines are being made of.
    under_way: AtomicUsize,
}

impl Intake {
    pub(super) fn new(queue: Arc<Queue>, counts: DecisionCounts) -> Self {
        Self {
            queue,
            counts,
            under_way: AtomicUsize::new(0),
        }
    }

    /// Makes the line of a decision once the present task has nothing more to do, and hands it on. One
    /// that finds no room is dropped.
    pub(super) fn take(self: &Arc<Self>, material: Material, masker: Arc<Masker>) {
        let intake = Arc::clone(self);
        let bytes = (*material.body.0).as_ref().len() + OVERHEAD;
        if intake.under_way.fetch_add(bytes, Ordering::AcqRel) + bytes > MOST_BYTES {
            intake.under_way.fetch_sub(bytes, Ordering::AcqRel);
            intake.counts.dropped_full();
            return;
        }
        tokio::spawn(async move {
            if let Some(written) = intake.write(&material, &masker)
                && intake.queue.offer(Item::new(written)).is_err()
            {
                intake.counts.dropped_full();
            }
            intake.under_way.fetch_sub(bytes, Ordering::AcqRel);
        });
    }

    /// The line of a decision; none if it can't be masked.
    pub(super) fn write(&self, material: &Material, masker: &Masker) -> Option<Written> {
        let written = masker.write(material);
        let written = written.inspect_err(|why| {
            self.counts.dropped_unmaskable();
            tracing::warn!("a decision was dropped: {why}");
        });
        written.ok()
    }

    /// Waits until all lines are made, or gives up at the deadline.
    pub(super) fn settle(&self, deadline: Instant) {
        while self.under_way.load(Ordering::Acquire) > 0 && clock::monotonic() < deadline {
            std::thread::sleep(PAUSE);
        }
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
        while intake.under_way.load(Ordering::Acquire) > 0 {
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
}
