//! Limits on what a text may require of the parser.
//!
//! The parser, and everything that walks its tree, recurses. A quick scan of the tokens bounds how
//! deep that can go, so that no text can exhaust the stack. The scan must never see less than the
//! parser does: where a slash could begin a regular expression or be a division, and only a parser
//! could distinguish the two, the text is rejected.

use crate::fault::{Places, ScriptFault};
use crate::token::{Kind, Token, Tokens};

/// Longest text, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Most brackets open at once.
const MAX_NESTING: usize = 256;

/// Most parentheses open at once that follow a `>`. The parser tries two ways for each.
const MAX_GENERIC: usize = 8;

/// Most tokens in all the statements that are open at one place.
const MAX_TOKENS: usize = 4000;

/// Rejects a text that is too long or too deep.
pub(crate) fn check(text: &str) -> Result<(), ScriptFault> {
    let places = Places::new(text);
    if text.len() > MAX_BYTES {
        return Err(places.fault(0, "the text is longer than 1 MiB"));
    }
    if let Some(at) = text.find('\0') {
        return Err(places.fault(at, "NUL characters are not allowed"));
    }
    let mut depth = Depth::default();
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next() {
        let token = token.map_err(|(at, message)| places.fault(at, message))?;
        if let Err(message) = depth.take(&token) {
            return Err(places.fault(token.at, message));
        }
        tokens.set_previous(depth.kind_of(&token));
    }
    Ok(())
}

/// One open bracket, or the text as a whole.
#[derive(Debug, Default)]
struct Level {
    open: char,
    /// The bracket is the head of a statement: `if (…)`.
    head: bool,
    /// The bracket follows a `>`: `<T>(…)`.
    generic: bool,
    /// Tokens since the last statement, or part between commas, began.
    run: usize,
    /// `<` without a `>`.
    angles: usize,
    /// Every `else` nests, however many statements lie between.
    elses: usize,
}

impl Level {
    fn weight(&self) -> usize {
        self.run + self.angles + self.elses
    }
}

#[derive(Debug, Default)]
struct Depth {
    levels: Vec<Level>,
    top: Level,
    /// Weight of all levels but the top one.
    below: usize,
    /// How many levels follow a `>`.
    generics: usize,
    /// The last token and the one before it.
    last: String,
    before_last: String,
    last_kind: Kind,
    /// The bracket just closed was the head of a statement.
    closed_head: bool,
}

impl Depth {
    fn take(&mut self, token: &Token) -> Result<(), &'static str> {
        self.closed_head = false;
        let starts = token.is_operand && !CONTINUING.contains(&token.text.as_str());
        let apart = token.after_line_end || self.last == "}";
        let ended = matches!(self.last_kind, Kind::Operand | Kind::Brace);
        if (starts && apart && ended) || (token.text == "case" && !self.after_dot()) {
            self.top.run = 0;
            self.top.angles = 0;
        }
        match token.text.as_str() {
            ";" => (self.top.run, self.top.angles) = (0, 0),
            "," => self.top.run = 0,
            "else" => self.top.elses += 1,
            "<" => self.top.angles += 1,
            ">" => self.top.angles = self.top.angles.saturating_sub(1),
            _ => self.top.run += 1,
        }
        match token.text.as_str() {
            "(" | "[" | "{" | "${" | "`" => self.open(token.text.chars().next().unwrap_or('{')),
            ")" => self.close('('),
            "]" => self.close('['),
            "}" => self.close('{'),
            "}`" => self.close('$'),
            "``" => self.close('`'),
            _ => {}
        }
        if self.levels.len() > MAX_NESTING {
            return Err("brackets are nested more than 256 deep");
        }
        if self.generics > MAX_GENERIC {
            return Err("type arguments are nested more than 8 deep");
        }
        if self.below + self.top.weight() > MAX_TOKENS {
            return Err("this statement is too long: split it");
        }
        Ok(())
    }

    fn after_dot(&self) -> bool {
        matches!(self.last.as_str(), "." | "?.")
    }

    fn open(&mut self, open: char) {
        let mut name = self.last.as_str();
        let mut before = self.before_last.as_str();
        if name == "await" && before == "for" {
            (name, before) = ("for", "");
        }
        let word = matches!(name, "if" | "for" | "while" | "with");
        let level = Level {
            open,
            generic: open == '(' && self.last == ">",
            head: open == '(' && word && !matches!(before, "." | "?."),
            ..Level::default()
        };
        self.generics += usize::from(level.generic);
        self.below += self.top.weight();
        self.levels.push(std::mem::replace(&mut self.top, level));
    }

    fn close(&mut self, open: char) {
        if self.top.open != open {
            return;
        }
        if let Some(level) = self.levels.pop() {
            self.below -= level.weight();
            self.generics -= usize::from(self.top.generic);
            self.closed_head = self.top.head;
            self.top = level;
        }
    }

    /// What a token is to the one after it.
    fn kind_of(&mut self, token: &Token) -> Kind {
        let text = token.text.as_str();
        let postfix = matches!(text, "++" | "--" | "!") && !token.after_line_end;
        let kind = match text {
            _ if postfix && self.last_kind != Kind::Operator => self.last_kind,
            "}" => Kind::Brace,
            ")" if self.closed_head => Kind::Operator,
            ")" | "]" | "``" => Kind::Operand,
            ">" => Kind::Unclear,
            _ if !token.is_operand => Kind::Operator,
            _ if self.after_dot() => Kind::Operand,
            "await" | "yield" | "of" => Kind::Unclear,
            _ if PREFIXES.contains(&text) => Kind::Operator,
            _ if TYPE_PREFIXES.contains(&text) => Kind::TypeWord,
            _ => Kind::Operand,
        };
        self.before_last = std::mem::replace(&mut self.last, token.text.clone());
        self.last_kind = kind;
        kind
    }
}

