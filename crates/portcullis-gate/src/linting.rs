//! Looks for mistakes in the policies of a configuration: what compiles but can't be meant.
//!
//! `portcullis_lint` knows texts; this module knows which texts a configuration has, which requests they are for, and
//! where each of them stands in a file.

mod places;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use portcullis_config::{self as config, Listening, LoadOptions, Loaded, Matcher, Policy};
use portcullis_core::Door;
use portcullis_document::{Fault, Faults, Position, Source, Warning, yaml};
use portcullis_lint::{Finding, Place, Role, Rule, Scope, Silenced, Subject};
use portcullis_script::{Language, ScriptFault};

use crate::policies::Compiled;
use places::Lines;

/// What was looked at, and what was found.
#[derive(Debug)]
pub struct Linted {
    /// By file, line and column.
    pub findings: Vec<LintFinding>,
    /// How many policies were looked at.
    pub policies: usize,
    /// How many texts were looked at: policies, and what they import.
    pub texts: usize,
    /// How many findings comments silence.
    pub silenced: usize,
    /// What is odd in the configuration itself.
    pub warnings: Vec<Warning>,
}

/// A finding at its place in a file.
#[derive(Debug, Clone)]
pub struct LintFinding {
    /// The file.
    pub file: Arc<Source>,
    /// The place in it.
    pub position: Position,
    /// The rule.
    pub rule: Rule,
    /// The policy; nothing in a module that policies import.
    pub policy: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub fix: String,
}

/// Looks at the policies of a configuration; of one file only, if it is given.
///
/// # Errors
///
/// When the configuration or a policy is invalid.
pub fn lint(options: &LoadOptions<'_>, only: Option<&Path>) -> Result<Linted, Faults> {
    let loaded = config::load(&LoadOptions {
        listeners: Listening::Ignored,
        ..options.clone()
    })?;
    Compiled::new(&loaded.policies).map_err(Faults)?;
    let mut found = Found::default();
    let own_paths = has_own_paths(&loaded);
    let only = only.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    let is_meant = |text: &Source| match (&only, text.path()) {
        (None, _) => true,
        (Some(only), Some(path)) => path.canonicalize().is_ok_and(|path| path == *only),
        (Some(_), None) => false,
    };
    for policy in &loaded.policies.list {
        if is_meant(&policy.written.file) {
            found.policies += 1;
            found.policy(&loaded, policy, own_paths)?;
        }
    }
    let policies = loaded.policies.list.iter();
    let own: HashSet<&Path> = policies.filter_map(|policy| policy.text.path()).collect();
    for module in &loaded.policies.modules {
        let is_helper = module.text.path().is_some_and(|path| !own.contains(path));
        if is_helper && is_meant(&module.text) {
            found.module(&loaded, &module.text)?;
        }
    }
    Ok(found.finish(loaded.warnings))
}

/// The kinds that policies may look up in the cluster. A folder of policies does not say.
fn watched(loaded: &Loaded) -> Option<Vec<String>> {
    loaded.file.as_ref()?;
    let kinds = loaded.kube.iter().flat_map(|kube| &kube.kinds);
    Some(kinds.map(ToString::to_string).collect())
}

/// What was found, by file.
#[derive(Default)]
struct Found {
    files: BTreeMap<String, (Arc<Source>, Vec<LintFinding>)>,
    policies: usize,
    texts: usize,
}

impl Found {
    fn policy(&mut self, loaded: &Loaded, policy: &Policy, own_paths: bool) -> Result<(), Faults> {
        let subject = Subject {
            text: policy.text.text(),
            language: language(&policy.text),
            role: Role::Policy(scope(&policy.matcher, own_paths)),
            others: others(loaded, policy),
            watched: watched(loaded),
        };
        let found = lint_text(&subject, &policy.text)?;
        let written = &policy.written;
        let lines = Lines::of(&written.file, written.code, policy.text.text());
        let name = Some(&policy.name);
        self.add(&written.file, name, found, |place| match place {
            Place::Text { line, column } => lines.place(*line, *column),
            Place::Match(key) => {
                let list = key.split_once('[').map(|(list, _)| list);
                let rule = written.rules.get(key);
                let rule = rule.or_else(|| written.rules.get(list?)).copied();
                rule.unwrap_or_else(|| lines.place(1, 1))
            }
        });
        Ok(())
    }

    /// A file that policies import.
    fn module(&mut self, loaded: &Loaded, text: &Arc<Source>) -> Result<(), Faults> {
        let subject = Subject {
            text: text.text(),
            language: language(text),
            role: Role::Module,
            others: Vec::new(),
            watched: watched(loaded),
        };
        let found = lint_text(&subject, text)?;
        let lines = Lines::of(text, None, text.text());
        self.add(text, None, found, |place| match place {
            Place::Text { line, column } => lines.place(*line, *column),
            Place::Match(_) => lines.place(1, 1),
        });
        Ok(())
    }

