//! Policies as their authors wrote them, checked.

use std::collections::HashSet;
use std::sync::Arc;

use portcullis_core::clock;
use portcullis_script::{FunctionBody, Insight, ScriptFault, examine};
use rquickjs::Value as Js;

use crate::limits::Limits;
use crate::realm::{self, Realm, Tool};
use crate::source::{self, Place, Program, Text};
use crate::sources::{CompileFault, PolicyCode, PolicySource, SourceName, Sources, mention};

/// Policies that are known to compile, in order. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PolicySet {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    names: Vec<String>,
    /// Which text is a policy's own.
    texts: Vec<Text>,
    modules: Vec<String>,
    program: Program,
    marks: u32,
    reads: Reads,
    /// Which policies can't change the object.
    quiet: Vec<bool>,
    /// What it was compiled from.
    sources: Sources,
}

/// Which of the values that are costly to make a policy could look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reads {
    pub(crate) old_object: bool,
    pub(crate) req: bool,
    pub(crate) ac: bool,
    /// `req.Object.Raw` and `req.OldObject.Raw`.
    pub(crate) raw: bool,
}

impl PolicySet {
    /// Checks the texts, each alone.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub fn compile(sources: &Sources) -> Result<Self, Vec<CompileFault>> {
        let realm = Realm::for_compiling().map_err(|e| {
            let found = Found::at_start(&e.to_string());
            vec![found.of(SourceName::Globals)]
        })?;
        let mut faults = Vec::new();
        // Bodies that the engine takes, to be examined together.
        let mut bodies = Vec::new();
        match check(&realm, &sources.globals, Style::Plain) {
            Ok(()) => bodies.push((
                SourceName::Globals,
                FunctionBody {
                    text: &sources.globals,
                    awaits: false,
                },
            )),
            Err(found) => faults.push(found.of(SourceName::Globals)),
        }
        for module in &sources.modules {
            let style = Style::Module {
                header: &module.header,
                footer: &module.footer,
            };
            if let Err(found) = check(&realm, &module.code, style) {
                faults.push(found.of(SourceName::Module(module.name.clone())));
            }
        }
        let mut names = HashSet::new();
        let mut is_async = Vec::new();
        for policy in &sources.policies {
            let name = || SourceName::Policy(policy.name.clone());
            if !names.insert(policy.name.as_str()) {
                let found = Found::at_start("duplicate policy name");
                faults.push(found.of(name()));
            }
            let checked = match &policy.code {
                PolicyCode::Body(text) => check_policy(&realm, text).inspect(|awaits| {
                    let awaits = *awaits;
                    bodies.push((name(), FunctionBody { text, awaits }));
                }),
                PolicyCode::Module(number) if *number < sources.modules.len() => Ok(false),
                PolicyCode::Module(_) => Err(Found::at_start("no such module")),
            };
            match checked {
                Ok(awaits) => is_async.push(awaits),
                Err(found) => faults.push(found.of(name())),
            }
        }
        let (sources_of, bodies): (Vec<_>, Vec<_>) = bodies.into_iter().unzip();
        let mut only_reads = HashSet::new();
        for (source, insight) in sources_of.into_iter().zip(examine(&bodies)) {
            let Insight {
                faults: found,
                reads_only,
            } = insight;
            let found = found.into_iter();
            faults.extend(found.map(|fault| Found::from(fault).of(source.clone())));
            if reads_only {
                only_reads.insert(source);
            }
        }
        faults.sort_by_key(|fault| sources.place_of(&fault.source));
        let globals_read = only_reads.contains(&SourceName::Globals);
        let quiet = |policy: &PolicySource| {
            globals_read && only_reads.contains(&SourceName::Policy(policy.name.clone()))
        };
        let quiet = sources.policies.iter().map(quiet).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            inner: Arc::new(Inner::new(sources, &is_async, quiet)),
        })
    }

    /// The names of the policies, in order.
    pub fn names(&self) -> &[String] {
        &self.inner.names
    }

    /// How many `$cover` marks there are.
    pub fn marks(&self) -> u32 {
        self.inner.marks
    }

    /// The names of the modules, by their numbers.
    pub(crate) fn modules(&self) -> &[String] {
        &self.inner.modules
    }

    /// The text that is a policy's own.
    pub(crate) fn text_of(&self, policy: usize) -> Text {
        let text = self.inner.texts.get(policy).copied();
        text.unwrap_or(Text::Policy(policy))
    }

    /// The name of the text a place is in.
    pub(crate) fn source_of(&self, place: Place) -> &str {
        let name = match place.text {
            Text::Globals => None,
            Text::Policy(policy) => self.inner.names.get(policy),
            Text::Module(module) => self.inner.modules.get(module),
        };
        name.map_or("globals", String::as_str)
    }

    /// Whether a policy can't change the object.
    pub(crate) fn is_quiet(&self, policy: usize) -> bool {
        self.inner.quiet.get(policy).copied().unwrap_or_default()
    }

    /// What it was compiled from, for those who compile it again elsewhere.
    pub(crate) fn sources(&self) -> &Sources {
        &self.inner.sources
    }

    pub(crate) fn program(&self) -> &Program {
        &self.inner.program
    }

    pub(crate) fn reads(&self) -> Reads {
        self.inner.reads
    }
}

