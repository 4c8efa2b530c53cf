//! `ac.GlobalContext`: the only state that outlives an evaluation.
//!
//! An evaluation that touches it holds it until it ends, so that reading, changing and writing is
//! atomic, even if it waits for host calls in between: others that use it wait as long.
//! A holder that was given up loses it, and what it writes later is discarded.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use portcullis_core::clock;
use portcullis_core::sync::{Condvar, Mutex, MutexGuard};
use serde_json::{Map, Value};

/// Shared by all threads, and by the engines that follow one another.
#[derive(Debug, Clone)]
pub struct GlobalContext {
    cap: usize,
    inner: Arc<Inner>,
    /// Where it really is, if another process has it.
    elsewhere: Option<Arc<dyn Elsewhere>>,
}

/// A context that another process has.
pub(crate) trait Elsewhere: Send + Sync + fmt::Debug {
    /// Takes hold of it until the evaluation ends, or gives up at its deadline.
    fn acquire(&self) -> Option<Value>;

    /// Puts a new value in place.
    fn store(&self, value: &Value);
}

#[derive(Debug)]
struct Inner {
    held: Mutex<Held>,
    freed: Condvar,
}

#[derive(Debug)]
struct Held {
    value: Arc<Value>,
    /// The thread that holds it.
    holder: Option<u64>,
}

impl GlobalContext {
    /// An empty one that holds at most so many bytes of JSON.
    pub fn new(cap: usize) -> Self {
        let held = Held {
            value: Arc::new(Value::Object(Map::new())),
            holder: None,
        };
        Self {
            cap,
            inner: Arc::new(Inner {
                held: Mutex::new(held),
                freed: Condvar::new(),
            }),
            elsewhere: None,
        }
    }

    /// One that another process has.
    pub(crate) fn elsewhere(cap: usize, elsewhere: Arc<dyn Elsewhere>) -> Self {
        Self {
            elsewhere: Some(elsewhere),
            ..Self::new(cap)
        }
    }

    /// What it holds now.
    pub fn value(&self) -> Arc<Value> {
        Arc::clone(&self.lock().value)
    }

    /// How many bytes of JSON it may hold.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// The same one, with another bound for those who write through this.
    #[must_use]
    pub fn with_cap(&self, cap: usize) -> Self {
        Self {
            cap,
            inner: Arc::clone(&self.inner),
            elsewhere: self.elsewhere.clone(),
        }
    }

    /// Takes hold of it for this thread, or gives up at the deadline.
    pub(crate) fn acquire(&self, owner: u64, deadline: Option<Instant>) -> Option<Lease> {
        // The process that has it waited until the deadline at the first attempt.
        if self.elsewhere.is_some()
            || deadline.is_some_and(|deadline| clock::monotonic() >= deadline)
        {
            return None;
        }
        let mut held = self.lock();
        while held.holder.is_some() {
            let Some(deadline) = deadline else {
                held = self.inner.freed.wait(held);
                continue;
            };
            let left = deadline.saturating_duration_since(clock::monotonic());
            if left.is_zero() {
                return None;
            }
            (held, _) = self.inner.freed.wait_timeout(held, left);
        }
        Some(self.lease(held, owner))
    }

    /// Takes hold of it for this thread, if it is free and there is time left.
    pub(crate) fn try_acquire(&self, owner: u64, deadline: Option<Instant>) -> Option<Lease> {
        if deadline.is_some_and(|deadline| clock::monotonic() >= deadline) {
            return None;
        }
        if let Some(elsewhere) = &self.elsewhere {
            let value = elsewhere.acquire()?;
            return Some(self.lease_of(Arc::new(value), owner));
        }
        let held = self.lock();
        held.holder.is_none().then(|| self.lease(held, owner))
    }

    fn lease(&self, mut held: MutexGuard<'_, Held>, owner: u64) -> Lease {
        held.holder = Some(owner);
        self.lease_of(Arc::clone(&held.value), owner)
    }

    fn lease_of(&self, value: Arc<Value>, owner: u64) -> Lease {
        Lease {
            context: self.clone(),
            owner,
            value,
            size: OnceLock::new(),
        }
    }

    /// Takes it away from this thread.
    pub(crate) fn revoke(&self, owner: u64) {
        let mut held = self.lock();
        if held.holder == Some(owner) {
            held.holder = None;
            self.inner.freed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.inner.held.lock()
    }
}

/// The right to change the context, until dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    context: GlobalContext,
    owner: u64,
    /// What it held at the beginning.
    pub(crate) value: Arc<Value>,
    size: OnceLock<usize>,
}

impl Lease {
    pub(crate) fn cap(&self) -> usize {
        self.context.cap
    }

    /// How many bytes of JSON it held at the beginning.
    pub(crate) fn size(&self) -> usize {
        *self.size.get_or_init(|| self.value.to_string().len())
    }

    /// Puts a new value in place, if still the holder.
    pub(crate) fn store(&self, value: Value) {
        if let Some(elsewhere) = &self.context.elsewhere {
            elsewhere.store(&value);
            return;
        }
        let mut held = self.context.lock();
        if held.holder == Some(self.owner) {
            held.value = Arc::new(value);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.context.revoke(self.owner);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_holder_that_lost_it_writes_nothing() {
        let context = GlobalContext::new(100);
        let lease = context.acquire(1, None).unwrap();
        let soon = || Some(clock::monotonic() + Duration::from_millis(5));
        assert!(context.acquire(2, soon()).is_none());
        context.revoke(1);
        let second = context.acquire(2, None).unwrap();
        lease.store(json!({"late": 1}));
        drop(lease);
        assert!(context.acquire(3, soon()).is_none());
        second.store(json!({"n": 1}));
        drop(second);
        assert_eq!(*context.value(), json!({"n": 1}));
    }
}