    fn add(
        &mut self,
        file: &Arc<Source>,
        policy: Option<&String>,
        found: Vec<Finding>,
        place: impl Fn(&Place) -> Position,
    ) {
        self.texts += 1;
        let label = file.label().to_owned();
        let entry = self.files.entry(label);
        let (file, list) = entry.or_insert_with(|| (Arc::clone(file), Vec::new()));
        list.extend(found.into_iter().map(|one| LintFinding {
            file: Arc::clone(file),
            position: place(&one.place),
            rule: one.rule,
            policy: policy.cloned(),
            message: one.message,
            fix: one.fix,
        }));
    }

    fn finish(self, warnings: Vec<Warning>) -> Linted {
        let mut linted = Linted {
            findings: Vec::new(),
            policies: self.policies,
            texts: self.texts,
            silenced: 0,
            warnings,
        };
        for (file, findings) in self.files.into_values() {
            let (left, silenced) = heard(&file, findings);
            linted.findings.extend(left);
            linted.silenced += silenced;
        }
        linted
    }
}

/// The findings of a file that no comment silences, with those about comments; and how many are silenced.
fn heard(file: &Arc<Source>, findings: Vec<LintFinding>) -> (Vec<LintFinding>, usize) {
    let places: Vec<(u32, Rule)> = findings
        .iter()
        .map(|one| {
            (
                u32::try_from(one.position.line).unwrap_or(u32::MAX),
                one.rule,
            )
        })
        .collect();
    let mut silenced = HashSet::new();
    let mut comments = Vec::new();
    for one in portcullis_lint::silence(file.text(), &places) {
        match one {
            Silenced::Finding(index) => {
                silenced.insert(index);
            }
            Silenced::Comment {
                line,
                column,
                rule,
                message,
                fix,
            } => comments.push(LintFinding {
                file: Arc::clone(file),
                position: Position {
                    line: line.into(),
                    column: column.into(),
                },
                rule,
                policy: None,
                message,
                fix,
            }),
        }
    }
    let all = findings.into_iter().enumerate();
    let left = all.filter(|(index, _)| !silenced.contains(index));
    let mut left: Vec<_> = left.map(|(_, one)| one).chain(comments).collect();
    left.sort_by_key(|one| (one.position.line, one.position.column, one.rule));
    (left, silenced.len())
}

fn lint_text(subject: &Subject<'_>, text: &Arc<Source>) -> Result<Vec<Finding>, Faults> {
    portcullis_lint::lint(subject).map_err(|faults| {
        let faults = faults.into_iter().map(|fault| {
            let ScriptFault {
                line,
                column,
                message,
            } = fault;
            let position = Position {
                line: line.into(),
                column: column.into(),
            };
            text.fault(Some(position), "", message)
        });
        Faults(faults.collect::<Vec<Fault>>())
    })
}

fn language(text: &Source) -> Language {
    let ending = text.path().and_then(Path::extension);
    let known = ending.and_then(|ending| Language::of_ending(ending.to_str()?));
    known.unwrap_or(Language::JavaScript)
}

/// Which requests a policy is asked about.
fn scope(matcher: &Matcher, has_own_paths: bool) -> Scope {
    let described = matcher.described();
    let list = |key: &str| -> Option<Vec<String>> {
        let all = described.get(key)?.as_array()?.iter();
        Some(
            all.filter_map(|one| one.as_str().map(str::to_owned))
                .collect(),
        )
    };
    let doors = [Door::Kubernetes, Door::Ci];
    Scope {
        doors: doors
            .into_iter()
            .filter(|door| matcher.is_for(*door))
            .collect(),
        operations: list("operations").map(|all| {
            let known = all.iter().filter_map(|one| one.parse().ok());
            known.collect()
        }),
        kinds: list("kinds"),
        resources: list("resources"),
        namespaces: list("namespaces"),
        selects_namespaces: matcher.looks_at_namespaces(),
        paths: list("paths"),
        has_own_paths,
    }
}

/// The texts that run with a policy: the globals, and every module, because which of them it imports does not
/// matter for what is never said anywhere.
fn others<'l>(loaded: &'l Loaded, policy: &Policy) -> Vec<&'l str> {
    let globals = loaded.policies.globals.text();
    let policies = loaded
        .policies
        .list
        .iter()
        .filter_map(|policy| policy.text.path());
    let own: HashSet<&Path> = policies.collect();
    let imports = policy.text.text().contains("import");
    let modules = loaded
        .policies
        .modules
        .iter()
        .filter(|module| imports && module.text.path().is_some_and(|path| !own.contains(path)));
    let modules = modules.map(|module| module.text.text());
    std::iter::once(globals).chain(modules).collect()
}

/// Whether reviews come at Portcullis' own paths: those of acjs may come at any.
fn has_own_paths(loaded: &Loaded) -> bool {
    let Some(file) = &loaded.file else {
        return true;
    };
    let source = config::read_source(file).ok();
    let document = source.and_then(|source| yaml::parse_map(&source).ok());
    document.is_some_and(|document| document.root.get("listener").is_none())
}
