//! One thread that writes for many: operations that wait at the same time are committed together.
//!
//! A commit costs a write to the disk, however much is in it. While one is under way, operations gather; the next
//! transaction takes all of them. Nothing waits for more to come.

mod group;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use self::group::{Queue, Queued};
use super::ahead::WillChange;
use super::error::JobsError;
use super::operation::{Operation, Slot};
use super::transaction::JobsTransaction;
use super::unit::Ids;
use crate::store::Store;

/// Writes jobs for many callers. Everything that was submitted is finished before it is dropped.
pub struct JobsWriter {
    sender: Option<SyncSender<Box<dyn Queued>>>,
    thread: Option<JoinHandle<()>>,
    waiting: Arc<AtomicUsize>,
}

impl fmt::Debug for JobsWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobsWriter")
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

impl JobsWriter {
    /// Starts the thread. At most `capacity` operations wait.
    ///
    /// # Errors
    ///
    /// When the thread can't be started.
    pub fn start(store: Store, capacity: usize) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(capacity.max(1));
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let thread = thread::Builder::new()
            .name("jobs-writer".to_owned())
            .spawn(move || work(store, &receiver, &counter))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            waiting,
        })
    }

    /// How many operations wait, without those of the transaction under way.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Submits an operation, which says what it will change. It runs on the writer's thread, with others in one transaction: if it returns an error,
    /// nothing of it takes effect, and the others do. It may run several times, and the last time counts. `reply` is
    /// called on that thread as soon as what was done is durable, or is known not to be; it must not block.
    ///
    /// # Errors
    ///
    /// [`JobsError::Full`] when too many wait already. Then neither is called.
    pub fn submit<T, E>(
        &self,
        changes: WillChange,
        work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, E> + Send + 'static,
        reply: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Result<(), JobsError>
    where
        T: Send + 'static,
        E: From<JobsError> + Send + 'static,
    {
        let waiter = Waiter {
            changes,
            slot: Slot::new(work),
            reply,
        };
        let sender = self.sender.as_ref().ok_or(JobsError::Stopped)?;
        // Before it is sent: the thread may be quicker than this one.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        sender.try_send(Box::new(waiter)).map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => JobsError::Full,
                TrySendError::Disconnected(_) => JobsError::Stopped,
            }
        })
    }

    /// Submits an operation as [`JobsWriter::submit`] does, and waits for its result.
    ///
    /// # Errors
    ///
    /// What the operation returns; [`JobsError::Full`] at once when too many wait already; when the database doesn't
    /// answer.
    pub fn run<T, E>(
        &self,
        work: impl FnMut(&mut JobsTransaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JobsError> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        let reply = move |result| {
            // Whoever asked is waiting just below.
            let _ = sender.send(result);
        };
        self.submit(WillChange::default(), work, reply)?;
        receiver
            .recv()
            .unwrap_or_else(|_| Err(JobsError::Stopped.into()))
    }
}

impl Drop for JobsWriter {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(mut store: Store, receiver: &Receiver<Box<dyn Queued>>, waiting: &AtomicUsize) {
    let mut ids = Ids::default();
    let taken = |operation| {
        waiting.fetch_sub(1, Ordering::Relaxed);
        operation
    };
    let mut ready = VecDeque::new();
    loop {
        if ready.is_empty() {
            match receiver.recv().map(taken) {
                Ok(first) => ready.push_back(first),
                Err(_) => return,
            }
        }
        let queue = Queue {
            ready: &mut ready,
            next: &mut || receiver.try_recv().ok().map(taken),
            waiting: &|| waiting.load(Ordering::Relaxed),
        };
        group::run(store.parts(), queue, &mut ids);
    }
}

/// An operation, and who waits for its result.
struct Waiter<F, T, E, R> {
    changes: WillChange,
    slot: Slot<F, T, E>,
    reply: R,
}

impl<F, T, E, R> Operation for Waiter<F, T, E, R>
where
    F: FnMut(&mut JobsTransaction<'_>) -> Result<T, E>,
{
    fn run(&mut self, transaction: &mut JobsTransaction<'_>) -> bool {
        self.slot.run(transaction)
    }
}

impl<F, T, E, R> Queued for Waiter<F, T, E, R>
where
    F: FnMut(&mut JobsTransaction<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<JobsError> + Send,
    R: FnOnce(Result<T, E>) + Send,
{
    fn answer(self: Box<Self>, error: Option<JobsError>) {
        let Self { slot, reply, .. } = *self;
        reply(slot.into_result(error));
    }

    fn changes(&self) -> &WillChange {
        &self.changes
    }
}
