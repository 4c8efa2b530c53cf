//! Coverage: human-readable, machine-readable and for editors.

use std::fmt::Write;

use portcullis_gate::offline::{Coverage, FileCoverage};
use serde_json::{Value, json};

use super::outcome::Tested;
use crate::commands::text::plain::{counted, printable};

/// A line for each file, with what did not run; also as text, `with_lines`.
pub(super) fn table(coverage: &Coverage, with_lines: bool) -> String {
    let lines: usize = coverage.files().map(FileCoverage::count).sum();
    let lines = counted(lines, "line", "lines");
    let mut text = format!("coverage: {:.1} % of {lines}\n", coverage.percent());
    let width = coverage.files().map(|file| file.name.chars().count()).max();
    for file in coverage.files() {
        let missed = ranges(&file.missed());
        let missed = match missed.as_str() {
            "" => String::new(),
            missed => format!("  not run: {missed}"),
        };
        let (percent, width) = (file.percent(), width.unwrap_or(0));
        let line = format!("  {percent:>5.1} %  {:<width$}{missed}", file.name);
        let _ = writeln!(text, "{}", line.trim_end());
        if with_lines {
            for (number, missed) in file.missed_lines() {
                let line = format!(
                    "    {number:>5} | {}",
                    printable(&missed.replace('\t', " "))
                );
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
    }
    text
}

/// The same, machine-readable.
pub(super) fn value(coverage: &Coverage) -> Value {
    let files = coverage.files().map(|file| {
        json!({
            "file": file.name,
            "percent": file.percent(),
            "lines": file.count(),
            "run": file.run(),
            "missed": file.missed(),
        })
    });
    let files: Vec<Value> = files.collect();
    json!({"percent": coverage.percent(), "files": files})
}

/// `1, 3-5`.
fn ranges(lines: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*line) => *last = *line,
            _ => runs.push((*line, *line)),
        }
    }
    let written = runs.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

/// In the format of lcov, for files alone.
pub(super) fn lcov(tested: &Tested) -> String {
    let mut text = String::new();
    let files = tested.coverage.iter().flat_map(Coverage::files);
    for file in files.filter(|file| file.is_file) {
        let _ = writeln!(text, "TN:\nSF:{}", file.name);
        for (line, hits) in file.lines() {
            let _ = writeln!(text, "DA:{line},{hits}");
        }
        let (run, all) = (file.run(), file.count());
        let _ = writeln!(text, "LF:{all}\nLH:{run}\nend_of_record");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_written_as_one() {
        assert_eq!(ranges(&[1, 3, 4, 5, 9, 10]), "1, 3-5, 9-10");
        assert_eq!(ranges(&[]), "");
    }
}
