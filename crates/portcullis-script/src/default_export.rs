//! `export default`, turned into a declaration in its own place.

use std::ops::Range;

use swc_common::Spanned;
use swc_ecma_ast::{DefaultDecl, ExportDefaultDecl, ExportDefaultExpr};

use crate::canvas::{Canvas, is_line_end, is_space};
use crate::glue::DEFAULT;
use crate::{names, parse};

/// Why a default export is rejected.
pub(crate) const NO_ROOM: &str = "write `export default` in one line";

/// Rewrites `export default` before a function or class. Gives the name it has then.
pub(crate) fn declaration(
    canvas: &mut Canvas,
    text: &str,
    export: &ExportDefaultDecl,
) -> Option<String> {
    let start = parse::offset(export.span.lo);
    let own_start = parse::offset(export.decl.span().lo);
    if let Some(name) = names::of_default(&export.decl) {
        canvas.blank(&(start..own_start));
        return Some(name);
    }
    // A declaration needs no semicolon after it, and a function is there from the start, as it has
    // to be: so it gets a name, for which the keywords make room.
    let (head, end) = match &export.decl {
        DefaultDecl::Class(_) => ("class", word(text, own_start, "class")?.end),
        DefaultDecl::Fn(function) => {
            let function = &function.function;
            let mut end = own_start;
            if function.is_async {
                end = word(text, end, "async")?.end;
            }
            end = word(text, end, "function")?.end;
            if function.is_generator {
                end = word(text, end, "*")?.end;
            }
            let head = match (function.is_async, function.is_generator) {
                (false, false) => "function",
                (false, true) => "function*",
                (true, false) => "async function",
                (true, true) => "async function*",
            };
            (head, end)
        }
        DefaultDecl::TsInterfaceDecl(_) => return None,
    };
    canvas.blank(&(start..end));
    let fits = canvas.fit(&(start..end), &[head, DEFAULT]);
    fits.then(|| DEFAULT.to_owned())
}

/// Rewrites `export default` before an expression. Gives the name its value has then.
pub(crate) fn expression(
    canvas: &mut Canvas,
    text: &str,
    export: &ExportDefaultExpr,
) -> Option<String> {
    let first = word(text, parse::offset(export.span.lo), "export")?;
    let second = word(text, first.end, "default")?;
    canvas.blank(&(first.start..second.end));
    canvas.write(first.start, "const");
    canvas.write(second.start, DEFAULT);
    canvas.write(second.end - 1, "=");
    Some(DEFAULT.to_owned())
}

/// Where a word stands, with nothing but blanks and comments before it.
fn word(text: &str, from: usize, word: &str) -> Option<Range<usize>> {
    let mut rest = text.get(from..)?;
    loop {
        rest = rest.trim_start_matches(|c| is_space(c) || is_line_end(c));
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.trim_start_matches(|c| !is_line_end(c));
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else {
            break;
        }
    }
    let start = text.len() - rest.len();
    rest.starts_with(word).then(|| start..start + word.len())
}
