//! What to run: a configuration, and the tests that were found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_document::{Fault, Faults, Source};
use portcullis_gate::offline::{self, Blueprint, Case, ScriptTest, TestScript};

use super::Test;
use crate::arguments::{Admission, Judging, folder_of, load_options};
use crate::commands::watch;

/// Everything that is to be run.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) blueprint: Option<Arc<Blueprint>>,
    pub(super) files: Vec<TestFile>,
    /// Whether coverage is counted.
    pub(super) coverage: bool,
}

/// A file of tests.
#[derive(Debug)]
pub(super) enum TestFile {
    /// Cases in YAML.
    Cases { file: String, cases: Vec<Case> },
    /// Tests in JavaScript or TypeScript: those to run, with their places in the file.
    Script {
        file: String,
        script: Box<TestScript>,
        tests: Vec<(usize, ScriptTest)>,
    },
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.files.iter().all(TestFile::is_empty)
    }

    /// What is odd in the configuration, but not wrong.
    pub(super) fn warnings(&self) -> &[portcullis_document::Warning] {
        self.blueprint.as_ref().map_or(&[], |b| b.warnings())
    }

    /// Why there is nothing to run.
    pub(super) fn why_empty(&self, test: &Test) -> String {
        match &test.filter {
            Some(filter) if !self.files.is_empty() => {
                format!("the filter `{}` matches no test in", filter.as_str())
            }
            _ if !self.files.is_empty() => "no tests in".to_owned(),
            _ => "there are no *.test.yaml, *.test.ts or *.test.js in".to_owned(),
        }
    }
}

impl TestFile {
    fn is_empty(&self) -> bool {
        match self {
            Self::Cases { cases, .. } => cases.is_empty(),
            Self::Script { tests, .. } => tests.is_empty(),
        }
    }
}

/// Finds and reads everything, or says all that is wrong with it.
pub(super) fn make(test: &Test) -> Result<Plan, Faults> {
    let mut found = Vec::new();
    for path in &test.paths {
        found.extend(tests_at(path).map_err(|fault| Faults::from(*fault))?);
    }
    let mut plan = Plan {
        blueprint: None,
        files: Vec::new(),
        coverage: test.is_covered(),
    };
    if found.is_empty() {
        return Ok(plan);
    }
    let folder = folder(test)?;
    let blueprint = Arc::new(load(test, &folder)?);
    plan.blueprint = Some(Arc::clone(&blueprint));
    let mut faults = Vec::new();
    for path in found {
        // As people write it.
        let path = path.strip_prefix(".").unwrap_or(&path);
        match read(&blueprint, test, &folder, path) {
            Ok(file) => plan.files.push(file),
            Err(wrong) => faults.extend(wrong),
        }
    }
    match Faults::from_list(faults) {
        Some(faults) => Err(faults),
        None => Ok(plan),
    }
}

/// The files and folders that a run reads.
pub(super) fn watched(test: &Test) -> Vec<PathBuf> {
    let loaded = blueprint(test);
    let of_configuration = watch::files_of(loaded.as_ref());
    let folders = test.paths.iter().map(|path| folder_of(path));
    let all = test.paths.iter().cloned().chain(folders);
    let all = all.chain(test.objects.clone());
    all.chain(of_configuration).collect()
}

/// What judges the tests.
pub(super) fn blueprint(test: &Test) -> Result<Blueprint, Faults> {
    load(test, &folder(test)?)
}

/// The test files at a path: the file itself, or those of a folder.
fn tests_at(path: &Path) -> Result<Vec<PathBuf>, Box<Fault>> {
    if path.is_dir() || path.symlink_metadata().is_err() {
        return offline::find_tests(path);
    }
    if offline::is_test(path) {
        return Ok(vec![path.to_owned()]);
    }
    let message = "not a test file: its name does not end in .test.yaml, .test.ts or .test.js";
    let label = path.display().to_string();
    Err(Box::new(Source::named(label).fault(None, "", message)))
}

/// The folder that says what judges: it is the same for all tests of a run.
pub(super) fn folder(test: &Test) -> Result<PathBuf, Faults> {
    let mut folders: Vec<PathBuf> = test.paths.iter().map(|path| folder_of(path)).collect();
    folders.dedup();
    match folders.as_slice() {
        [only] => Ok(only.clone()),
        several => {
            let names: Vec<String> = several.iter().map(|f| f.display().to_string()).collect();
            let message = format!(
                "these tests are judged by different configurations: run them apart ({})",
                names.join(", ")
            );
            Err(Source::named("test").fault(None, "", message).into())
        }
    }
}

fn load(test: &Test, base: &Path) -> Result<Blueprint, Faults> {
    let judging = Judging::in_folder(base);
    let registry = portcullis_gate::registry();
    let (known, flags) = (registry.names(), Admission::default());
    let mut options = load_options(judging.source(), &flags, &known);
    options.coverage = test.is_covered();
    let mut blueprint = Blueprint::load(&options)?;
    if let Some(objects) = &test.objects {
        blueprint.look_up(offline::read_cluster(objects)?);
    }
    // What only building finds is found before any test runs.
    blueprint.build(None, &blueprint.memory())?;
    let is_folder = matches!(judging, Judging::Policies(_));
    if is_folder && !blueprint.has_policies() {
        let label = judging.path().display().to_string();
        let message = "there are tests, but neither a portcullis.yaml nor a policy";
        return Err(Source::named(label).fault(None, "", message).into());
    }
    Ok(blueprint)
}

fn read(
    blueprint: &Arc<Blueprint>,
    test: &Test,
    folder: &Path,
    path: &Path,
) -> Result<TestFile, Faults> {
    let file = path.display().to_string();
    let filter = test.filter.as_ref();
    let fits = |name: &str| filter.is_none_or(|filter| filter.fits(&file, name));
    let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    if is_yaml {
        let source = offline::read_file(path).map_err(|fault| Faults::from(*fault))?;
        let mut cases = offline::read_cases(&source)?;
        cases.retain(|case| fits(&case.name));
        return Ok(TestFile::Cases { file, cases });
    }
    let script = TestScript::load(blueprint, folder, path, test.is_covered(), test.timeout)?;
    let tests = script.tests()?.into_iter().enumerate();
    let tests = tests.filter(|(_, test)| fits(&test.name)).collect();
    Ok(TestFile::Script {
        file,
        script: Box::new(script),
        tests,
    })
}