/// Words after which an expression begins.
const PREFIXES: &[&str] = &[
    "break",
    "case",
    "class",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "extends",
    "function",
    "in",
    "instanceof",
    "new",
    "return",
    "throw",
    "typeof",
    "void",
];

/// Words after which a type goes on, but which may be names as well.
const TYPE_PREFIXES: &[&str] = &[
    "as",
    "asserts",
    "infer",
    "is",
    "keyof",
    "readonly",
    "satisfies",
    "unique",
];

/// Words that go on with what stands before them, even on a new line.
const CONTINUING: &[&str] = &[
    "as",
    "else",
    "extends",
    "in",
    "instanceof",
    "is",
    "of",
    "satisfies",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_texts_pass() {
        let lines = "const a = b(1, [2], { c: `x${d}/${e}` }) / 2 // (((\n".repeat(3000);
        let chain = "if (a < b) {\n} else if (/[/\"(]/.test(c)) {\n}".repeat(30);
        let cases = format!("switch (a) {{ {} }}", "case 1: ".repeat(5000));
        for text in [lines.as_str(), &chain, &cases, "a! / 2; b++ / 3; x => /'/"] {
            assert_eq!(check(text), Ok(()), "{:.50}", text);
        }
    }

    #[test]
    fn deep_texts_do_not() {
        for part in [
            "(",
            "[",
            "{",
            "`${",
            "!",
            "- ",
            "a+",
            "a=",
            "a.b.",
            "a?b:",
            "x=>",
            "if(a)",
            "a:",
            "if(a)\n",
            "if(a)x;else ",
            "do ",
            "typeof\n",
            "new ",
            "a\nin ",
            "()",
            "a\n`x`",
            "case.",
            "A<x,",
            "else\n",
            "await\n",
            "for await(a of b)\n",
            "a**",
            "a!",
            "...",
            "class A\nextends ",
            "<T>\n(",
            "a as\n",
            "[].",
            "x\u{2028}+",
        ] {
            let text = part.repeat(MAX_TOKENS + 2);
            assert!(check(&text).is_err(), "{part:?}");
            // Hidden from a look that takes a regular expression for something else.
            let text = format!("if (a) /\"`/.b; {text}");
            assert!(check(&text).is_err(), "{part:?}");
        }
    }

    #[test]
    fn an_unclear_slash_is_refused() {
        for (text, column) in [
            ("{}/'/", 3),
            ("a\u{a0}\n}\n/'/", 1),
            ("f<T> /a", 6),
            ("of /a/", 4),
        ] {
            let fault = check(text).unwrap_err();
            assert_eq!(fault.column, column, "{text}");
            assert!(fault.message.contains("regular expression"), "{fault}");
        }
        assert_eq!(check("a.of / b; a\u{a0}/ 2; return\u{a0}/'/"), Ok(()));
        assert!(check("a <!-- b").is_err());
        assert!(check("a\n --> b").is_err());
        assert_eq!(check("while (a --> 0);"), Ok(()));
    }

    #[test]
    fn long_texts_are_refused() {
        assert_eq!(check(&" ".repeat(MAX_BYTES)), Ok(()));
        assert!(check(&" ".repeat(MAX_BYTES + 1)).is_err());
        assert_eq!(check("a\n\0").unwrap_err().line, 2);
    }
}
