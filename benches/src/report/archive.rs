//! What decisions take on disk, and how fast they are replayed, for people.

use std::fmt::Write as _;

use super::table::two;
use crate::archive::Archive;

const MIB: f64 = 1024.0 * 1024.0;

/// The blocks of the report.
pub(super) fn write(text: &mut String, archive: &Archive) {
    let _ = writeln!(
        text,
        "\n{:<22}{:>10}{:>22}{:>22}{:>15}",
        "size of 10,000", "decisions", "database MiB", "as lines MiB", "bytes for one",
    );
    let merged = archive.merged.map(|size| ("one by one, merged", size));
    let sizes = [("in a crowd", archive.crowd), ("one by one", archive.alone)];
    for (name, size) in sizes.into_iter().chain(merged) {
        let _ = writeln!(
            text,
            "{name:<22}{:>10}{:>22.2}{:>22.1}{:>15.0}",
            size.decisions,
            size.database_per_10000() / MIB,
            size.lines_per_10000() / MIB,
            size.database_per_10000() / 10_000.0,
        );
    }
    let _ = writeln!(
        text,
        "\n{:<22}{:>10}{:>10}{:>19}{:>22}{:>25}",
        "replay", "decisions", "same %", "seconds", "decisions/s", "decisions/s of a core",
    );
    for one in &archive.replays {
        let _ = writeln!(
            text,
            "{:<22}{:>10}{:>10.2}{:>19}{:>22}{:>25}",
            one.with,
            one.decisions,
            one.same as f64 / one.decisions as f64 * 100.0,
            two(one.seconds, 2),
            two(one.per_second, 0),
            two(one.per_core, 0),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Report, table};
    use crate::archive::{Archive, Replay, Size};
    use crate::statistics::Summary;

    #[test]
    fn sizes_are_of_ten_thousand_and_replays_have_a_line_each() {
        let size = Size {
            decisions: 20_000,
            empty_bytes: 0,
            database_bytes: 8 << 20,
            line_bytes: 160 << 20,
        };
        let rate = Summary {
            median: 9_000.0,
            best: 9_500.0,
        };
        let mut report = Report::new();
        report.archive = Some(Archive {
            request_bytes: 7_100.0,
            crowd: size,
            alone: size,
            merged: Some(size),
            replays: vec![Replay {
                with: "--config",
                decisions: 20_000,
                same: 19_000,
                seconds: rate,
                per_second: rate,
                per_core: rate,
            }],
        });
        let text = table(&report);
        let line = |word: &str| text.lines().find(|line| line.starts_with(word)).unwrap();
        let crowd: Vec<&str> = line("in a crowd").split_whitespace().collect();
        assert_eq!(crowd, ["in", "a", "crowd", "20000", "4.00", "80.0", "419"]);
        assert!(line("one by one, merged").contains(" 4.00 "), "{text}");
        let replay = line("--config");
        assert!(
            replay.contains(" 95.00 ") && replay.ends_with("9000 (9500)"),
            "{text}"
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["archive"]["replays"][0]["per_core"]["best"], 9_500.0);
    }
}
