//! Locks that a panic doesn't poison.
//!
//! The standard library's, without their errors: a thread that panics while it holds a lock affects no other.
//! What is locked must be consistent whenever code runs that could panic, as everywhere where panics
//! are caught.

use std::sync::{LockResult, PoisonError, WaitTimeoutResult};
use std::time::Duration;

pub use std::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// [`std::sync::Mutex`].
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Not locked.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// What was locked.
    pub fn into_inner(self) -> T {
        whole(self.0.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        whole(self.0.lock())
    }

    /// What is locked; the exclusive reference proves that nothing else holds it.
    pub fn get_mut(&mut self) -> &mut T {
        whole(self.0.get_mut())
    }
}

/// [`std::sync::RwLock`].
#[derive(Debug, Default)]
pub struct RwLock<T: ?Sized>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Not locked.
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for the lock, and shares it with others who read.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        whole(self.0.read())
    }

    /// Waits for the lock.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        whole(self.0.write())
    }
}

/// [`std::sync::Condvar`].
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// One that no thread waits for.
    pub const fn new() -> Self {
        Self(std::sync::Condvar::new())
    }

    /// Wakes one of those who wait.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all who wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits to be woken, or for no reason.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        whole(self.0.wait(guard))
    }

    /// The same, but not longer than this.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        longest: Duration,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        whole(self.0.wait_timeout(guard, longest))
    }

    /// Waits as long as the condition holds, but not longer than this.
    pub fn wait_timeout_while<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        longest: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        whole(self.0.wait_timeout_while(guard, longest, condition))
    }
}

fn whole<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_takes_no_lock_with_it() {
        let (mutex, shared) = (Mutex::new(1), RwLock::new(2));
        let fails = || {
            let _held = (mutex.lock(), shared.write());
            panic!("of a test");
        };
        assert!(catch_unwind(AssertUnwindSafe(fails)).is_err());
        *mutex.lock() += 1;
        *shared.write() += 1;
        assert_eq!((*shared.read(), mutex.into_inner()), (3, 2));
    }

    #[test]
    fn waiting_ends_when_it_is_over() {
        let (mutex, changed) = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                *mutex.lock() = true;
                changed.notify_all();
            });
            let mut is_done = mutex.lock();
            while !*is_done {
                is_done = changed.wait(is_done);
            }
        });
        let (_guard, waited) =
            changed.wait_timeout_while(mutex.lock(), Duration::ZERO, |is_done| *is_done);
        assert!(waited.timed_out());
    }
}
