//! What is to be run: a configuration, and the tests that were found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_server::config::{ConfigSource, Faults, Source};
use portcullis_server::offline::{self, Blueprint, Case, ScriptTest, TestScript};

use crate::cli::{Admission, Test};
use crate::commands::load_options;

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
    pub(super) fn warnings(&self) -> &[portcullis_server::config::Warning] {
        self.blueprint.as_ref().map_or(&[], |b| b.warnings())
    }

    /// Why there is nothing to run.
    pub(super) fn why_empty(&self, test: &Test) -> String {
        match &test.filter {
            Some(filter) if !self.files.is_empty() => {
                format!("the filter `{filter}` fits no test below")
            }
            _ => "there are no *.test.yaml, *.test.ts or *.test.js below".to_owned(),
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
    let found = offline::find_tests(&test.folder).map_err(|fault| Faults::from(*fault))?;
    let mut plan = Plan {
        blueprint: None,
        files: Vec::new(),
        coverage: test.is_covered(),
    };
    if found.is_empty() {
        return Ok(plan);
    }
    let blueprint = Arc::new(load(test)?);
    plan.blueprint = Some(Arc::clone(&blueprint));
    let mut faults = Vec::new();
    for path in found {
        // As people write it.
        let path = path.strip_prefix(".").unwrap_or(&path);
        match read(&blueprint, test, path) {
            Ok(file) => plan.files.push(file),
            Err(wrong) => faults.extend(wrong),
        }
    }
    match Faults::from_list(faults) {
        Some(faults) => Err(faults),
        None => Ok(plan),
    }
}

fn load(test: &Test) -> Result<Blueprint, Faults> {
    let inside = test.folder.strip_prefix(".").unwrap_or(&test.folder);
    let named = CONFIGURATIONS.map(|name| inside.join(name));
    let policies = inside.join(POLICIES);
    let file = named.iter().find(|file| file.is_file());
    let folder: &PathBuf = match policies.is_dir() {
        true => &policies,
        false => &test.folder,
    };
    let source = match file {
        Some(file) => ConfigSource::File(file),
        None => ConfigSource::Policies(folder),
    };
    let registry = portcullis_server::registry();
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

fn read(blueprint: &Arc<Blueprint>, test: &Test, path: &Path) -> Result<TestFile, Faults> {
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
    let script = TestScript::load(blueprint, &test.folder, path, test.is_covered())?;
    let tests = script.tests()?.into_iter().enumerate();
    let tests = tests.filter(|(_, test)| fits(&test.name)).collect();
    Ok(TestFile::Script {
        file,
        script: Box::new(script),
        tests,
    })
}
