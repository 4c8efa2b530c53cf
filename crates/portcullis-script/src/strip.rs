//! TypeScript without its types, every other character in its place.

mod classes;
mod declarations;
mod eraser;
mod expressions;
mod tokens;

use swc_ecma_ast::{ModuleDecl, ModuleItem};

use crate::canvas::Canvas;
use crate::parse::{self, BodyOf, Complaint};

/// The text with spaces, and here and there a `;` or a parenthesis, in place of types.
pub(crate) fn strip(text: &str) -> Result<String, Vec<Complaint>> {
    let as_module = match erase(text, true) {
        Ok(stripped) => return Ok(stripped),
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
            let rest = rest.strip_suffix(BodyOf::Async.suffix())?;
            Some(Ok(rest.to_owned()))
        }
        Err(mut complaints) => {
            for complaint in &mut complaints {
                complaint.at = in_text(complaint.at.saturating_sub(prefix.len()));
            }
            Some(Err(complaints))
        }
    }
}

/// Blanks `import type` and the `export` of types, which are invalid in a function. None if the
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
    let (program, tokens) = parse::typescript_tokens(text, is_module)?;
    eraser::erase(text, &program, &tokens)
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
    fn what_stays_means_what_it_meant() {
        for (text, wanted) in [
            // A required statement, and a string that is not a directive.
            ("if (a) type B = 1\nc", "if (a) ;         \nc"),
            ("l: interface A {}\n(b)", "l: ;             \n(b)"),
            ("type A = 1; 'use strict'", ";           'use strict'"),
            // Members of classes that would go on with the one before.
            (
                "class A { b = 1\n private [c] = 2 }",
                "class A { b = 1\n ;       [c] = 2 }",
            ),
            (
                "class A { b = 1\n public *c() {} }",
                "class A { b = 1\n ;      *c() {} }",
            ),
            (
                "class A { b = 1\n readonly in: T }",
                "class A { b = 1\n ;        in    }",
            ),
            (
                "class A { b = 1; private [c] = 2 }",
                "class A { b = 1;         [c] = 2 }",
            ),
            (
                "class A { b() {}\n [c: string]: T\n [d] = 2 }",
                "class A { b() {}\n ;             \n [d] = 2 }",
            ),
            (
                "class A { get?: T\n b() {} }",
                "class A { get ;  \n b() {} }",
            ),
            ("class A { static: T\n b }", "class A { static;  \n b }"),
            // Parentheses of arrow functions.
            ("a = async <\nT>(b: T) => b", "a = async (\n   b   ) => b"),
            ("return <T,\n>(b: T) => b", "return (  \n  b   ) => b"),
            ("a = (b):\n'𝒳' => b", "a = (b  \n  ) => b"),
        ] {
            assert_eq!(strip(text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_has_no_counterpart_is_refused() {
        for (text, at, start) in [
            ("a; enum B {}", 3, "`enum`"),
            ("namespace A { let b }", 0, "`namespace`"),
            ("import a = require('a')", 0, "`import x"),
            ("export = a", 0, "`export ="),
            (
                "class A { constructor(private b) {} }",
                30,
                "parameter properties",
            ),
            ("a = <B>c", 4, "`<T>value`"),
            ("a = <const>c", 4, "`<T>value`"),
            ("a = -b as C ** d", 4, "put parentheses"),
        ] {
            let complaints = strip(text).unwrap_err();
            assert_eq!(complaints.len(), 1, "{text}");
            assert_eq!(complaints[0].at, at, "{text}");
            assert!(complaints[0].message.starts_with(start), "{complaints:?}");
        }
        for types in ["declare enum A {}", "namespace A { type B = 1 }"] {
            assert_eq!(strip(types).unwrap().trim_end(), ";", "{types}");
        }
    }
}
