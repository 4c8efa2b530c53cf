//! The watchdog: answers callers whose time is over, gives up threads that don't come back, and
//! notices those that are inside a native that never checks the clock.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use portcullis_core::clock;

use super::Shared;
use crate::evaluate::late;
use crate::job::GRACE;
use crate::scheduling;
use crate::work_queue::{Phase, Running, Slot};

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
struct Observation {
    /// Which evaluation it was.
    since: Instant,
    beats: u64,
    at: Instant,
    computed: Option<Duration>,
    is_known: bool,
}

/// What the watchdog remembers, by the numbers of threads.
#[derive(Debug, Default)]
pub(super) struct Observations(HashMap<u64, Observation>);

impl Shared {
    pub(super) fn rouse(&self) {
        if self.asleep.load(Ordering::Acquire) {
            *self.watch.lock() = true;
            self.busy.notify_one();
        }
    }

    /// The life of the watchdog.
    pub(super) fn watch(self: Arc<Self>) {
        let mut observations = Observations::default();
        loop {
            let is_busy = self.look(&mut observations);
            if !is_busy && self.queue.lock().is_closed {
                return;
            }
            self.guard.relax(clock::monotonic());
            let mut told = self.watch.lock();
            if is_busy {
                drop(self.busy.wait_timeout(told, LOOK));
                continue;
            }
            self.asleep.store(true, Ordering::Release);
            // A job that came since the check woke no one, and may be running by now.
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
        let queue = self.queue.lock();
        let is_running = |slot: &Arc<Slot>| slot.doing.lock().job.is_some();
        queue.jobs.is_empty() && !queue.is_closed && !self.slots.lock().iter().any(is_running)
    }

    /// Lets others have the turn of a thread that computes for long.
    pub(super) fn overtake(self: &Arc<Self>, slot: &Slot) {
        let mut queue = self.queue.lock();
        queue.overtake(slot);
        let is_short = queue.pass_on();
        drop(queue);
        self.hire_if(is_short);
    }

    /// Answers those whose time is over. Whether there is anything to watch.
    fn look(self: &Arc<Self>, observations: &mut Observations) -> bool {
        let now = clock::monotonic();
        let (expired, mut is_busy) = {
            let mut queue = self.queue.lock();
            let (expired, kept): (VecDeque<_>, VecDeque<_>) = std::mem::take(&mut queue.jobs)
                .into_iter()
                .partition(|job| job.deadline <= now);
            queue.jobs = kept;
            (expired, !queue.jobs.is_empty())
        };
        for job in expired {
            let late = late(None, &self.set, &job.input, &self.limits);
            job.completion.complete(Ok(late));
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
                self.listen(&slot, &running, observations, now);
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
                        self.listen(&slot, &running, observations, now);
                    } else {
                        Self::time(&slot, &running, observations, now);
                    }
                }
                continue;
            }
            self.give_up(&slot, &running);
        }
        if !is_busy {
            observations.0.clear();
        }
        self.revive() || is_busy
    }

    /// Tries again where no thread could be started and none is left. Whether that is so.
    fn revive(self: &Arc<Self>) -> bool {
        let mut queue = self.queue.lock();
        let is_needed = queue.threads() == 0 && !queue.is_closed;
        if is_needed {
            queue.hire();
        }
        drop(queue);
        self.hire_if(is_needed);
        is_needed
    }

    /// Notices a thread that computes and gives no sign of life.
    fn listen(
        &self,
        slot: &Slot,
        running: &Running,
        observations: &mut Observations,
        now: Instant,
    ) {
        let (beats, system) = (slot.thread.beats(), slot.system());
        let computed = scheduling::computed(system).ok();
        let known = observations.0.get_mut(&slot.thread.number);
        let known = known.filter(|s| s.since == running.since && s.beats == beats);
        let Some(last) = known else {
            let last = Observation {
                since: running.since,
                beats,
                at: now,
                computed,
                is_known: false,
            };
            observations.0.insert(slot.thread.number, last);
            return;
        };
        let silent = now.saturating_duration_since(last.at);
        let busy = match (computed, last.computed) {
            (Some(now), Some(then)) => now.saturating_sub(then),
            // How much it computed is not known.
            _ => silent,
        };
        if !last.is_known && silent >= SILENT && busy >= BUSY {
            last.is_known = true;
            self.guard.stuck(self.culprit(slot));
            self.keep_processes();
        }
    }

    /// Lets a process that computes for long have less time than others.
    fn time(slot: &Slot, running: &Running, observations: &mut Observations, now: Instant) {
        // In place of signs of life: before, the thread waited for a process.
        let worker = slot.worker().into();
        let known = observations.0.get(&slot.thread.number);
        let known = known.filter(|s| s.since == running.since && s.beats == worker);
        match known {
            Some(last) if now.saturating_duration_since(last.at) >= LONG => {
                slot.put_worker_back();
            }
            Some(_) => {}
            None => {
                let last = Observation {
                    since: running.since,
                    beats: worker,
                    at: now,
                    computed: None,
                    is_known: false,
                };
                observations.0.insert(slot.thread.number, last);
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
        let mut queue = self.queue.lock();
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
        let is_short = queue.give_up(slot);
        let is_shorter = queue.pass_on();
        let was_computing = slot.phase() == Phase::LostComputing;
        drop(queue);
        if was_computing {
            scheduling::put_last(slot.system());
            self.guard.given_up(self.culprit(slot));
            self.keep_processes();
        }
        self.context.revoke(slot.thread.number);
        let culprit = Some(slot.thread.policy());
        let late = late(culprit, &self.set, &running.input, &self.limits);
        running.completion.complete(Ok(late));
        self.hire_if(is_short);
        self.hire_if(is_shorter);
    }

    /// Keeps processes ready before they are needed.
    fn keep_processes(&self) {
        if let Some(processes) = self.processes.as_ref().filter(|_| self.guard.is_on()) {
            processes.keep();
        }
    }
}
