//! Tests in JavaScript and TypeScript: `*.test.ts`, `*.test.js`.
//!
//! A test file runs in the engine that runs policies, as sandboxed as they are. It is run once to
//! list its tests and once more for each of them, so that none sees what another left.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use portcullis_core::{PolicyLimit, PolicyStep, clock};
use portcullis_js::{
    CompileFault, Evaluation, GlobalContext, Input, Limits, ModuleSource, PlainSubject, PolicyCode,
    PolicySet, PolicySource, Pool, PoolOptions, SourceName, Sources,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::blueprint::Blueprint;
use super::harness::{Harness, Reported};
use super::observed::{ConsoleLine, written};
use crate::policies::fault_in;
use portcullis_config::{self as config, MarkPlace, Module, TestModules};
use portcullis_document::{Fault, Faults, Position, Source};

/// How much a test may say at once: objects to review, mostly.
const OUTPUT: usize = 4 << 20;
/// The functions that tests find.
const API: &str = include_str!("harness.js");

/// A test file, ready to run.
#[derive(Debug)]
pub struct TestScript {
    source: Arc<Source>,
    modules: Vec<Module>,
    marks: Vec<MarkPlace>,
    pool: Pool,
    harness: Arc<Harness>,
    /// How long one test may take.
    time: Duration,
}

/// A test of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ScriptTest {
    /// Its name, with those of the groups around it.
    pub name: String,
    /// Whether it is to be passed over.
    pub skipped: bool,
    /// Where it stands, from 1.
    pub line: Option<u32>,
}

/// Why a test failed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ScriptFailure {
    /// What is wrong.
    pub message: String,
    /// Where in the file, from 1.
    pub line: Option<u32>,
    /// Where in that line, from 1; marks of coverage move it.
    pub column: Option<u32>,
    /// What was expected and what came, where values were compared.
    pub compared: Option<Compared>,
}

/// Two values that should be the same.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Compared {
    /// What was expected.
    pub expected: Value,
    /// What came.
    pub got: Value,
}

/// What came of running a test.
#[derive(Debug)]
pub struct ScriptRun {
    /// Why it failed; nothing if it passed.
    pub failure: Option<ScriptFailure>,
    /// What the test and the policies it asked wrote.
    pub written: Vec<ConsoleLine>,
    /// The marks of the configuration that were passed, if coverage is counted.
    pub covered: Vec<u32>,
    /// The marks of the modules it imports that were passed.
    pub covered_imports: Vec<u32>,
}

