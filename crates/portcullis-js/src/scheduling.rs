//! Threads and processes as the system sees them: their numbers, priorities and time.

use std::io;
use std::time::Duration;

/// The lowest priority of the system.
const LAST: i32 = 19;
/// A priority that gets a third of what others get.
const LATER: i32 = 5;

/// Lets a thread that can't be ended have only the time that nothing else needs.
pub(crate) fn put_last(thread: i32) {
    if let Some(thread) = rustix::process::Pid::from_raw(thread) {
        let _ = rustix::process::setpriority_process(Some(thread), LAST);
    }
}

/// Lets a process, which is a group of its own, have less time than others. There is no way back.
pub(crate) fn put_group_back(process: u32) {
    let number = i32::try_from(process).ok();
    if let Some(group) = number.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::setpriority_pgrp(Some(group), LATER);
    }
}

/// The number by which the system knows this thread.
pub(crate) fn own_number() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// How much a thread has computed, where the system says it.
pub(crate) fn computed(thread: i32) -> io::Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat"))?;
    let first = text.split_whitespace().next();
    let nanoseconds = first.and_then(|n| n.parse().ok());
    let nanoseconds = nanoseconds.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Duration::from_nanos(nanoseconds))
}
