//! TypeScript without its types, every other character in its place.

use std::sync::{Arc, Mutex, PoisonError};

use swc_common::SourceMap;
use swc_common::errors::{DiagnosticBuilder, Emitter, Handler};
use swc_common::sync::Lrc;
use swc_ecma_ast::{ModuleDecl, ModuleItem};
use swc_ecma_parser::TsSyntax;
use swc_ts_fast_strip::{Mode, Options, operate};

use crate::canvas::Canvas;
use crate::parse::{self, BodyOf, Complaint};

/// The text with spaces, and here and there a `;` or a parenthesis, in place of types.
pub(crate) fn strip(text: &str) -> Result<String, Vec<Complaint>> {
    let as_module = match erase(text, true) {
        Ok(stripped) => return align(text, &stripped),
        Err(complaints) => complaints,
    };
    match strip_body(text) {
        Some(Ok(stripped)) => Ok(stripped),
        Some(Err(as_body)) if as_module.iter().all(|c| c.is_return) => Err(as_body),
        Some(Err(_)) => Err(as_module.into_iter().filter(|c| !c.is_return).collect()),
        None => Err(as_module),
    }
}

/// Strips the body of a function, in which `return` may stand anywhere. None if the text imports
/// or exports values.
fn strip_body(text: &str) -> Option<Result<String, Vec<Complaint>>> {
    let bare = without_type_declarations(text)?;
    let prefix = BodyOf::Async.prefix();
    // Characters of several bytes may have become spaces.
    let in_text = |at: usize| {
        let before = bare.get(..at).unwrap_or(&bare).chars().count();
        text.char_indices()
            .nth(before)
            .map_or(text.len(), |(at, _)| at)
    };
    match erase(&BodyOf::Async.wrap(&bare), false) {
        Ok(stripped) => {
            let rest = stripped.strip_prefix(prefix)?;
            Some(align(&bare, rest.strip_suffix(BodyOf::Async.suffix())?))
        }
        Err(mut complaints) => {
            for complaint in &mut complaints {
                complaint.at = in_text(complaint.at.saturating_sub(prefix.len()));
            }
            Some(Err(complaints))
        }
    }
}

/// Blanks `import type` and the `export` of types, which have no place in a function. None if the
/// text imports or exports anything else.
fn without_type_declarations(text: &str) -> Option<String> {
    let (tree, _) = parse::typescript(text);
    let Some(module) = tree else {
        return Some(text.to_owned());
    };
    let mut canvas = Canvas::new(text);
    for item in &module.body {
        let ModuleItem::ModuleDecl(declaration) = item else {
            continue;
        };
        match declaration {
            ModuleDecl::Import(import) if import.type_only => {
                canvas.blank_statement(&parse::bytes(import.span));
            }
            ModuleDecl::ExportNamed(export) if export.type_only => {
                canvas.blank_statement(&parse::bytes(export.span));
            }
            ModuleDecl::ExportDecl(export)
                if export.decl.is_ts_interface() || export.decl.is_ts_type_alias() =>
            {
                canvas.blank_statement(&parse::bytes(export.span));
            }
            _ => return None,
        }
    }
    Some(canvas.text())
}

fn erase(text: &str, is_module: bool) -> Result<String, Vec<Complaint>> {
    let found = Found::default();
    let handler = Handler::with_emitter(false, false, Box::new(found.clone()));
    let options = Options {
        module: Some(is_module),
        parser: TsSyntax::default(),
        mode: Mode::StripOnly,
        ..Options::default()
    };
    let map: Lrc<SourceMap> = Lrc::default();
    match operate(&map, &handler, text.to_owned(), options) {
        Ok(output) => Ok(output.code),
        Err(error) => {
            let mut complaints = found.take();
            if complaints.is_empty() {
                complaints.push(Complaint {
                    at: 0,
                    message: parse::plain(&error.message),
                    is_return: false,
                });
            }
            Err(complaints)
        }
    }
}

/// Gives back one character for each of the text. The stripper keeps the width in UTF-16: it puts
/// two spaces in place of some characters.
fn align(text: &str, stripped: &str) -> Result<String, Vec<Complaint>> {
    let mut rest = stripped.chars();
    let mut aligned = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let new = rest.next();
        if c.len_utf16() == 2 && new != Some(c) {
            rest.next();
        }
        match new {
            Some(new) if new == c || matches!(new, ' ' | ';' | '(' | ')') => aligned.push(new),
            _ => return Err(astray(at)),
        }
    }
    match rest.next() {
        None => Ok(aligned),
        Some(_) => Err(astray(text.len())),
    }
}

fn astray(at: usize) -> Vec<Complaint> {
    vec![Complaint {
        at,
        message: "the types here can't be taken out".to_owned(),
        is_return: false,
    }]
}

/// What the stripper reports.
#[derive(Debug, Clone, Default)]
struct Found(Arc<Mutex<Vec<Complaint>>>);

impl Found {
    fn take(&self) -> Vec<Complaint> {
        let mut complaints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        complaints.sort_by_key(|complaint| complaint.at);
        complaints.dedup_by_key(|complaint| complaint.at);
        std::mem::take(&mut *complaints)
    }
}

impl Emitter for Found {
    fn emit(&mut self, diagnostic: &mut DiagnosticBuilder<'_>) {
        let span = diagnostic.span.primary_span().unwrap_or_default();
        let message = diagnostic.message();
        let complaint = Complaint {
            at: parse::offset(span.lo),
            is_return: message.starts_with("Return statement"),
            message: parse::plain(&message),
        };
        let mut complaints = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        complaints.push(complaint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_outside_of_the_basic_plane_keep_their_place() {
        let text = "let a: '𝒳𝒳' = '𝒳'; b";
        let stripped = strip(text).unwrap();
        assert_eq!(stripped, "let a       = '𝒳'; b");
        assert_eq!(stripped.chars().count(), text.chars().count());
    }

    #[test]
    fn a_body_may_return_and_await() {
        let text = "import type { A } from 'a'\nexport type B = '𝒳'\nconst x: A = await f()\nreturn x as B";
        let wanted = ";                         \n;                  \nconst x    = await f()\nreturn x     ";
        assert_eq!(strip(text).unwrap(), wanted);
    }

    #[test]
    fn a_text_that_is_not_kept_is_refused() {
        assert_eq!(align("ab", "ab"), Ok("ab".to_owned()));
        for other in ["a", "abc", "xb"] {
            assert!(align("ab", other).is_err(), "{other}");
        }
    }
}
