//! Work that recurses, kept away from the caller's stack.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crate::fault::ScriptFault;

/// Room for the deepest text that `limits` lets through. Only what is used becomes real memory.
const STACK: usize = 256 << 20;

/// Runs `work` on a thread of its own. A panic of the parser becomes a fault.
pub(crate) fn run<T: Send>(
    work: impl Fn() -> Result<T, Vec<ScriptFault>> + Sync,
) -> Result<T, Vec<ScriptFault>> {
    let mut done = run_each(&[()], |()| work());
    done.pop().unwrap_or_else(|| Err(fault(NO_THREAD)))
}

/// The same for each of many texts, one after the other on one thread: threads cost more than parsing.
pub(crate) fn run_each<I: Sync, T: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T, Vec<ScriptFault>> + Sync,
) -> Vec<Result<T, Vec<ScriptFault>>> {
    let one = |item: &I| {
        catch_unwind(AssertUnwindSafe(|| work(item))).unwrap_or_else(|_| Err(fault(GAVE_UP)))
    };
    let all = || items.iter().map(one).collect();
    thread::scope(|scope| {
        let name = "script".to_owned();
        let builder = thread::Builder::new().name(name).stack_size(STACK);
        let handle = builder.spawn_scoped(scope, all).ok();
        handle
            .and_then(|handle| handle.join().ok())
            .unwrap_or_else(|| items.iter().map(|_| Err(fault(NO_THREAD))).collect())
    })
}

const NO_THREAD: &str = "cannot start a thread to parse this text";
const GAVE_UP: &str = "the parser failed on this text";

fn fault(message: &str) -> Vec<ScriptFault> {
    vec![ScriptFault {
        line: 1,
        column: 1,
        message: message.to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_fault() {
        let faults = run::<()>(|| panic!("of a test")).unwrap_err();
        assert_eq!(faults[0].message, "the parser failed on this text");
        assert_eq!(run(|| Ok(1)), Ok(1));
        let each = run_each(&[1, 2, 3], |n| match n {
            2 => panic!("of a test"),
            n => Ok(*n),
        });
        assert_eq!(each, [Ok(1), Err(fault(GAVE_UP)), Ok(3)]);
    }
}