impl Inner {
    fn new(sources: &Sources, is_async: &[bool], quiet: Vec<bool>) -> Self {
        let bodies = sources.policies.iter().filter_map(|p| match &p.code {
            PolicyCode::Body(code) => Some(code.as_str()),
            PolicyCode::Module(_) => None,
        });
        let modules = sources
            .modules
            .iter()
            .flat_map(|m| [m.header.as_str(), m.code.as_str(), m.footer.as_str()]);
        let texts: Vec<&str> = std::iter::once(sources.globals.as_str())
            .chain(bodies)
            .chain(modules)
            .collect();
        let read = |name: &str| mention(texts.iter().copied(), name);
        let own_text = |(index, code): (usize, &PolicyCode)| match code {
            PolicyCode::Body(_) => Text::Policy(index),
            PolicyCode::Module(number) => Text::Module(*number),
        };
        Self {
            quiet,
            names: sources.policies.iter().map(|p| p.name.clone()).collect(),
            texts: sources
                .policies
                .iter()
                .map(|p| &p.code)
                .enumerate()
                .map(own_text)
                .collect(),
            modules: sources.modules.iter().map(|m| m.name.clone()).collect(),
            program: Program::new(sources, is_async),
            marks: sources.marks,
            reads: Reads {
                old_object: read("oldObject"),
                req: read("req"),
                ac: read("ac"),
                raw: read("Raw"),
            },
            sources: sources.clone(),
        }
    }
}

impl From<ScriptFault> for Found {
    fn from(fault: ScriptFault) -> Self {
        Self {
            line: fault.line,
            column: fault.column,
            message: fault.message,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Style<'a> {
    Plain,
    Async,
    Module { header: &'a str, footer: &'a str },
}

#[derive(Debug)]
struct Found {
    line: u32,
    column: u32,
    message: String,
}

impl Found {
    fn at_start(message: &str) -> Self {
        Self {
            line: 1,
            column: 1,
            message: message.to_owned(),
        }
    }

    fn of(self, source: SourceName) -> CompileFault {
        CompileFault {
            source,
            line: self.line,
            column: self.column,
            message: self.message,
        }
    }
}

/// Whether the policy awaits something.
fn check_policy(realm: &Realm, code: &str) -> Result<bool, Found> {
    let plain = match check(realm, code, Style::Plain) {
        Ok(()) => return Ok(false),
        Err(found) => found,
    };
    match check(realm, code, Style::Async) {
        Ok(()) => Ok(true),
        Err(found) if code.contains("await") => Err(found),
        Err(_) => Err(plain),
    }
}

/// Compiles a text as the body of a function in two ways. Only a text whose braces are its own
/// affair fits into both.
fn check(realm: &Realm, code: &str, style: Style<'_>) -> Result<(), Found> {
    let (function, method, begin, end) = match style {
        Style::Plain => ("(function() {", "({ m() {", "", ""),
        Style::Async => ("(async function() {", "({ async m() {", "", ""),
        Style::Module { header, footer } => (
            "(function($module) {\"use strict\";",
            "({ m($module) {\"use strict\";",
            header,
            footer,
        ),
    };
    let has_break = |text: &str| text.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\0']);
    if has_break(begin) || has_break(end) {
        return Err(Found::at_start("its imports or exports are not one line"));
    }
    compile(
        realm,
        code,
        &format!("{function}{begin}\n{code}\n{end}\n}})"),
    )?;
    compile(
        realm,
        code,
        &format!("{method}{begin}\n{code}\n{end}\n}} }})"),
    )
}

/// The message where the fault shows only behind the text.
const UNBALANCED: &str = "SyntaxError: unbalanced brackets or quotes at the end of the text";

fn compile(realm: &Realm, code: &str, text: &str) -> Result<(), Found> {
    const FILE: &str = "alone";
    if let Some(at) = code.find('\0') {
        let before = code.get(..at).unwrap_or_default();
        return Err(Found {
            line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
            column: 1,
            message: "NUL characters are not allowed".to_owned(),
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
        let mut message: String = tools.get(Tool::Describe)?.call((error.clone(),))?;
        let trace: String = tools.get(Tool::Trace)?.call((error,))?;
        let place = source::frames(&trace).find(|(file, ..)| *file == FILE);
        let last = u32::try_from(code.lines().count().max(1)).unwrap_or(u32::MAX);
        let (line, column) = match place {
            Some((_, line, column)) if line > 1 && line - 1 <= last => (line - 1, column),
            Some((_, 1, _)) => (1, 1),
            _ => {
                // What the engine met behind the text is ours, not the author's.
                if place.is_some() {
                    UNBALANCED.clone_into(&mut message);
                }
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
