//! What the kernel knows of processes and the machine, from `/proc`.

use std::time::Duration;

use serde::Serialize;

use crate::failure::{Context, Result};

/// The unit of times in `/proc`: Linux shows hundredths of a second everywhere.
const TICK: Duration = Duration::from_millis(10);

/// Processor time a process has used, in all its threads, those that ended included.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration> {
    let file = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&file).context(&file)?;
    cpu_ticks(&text)
        .map(ticks)
        .context(format!("{file}: not understood"))
}

/// Processor time of all processes that this one started and that have ended.
pub(crate) fn ended_children_time() -> Result<Duration> {
    ended_children_time_of(std::process::id())
}

/// The same of another process.
pub(crate) fn ended_children_time_of(pid: u32) -> Result<Duration> {
    let file = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&file).context(&file)?;
    children_ticks(&text)
        .map(ticks)
        .context(format!("{file}: not understood"))
}

/// A process and its children.
pub(crate) fn family(pid: u32) -> Result<Vec<u32>> {
    let mut found = vec![pid];
    for entry in std::fs::read_dir("/proc").context("/proc")?.flatten() {
        let name = entry.file_name();
        let Some(other) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // One may end meanwhile.
        let text = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        if parent(&text) == Some(pid) {
            found.push(other);
        }
    }
    Ok(found)
}

/// The process that started the one of this line of `/proc/PID/stat`.
fn parent(line: &str) -> Option<u32> {
    let rest = line.rsplit_once(')')?.1;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Bytes a process has caused to be written to disk; none where the kernel does not say.
pub(crate) fn written_bytes(pid: u32) -> Option<u64> {
    written(&std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}

fn written(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("write_bytes:"))?;
    value.trim().parse().ok()
}

/// User and system time in a line of `/proc/PID/stat`.
fn cpu_ticks(line: &str) -> Option<u64> {
    two_fields(line, 11)
}

/// The same of the children that were waited for.
fn children_ticks(line: &str) -> Option<u64> {
    two_fields(line, 13)
}

/// The sum of two fields behind the name.
fn two_fields(line: &str, first: usize) -> Option<u64> {
    // The name may hold blanks and parentheses; what follows it does not.
    let rest = line.rsplit_once(')')?.1;
    let mut fields = rest.split_ascii_whitespace().skip(first);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Processor time the whole machine has used, on all processors together.
pub(crate) fn machine_time() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/stat").context("/proc/stat")?;
    machine_ticks(&text)
        .map(ticks)
        .context("/proc/stat: not understood")
}

/// Everything but idling and waiting for disks.
fn machine_ticks(text: &str) -> Option<u64> {
    let fields = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_ascii_whitespace();
    let values: Option<Vec<u64>> = fields.map(|field| field.parse().ok()).collect();
    match values?.as_slice() {
        // Time of guests, which follows, is in user time already.
        [user, nice, system, _idle, _waiting, irq, softirq, steal, ..] => {
            Some(user + nice + system + irq + softirq + steal)
        }
        _ => None,
    }
}

fn ticks(count: u64) -> Duration {
    TICK.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Memory of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Memory {
    /// All of it that is in memory, the program's file included.
    pub(crate) resident_kib: u64,
    /// What is the process' own.
    pub(crate) anonymous_kib: u64,
    /// The most that was ever resident.
    pub(crate) peak_kib: u64,
}

/// Memory a process uses now.
pub(crate) fn memory(pid: u32) -> Result<Memory> {
    let file = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&file).context(&file)?;
    memory_of(&text).context(format!("{file}: not understood"))
}

/// Begins the peak anew: from now on it is the most that was resident since. Where the kernel does
/// not allow that, it stays the peak of the process' whole life.
pub(crate) fn forget_peak(pid: u32) {
    let _ = std::fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

fn memory_of(text: &str) -> Option<Memory> {
    let kib = |key: &str| -> Option<u64> {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(key));
        values.next()?.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some(Memory {
        resident_kib: kib("VmRSS:")?,
        anonymous_kib: kib("RssAnon:")?,
        peak_kib: kib("VmHWM:")?,
    })
}

/// The machine and how busy it is.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    /// Processors this program may use.
    pub(crate) processors: usize,
    /// What they call themselves.
    pub(crate) model: String,
    /// The kernel's version.
    pub(crate) kernel: String,
    /// The load average of the minute before.
    pub(crate) load: String,
}

impl Machine {
    /// This machine, now.
    pub(crate) fn look() -> Self {
        let read = |file| std::fs::read_to_string(file).unwrap_or_default();
        let first = |text: String| text.split_whitespace().next().unwrap_or("?").to_owned();
        let info = read("/proc/cpuinfo");
        let model = info
            .lines()
            .find_map(|line| line.strip_prefix("model name"));
        let model = model
            .and_then(|rest| rest.split_once(':'))
            .map_or("?", |(_, name)| name.trim());
        Self {
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            model: model.to_owned(),
            kernel: first(read("/proc/sys/kernel/osrelease")),
            load: first(read("/proc/loadavg")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_any_name() {
        let line = "42 (a b) c) S 1 2 3 4 5 6 7 8 9 10 130 20 7 5 20 0 3 0 999";
        assert_eq!(cpu_ticks(line), Some(150));
        assert_eq!(children_ticks(line), Some(12));
        assert_eq!(cpu_ticks("42 (x) S 1"), None);
        assert_eq!(parent(line), Some(1));
    }

    #[test]
    fn idling_is_not_work() {
        let text = "cpu  10 1 5 1000 50 2 3 4 0 0\ncpu0 1 1 1 1\n";
        assert_eq!(machine_ticks(text), Some(25));
        assert_eq!(machine_ticks("cpu  1 2"), None);
    }

    #[test]
    fn what_is_written_is_not_what_was_cancelled() {
        let text = "wchar: 9\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n";
        assert_eq!(written(text), Some(4096));
        assert_eq!(written("wchar: 9\n"), None);
    }

    #[test]
    fn children_are_of_the_family() {
        let mut child = std::process::Command::new("cat");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let found = family(std::process::id()).unwrap();
        assert!(found.contains(&child.id()) && found.contains(&std::process::id()));
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn memory_is_read_by_name() {
        let text = "Name:\tx\nVmHWM:\t    9000 kB\nVmRSS:\t    8000 kB\nRssAnon:\t    2000 kB\n";
        let memory = memory_of(text).unwrap();
        assert_eq!(
            (memory.resident_kib, memory.anonymous_kib, memory.peak_kib),
            (8000, 2000, 9000)
        );
        assert_eq!(memory_of("Name:\tx\n"), None);
    }

    #[test]
    fn a_peak_is_never_below_what_is_resident() {
        let own = std::process::id();
        forget_peak(own);
        let memory = memory(own).unwrap();
        // The kernel counts by processor and sums up now and then.
        assert!(memory.peak_kib + 1024 >= memory.resident_kib, "{memory:?}");
    }

    #[test]
    fn this_process_is_there() {
        let own = std::process::id();
        assert!(memory(own).unwrap().resident_kib > 0);
        assert!(cpu_time(own).is_ok() && machine_time().is_ok());
        assert!(ended_children_time().is_ok());
    }
}
