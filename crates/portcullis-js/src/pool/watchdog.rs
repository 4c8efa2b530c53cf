//! The watchdog: answers those whose time is over, gives threads up that don't come back, and
//! notices those that are inside a native that never looks at the clock.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use portcullis_core::clock;

use super::{GRACE, Shared};
use crate::board::{Phase, Running, Slot};
use crate::evaluate::late;
use crate::process;

/// How long an evaluation may compute before others get its turn.
const SLOW: Duration = Duration::from_millis(30);
/// How long a process may compute before it gets less time than others.
const LONG: Duration = Duration::from_millis(500);
/// How often the watchdog looks while there is something to watch.
const LOOK: Duration = Duration::from_millis(20);
/// How often it looks while evaluations are made in processes and nothing else is to be watched.
const LOOK_CALMLY: Duration = Duration::from_millis(500);
/// An evaluation without a sign of life for so long ...
const SILENT: Duration = Duration::from_millis(100);
/// ... that has computed for so long meanwhile is stuck. Where the machine is busy it may just not
/// have had its turn.
const BUSY: Duration = Duration::from_millis(30);
/// How long after its deadline a thread is given up that has a process to kill. It does that by
/// itself, long before.
const LAST: Duration = Duration::from_secs(5);

/// What was last seen of a thread that gave no sign of life since.
#[derive(Debug)]
struct Sight {
    /// Which evaluation it was.
    since: Instant,
    beats: u64,
    at: Instant,
    computed: Option<Duration>,
    is_known: bool,
}

/// What the watchdog remembers, by the numbers of threads.
#[derive(Debug, Default)]
pub(super) struct Sights(HashMap<u64, Sight>);

impl Shared {
    pub(super) fn rouse(&self) {
        if self.asleep.load(Ordering::Acquire) {
            *self.watch.lock() = true;
            self.busy.notify_one();
        }
    }

    /// The life of the watchdog.
    pub(super) fn watch(self: Arc<Self>) {
        let mut sights = Sights::default();
        loop {
            let is_busy = self.look(&mut sights);
            if !is_busy && self.board.lock().is_closed {
                return;
            }
            self.guard.relax(clock::monotonic());
            let mut told = self.watch.lock();
            if is_busy {
                drop(self.busy.wait_timeout(told, LOOK));
                continue;
            }
            self.asleep.store(true, Ordering::Release);
            // A job that came since the look was told to nobody, and may be running by now.
            if self.is_idle() {
                while !*told {
                    if self.guard.is_on() {
                        (told, _) = self.busy.wait_timeout(told, LOOK_CALMLY);
                        break;
                    }
                    told = self.busy.wait(told);
                }
            }
            *told = false;
            self.asleep.store(false, Ordering::Release);
        }
    }

    /// Whether nothing waits, runs or ends. A job goes from waiting to running under the lock of
    /// the queue, so that it is seen here in one place or the other.
    fn is_idle(&self) -> bool {
        let board = self.board.lock();
        let is_running = |slot: &Arc<Slot>| slot.doing.lock().job.is_some();
        board.jobs.is_empty() && !board.is_closed && !self.slots.lock().iter().any(is_running)
    }

    /// Lets others have the turn of a thread that computes for long.
    pub(super) fn overtake(self: &Arc<Self>, slot: &Slot) {
        let mut board = self.board.lock();
        board.overtake(slot);
        let is_short = board.pass_on();
        drop(board);
        self.hire_if(is_short);
    }

