//! The syntax tree of a policy file as its author wrote it, for those who look for mistakes in it.

use std::ops::Range;

use portcullis_core::deep_stack;
use swc_common::Span;
use swc_ecma_ast::{ModuleItem, Stmt};

use crate::fault::{Places, ScriptFault};
use crate::language::Language;
use crate::limits;
use crate::parse::{self, BodyOf};
use crate::script::{faults, unread};

/// A text and its tree. Types of TypeScript are in it.
#[derive(Debug)]
pub struct Tree<'t> {
    text: &'t str,
    items: Vec<ModuleItem>,
    /// How many bytes stand before the text in what was parsed.
    shift: usize,
}

impl Tree<'_> {
    /// The text; a byte order mark is not in it.
    pub fn text(&self) -> &str {
        self.text
    }

    /// What stands at the top level: the items of a module, or the statements of a body.
    pub fn items(&self) -> &[ModuleItem] {
        &self.items
    }

    /// Where a node stands, in bytes of the text.
    pub fn range(&self, span: Span) -> Range<usize> {
        let Range { start, end } = parse::bytes(span);
        start.saturating_sub(self.shift)..end.saturating_sub(self.shift)
    }

    /// Lines and columns of the text.
    pub fn places(&self) -> Places<'_> {
        Places::new(self.text)
    }
}

/// Parses a text, and lets `work` look at its tree. That runs with the stack of the parser, because it
/// recurses as deep.
///
/// # Errors
///
/// If the text can't be parsed, or if `work` panics.
pub fn with_tree<T: Send>(
    text: &str,
    language: Language,
    work: impl FnOnce(&Tree<'_>) -> T + Send,
) -> Result<T, Vec<ScriptFault>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    limits::check(text).map_err(|fault| vec![fault])?;
    let run = || read(text, language).map(|tree| work(&tree));
    deep_stack::run(parse::STACK, run).unwrap_or_else(|failure| Err(vec![unread(&failure)]))
}

fn read(text: &str, language: Language) -> Result<Tree<'_>, Vec<ScriptFault>> {
    let (tree, complaints) = match language {
        Language::JavaScript => parse::javascript(text),
        Language::TypeScript => parse::typescript(text),
    };
    if let Some(module) = tree
        && complaints.iter().all(|complaint| complaint.is_return)
    {
        return Ok(Tree {
            text,
            items: module.body,
            shift: 0,
        });
    }
    // What is no module may still be the body of a function, in sloppy mode.
    let body = BodyOf::Async;
    let statements: Option<Vec<Stmt>> = match language {
        Language::JavaScript => parse::body(text, body),
        Language::TypeScript => parse::typed_body(text, body),
    };
    match statements {
        Some(statements) => Ok(Tree {
            text,
            items: statements.into_iter().map(ModuleItem::Stmt).collect(),
            shift: body.prefix().len(),
        }),
        None => Err(faults(text, &complaints)),
    }
}
