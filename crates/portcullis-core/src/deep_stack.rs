//! Work that recurses deeply, kept away from the caller's stack.
//!
//! Parsers that follow the nesting of a text with their stack need more of it than the caller's thread may
//! have left. They run on a thread with as much as they need. A caller with many texts runs the whole batch
//! with [`run`], and each text inside of it with [`run`] again: that one stays on the thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Why the work gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The work panicked.
    #[error("the work failed")]
    Panicked,
    /// The system refused to start a thread.
    #[error("cannot start a thread: {0}")]
    NoThread(#[from] std::io::Error),
}

thread_local! {
    /// How much stack this thread was started with by [`run`].
    static STACK: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` with a stack of so many bytes: on this thread if it was started here with as many, else on
/// a thread of its own. Only what is used becomes real memory.
///
/// # Errors
///
/// If the work panics, or if no thread can be started.
pub fn run<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    if STACK.get() >= bytes {
        return caught(work);
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("deep-stack".to_owned());
        let work = || {
            STACK.set(bytes);
            caught(work)
        };
        let thread = thread.stack_size(bytes).spawn_scoped(scope, work)?;
        thread.join().unwrap_or(Err(Failure::Panicked))
    })
}

fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Failure::Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 32 << 20;

    /// Uses a kibibyte of stack or more for each level.
    fn dig(levels: usize) -> usize {
        let room = std::hint::black_box([levels; 128]);
        match levels {
            0 => 0,
            _ => 1 + dig(levels - 1) + room.iter().filter(|level| **level != levels).count(),
        }
    }

    #[test]
    fn there_is_room_for_deep_work() {
        let deeper_than_usual = 8 << 10;
        assert_eq!(run(BYTES, || dig(deeper_than_usual)).unwrap(), 8 << 10);
    }

    #[test]
    fn a_batch_stays_on_one_thread() {
        let here = thread::current().id();
        let (outer, inner, larger) = run(BYTES, || {
            let id = || thread::current().id();
            (id(), run(BYTES, id).unwrap(), run(2 * BYTES, id).unwrap())
        })
        .unwrap();
        assert_ne!(outer, here);
        assert_eq!(inner, outer);
        assert_ne!(larger, outer);
        assert_ne!(run(BYTES, || thread::current().id()).unwrap(), here);
    }

    #[test]
    fn a_panic_is_a_failure_of_that_work_alone() {
        let results = run(BYTES, || {
            [1, 2, 3].map(|n| run(BYTES, || if n == 2 { panic!("of a test") } else { n }).ok())
        });
        assert_eq!(results.unwrap(), [Some(1), None, Some(3)]);
        assert!(matches!(
            run(BYTES, || panic!("of a test")),
            Err::<(), _>(Failure::Panicked)
        ));
    }
}