impl TestScript {
    /// Reads and compiles a test file. It may import what lies in `folder`. Each of its tests may take as long as
    /// `time`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn load(
        blueprint: &Arc<Blueprint>,
        folder: &Path,
        file: &Path,
        coverage: bool,
        time: Duration,
    ) -> Result<Self, Faults> {
        let source = super::read_file(file).map_err(|fault| Faults::from(*fault))?;
        let TestModules {
            modules,
            main,
            marks,
        } = config::test_modules(folder, file, &source, coverage)?;
        let sources = sources(blueprint, &modules, main, marks.len());
        let set = PolicySet::compile(&sources).map_err(|faults| {
            let list = faults
                .iter()
                .map(|fault| fault_of(&modules, &source, fault));
            Faults(list.collect())
        })?;
        let harness = Arc::new(Harness::new(Arc::clone(blueprint)));
        let limits = Limits {
            deadline: time,
            output: OUTPUT,
            ..Limits::from(blueprint.limits())
        };
        let options = PoolOptions {
            threads: 1,
            queue: 1,
        };
        let context = GlobalContext::new(0);
        let pool = Pool::start(set, limits, options, context, Arc::clone(&harness) as _)
            .map_err(|error| Faults::from(source.fault(None, "", error.to_string())))?;
        Ok(Self {
            source,
            modules,
            marks,
            pool,
            harness,
            time,
        })
    }

    /// The text of the file.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Where each mark of coverage in the modules it imports stands.
    pub fn marks(&self) -> &[MarkPlace] {
        &self.marks
    }

    /// The tests of the file, in order.
    ///
    /// # Errors
    ///
    /// When the file fails before its tests are known.
    pub fn tests(&self) -> Result<Vec<ScriptTest>, Faults> {
        let (evaluation, reported) = self.evaluate(None);
        let tests = reported.tests.map(Vec::<ScriptTest>::deserialize);
        let broken = reported.broken.map(ScriptFailure::deserialize);
        if let Some(Ok(why)) = broken {
            let column = why.column.filter(|_| self.marks.is_empty());
            let position = why.line.map(|line| Position {
                line: line.into(),
                column: column.unwrap_or(1).into(),
            });
            return Err(self.source.fault(position, "", why.message).into());
        }
        match (tests, evaluation) {
            (Some(Ok(tests)), _) => Ok(tests),
            (_, Ok(evaluation)) => Err(self.failed_to_load(&evaluation).into()),
            (_, Err(why)) => Err(self.source.fault(None, "", why).into()),
        }
    }

    /// Runs the test at this place in the list.
    pub fn run(&self, index: usize) -> ScriptRun {
        let (evaluation, reported) = self.evaluate(Some(index));
        let mut run = ScriptRun {
            failure: None,
            written: reported.written,
            covered: reported.covered,
            covered_imports: Vec::new(),
        };
        let told = reported.failure.map(|failure| {
            ScriptFailure::deserialize(&failure).unwrap_or_else(|_| ScriptFailure {
                message: failure.to_string(),
                line: None,
                column: None,
                compared: None,
            })
        });
        let mut untold = "it ended without a result".to_owned();
        match evaluation {
            Ok(evaluation) => {
                run.written
                    .extend(written(&evaluation).map(|line| ConsoleLine {
                        policy: self.source.label().to_owned(),
                        line: None,
                        ..line
                    }));
                let is_late = |step: &PolicyStep| step.limit == Some(PolicyLimit::Deadline);
                if evaluation.steps.iter().any(is_late) {
                    untold = format!("the test exceeded its deadline of {:?}", self.time);
                } else if let Some(message) =
                    evaluation.steps.iter().find_map(|s| s.message.clone())
                {
                    untold = message;
                }
                run.covered_imports = evaluation.covered;
            }
            Err(why) => untold = why,
        }
        run.failure = told.or((!reported.passed).then_some(ScriptFailure {
            message: untold,
            line: None,
            column: None,
            compared: None,
        }));
        run
    }

    fn evaluate(&self, test: Option<usize>) -> (Result<Evaluation, String>, Reported) {
        let subject = PlainSubject {
            req: json!({"test": test}),
            ac: Value::Object(Map::new()),
        };
        let input = Input {
            subject: Arc::new(subject),
            ..Input::new(&Value::Null)
        };
        let (send, receive) = mpsc::channel();
        let deadline = clock::monotonic() + self.time;
        let submitted = self.pool.submit(input, deadline, move |result| {
            let _ = send.send(result);
        });
        let result = match submitted {
            Ok(()) => match receive.recv() {
                Ok(result) => result.map_err(|error| error.to_string()),
                Err(_) => Err("the engine has ended".to_owned()),
            },
            Err(error) => Err(error.to_string()),
        };
        (result, self.harness.take())
    }

    /// Why the file has no list of tests.
    fn failed_to_load(&self, evaluation: &Evaluation) -> Fault {
        let step = evaluation.steps.iter().find(|step| step.message.is_some());
        let Some(step) = step else {
            return self.source.fault(None, "", "it could not be run");
        };
        let message = step.message.as_deref().unwrap_or_default();
        let message = message.trim_start_matches("unable to evaluate policy:");
        let module = step.source.as_ref();
        let module = module.and_then(|name| self.modules.iter().find(|m| m.source.name == *name));
        let (text, position) = match (module, step.line) {
            (Some(module), Some(line)) => (&module.text, Some((line, step.column))),
            _ => (&self.source, None),
        };
        let position = position.map(|(line, column)| Position {
            line: line.into(),
            column: column.unwrap_or(1).into(),
        });
        text.fault(position, "", message)
    }
}

/// The test file behind the functions it finds, and before what runs it.
fn sources(blueprint: &Blueprint, modules: &[Module], main: usize, marks: usize) -> Sources {
    let mut all: Vec<ModuleSource> = modules.iter().map(|m| m.source.clone()).collect();
    if let (Some(test), Some(module)) = (all.get_mut(main), modules.get(main)) {
        let lines = module.source.code.lines().count();
        test.header
            .push_str(&format!(" $begin(new Error().stack, {lines});"));
    }
    let runner = all.len();
    all.push(ModuleSource {
        name: "tests".to_owned(),
        header: String::new(),
        code: String::new(),
        footer: format!("return {{ default: () => $run(() => $module({main})) }};"),
    });
    Sources {
        globals: format!("{}\n{API}", blueprint.globals()),
        modules: all,
        policies: vec![PolicySource {
            name: "test".to_owned(),
            code: PolicyCode::Module(runner),
        }],
        marks: u32::try_from(marks).unwrap_or(u32::MAX),
    }
}

/// A fault in one of the modules; what is elsewhere is the test file's as a whole.
fn fault_of(modules: &[Module], source: &Arc<Source>, fault: &CompileFault) -> Fault {
    let module = match &fault.source {
        SourceName::Module(name) => modules.iter().find(|module| module.source.name == *name),
        SourceName::Globals | SourceName::Policy(_) => None,
    };
    match module {
        Some(module) => fault_in(&module.text, fault),
        None => source.fault(None, "", fault.message.clone()),
    }
}
