//! Which policies can't change the object, told from their text.
//!
//! Reading an object back costs as much as running a short policy over it. A text that has no way to
//! write needs none of that. Everything is judged as if it were code, texts and comments too, and
//! whatever is not known to be harmless counts as a change: the only mistake to be made here is to
//! read back in vain.

use std::borrow::Cow;

/// What appears nowhere, not even within words: ways to write, and ways to hide them.
const NEVER: &[&str] = &[
    "\\u",
    "\\x",
    "__",
    "push",
    "pop",
    "shift",
    "splice",
    "sort",
    "reverse",
    "fill",
    "copyWithin",
    "assign",
    "define",
    "rototype",
    "Reflect",
    "Proxy",
    "eval",
    "Function",
    "onstructor",
    "lobalThis",
    "\u{feff}",
];

/// Words that lead to more than can be told here.
const NO_WORD: &[&str] = &[
    "with",
    "class",
    "delete",
    "super",
    "yield",
    "import",
    "export",
    "new",
    "this",
    "arguments",
];

/// What may stand before a parenthesis and calls nothing.
const KEYWORDS: &[&str] = &[
    "if",
    "for",
    "while",
    "switch",
    "return",
    "typeof",
    "of",
    "in",
    "catch",
    "function",
    "async",
    "case",
    "else",
    "instanceof",
    "throw",
    "await",
    "do",
];

/// Functions that only read, whatever they are called on and with.
const READERS: &[&str] = &[
    "test",
    "exec",
    "match",
    "matchAll",
    "includes",
    "startsWith",
    "endsWith",
    "indexOf",
    "lastIndexOf",
    "at",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "slice",
    "substring",
    "split",
    "trim",
    "trimStart",
    "trimEnd",
    "toLowerCase",
    "toUpperCase",
    "toString",
    "join",
    "concat",
    "flat",
    "keys",
    "values",
    "entries",
    "hasOwn",
    "hasOwnProperty",
    "isArray",
    "isInteger",
    "isFinite",
    "isNaN",
    "parseInt",
    "parseFloat",
    "Number",
    "String",
    "Boolean",
    "has",
    "Get",
    "Values",
    "Query",
    "allow",
    "deny",
    "warn",
    "log",
    "info",
    "error",
    "debug",
    "atob",
    "btoa",
    "localeCompare",
    "padStart",
    "padEnd",
    "repeat",
    "replace",
    "replaceAll",
    "toFixed",
    "min",
    "max",
    "abs",
    "floor",
    "ceil",
    "round",
];

/// Functions that call another one, which must be written in place.
const CALLERS: &[&str] = &[
    "map",
    "filter",
    "some",
    "every",
    "find",
    "findIndex",
    "findLast",
    "forEach",
    "flatMap",
    "reduce",
];

/// Whether a policy of this text can't change the object.
pub(crate) fn changes_nothing(text: &str) -> bool {
    if NEVER.iter().any(|never| text.contains(never)) || !has_plain_templates(text) {
        return false;
    }
    let text = without_comment_lines(text);
    let tokens = tokens(&text);
    // A comment could stand between the parts of what is written to.
    let is_plain = !text.contains("//") && !text.contains("/*");
    (0..tokens.len()).all(|at| is_harmless(&tokens, at, is_plain))
}

