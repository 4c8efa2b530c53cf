//! Policies as their authors wrote them, checked.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use portcullis_core::clock;
use rquickjs::Value as Js;

use crate::limits::Limits;
use crate::realm::{self, Realm};
use crate::source::{self, Program};

/// One policy: the body of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySource {
    /// Its name, the only one of this name in its set.
    pub name: String,
    /// The body of a function, in sloppy mode. It may `await`.
    pub code: String,
}

/// Something wrong in a policy's text, or in the globals'.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct CompileFault {
    /// Name of the policy; none for the globals.
    pub policy: Option<String>,
    /// Line in the author's own text, from 1.
    pub line: u32,
    /// Column in that line, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CompileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.policy.as_deref().unwrap_or("globals");
        write!(f, "{name}:{}:{}: {}", self.line, self.column, self.message)
    }
}

/// Policies that are known to compile, in order. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PolicySet {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    names: Vec<String>,
    program: Program,
    reads_old_object: bool,
}

impl PolicySet {
    /// Checks policies, each alone. `globals` is run before them, once per evaluation.
    pub fn compile(globals: &str, policies: &[PolicySource]) -> Result<Self, Vec<CompileFault>> {
        let fault = |message: String| {
            vec![CompileFault {
                policy: None,
                line: 1,
                column: 1,
                message,
            }]
        };
        let realm = Realm::for_compiling().map_err(|e| fault(e.to_string()))?;
        let mut faults = Vec::new();
        if let Err(found) = check(&realm, globals, Style::Plain) {
            faults.push(found.of(None));
        }
        let mut names = HashSet::new();
        let mut checked = Vec::new();
        for policy in policies {
            if !names.insert(policy.name.as_str()) {
                let found = Found {
                    line: 1,
                    column: 1,
                    message: "there is another policy of this name".to_owned(),
                };
                faults.push(found.of(Some(policy)));
            }
            match check_policy(&realm, &policy.code) {
                Ok(style) => checked.push((policy.clone(), style == Style::Async)),
                Err(found) => faults.push(found.of(Some(policy))),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let program = Program::new(globals, &checked);
        // `eval` could name it without anybody seeing it in the text.
        let reads_old_object =
            program.text.matches("oldObject").count() > 1 || program.text.contains("eval");
        Ok(Self {
            inner: Arc::new(Inner {
                names: policies.iter().map(|p| p.name.clone()).collect(),
                program,
                reads_old_object,
            }),
        })
    }

    /// The names of the policies, in order.
    pub fn names(&self) -> &[String] {
        &self.inner.names
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }

    pub(crate) fn reads_old_object(&self) -> bool {
        self.inner.reads_old_object
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Async,
}

#[derive(Debug)]
struct Found {
    line: u32,
    column: u32,
    message: String,
}

impl Found {
    fn of(self, policy: Option<&PolicySource>) -> CompileFault {
        CompileFault {
            policy: policy.map(|p| p.name.clone()),
            line: self.line,
            column: self.column,
            message: self.message,
        }
    }
}

fn check_policy(realm: &Realm, code: &str) -> Result<Style, Found> {
    let plain = match check(realm, code, Style::Plain) {
        Ok(()) => return Ok(Style::Plain),
        Err(found) => found,
    };
    match check(realm, code, Style::Async) {
        Ok(()) => Ok(Style::Async),
        Err(found) if code.contains("await") => Err(found),
        Err(_) => Err(plain),
    }
}

/// Compiles a text as the body of a function in two ways. Only a text whose braces are its own
/// affair fits into both.
fn check(realm: &Realm, code: &str, style: Style) -> Result<(), Found> {
    let (function, method) = match style {
        Style::Plain => ("(function() {", "({ m() {"),
        Style::Async => ("(async function() {", "({ async m() {"),
    };
    compile(realm, code, &format!("{function}\n{code}\n}})"))?;
    compile(realm, code, &format!("{method}\n{code}\n}} }})"))
}

fn compile(realm: &Realm, code: &str, text: &str) -> Result<(), Found> {
    const FILE: &str = "alone";
    if let Some(at) = code.find('\0') {
        let before = code.get(..at).unwrap_or_default();
        return Err(Found {
            line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
            column: 1,
            message: "a NUL character has no place in a program".to_owned(),
        });
    }
    let unknown = || Found {
        line: 1,
        column: 1,
        message: "it can't be compiled".to_owned(),
    };
    // A text that closes braces it did not open could run here.
    let late = clock::monotonic() + Limits::default().deadline;
    realm.state.deadline.set(Some(late));
    let found = realm.enter(|ctx, tools| {
        if realm::evaluate::<Js<'_>>(ctx, text, FILE).is_ok() {
            return Ok(None);
        }
        let error = ctx.catch();
        let message: String = tools.get("describe")?.call((error.clone(),))?;
        let trace: String = tools.get("trace")?.call((error,))?;
        let place = source::frames(&trace).find(|(file, ..)| *file == FILE);
        let last = u32::try_from(code.lines().count().max(1)).unwrap_or(u32::MAX);
        let (line, column) = match place {
            Some((_, line, column)) if line > 1 && line - 1 <= last => (line - 1, column),
            _ => {
                let width = code.lines().last().map_or(0, |l| l.chars().count());
                (last, u32::try_from(width + 1).unwrap_or(u32::MAX))
            }
        };
        Ok(Some(Found {
            line,
            column,
            message,
        }))
    });
    match found {
        Ok(None) => Ok(()),
        Ok(Some(found)) => Err(found),
        Err(_) => Err(unknown()),
    }
}
