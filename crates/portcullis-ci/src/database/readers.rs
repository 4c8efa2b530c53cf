//! Threads that read, each with a connection of its own. Connections are opened, used and closed on their threads: one
//! to PostgreSQL must not be touched by those of the runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use portcullis_core::sync::Mutex;
use portcullis_store::{JobsError, JobsReader, Location, Mode, Store};
use tokio::sync::oneshot;

use crate::error::CiError;

/// Threads that read.
const READERS: usize = 2;

/// Something to read. It is given the connection, or why there is none, and says whether the connection is still good.
type Task = Box<dyn FnOnce(Result<&mut Store, JobsError>) -> bool + Send>;

/// The threads; they end with this value.
pub(super) struct Readers {
    sender: Sender<Task>,
}

impl Readers {
    pub(super) fn start(location: &Location) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..READERS {
            let (location, receiver) = (location.clone(), Arc::clone(&receiver));
            thread::Builder::new()
                .name("jobs-reader".to_owned())
                .spawn(move || work(&location, &receiver))?;
        }
        Ok(Self { sender })
    }

    /// Reads on one of the threads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut JobsReader<'_>) -> Result<T, CiError> + Send + 'static,
    ) -> Result<T, CiError> {
        let (reply, answer) = oneshot::channel();
        let task = move |store: Result<&mut Store, JobsError>| {
            let result = match store {
                Ok(store) => store.read_jobs(work),
                Err(error) => Err(error.into()),
            };
            let is_good = !matches!(result, Err(CiError::Unavailable(_)));
            // The caller may be gone.
            let _ = reply.send(result);
            is_good
        };
        let stopped = || CiError::Unavailable("the store is closed".to_owned());
        let sent = self.sender.send(Box::new(task));
        sent.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

fn work(location: &Location, receiver: &Mutex<Receiver<Task>>) {
    let mut store: Option<Store> = None;
    loop {
        // The lock is held while this thread waits: the other one waits for the lock instead.
        let task = receiver.lock().recv();
        let Ok(task) = task else { return };
        let opened = match store.take() {
            Some(open) => Ok(open),
            // The writer has brought its tables up to date.
            None => Store::open(location, Mode::ReadOnly),
        };
        match opened {
            Ok(mut open) => {
                let read = catch_unwind(AssertUnwindSafe(|| task(Ok(&mut open))));
                store = read.unwrap_or_default().then_some(open);
            }
            Err(error) => {
                task(Err(error.into()));
            }
        }
    }
}
