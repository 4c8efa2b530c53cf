//! A prepared policy file.

use portcullis_core::deep_stack::{self, Failure};

use crate::fault::{Places, ScriptFault};
use crate::import::{Export, Import, Link};
use crate::language::Language;
use crate::marks::{self, Mark};
use crate::metadata::Metadata;
use crate::module::{self, Rewritten};
use crate::parse::{self, BodyOf, Complaint};
use crate::{glue, limits, refuse, strip};

/// What a policy file became: the body of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    code: String,
    is_module: bool,
    imports: Vec<Import>,
    links: Vec<Link>,
    exports: Vec<Export>,
    export_names: Vec<String>,
    metadata: Option<Metadata>,
}

/// Makes the body of a function of a file's text.
///
/// A text with `import` or `export` is a module and becomes a strict body between a
/// [`Script::header`] and a [`Script::footer`]. Any other text is a body as it stands, in sloppy
/// mode, and may `return` and `await`; JavaScript that can't be parsed is given back unchanged, for
/// the engine to complain about. Types are blanked; `import type` is needed for types, because
/// whether a name is one can't be seen in this file alone.
pub fn prepare(text: &str, language: Language) -> Result<Script, Vec<ScriptFault>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    limits::check(text).map_err(|fault| vec![fault])?;
    let work = || match language {
        Language::JavaScript => read(text, text, language),
        Language::TypeScript => {
            let stripped = strip::strip(text).map_err(|found| faults(text, &found))?;
            read(text, &stripped, language)
        }
    };
    deep_stack::run(parse::STACK, work).unwrap_or_else(|failure| Err(vec![unread(&failure)]))
}

/// The fault of a text that could not be read at all.
pub(crate) fn unread(failure: &Failure) -> ScriptFault {
    let message = match failure {
        Failure::Panicked => "the parser failed on this text",
        Failure::NoThread(_) => "cannot start a thread to parse this text",
    };
    ScriptFault {
        line: 1,
        column: 1,
        message: message.to_owned(),
    }
}

/// Reads JavaScript. `text` has the same lines and columns.
fn read(text: &str, code: &str, language: Language) -> Result<Script, Vec<ScriptFault>> {
    let (tree, complaints) = parse::javascript(code);
    let places = Places::new(code);
    if let Some(module) = tree.as_ref().filter(|tree| parse::has_declarations(tree)) {
        if !complaints.is_empty() {
            return Err(faults(code, &complaints));
        }
        return module::rewrite(code, &places, module).map(Script::of_module);
    }
    let (refusals, prefix) = match tree.filter(|_| complaints.is_empty()) {
        Some(tree) => (refuse::of_body(&tree), 0),
        None => match parse::body(code, BodyOf::Async) {
            Some(body) => (refuse::of_body(&body), BodyOf::Async.prefix().len()),
            None if language == Language::TypeScript || looks_like_module(text) => {
                return Err(faults(code, &complaints));
            }
            None => (Vec::new(), 0),
        },
    };
    let found: Vec<_> = refusals
        .into_iter()
        .map(|(span, message)| places.fault(parse::offset(span.lo) - prefix, message))
        .collect();
    if found.is_empty() {
        Ok(Script::of_body(code))
    } else {
        Err(found)
    }
}

/// Whether a text that can't be parsed was meant as a module.
fn looks_like_module(text: &str) -> bool {
    let mut starts = text.split(['\n', ';', '}']).map(str::trim_start);
    starts.any(|start| {
        let import = start.strip_prefix("import");
        let export = start.strip_prefix("export");
        import.is_some_and(|rest| rest.starts_with([' ', '\t', '{', '*', '"', '\'']))
            || export.is_some_and(|rest| rest.starts_with([' ', '\t', '{', '*']))
    })
}

pub(crate) fn faults(text: &str, complaints: &[Complaint]) -> Vec<ScriptFault> {
    let places = Places::new(text);
    let fault = |complaint: &Complaint| {
        let better = parse::complaint_of_text(text, complaint.at);
        places.fault(complaint.at, better.unwrap_or(&complaint.message))
    };
    complaints.iter().map(fault).collect()
}

impl Script {
    fn of_body(code: &str) -> Self {
        Self {
            code: code.to_owned(),
            is_module: false,
            imports: Vec::new(),
            links: Vec::new(),
            exports: Vec::new(),
            export_names: Vec::new(),
            metadata: None,
        }
    }

    fn of_module(module: Rewritten) -> Self {
        Self {
            code: module.code,
            is_module: true,
            imports: module.imports,
            links: module.links,
            export_names: module.exports.iter().map(|e| e.name.clone()).collect(),
            exports: module.exports,
            metadata: module.metadata,
        }
    }

    /// The body. It has as many lines as the file, and each character kept from the file is at its
    /// line and column; a byte order mark is dropped.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether the file is a module. If not, there is nothing to put around the code.
    pub fn is_module(&self) -> bool {
        self.is_module
    }

    /// What it takes from other modules, in the order in which they have to run.
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    /// The names it exports itself. What it passes on by `export *` is not among them: see
    /// [`Import::star`].
    pub fn exports(&self) -> &[String] {
        &self.export_names
    }

    /// What has to stand before a module's code in its function, in one line. It calls
    /// `$module(place)` for each import, which runs the module at that place, unless it has run,
    /// and gives what its function returned. `module` gives the place of a specifier's module.
    ///
    /// Names are bound to the values that exports have at this time. It begins with `"use strict"`,
    /// which counts if nothing stands before it.
    pub fn header(&self, module: impl Fn(&str) -> usize) -> String {
        if !self.is_module {
            return String::new();
        }
        glue::header(&self.imports, &self.links, module)
    }

    /// What has to stand after a module's code in its function, on a line of its own. It returns
    /// the exports.
    pub fn footer(&self) -> String {
        if !self.is_module {
            return String::new();
        }
        glue::footer(&self.imports, &self.exports)
    }

    /// What the policy says of itself: `export const policy = { … }`.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// The code with `$cover(id);` before each statement, ids counted from `first`. Lines are
    /// kept, columns are not. Expressions, hoisted functions and what stands in `with` have no
    /// marks, nor has code that can't be parsed.
    pub fn with_marks(&self, first: u32) -> (String, Vec<Mark>) {
        let mark = || marks::mark(&self.code, self.is_module, first);
        let marked = deep_stack::run(parse::STACK, mark);
        marked.unwrap_or_else(|_| (self.code.clone(), Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_parser_is_a_fault() {
        let read = deep_stack::run(parse::STACK, || -> Script { panic!("of a test") });
        let fault = unread(&read.unwrap_err());
        assert_eq!(fault.to_string(), "1:1: the parser failed on this text");
    }
}
