//! The formats of results: one list for what is printed and for reports that are written to files.

use clap::ValueEnum;
use portcullis_gate::offline::Judge;

use super::github::Github;
use super::gitlab::Gitlab;
use super::junit::Junit;
use super::sarif::Sarif;
use super::table::Table;
use super::tap::Tap;
use super::value::{Json, Yaml};
use super::writer::Writer;
use crate::commands::text::report::{self, Report};
use crate::commands::text::terminal::Terminal;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Human-readable.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// `JUnit` XML, which CI systems show as tests.
    Junit,
    /// SARIF, which code hosts show as findings.
    Sarif,
    /// Workflow commands of GitHub Actions, which become annotations of a pull request.
    Github,
    /// A Code Quality report of GitLab, which merge requests show.
    Gitlab,
    /// The Test Anything Protocol.
    Tap,
}

impl Format {
    /// Whether results appear as they come; the others are printed at the end.
    pub(super) fn is_immediate(self) -> bool {
        !matches!(self, Self::Junit | Self::Tap)
    }

    /// What writes in this format.
    pub(super) fn writer(
        self,
        judges: &[Judge],
        explain: bool,
        terminal: Terminal,
    ) -> Box<dyn Writer> {
        let judges = || judges.to_vec();
        match self {
            Self::Table => Box::new(Table::new(&judges(), explain, terminal)),
            Self::Json => Box::new(Json::new(judges(), explain)),
            Self::Yaml => Box::new(Yaml::new(judges(), explain)),
            Self::Junit => Box::new(Junit::new(&judges())),
            Self::Sarif => Box::<Sarif>::default(),
            Self::Github => Box::new(Github),
            Self::Gitlab => Box::new(Gitlab::new(judges())),
            Self::Tap => Box::<Tap>::default(),
        }
    }
}

/// The kind and the file of a report: any format that is not for people.
pub(super) fn report(text: &str) -> Result<Report<Format>, String> {
    let formats = Format::value_variants().iter();
    let formats = formats.filter(|format| **format != Format::Table);
    let named = formats.filter_map(|format| Some((*format, format.to_possible_value()?)));
    let named: Vec<(Format, clap::builder::PossibleValue)> = named.collect();
    let names: Vec<&str> = named.iter().map(|(_, value)| value.get_name()).collect();
    let expected = format!("KIND=FILE, with one of these kinds: {}", names.join(", "));
    let (kind, file) = report::file(text, &expected)?;
    match named.iter().find(|(_, value)| value.get_name() == kind) {
        Some((kind, _)) => Ok(Report { kind: *kind, file }),
        None => Err(format!("expected {expected}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_format_is_a_report() {
        for format in Format::value_variants() {
            let name = format.to_possible_value().unwrap().get_name().to_owned();
            let read = report(&format!("{name}=a=b"));
            match format {
                Format::Table => assert!(read.unwrap_err().contains("expected KIND=FILE")),
                format => {
                    let read = read.unwrap();
                    assert_eq!((read.kind, read.file), (*format, "a=b".into()));
                }
            }
        }
    }

    #[test]
    fn other_reports_are_refused() {
        for (text, needle) in [
            ("junit", "json, yaml, junit, sarif, github, gitlab, tap"),
            ("html=x", "expected KIND=FILE"),
            ("sarif=", "expected KIND=FILE"),
            ("junit=-", "-o junit"),
        ] {
            let why = report(text).unwrap_err();
            assert!(why.contains(needle), "{text}: {why}");
        }
    }
}
