use super::*;
use crate::input::Input;
use crate::job::Completion;
use portcullis_core::clock;
use serde_json::Value;

fn with_job(queue: &mut WorkQueue) {
    with_job_of(queue, 0);
}

fn with_job_of(queue: &mut WorkQueue, asker: u64) {
    queue.jobs.push_back(Job {
        asker,
        input: Arc::new(Input::new(&Value::Null)),
        deadline: clock::monotonic(),
        completion: Completion::new(Box::new(|_| {})),
    });
}

#[test]
fn one_that_waits_lets_another_compute_and_comes_before_new_jobs() {
    let mut queue = WorkQueue::new(1, 1);
    queue.hire();
    queue.started();
    let (first, second) = (Arc::new(Slot::default()), Arc::new(Slot::default()));
    (0..3).for_each(|_| with_job(&mut queue));
    assert!(queue.take_job(&first, clock::monotonic()).is_some());
    assert!(queue.take_job(&second, clock::monotonic()).is_none());
    assert!(!queue.pass_on());
    queue.leave(&first);
    assert!(queue.pass_on(), "a thread for the second job");
    assert!(!queue.pass_on(), "it is being started");
    queue.started();
    assert!(queue.take_job(&second, clock::monotonic()).is_some());
    queue.come_back(&first);
    assert!(!queue.go_on(&first, false));
    assert!(queue.end_job(&second));
    assert!(
        queue.take_job(&second, clock::monotonic()).is_none(),
        "the first one's turn"
    );
    assert!(queue.go_on(&first, false));
    assert!(queue.take_job(&second, clock::monotonic()).is_none());
    assert!(queue.end_job(&first));
    assert!(queue.take_job(&second, clock::monotonic()).is_some());
}

#[test]
fn one_that_computes_for_long_goes_on_without_a_turn() {
    let mut queue = WorkQueue::new(1, 1);
    queue.hire();
    queue.started();
    let (long, short) = (Slot::default(), Slot::default());
    (0..2).for_each(|_| with_job(&mut queue));
    assert!(queue.take_job(&long, clock::monotonic()).is_some());
    assert!(!queue.pass_on());
    queue.overtake(&long);
    assert_eq!(long.phase(), Phase::Slow);
    assert!(queue.pass_on(), "a thread for the short one");
    queue.started();
    assert!(queue.take_job(&short, clock::monotonic()).is_some());
    assert!(queue.end_job(&long) && queue.end_job(&short));
    assert_eq!((queue.computing, queue.slow), (0, 0));
}

#[test]
fn who_computes_for_long_waits_for_itself_and_nobody_else_does() {
    const GREEDY: u64 = 1;
    const OTHER: u64 = 2;
    let mut queue = WorkQueue::new(1, 1);
    let slots: Vec<_> = (0..SHARE).map(|_| Slot::default()).collect();
    for slot in &slots {
        with_job_of(&mut queue, GREEDY);
        let job = queue.take_job(slot, clock::monotonic());
        assert_eq!(job.map(|job| job.asker), Some(GREEDY));
        queue.overtake(slot);
    }
    let last = Slot::default();
    with_job_of(&mut queue, GREEDY);
    assert!(queue.is_held_back(GREEDY) && !queue.is_held_back(OTHER));
    assert!(
        !queue.pass_on(),
        "nobody is needed for a job that may not begin"
    );
    assert!(queue.take_job(&last, clock::monotonic()).is_none());
    with_job_of(&mut queue, OTHER);
    let job = queue.take_job(&last, clock::monotonic());
    assert_eq!(job.map(|job| job.asker), Some(OTHER));
    assert!(queue.end_job(&last));
    assert!(queue.take_job(&last, clock::monotonic()).is_none());
    // One that waits for a host call, ends or is given up makes room.
    queue.leave(&slots[0]);
    assert!(!queue.is_held_back(GREEDY));
    assert!(queue.end_job(&slots[1]));
    queue.give_up(&slots[2]);
    assert!(queue.take_job(&last, clock::monotonic()).is_some());
    assert_eq!((queue.slow, queue.slow_of.get(&GREEDY)), (1, Some(&1)));
    assert!(queue.end_job(&slots[3]));
    assert!(queue.slow_of.is_empty());
}

#[test]
fn with_processes_any_number_may_be_given_up() {
    let mut queue = WorkQueue::new(STUCK + 1, 1).with_processes();
    let slots: Vec<_> = (0..=STUCK).map(|_| Slot::default()).collect();
    for slot in &slots {
        with_job(&mut queue);
        assert!(queue.take_job(slot, clock::monotonic()).is_some());
    }
    for slot in &slots {
        queue.give_up(slot);
    }
    assert_eq!(queue.lost(), STUCK + 1);
    assert!(!queue.has_lost_too_many());
}

#[test]
fn threads_that_are_not_needed_may_go() {
    let mut queue = WorkQueue::new(1, 1);
    queue.hire();
    queue.hire();
    queue.started();
    queue.started();
    assert!(queue.may_go());
    assert!(!queue.may_go(), "the last one stays");
    let slot = Arc::new(Slot::default());
    queue.rest(&slot);
    assert!(!queue.rise(&slot), "nobody woke it");
    queue.rest(&slot);
    with_job(&mut queue);
    assert!(!queue.pass_on(), "it is woken");
    assert!(queue.rise(&slot));
    assert!(queue.take_job(&slot, clock::monotonic()).is_some());
    queue.is_closed = true;
    assert!(queue.may_go());
}

#[test]
fn there_is_a_bound_for_threads_and_for_lost_ones() {
    let mut queue = WorkQueue::new(STUCK + 1, 1);
    let slots: Vec<_> = (0..STUCK + 1)
        .map(|_| {
            queue.hire();
            queue.started();
            with_job(&mut queue);
            let slot = Slot::default();
            assert!(queue.take_job(&slot, clock::monotonic()).is_some());
            slot
        })
        .collect();
    let replaced = slots.iter().filter(|slot| queue.give_up(slot)).count();
    assert_eq!((replaced, queue.lost()), (STUCK, STUCK));
    assert!(queue.has_lost_too_many());
    let ended = slots.iter().filter(|slot| !queue.end_job(slot)).count();
    assert_eq!((ended, queue.lost()), (STUCK, 0));
    assert!(!queue.has_lost_too_many());

    let mut queue = WorkQueue::new(1, 1);
    let slots: Vec<_> = (0..3).map(|_| Slot::default()).collect();
    let mut hired = 0;
    for slot in &slots {
        with_job(&mut queue);
        if queue.pass_on() {
            queue.started();
            hired += 1;
            assert!(queue.take_job(slot, clock::monotonic()).is_some());
            queue.leave(slot);
        }
    }
    assert_eq!(hired, 2);
}
