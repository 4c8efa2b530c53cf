//! Work on several threads whose results come in the order of the work.
//!
//! Batches are dealt to the lanes in turn, and their results are taken from the lanes in the same turn, so that no
//! lane can run ahead of the others by more than what waits in front of it and behind it. That bounds what is in
//! memory.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Batches that wait in front of a lane, and behind it.
const WAITING: usize = 1;

/// Hands over a batch; says when no more are wanted.
pub(super) type Deal<'a, Batch> = dyn FnMut(Batch) -> ControlFlow<()> + Send + 'a;

/// Lets each lane, made where it works, turn batches of `source` into results, and hands those to `take` in order.
pub(super) fn in_order<Batch: Send, Done: Send, Lane: FnMut(Batch) -> Done>(
    lanes: usize,
    source: impl FnOnce(&mut Deal<'_, Batch>) + Send,
    lane: impl Fn(usize) -> Lane + Sync,
    mut take: impl FnMut(Done),
) {
    thread::scope(|scope| {
        let (mut inlets, mut outlets) = (Vec::new(), Vec::new());
        for number in 0..lanes.max(1) {
            let (send, work) = sync_channel::<Batch>(WAITING);
            let (done, results) = sync_channel::<Done>(WAITING);
            let lane = &lane;
            scope.spawn(move || run(lane(number), &work, &done));
            inlets.push(send);
            outlets.push(results);
        }
        scope.spawn(move || {
            let mut turns = inlets.iter().cycle();
            source(
                &mut |batch| match turns.next().map(|lane| lane.send(batch)) {
                    Some(Ok(())) => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                },
            );
        });
        // The first lane that has no result when it is its turn had no more work, and neither had those after it.
        for results in outlets.iter().cycle() {
            match results.recv() {
                Ok(done) => take(done),
                Err(_) => break,
            }
        }
    });
}

/// The life of a lane.
fn run<Batch, Done>(
    mut lane: impl FnMut(Batch) -> Done,
    work: &Receiver<Batch>,
    done: &SyncSender<Done>,
) {
    for batch in work {
        if done.send(lane(batch)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// The results of `count` batches on so many lanes, the first of which is slow, and how far the source ever was
    /// ahead of what was taken.
    fn ran(lanes: usize, count: usize) -> (Vec<usize>, usize) {
        let (dealt, taken, ahead) = <(AtomicUsize, AtomicUsize, AtomicUsize)>::default();
        let mut results = Vec::new();
        in_order(
            lanes,
            |deal| {
                for number in 0..count {
                    let now = dealt.fetch_add(1, Ordering::SeqCst) + 1;
                    let before = taken.load(Ordering::SeqCst);
                    ahead.fetch_max(now.saturating_sub(before), Ordering::SeqCst);
                    assert!(deal(number).is_continue());
                }
            },
            |lane| {
                move |number| {
                    (0..if lane == 0 { 10_000 } else { 0 }).for_each(|n| {
                        std::hint::black_box(n);
                    });
                    number * 10
                }
            },
            |result| {
                results.push(result);
                taken.fetch_add(1, Ordering::SeqCst);
            },
        );
        (results, ahead.into_inner())
    }

    #[test]
    fn results_are_in_the_order_of_the_work() {
        for (lanes, count) in [
            (0, 5),
            (1, 0),
            (1, 100),
            (2, 1),
            (2, 101),
            (3, 1000),
            (8, 5),
        ] {
            let expected: Vec<usize> = (0..count).map(|number| number * 10).collect();
            assert_eq!(ran(lanes, count).0, expected, "{lanes} lanes");
        }
    }

    #[test]
    fn the_source_is_never_far_ahead() {
        let lanes = 3;
        let (_, ahead) = ran(lanes, 5000);
        // In front of each lane, in it, behind it, and one in hand at each end.
        assert!(ahead <= lanes * (2 * WAITING + 1) + 2, "{ahead}");
    }
}
