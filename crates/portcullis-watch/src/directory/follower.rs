//! Polls a directory every second, in a thread of its own.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use portcullis_core::clock::Stopwatch;

use super::{ObjectsDirectory, Report, Sink};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Directories so large that a look takes long are looked at less often.
const REST_PER_LOOK: u32 = 4;
const REST_AT_MOST: Duration = Duration::from_secs(4);

/// Follows a directory until it is dropped.
#[derive(Debug)]
pub struct Follower {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// Begins with a poll at once. Every poll is passed to `report`.
    ///
    /// # Errors
    ///
    /// When the thread can't be started.
    pub fn start<S: Sink + Send + Sync + 'static>(
        mut directory: ObjectsDirectory,
        sink: Arc<S>,
        mut report: impl FnMut(Report) + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::sync_channel(0);
        let follow = move || loop {
            let watch = Stopwatch::start();
            report(directory.sync(&*sink));
            let rest = (watch.elapsed() * REST_PER_LOOK).clamp(LOOK_EVERY, REST_AT_MOST);
            if stopped.recv_timeout(rest) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        };
        let thread = thread::Builder::new().name("objects".to_owned());
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread.spawn(follow)?),
        })
    }
}

impl Drop for Follower {
    /// Waits for the poll under way: afterwards nothing is reported any more.
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
