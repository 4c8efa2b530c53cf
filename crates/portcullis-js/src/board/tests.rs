use super::*;
use crate::input::Input;
use crate::worker::Answer;
use portcullis_core::clock;
use serde_json::Value;

fn with_job(board: &mut Board) {
    with_job_of(board, 0);
}

fn with_job_of(board: &mut Board, asker: u64) {
    board.jobs.push_back(Job {
        asker,
        input: Arc::new(Input::new(&Value::Null)),
        deadline: clock::monotonic(),
        answer: Answer::new(Box::new(|_| {})),
    });
}

#[test]
fn one_that_waits_lets_another_compute_and_comes_before_new_jobs() {
    let mut board = Board::new(1, 1);
    board.hire();
    board.started();
    let (first, second) = (Arc::new(Slot::default()), Arc::new(Slot::default()));
    (0..3).for_each(|_| with_job(&mut board));
    assert!(board.take_job(&first, clock::monotonic()).is_some());
    assert!(board.take_job(&second, clock::monotonic()).is_none());
    assert!(!board.pass_on());
    board.leave(&first);
    assert!(board.pass_on(), "a thread for the second job");
    assert!(!board.pass_on(), "it is being started");
    board.started();
    assert!(board.take_job(&second, clock::monotonic()).is_some());
    board.come_back(&first);
    assert!(!board.go_on(&first, false));
    assert!(board.end_job(&second));
    assert!(
        board.take_job(&second, clock::monotonic()).is_none(),
        "the first one's turn"
    );
    assert!(board.go_on(&first, false));
    assert!(board.take_job(&second, clock::monotonic()).is_none());
    assert!(board.end_job(&first));
    assert!(board.take_job(&second, clock::monotonic()).is_some());
}

#[test]
fn one_that_computes_for_long_goes_on_without_a_turn() {
    let mut board = Board::new(1, 1);
    board.hire();
    board.started();
    let (long, short) = (Slot::default(), Slot::default());
    (0..2).for_each(|_| with_job(&mut board));
    assert!(board.take_job(&long, clock::monotonic()).is_some());
    assert!(!board.pass_on());
    board.overtake(&long);
    assert_eq!(long.phase(), Phase::Slow);
    assert!(board.pass_on(), "a thread for the short one");
    board.started();
    assert!(board.take_job(&short, clock::monotonic()).is_some());
    assert!(board.end_job(&long) && board.end_job(&short));
    assert_eq!((board.computing, board.slow), (0, 0));
}

#[test]
fn who_computes_for_long_waits_for_itself_and_nobody_else_does() {
    const GREEDY: u64 = 1;
    const OTHER: u64 = 2;
    let mut board = Board::new(1, 1);
    let slots: Vec<_> = (0..SHARE).map(|_| Slot::default()).collect();
    for slot in &slots {
        with_job_of(&mut board, GREEDY);
        let job = board.take_job(slot, clock::monotonic());
        assert_eq!(job.map(|job| job.asker), Some(GREEDY));
        board.overtake(slot);
    }
    let last = Slot::default();
    with_job_of(&mut board, GREEDY);
    assert!(board.is_held_back(GREEDY) && !board.is_held_back(OTHER));
    assert!(
        !board.pass_on(),
        "nobody is needed for a job that may not begin"
    );
    assert!(board.take_job(&last, clock::monotonic()).is_none());
    with_job_of(&mut board, OTHER);
    let job = board.take_job(&last, clock::monotonic());
    assert_eq!(job.map(|job| job.asker), Some(OTHER));
    assert!(board.end_job(&last));
    assert!(board.take_job(&last, clock::monotonic()).is_none());
    // One that waits for the world outside, ends or is given up makes room.
    board.leave(&slots[0]);
    assert!(!board.is_held_back(GREEDY));
    assert!(board.end_job(&slots[1]));
    board.give_up(&slots[2]);
    assert!(board.take_job(&last, clock::monotonic()).is_some());
    assert_eq!((board.slow, board.slow_of.get(&GREEDY)), (1, Some(&1)));
    assert!(board.end_job(&slots[3]));
    assert!(board.slow_of.is_empty());
}

#[test]
fn with_processes_any_number_may_be_given_up() {
    let mut board = Board::new(STUCK + 1, 1).with_processes();
    let slots: Vec<_> = (0..=STUCK).map(|_| Slot::default()).collect();
    for slot in &slots {
        with_job(&mut board);
        assert!(board.take_job(slot, clock::monotonic()).is_some());
    }
    for slot in &slots {
        board.give_up(slot);
    }
    assert_eq!(board.lost(), STUCK + 1);
    assert!(!board.has_lost_too_many());
}

#[test]
fn threads_that_are_not_needed_may_go() {
    let mut board = Board::new(1, 1);
    board.hire();
    board.hire();
    board.started();
    board.started();
    assert!(board.may_go());
    assert!(!board.may_go(), "the last one stays");
    let slot = Arc::new(Slot::default());
    board.rest(&slot);
    assert!(!board.rise(&slot), "nobody woke it");
    board.rest(&slot);
    with_job(&mut board);
    assert!(!board.pass_on(), "it is woken");
    assert!(board.rise(&slot));
    assert!(board.take_job(&slot, clock::monotonic()).is_some());
    board.is_closed = true;
    assert!(board.may_go());
}

#[test]
fn there_is_a_bound_for_threads_and_for_lost_ones() {
    let mut board = Board::new(STUCK + 1, 1);
    let slots: Vec<_> = (0..STUCK + 1)
        .map(|_| {
            board.hire();
            board.started();
            with_job(&mut board);
            let slot = Slot::default();
            assert!(board.take_job(&slot, clock::monotonic()).is_some());
            slot
        })
        .collect();
    let replaced = slots.iter().filter(|slot| board.give_up(slot)).count();
    assert_eq!((replaced, board.lost()), (STUCK, STUCK));
    assert!(board.has_lost_too_many());
    let ended = slots.iter().filter(|slot| !board.end_job(slot)).count();
    assert_eq!((ended, board.lost()), (STUCK, 0));
    assert!(!board.has_lost_too_many());

    let mut board = Board::new(1, 1);
    let slots: Vec<_> = (0..3).map(|_| Slot::default()).collect();
    let mut hired = 0;
    for slot in &slots {
        with_job(&mut board);
        if board.pass_on() {
            board.started();
            hired += 1;
            assert!(board.take_job(slot, clock::monotonic()).is_some());
            board.leave(slot);
        }
    }
    assert_eq!(hired, 2);
}
