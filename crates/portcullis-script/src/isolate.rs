//! Work that recurses, kept away from the caller's stack.

use std::thread;

use crate::fault::ScriptFault;

/// Room for the deepest text that `limits` lets through. Only what is used becomes real memory.
const STACK: usize = 256 << 20;

/// Runs `work` on a thread of its own. A panic of the parser becomes a fault.
pub(crate) fn run<T: Send>(
    work: impl FnOnce() -> Result<T, Vec<ScriptFault>> + Send,
) -> Result<T, Vec<ScriptFault>> {
    let fault = |message: &str| {
        vec![ScriptFault {
            line: 1,
            column: 1,
            message: message.to_owned(),
        }]
    };
    thread::scope(|scope| {
        let name = "script".to_owned();
        let builder = thread::Builder::new().name(name).stack_size(STACK);
        let Ok(handle) = builder.spawn_scoped(scope, work) else {
            return Err(fault("there is no room for a thread to read this text"));
        };
        let lost = |_| Err(fault("the parser gave up on this text"));
        handle.join().unwrap_or_else(lost)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_fault() {
        let faults = run::<()>(|| panic!("of a test")).unwrap_err();
        assert_eq!(faults[0].message, "the parser gave up on this text");
        assert_eq!(run(|| Ok(1)), Ok(1));
    }
}