/// The text without lines that are comments as a whole. Where such a line could be something else,
/// all of them stay.
fn without_comment_lines(text: &str) -> Cow<'_, str> {
    // In a template, a comment of another kind, or a text that goes on in the next line.
    let odd = ["`", "/*", "\\\n", "\r", "\u{2028}", "\u{2029}"];
    if odd.iter().any(|odd| text.contains(odd)) {
        return Cow::Borrowed(text);
    }
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines: Vec<&str> = text.split('\n').filter(is_code).collect();
    Cow::Owned(lines.join("\n"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// An operator with `=` in it that assigns nothing.
    Compares,
    Arrow,
    /// `++` or `--`.
    Step,
    Sign(char),
    Break,
}

use Token::{Arrow, Break, Compares, Sign, Step, Word};

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$') || (!c.is_ascii() && !c.is_whitespace())
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if is_part(c) {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            tokens.push(Word(rest.get(..end).unwrap_or_default()));
            end
        } else if c.is_whitespace() {
            if matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}') {
                tokens.push(Break);
            }
            c.len_utf8()
        } else if let Some(sign) = ["<<=", ">>="].iter().find(|s| rest.starts_with(**s)) {
            tokens.push(Sign('='));
            sign.len()
        } else if let Some(sign) = ["===", "!==", "==", "!=", "<=", ">="]
            .iter()
            .find(|s| rest.starts_with(**s))
        {
            tokens.push(Compares);
            sign.len()
        } else if rest.starts_with("++") || rest.starts_with("--") {
            tokens.push(Step);
            2
        } else if rest.starts_with("=>") {
            tokens.push(Arrow);
            2
        } else {
            tokens.push(Sign(c));
            c.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

fn is_harmless(tokens: &[Token<'_>], at: usize, is_plain: bool) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|i| tokens.get(i)).copied();
    let after = |n: usize| next(tokens, at, n);
    match tokens.get(at).copied() {
        Some(Word("for")) => {
            after(1) == Some(Sign('(')) && matches!(after(2), Some(Word("const" | "let" | "var")))
        }
        Some(Word(word)) => !NO_WORD.contains(&word),
        Some(Sign('=')) => is_declaration(tokens, at) || (is_plain && is_name_before(tokens, at)),
        Some(Step) => is_plain && steps_a_name(tokens, at),
        Some(Sign('(')) => match before(1) {
            None | Some(Compares | Arrow) => true,
            Some(Step) => false,
            Some(Sign('.')) => before(2) == Some(Sign('.')) && before(3) == Some(Sign('.')),
            Some(Sign(sign)) => "([{,;!&|?:+-<>^%~=".contains(sign),
            Some(Word(word)) if CALLERS.contains(&word) => is_function_ahead(tokens, at + 1),
            Some(Word(word)) => KEYWORDS.contains(&word) || READERS.contains(&word),
            Some(Break) => false,
        },
        _ => true,
    }
}

/// Whether the `++` or `--` here counts a name, and no member of anything.
fn steps_a_name(tokens: &[Token<'_>], at: usize) -> bool {
    match at.checked_sub(1).and_then(|i| tokens.get(i)).copied() {
        Some(Word(word)) if !KEYWORDS.contains(&word) => is_name_before(tokens, at),
        // Behind these it may belong to what is before.
        Some(Sign(')' | ']' | '}' | '\'' | '"' | '/') | Step) => false,
        _ => {
            let is_name = matches!(next(tokens, at, 1), Some(Word(_)));
            is_name && !matches!(next(tokens, at, 2), Some(Sign('.' | '[' | '(' | '?')))
        }
    }
}

/// Whether what stands before this one is a name, and no member of anything.
fn is_name_before(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return false;
    };
    let Some(Word(word)) = tokens.get(before) else {
        return false;
    };
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let earlier = tokens.iter().take(before).rev();
    let earlier = earlier.copied().find(|token| *token != Break);
    !is_number && !KEYWORDS.contains(word) && !matches!(earlier, Some(Sign('.' | '#' | '@')))
}

/// The n-th token after this one, line breaks not counted.
fn next<'a>(tokens: &[Token<'a>], at: usize, n: usize) -> Option<Token<'a>> {
    let rest = tokens.get(at + 1..)?;
    let mut rest = rest.iter().filter(|token| **token != Break);
    rest.nth(n.checked_sub(1)?).copied()
}

/// Whether the `=` here gives a name just declared its value.
fn is_declaration(tokens: &[Token<'_>], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|i| tokens.get(i)).copied();
    let declares = |token| matches!(token, Some(Word("const" | "let" | "var")));
    match before(1) {
        Some(Word(_)) => declares(before(2)),
        Some(Sign('}' | ']')) => {
            let mut back = 2;
            while matches!(before(back), Some(Word(_) | Sign(',' | ':') | Break)) {
                back += 1;
            }
            matches!(before(back), Some(Sign('{' | '['))) && declares(before(back + 1))
        }
        _ => false,
    }
}

/// Whether a function is written here.
fn is_function_ahead(tokens: &[Token<'_>], at: usize) -> bool {
    match tokens.get(at) {
        Some(Word("function")) => true,
        Some(Word(_)) => tokens.get(at + 1) == Some(&Arrow),
        Some(Sign('(')) => {
            let inside = tokens.iter().skip(at + 1);
            let parameters = inside.take_while(|t| !matches!(t, Sign('(' | ')')));
            let end = at + 1 + parameters.count();
            tokens.get(end) == Some(&Sign(')')) && tokens.get(end + 1) == Some(&Arrow)
        }
        _ => false,
    }
}

/// Whether no template is nested in another, or has a tag.
fn has_plain_templates(text: &str) -> bool {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return false;
    }
    pieces.chunks(2).all(|pair| match pair {
        [before, inside] => {
            let before = before.trim_end();
            let is_tagged = before.ends_with(|c| is_part(c) || matches!(c, ')' | ']' | '}' | '/'))
                && !before.ends_with("return");
            let opened = inside.matches('{').count();
            !is_tagged && opened == inside.matches('}').count() && !inside.contains(['\'', '"'])
        }
        _ => true,
    })
}

#[cfg(test)]
mod tests;
