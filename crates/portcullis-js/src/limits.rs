//! What one evaluation may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Stack for what is not the engine's.
const OWN_STACK: usize = 4 << 20;

/// What one evaluation may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time for the whole evaluation, waiting included.
    pub deadline: Duration,
    /// Bytes of memory, the realm's own included.
    pub memory: usize,
    /// Bytes of stack.
    pub stack: usize,
    /// Bytes of console output and warnings; what is more is dropped. Also of the arguments of one
    /// host call, where more is an error.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(2),
            memory: 32 << 20,
            stack: 256 << 10,
            output: 64 << 10,
        }
    }
}

impl Limits {
    /// How much stack a thread needs on which evaluations are made.
    pub(crate) fn thread_stack(&self) -> usize {
        self.stack + OWN_STACK
    }

    /// The longest list that memory could hold.
    pub(crate) fn longest_list(&self) -> usize {
        self.memory / 16
    }
}
