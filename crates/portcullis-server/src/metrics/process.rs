//! Metrics of the process itself, with the names that all programs give them. Read from `/proc` when they are scraped;
//! nothing where there is none.

use std::fs;

use nix::unistd::{SysconfVar, sysconf};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

/// Ticks of a second, as Linux counts for programs, if the system does not say.
const USUAL_TICKS: u32 = 100;
/// Bytes of a `kB` in `/proc`.
const KILOBYTE: u64 = 1024;

/// What the system says of the process.
#[derive(Debug, Clone, Default, PartialEq)]
struct Usage {
    cpu_seconds: Option<f64>,
    start_seconds: Option<f64>,
    threads: Option<u64>,
    virtual_bytes: Option<u64>,
    resident_bytes: Option<u64>,
    open_files: Option<u64>,
    /// Nothing if there is no limit.
    most_files: Option<u64>,
    most_virtual_bytes: Option<u64>,
}

/// The files of `/proc` that it is in.
#[derive(Debug, Default)]
struct Files {
    stat: String,
    status: String,
    limits: String,
    system: String,
    open_files: Option<u64>,
}

#[derive(Debug)]
struct Process {
    ticks: f64,
}

impl Files {
    fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        // One of them is the directory that is being read.
        let open = fs::read_dir("/proc/self/fd").ok();
        let open = open.and_then(|entries| u64::try_from(entries.count()).ok());
        Self {
            stat: text("/proc/self/stat"),
            status: text("/proc/self/status"),
            limits: text("/proc/self/limits"),
            system: text("/proc/stat"),
            open_files: open.map(|count| count.saturating_sub(1)),
        }
    }

    fn usage(&self, ticks: f64) -> Usage {
        // The name of the program comes first, in parentheses, and may hold anything.
        let fields = self.stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |number: usize| -> Option<f64> { fields.get(number)?.parse().ok() };
        let of_status = |key: &str| line(&self.status, key).and_then(first);
        let of_limits = |key: &str| line(&self.limits, key).and_then(first);
        let booted: Option<f64> = line(&self.system, "btime ").and_then(first);
        let bytes = |key: &str| of_status(key).map(|kilobytes: u64| kilobytes * KILOBYTE);
        Usage {
            cpu_seconds: field(11)
                .zip(field(12))
                .map(|(user, system)| (user + system) / ticks),
            start_seconds: booted
                .zip(field(19))
                .map(|(booted, since)| booted + since / ticks),
            threads: of_status("Threads:"),
            virtual_bytes: bytes("VmSize:"),
            resident_bytes: bytes("VmRSS:"),
            open_files: self.open_files,
            most_files: of_limits("Max open files"),
            most_virtual_bytes: of_limits("Max address space"),
        }
    }
}

/// What follows a key at the beginning of a line.
fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key))
}

/// The first word, as a number.
fn first<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.split_whitespace().next()?.parse().ok()
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let usage = Files::read().usage(self.ticks);
        if let Some(seconds) = usage.cpu_seconds {
            let help = "CPU time used in user and system mode";
            let counter = ConstCounter::new(seconds);
            let unit = Some(&Unit::Seconds);
            let kind = MetricType::Counter;
            counter.encode(encoder.encode_descriptor("process_cpu", help, unit, kind)?)?;
        }
        if let Some(seconds) = usage.start_seconds {
            let help = "When the process started, in seconds since 1970";
            let unit = Some(&Unit::Seconds);
            let kind = MetricType::Gauge;
            let family = encoder.encode_descriptor("process_start_time", help, unit, kind)?;
            ConstGauge::new(seconds).encode(family)?;
        }
        let (bytes, plain) = (Some(&Unit::Bytes), None);
        for (name, help, unit, value) in [
            (
                "process_virtual_memory",
                "Virtual memory",
                bytes,
                usage.virtual_bytes,
            ),
            (
                "process_virtual_memory_max",
                "The limit on virtual memory, if there is one",
                bytes,
                usage.most_virtual_bytes,
            ),
            (
                "process_resident_memory",
                "Resident memory",
                bytes,
                usage.resident_bytes,
            ),
            (
                "process_open_fds",
                "Open file descriptors",
                plain,
                usage.open_files,
            ),
            (
                "process_max_fds",
                "The limit on open file descriptors",
                plain,
                usage.most_files,
            ),
            ("process_threads", "Threads", plain, usage.threads),
        ] {
            if let Some(value) = value {
                let family = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
                ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX)).encode(family)?;
            }
        }
        Ok(())
    }
}

/// A registry with them alone: the names of others have the program's in front.
pub(super) fn registry() -> Registry {
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    let ticks = ticks.and_then(|ticks| u32::try_from(ticks).ok());
    let ticks = ticks.filter(|ticks| *ticks > 0).unwrap_or(USUAL_TICKS);
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Process {
        ticks: f64::from(ticks),
    }));
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_proc_are_read_as_they_are() {
        let files = Files {
            stat: "77 (a) b) R 1 2 3 4 5 6 7 8 9 10 250 150 0 0 20 0 4 0 5000 123 456".to_owned(),
            status: "Name:\tx\nVmSize:\t  2048 kB\nVmRSS:\t    1024 kB\nThreads:\t9\n".to_owned(),
            limits:
                "Limit    Soft Limit  Hard Limit  Units\nMax open files   1024   524288  files\n\
                Max address space  unlimited  unlimited  bytes\n"
                    .to_owned(),
            system: "cpu 1 2\nbtime 1700000000\n".to_owned(),
            open_files: Some(12),
        };
        assert_eq!(
            files.usage(100.0),
            Usage {
                cpu_seconds: Some(4.0),
                start_seconds: Some(1_700_000_050.0),
                threads: Some(9),
                virtual_bytes: Some(2 * 1024 * 1024),
                resident_bytes: Some(1024 * 1024),
                open_files: Some(12),
                most_files: Some(1024),
                most_virtual_bytes: None,
            }
        );
        assert_eq!(Files::default().usage(100.0), Usage::default());
    }

    #[test]
    fn the_names_are_those_of_every_program() {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry()).unwrap();
        for name in [
            "process_cpu_seconds_total",
            "process_start_time_seconds",
            "process_virtual_memory_bytes",
            "process_resident_memory_bytes",
            "process_open_fds",
            "process_max_fds",
            "process_threads",
        ] {
            let line = text
                .lines()
                .find(|line| line.starts_with(&format!("{name} ")));
            let line = line.unwrap_or_else(|| panic!("{name}: {text}"));
            let value: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(value > 0.0 || name == "process_cpu_seconds_total", "{line}");
        }
    }
}
