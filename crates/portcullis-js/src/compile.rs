//! Checks policies as written, and makes a set of those that compile.

use std::collections::{HashMap, HashSet};

use portcullis_core::clock;
use portcullis_script::{BareNames, FunctionBody, Insight, ScriptFault, examine};
use rquickjs::Value as Js;

use crate::lent::{self, Lent};
use crate::limits::Limits;
use crate::policy_set::PolicySet;
use crate::program;
use crate::realm::{self, Realm, Tool};
use crate::sources::{CompileFault, ModuleSource, PolicyCode, PolicySource, SourceName, Sources};

impl PolicySet {
    /// Checks the texts, each alone.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub fn compile(sources: &Sources) -> Result<Self, Vec<CompileFault>> {
        let realm = Realm::for_compiling().map_err(|e| {
            let found = Diagnostic::at_start(&e.to_string());
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
                let found = Diagnostic::at_start("duplicate policy name");
                faults.push(found.of(name()));
            }
            let checked = match &policy.code {
                PolicyCode::Body(text) | PolicyCode::JsPolicy(text) => check_policy(&realm, text)
                    .inspect(|awaits| {
                        let awaits = *awaits;
                        bodies.push((name(), FunctionBody { text, awaits }));
                    }),
                PolicyCode::Module(number) if *number < sources.modules.len() => Ok(false),
                PolicyCode::Module(_) => Err(Diagnostic::at_start("no such module")),
            };
            match checked {
                Ok(awaits) => is_async.push(awaits),
                Err(found) => faults.push(found.of(name())),
            }
        }
        let (sources_of, bodies): (Vec<_>, Vec<_>) = bodies.into_iter().unzip();
        let mut only_reads = HashSet::new();
        let mut names = HashMap::new();
        for (source, insight) in sources_of.into_iter().zip(examine(&bodies)) {
            let Insight {
                faults: found,
                reads_only,
                names: found_names,
            } = insight;
            let found = found.into_iter();
            faults.extend(found.map(|fault| Diagnostic::from(fault).of(source.clone())));
            if reads_only {
                only_reads.insert(source.clone());
            }
            names.insert(source, found_names);
        }
        faults.sort_by_key(|fault| sources.place_of(&fault.source));
        let globals_read = only_reads.contains(&SourceName::Globals);
        let reads_only = |policy: &PolicySource| {
            globals_read && only_reads.contains(&SourceName::Policy(policy.name.clone()))
        };
        let reads_only = sources.policies.iter().map(reads_only).collect();
        let lent = lent_to(sources, &names);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self::new(sources, &is_async, reads_only, &lent))
    }
}

/// What the policies, and after them the modules, are lent of jsPolicy's names.
fn lent_to(sources: &Sources, names: &HashMap<SourceName, BareNames>) -> Vec<Lent> {
    let lent = |names: Option<&BareNames>, is_jspolicy: bool| {
        names.map_or_else(Lent::new, |names| {
            lent::lent(names, &sources.globals, is_jspolicy)
        })
    };
    let policies = sources.policies.iter().map(|policy| {
        let name = SourceName::Policy(policy.name.clone());
        let is_jspolicy = matches!(policy.code, PolicyCode::JsPolicy(_));
        lent(names.get(&name), is_jspolicy)
    });
    // Modules are examined only for this.
    let texts: Vec<Option<String>> = sources.modules.iter().map(whole_if_of_interest).collect();
    let bodies: Vec<FunctionBody<'_>> = texts
        .iter()
        .flatten()
        .map(|text| FunctionBody {
            text,
            awaits: false,
        })
        .collect();
    let mut insights = match bodies.is_empty() {
        true => Vec::new(),
        false => examine(&bodies),
    }
    .into_iter();
    let modules = texts.iter().map(|text| {
        let insight = text.as_ref().and_then(|_| insights.next());
        lent(insight.as_ref().map(|insight| &insight.names), false)
    });
    policies.chain(modules).collect()
}

/// A module as one text, if it may use a name of jsPolicy.
fn whole_if_of_interest(module: &ModuleSource) -> Option<String> {
    let ModuleSource {
        header,
        code,
        footer,
        ..
    } = module;
    let is_of_interest = [header, code, footer].into_iter().any(|t| lent::may_use(t));
    is_of_interest.then(|| format!("{header}\n{code}\n{footer}"))
}

impl From<ScriptFault> for Diagnostic {
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
struct Diagnostic {
    line: u32,
    column: u32,
    message: String,
}

impl Diagnostic {
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
fn check_policy(realm: &Realm, code: &str) -> Result<bool, Diagnostic> {
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
fn check(realm: &Realm, code: &str, style: Style<'_>) -> Result<(), Diagnostic> {
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
        return Err(Diagnostic::at_start(
            "its imports or exports are not one line",
        ));
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

fn compile(realm: &Realm, code: &str, text: &str) -> Result<(), Diagnostic> {
    const FILE: &str = "alone";
    if let Some(at) = code.find('\0') {
        let before = code.get(..at).unwrap_or_default();
        return Err(Diagnostic {
            line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
            column: 1,
            message: "NUL characters are not allowed".to_owned(),
        });
    }
    let unknown = || Diagnostic {
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
        let place = program::frames(&trace).find(|(file, ..)| *file == FILE);
        let last = u32::try_from(code.lines().count().max(1)).unwrap_or(u32::MAX);
        let (line, column) = match place {
            Some((_, line, column)) if line > 1 && line - 1 <= last => (line - 1, column),
            Some((_, 1, _)) => (1, 1),
            _ => {
                // What the engine found after the text is generated code, not the author's.
                if place.is_some() {
                    UNBALANCED.clone_into(&mut message);
                }
                let width = code.lines().last().map_or(0, |l| l.chars().count());
                (last, u32::try_from(width + 1).unwrap_or(u32::MAX))
            }
        };
        Ok(Some(Diagnostic {
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
