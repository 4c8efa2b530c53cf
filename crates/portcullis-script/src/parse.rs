//! The parser, and its messages.

use std::ops::Range;

use swc_common::{BytePos, Span, Spanned};
use swc_ecma_ast::{Decl, EsVersion, Module, ModuleItem, Program, Script, Stmt};
use swc_ecma_parser::error::{Error, SyntaxError};
use swc_ecma_parser::unstable::{Capturing, TokenAndSpan};
use swc_ecma_parser::{EsSyntax, Lexer, Parser, StringInput, Syntax, TsSyntax};

use crate::refuse;

/// Stack for the deepest text that `limits` lets through. Only what is used becomes real memory.
pub(crate) const STACK: usize = 256 << 20;

/// Something the parser did not like, at a byte of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) at: usize,
    pub(crate) message: String,
    /// It is nothing but a `return` outside of a function.
    pub(crate) is_return: bool,
}

/// A tree, as far as there is one, and what is wrong with it.
pub(crate) type Parsed<T> = (Option<T>, Vec<Complaint>);

/// Where a node of a tree stands in the text.
pub(crate) fn bytes(span: Span) -> Range<usize> {
    offset(span.lo)..offset(span.hi)
}

/// The byte of the text at a position. Positions begin at 1.
pub(crate) fn offset(position: BytePos) -> usize {
    usize::try_from(position.0.saturating_sub(1)).unwrap_or(0)
}

/// Reads JavaScript as a module, in which `return` may stand outside of functions.
pub(crate) fn javascript(text: &str) -> Parsed<Module> {
    run(text, SCRIPT, Parser::parse_module)
}

/// Reads TypeScript as a module.
pub(crate) fn typescript(text: &str) -> Parsed<Module> {
    run(text, typed(), Parser::parse_module)
}

/// Reads TypeScript without a fault, with its tokens.
pub(crate) fn typescript_tokens(
    text: &str,
    is_module: bool,
) -> Result<(Program, Vec<TokenAndSpan>), Vec<Complaint>> {
    let mut parser = Parser::new_from(Capturing::new(lexer(text, typed())));
    let result = if is_module {
        parser.parse_module().map(Program::Module)
    } else {
        parser.parse_script().map(Program::Script)
    };
    match parsed(result, parser.take_errors()) {
        (Some(program), complaints) if complaints.is_empty() => {
            Ok((program, parser.input_mut().iter_mut().take()))
        }
        (_, complaints) => Err(complaints),
    }
}

/// Reads JavaScript as the body of a function, in sloppy mode. The statements' positions are those
/// of the text after [`BodyOf::prefix`].
pub(crate) fn body(text: &str, body: BodyOf) -> Option<Vec<Stmt>> {
    of_function(run(&body.wrap(text), SCRIPT, Parser::parse_script))
}

/// The same for TypeScript.
pub(crate) fn typed_body(text: &str, body: BodyOf) -> Option<Vec<Stmt>> {
    of_function(run(&body.wrap(text), typed(), Parser::parse_script))
}

fn of_function((tree, complaints): Parsed<Script>) -> Option<Vec<Stmt>> {
    let Script { body, .. } = tree.filter(|_| complaints.is_empty())?;
    // A text that closes the brace it did not open becomes more than one statement.
    let mut items = body.into_iter();
    match (items.next(), items.next()) {
        (Some(Stmt::Decl(Decl::Fn(function))), None) => Some(function.function.body?.stmts),
        _ => None,
    }
}

/// The function a body is put into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyOf {
    /// It may `await`.
    Async,
    /// `await` is a name.
    Plain,
}

impl BodyOf {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Async => "async function body(){",
            Self::Plain => "function body(){",
        }
    }

    pub(crate) fn suffix(self) -> &'static str {
        "\n}"
    }

    pub(crate) fn wrap(self, text: &str) -> String {
        format!("{}{text}{}", self.prefix(), self.suffix())
    }
}

/// The declarations of modules among the items: `import` and `export`.
pub(crate) fn has_declarations(module: &Module) -> bool {
    module.body.iter().any(ModuleItem::is_module_decl)
}

const SCRIPT: Syntax = Syntax::Es(EsSyntax {
    jsx: false,
    fn_bind: false,
    decorators: false,
    decorators_before_export: false,
    export_default_from: false,
    import_attributes: true,
    allow_super_outside_method: false,
    allow_return_outside_function: true,
    auto_accessors: false,
    explicit_resource_management: false,
});

fn typed() -> Syntax {
    Syntax::Typescript(TsSyntax::default())
}

fn lexer(text: &str, syntax: Syntax) -> Lexer<'_> {
    let end = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
    let input = StringInput::new(text, BytePos(1), BytePos(end));
    Lexer::new(syntax, EsVersion::latest(), input, None)
}

fn run<'t, T>(
    text: &'t str,
    syntax: Syntax,
    parse: impl FnOnce(&mut Parser<Lexer<'t>>) -> Result<T, Error>,
) -> Parsed<T> {
    let mut parser = Parser::new_from(lexer(text, syntax));
    let result = parse(&mut parser);
    parsed(result, parser.take_errors())
}

fn parsed<T>(result: Result<T, Error>, mut errors: Vec<Error>) -> Parsed<T> {
    let tree = match result {
        Ok(tree) => Some(tree),
        Err(error) => {
            errors.insert(0, error);
            None
        }
    };
    let mut complaints: Vec<_> = errors
        .iter()
        .map(|error| Complaint {
            at: offset(error.span().lo),
            message: plain(&error.kind().msg()),
            is_return: *error.kind() == SyntaxError::ReturnNotAllowed,
        })
        .collect();
    order(&mut complaints);
    (tree, complaints)
}

/// Puts complaints in the order of the text, one for each place.
pub(crate) fn order(complaints: &mut Vec<Complaint>) {
    complaints.sort_by_key(|complaint| complaint.at);
    complaints.dedup_by_key(|complaint| complaint.at);
}

/// A message of the parser as this program words its own.
fn plain(message: &str) -> String {
    let own = OWN_WORDS.iter().find(|(part, _)| message.contains(part));
    if let Some((_, own)) = own {
        return (*own).to_owned();
    }
    // What might have stood there is a long list.
    let short = message.split_once(". Expected").map_or(message, |(m, _)| m);
    let short = short.trim_end_matches('.');
    let mut characters = short.chars();
    let first = characters.next().map(char::to_lowercase);
    let text: String = first.into_iter().flatten().chain(characters).collect();
    match text.contains("<eof>") {
        true if text.starts_with("unexpected token") => "unexpected end of file".to_owned(),
        true => text.replace("<eof>", "the end of the file"),
        false => text,
    }
}

/// Parts of the parser's messages, and what to say instead.
const OWN_WORDS: [(&str, &str); 4] = [
    ("Expected '>', got", ANGLES),
    ("Return statement is not allowed", refuse::RETURN),
    ("ith statement are", "`with` is not allowed in a module"),
    (
        "sing declaration is not",
        "`using` is not supported: write `try` and `finally`",
    ),
];

/// What is said of a type before a value, and of JSX.
pub(crate) const ANGLES: &str = "`<T>value` is not supported, nor is JSX: write `value as T`";

/// What the text at the place of a complaint says better than its message.
pub(crate) fn complaint_of_text(text: &str, at: usize) -> Option<&'static str> {
    let (before, after) = text.split_at_checked(at)?;
    if after.starts_with('@') {
        return Some("decorators are not supported: call the function yourself");
    }
    let is_tag = after.starts_with('<') || (before.ends_with('<') && after.starts_with('/'));
    is_tag.then_some(ANGLES)
}