    /// Answers those whose time is over. Whether there is anything to watch.
    fn look(self: &Arc<Self>, sights: &mut Sights) -> bool {
        let now = clock::monotonic();
        let (expired, mut is_busy) = {
            let mut board = self.board.lock();
            let (expired, kept): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut board.jobs)
                .into_iter()
                .partition(|job| job.deadline <= now);
            board.jobs = kept;
            (expired, !board.jobs.is_empty())
        };
        for job in expired {
            let late = late(None, &self.set, &job.input, &self.limits);
            job.answer.give(Ok(late));
        }
        let slots: Vec<_> = self.slots.lock().clone();
        for slot in slots {
            let (running, phase) = {
                let doing = slot.doing.lock();
                (doing.job.clone(), doing.phase)
            };
            let Some(running) = running else {
                continue;
            };
            is_busy = true;
            if phase == Phase::LostComputing {
                self.listen(&slot, &running, sights, now);
                continue;
            }
            let is_computing = matches!(phase, Phase::Computing | Phase::Slow);
            let is_in_process = is_computing && slot.is_guarded();
            if running.deadline + if is_in_process { LAST } else { GRACE } > now {
                if running.since + SLOW < now && is_computing {
                    if phase == Phase::Computing {
                        self.overtake(&slot);
                    }
                    if !is_in_process {
                        self.listen(&slot, &running, sights, now);
                    } else {
                        Self::time(&slot, &running, sights, now);
                    }
                }
                continue;
            }
            self.give_up(&slot, &running);
        }
        if !is_busy {
            sights.0.clear();
        }
        self.revive() || is_busy
    }

    /// Tries again where no thread could be started and none is left. Whether that is so.
    fn revive(self: &Arc<Self>) -> bool {
        let mut board = self.board.lock();
        let is_needed = board.threads() == 0 && !board.is_closed;
        if is_needed {
            board.hire();
        }
        drop(board);
        self.hire_if(is_needed);
        is_needed
    }

    /// Notices a thread that computes and gives no sign of life.
    fn listen(&self, slot: &Slot, running: &Running, sights: &mut Sights, now: Instant) {
        let (beats, system) = (slot.thread.beats(), slot.system());
        let computed = process::computed(system).ok();
        let known = sights.0.get_mut(&slot.thread.number);
        let known = known.filter(|s| s.since == running.since && s.beats == beats);
        let Some(sight) = known else {
            let sight = Sight {
                since: running.since,
                beats,
                at: now,
                computed,
                is_known: false,
            };
            sights.0.insert(slot.thread.number, sight);
            return;
        };
        let silent = now.saturating_duration_since(sight.at);
        let busy = match (computed, sight.computed) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            // Nobody says how much it computed.
            _ => silent,
        };
        if !sight.is_known && silent >= SILENT && busy >= BUSY {
            sight.is_known = true;
            self.guard.stuck(self.culprit(slot));
            self.keep_processes();
        }
    }

    /// Lets a process that computes for long have less time than others.
    fn time(slot: &Slot, running: &Running, sights: &mut Sights, now: Instant) {
        // In place of signs of life: before, the thread waited for a process.
        let worker = slot.worker().into();
        let known = sights.0.get(&slot.thread.number);
        let known = known.filter(|s| s.since == running.since && s.beats == worker);
        match known {
            Some(sight) if now.saturating_duration_since(sight.at) >= LONG => {
                slot.put_worker_back();
            }
            Some(_) => {}
            None => {
                let sight = Sight {
                    since: running.since,
                    beats: worker,
                    at: now,
                    computed: None,
                    is_known: false,
                };
                sights.0.insert(slot.thread.number, sight);
            }
        }
    }

    /// The name of the policy that a thread is in.
    fn culprit(&self, slot: &Slot) -> Option<&str> {
        let name = self.set.names().get(slot.thread.policy());
        name.map(String::as_str)
    }

    /// Gives a thread up, and answers in its place.
    fn give_up(self: &Arc<Self>, slot: &Arc<Slot>, running: &Running) {
        let mut board = self.board.lock();
        // It may have ended, or begun another, since.
        let is_still = slot
            .doing
            .lock()
            .job
            .as_ref()
            .is_some_and(|job| job.deadline == running.deadline);
        if !is_still || slot.phase().is_lost() {
            return;
        }
        let is_short = board.give_up(slot);
        let is_shorter = board.pass_on();
        let was_computing = slot.phase() == Phase::LostComputing;
        drop(board);
        if was_computing {
            process::put_last(slot.system());
            self.guard.given_up(self.culprit(slot));
            self.keep_processes();
        }
        self.context.revoke(slot.thread.number);
        let culprit = Some(slot.thread.policy());
        let late = late(culprit, &self.set, &running.input, &self.limits);
        running.answer.give(Ok(late));
        self.hire_if(is_short);
        self.hire_if(is_shorter);
    }

    /// Has processes at hand before somebody needs them.
    fn keep_processes(&self) {
        if let Some(stable) = self.stable.as_ref().filter(|_| self.guard.is_on()) {
            stable.keep();
        }
    }
}
