//! `portcullis lint`: finds what compiles in policies but can't be meant.

mod reports;
mod table;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use portcullis_document::{Faults, Source};
use portcullis_gate::linting::{self, LintFinding, Linted};
use portcullis_script::Language;
use serde_json::{Value, json};

use super::text::plain::counted;
use super::text::terminal::Terminal;
use super::text::{error, json, yaml};
use crate::arguments::{Admission, Configuration, Judging, folder_of, load_options};
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Folders, policy files or configurations. The policies of a folder are those of its `portcullis.yaml`, or else of
    /// its `policies/`, or else of the folder itself. By default the configuration, or else the working directory.
    #[arg(value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    configuration: Configuration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = LintOutput::Table)]
    output: LintOutput,
}

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LintOutput {
    /// Human-readable, with the lines they are in.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// SARIF 2.1.0, for code hosts and editors.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// A code quality report of GitLab.
    Gitlab,
}

/// What is looked at together.
struct Target {
    judging: Judging,
    /// Only this file of it.
    file: Option<PathBuf>,
    /// The command line names what judges.
    is_named: bool,
}

/// Looks, and prints what was found.
pub(super) fn run(lint: &Lint) -> Exit {
    let mut all = Linted {
        findings: Vec::new(),
        policies: 0,
        texts: 0,
        silenced: 0,
        warnings: Vec::new(),
    };
    let mut faults = Vec::new();
    for target in targets(lint) {
        match look(&target) {
            Ok(linted) => {
                all.findings.extend(linted.findings);
                all.policies += linted.policies;
                all.texts += linted.texts;
                all.silenced += linted.silenced;
                all.warnings.extend(linted.warnings);
            }
            Err(wrong) => faults.extend(wrong),
        }
    }
    for warning in &all.warnings {
        error::warn(warning);
    }
    if let Some(faults) = Faults::from_list(faults) {
        error::faults(&faults);
        return Exit::Invalid;
    }
    tell(&all, lint.output);
    match (all.findings.is_empty(), all.texts) {
        (true, 0) => Exit::Nothing,
        (true, _) => Exit::Yes,
        (false, _) => Exit::No,
    }
}

fn targets(lint: &Lint) -> Vec<Target> {
    let whole = |judging| Target {
        judging,
        file: None,
        is_named: true,
    };
    if lint.paths.is_empty() {
        return vec![whole(match lint.configuration.found() {
            Some(file) => Judging::File(file),
            None => Judging::in_folder(Path::new(".")),
        })];
    }
    let each = lint.paths.iter().map(|path| {
        let is_script = language(path).is_some();
        if is_script && !path.is_dir() {
            let judging = lint.configuration.explicit().map(Judging::File);
            return Target {
                is_named: judging.is_some(),
                judging: judging.unwrap_or_else(|| Judging::in_folder(&folder_of(path))),
                file: Some(path.clone()),
            };
        }
        let is_list = || {
            let source = portcullis_config::read_source(path);
            source.is_ok_and(|source| portcullis_config::is_policy_list(&source))
        };
        whole(match path.is_file() {
            true if is_list() => Judging::Policies(path.clone()),
            true => Judging::File(path.clone()),
            false => Judging::in_folder(path),
        })
    });
    each.collect()
}

fn language(path: &Path) -> Option<Language> {
    Language::of_ending(path.extension()?.to_str()?)
}

fn look(target: &Target) -> Result<Linted, Faults> {
    if let Some(file) = &target.file
        && let Err(wrong) = file.metadata()
    {
        let message = format!("cannot read the file: {}", output::reason(&wrong));
        return Err(unread(file, message));
    }
    let linted = linted(&target.judging, target.file.as_deref());
    let Some(file) = &target.file else {
        return linted;
    };
    match linted {
        Ok(linted) if linted.texts > 0 => Ok(linted),
        // What is beside the file, and what it is no part of, does not matter.
        _ if !target.is_named => linted_alone(file, &linted),
        Ok(_) => {
            let judging = target.judging.path().display();
            let message = format!("neither a policy of {judging} nor imported by one");
            Err(unread(file, message))
        }
        Err(faults) => Err(faults),
    }
}

fn linted(judging: &Judging, only: Option<&Path>) -> Result<Linted, Faults> {
    let registry = portcullis_gate::registry();
    let (known, flags) = (registry.names(), Admission::default());
    linting::lint(&load_options(judging.source(), &flags, &known), only)
}

/// A file that what judges around it does not load. If it can't be a policy by itself, what judges says why.
fn linted_alone(file: &Path, around: &Result<Linted, Faults>) -> Result<Linted, Faults> {
    let alone = linted(&Judging::Policies(file.to_owned()), Some(file));
    if let (Ok(_), Err(faults)) = (&alone, around) {
        let (file, why) = (file.display(), faults.on_one_line());
        output::detail(|| format!("{file} is linted alone: {why}"));
    }
    alone
}

fn unread(file: &Path, message: String) -> Faults {
    let label = file.display().to_string();
    Source::named(label).fault(None, "", message).into()
}

fn tell(all: &Linted, format: LintOutput) {
    let findings = &all.findings;
    output::data(&match format {
        LintOutput::Table => table::write(findings, Terminal::of_output()),
        LintOutput::Json => json::pretty(&value(all)),
        LintOutput::Yaml => yaml::write(&value(all)),
        LintOutput::Sarif => json::pretty(&reports::sarif(findings)),
        LintOutput::Github => reports::github(findings),
        LintOutput::Gitlab => json::pretty(&reports::gitlab(findings)),
    });
    let found = match findings.len() {
        0 => "no findings".to_owned(),
        count => counted(count, "finding", "findings"),
    };
    let policies = counted(all.policies, "policy", "policies");
    let silenced = match all.silenced {
        0 => String::new(),
        count => format!(", {count} silenced"),
    };
    output::hint(&format!("{policies}: {found}{silenced}"));
}

fn value(all: &Linted) -> Value {
    let findings: Vec<Value> = all.findings.iter().map(finding).collect();
    json!({
        "findings": findings,
        "summary": {
            "policies": all.policies,
            "findings": all.findings.len(),
            "silenced": all.silenced,
        },
    })
}

fn finding(finding: &LintFinding) -> Value {
    json!({
        "file": finding.file.label(),
        "line": finding.position.line,
        "column": finding.position.column,
        "rule": finding.rule,
        "policy": finding.policy,
        "message": finding.message,
        "fix": finding.fix,
    })
}
