//! Which lines of policies ran.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use portcullis_config::MarkPlace;
use portcullis_document::Source;

/// Lines of policies, and how often their statements ran.
#[derive(Debug, Default)]
pub struct Coverage {
    files: BTreeMap<String, FileCoverage>,
}

/// Lines of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCoverage {
    /// The file, or the policy inside a YAML file.
    pub name: String,
    /// Whether it is a file of its own.
    pub is_file: bool,
    /// The text.
    pub text: Arc<Source>,
    /// Each line with statements: in how many reviews each of them ran.
    lines: BTreeMap<u32, Vec<u64>>,
}

impl Coverage {
    /// Adds what one review or test passed, of marks at these places.
    pub fn add(&mut self, marks: &[MarkPlace], passed: &[u32]) {
        let passed: HashSet<u32> = passed.iter().copied().collect();
        let mut seen: BTreeMap<(String, u32), usize> = BTreeMap::new();
        for (number, mark) in (0_u32..).zip(marks) {
            let name = shown(&mark.text);
            // The same text gives the same marks, wherever it is loaded.
            let place = seen.entry((name.clone(), mark.line)).or_default();
            let file = self
                .files
                .entry(name)
                .or_insert_with_key(|name| FileCoverage {
                    name: name.clone(),
                    is_file: mark.text.path().is_some(),
                    text: Arc::clone(&mark.text),
                    lines: BTreeMap::new(),
                });
            let hits = file.lines.entry(mark.line).or_default();
            if *place == hits.len() {
                hits.push(0);
            }
            if let (Some(hits), true) = (hits.get_mut(*place), passed.contains(&number)) {
                *hits += 1;
            }
            *place += 1;
        }
    }

    /// The files, in the order of their names. Tests are not among them.
    pub fn files(&self) -> impl Iterator<Item = &FileCoverage> {
        let is_test = |name: &str| name.contains(".test.");
        self.files.values().filter(move |file| !is_test(&file.name))
    }

    /// Of all lines, how many ran in percent.
    pub fn percent(&self) -> f64 {
        let (run, all) = self.counts();
        percent(run, all)
    }

    /// Whether at least so many percent of all lines ran, without rounding.
    pub fn reaches(&self, percent: u8) -> bool {
        let (run, all) = self.counts();
        run * 100 >= all * usize::from(percent)
    }

    /// How many lines ran, and how many there are.
    fn counts(&self) -> (usize, usize) {
        let (mut run, mut all) = (0, 0);
        for file in self.files() {
            run += file.run();
            all += file.count();
        }
        (run, all)
    }
}

impl FileCoverage {
    /// Each line with statements, and in how many reviews all of them ran.
    pub fn lines(&self) -> impl Iterator<Item = (u32, u64)> {
        let least = |hits: &Vec<u64>| hits.iter().copied().min().unwrap_or_default();
        self.lines
            .iter()
            .map(move |(line, hits)| (*line, least(hits)))
    }

    /// How many lines have statements.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// On how many of them all statements ran.
    pub fn run(&self) -> usize {
        self.lines().filter(|(_, hits)| *hits > 0).count()
    }

    /// The same in percent.
    pub fn percent(&self) -> f64 {
        percent(self.run(), self.count())
    }

    /// The lines with a statement that did not run.
    pub fn missed(&self) -> Vec<u32> {
        let missed = self.lines().filter(|(_, hits)| *hits == 0);
        missed.map(|(line, _)| line).collect()
    }
}

impl FileCoverage {
    /// The lines with a statement that did not run, with their texts.
    pub fn missed_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        let missed: HashSet<u32> = self.missed().into_iter().collect();
        let lines = (1_u32..).zip(self.text.text().lines());
        lines.filter(move |(number, _)| missed.contains(number))
    }

    /// All lines of the text, each with how often it ran; those without statements have no number.
    pub fn all_lines(&self) -> impl Iterator<Item = (u32, &str, Option<u64>)> {
        let hits: BTreeMap<u32, u64> = self.lines().collect();
        let lines = (1_u32..).zip(self.text.text().lines());
        lines.map(move |(number, text)| (number, text, hits.get(&number).copied()))
    }
}

/// Rounded to one digit; of nothing, everything ran.
fn percent(run: usize, all: usize) -> f64 {
    match (u32::try_from(run), u32::try_from(all)) {
        (Ok(run), Ok(all)) if all > 0 => (f64::from(run) * 1000.0 / f64::from(all)).round() / 10.0,
        _ => 100.0,
    }
}

fn shown(text: &Source) -> String {
    let label = text.label();
    label.strip_prefix("./").unwrap_or(label).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_run_when_all_of_it_has() {
        let text = Source::text_named("./a.js", "if (x) return 1\nreturn 2");
        let mark = |line| MarkPlace {
            text: std::sync::Arc::clone(&text),
            line,
        };
        let marks = [mark(1), mark(1), mark(2)];
        let mut coverage = Coverage::default();
        coverage.add(&marks, &[0, 2]);
        coverage.add(&marks, &[0, 2]);
        let file = coverage.files().next().unwrap();
        assert_eq!((file.name.as_str(), file.missed()), ("a.js", vec![1]));
        assert_eq!(file.lines().collect::<Vec<_>>(), [(1, 0), (2, 2)]);
        assert_eq!(
            file.missed_lines().collect::<Vec<_>>(),
            [(1, "if (x) return 1")]
        );
        assert!((coverage.percent() - 50.0).abs() < 0.01);
        assert!(coverage.reaches(50) && !coverage.reaches(51));
        coverage.add(&marks, &[0, 1]);
        assert!((coverage.percent() - 100.0).abs() < 0.01);
    }
}
