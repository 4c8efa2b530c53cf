//! What to run: a configuration, and the tests that were found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_config::ConfigSource;
use portcullis_document::{Fault, Faults, Source};
use portcullis_gate::offline::{self, Blueprint, Case, ScriptTest, TestScript};

use super::Test;
use crate::arguments::{Admission, load_options};

/// Names of a configuration in a folder.
const CONFIGURATIONS: [&str; 2] = ["portcullis.yaml", "portcullis.yml"];
/// The folder of policies where there is no configuration.
const POLICIES: &str = "policies";

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
                format!("the filter `{filter}` matches no test in")
            }
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
fn folder(test: &Test) -> Result<PathBuf, Faults> {
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

/// The folder itself; of a file, the nearest one above it that says what judges.
fn folder_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    let says = |folder: &Path| {
        let mut files = CONFIGURATIONS.iter().map(|name| folder.join(name));
        files.any(|file| file.is_file()) || folder.join(POLICIES).is_dir()
    };
    let own = path.parent().unwrap_or(Path::new(""));
    let nearest = own.ancestors().find(|folder| says(folder)).unwrap_or(own);
    match nearest.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => nearest.to_owned(),
    }
}

fn load(test: &Test, base: &Path) -> Result<Blueprint, Faults> {
    let inside = base.strip_prefix(".").unwrap_or(base);
    let named = CONFIGURATIONS.map(|name| inside.join(name));
    let policies = inside.join(POLICIES);
    let file = named.iter().find(|file| file.is_file());
    let folder: &Path = match policies.is_dir() {
        true => &policies,
        false => base,
    };
    let source = match file {
        Some(file) => ConfigSource::File(file),
        None => ConfigSource::Policies(folder),
    };
    let registry = portcullis_gate::registry();
    let (known, flags) = (registry.names(), Admission::default());
    let mut options = load_options(source, &flags, &known);
    options.coverage = test.is_covered();
    let blueprint = Blueprint::load(&options)?;
    // What only building finds is found before any test runs.
    blueprint.build(None, &blueprint.memory())?;
    if file.is_none() && !blueprint.has_policies() {
        let label = folder.display().to_string();
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
    let fits = |name: &str| match &test.filter {
        Some(text) => file.contains(text.as_str()) || name.contains(text.as_str()),
        None => true,
    };
    let is_yaml = path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    if is_yaml {
        let source = offline::read_file(path).map_err(|fault| Faults::from(*fault))?;
        let mut cases = offline::read_cases(&source)?;
        cases.retain(|case| fits(&case.name));
        return Ok(TestFile::Cases { file, cases });
    }
    let script = TestScript::load(blueprint, folder, path, test.is_covered())?;
    let tests = script.tests()?.into_iter().enumerate();
    let tests = tests.filter(|(_, test)| fits(&test.name)).collect();
    Ok(TestFile::Script {
        file,
        script: Box::new(script),
        tests,
    })
}
