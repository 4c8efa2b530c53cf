//! A rough scan of the tokens of a text.

use crate::canvas::{is_line_end, is_space};

/// What a token is to a slash after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// An expression begins after it.
    #[default]
    Operator,
    /// It ends an expression.
    Operand,
    /// A word that may go on with a type, or be a name.
    TypeWord,
    /// A closing brace: of a block or of an object.
    Brace,
    /// Only a parser could decide.
    Unclear,
}

/// One token. Templates come in parts: `` ` ``, `${`, `` }` `` (a part ends) and ` `` ` (all ends).
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) text: String,
    pub(crate) after_line_end: bool,
    /// A word, number, string or regular expression.
    pub(crate) is_operand: bool,
}

/// Where a text is rejected, and why.
type Refusal = (usize, &'static str);

/// The tokens of a text, one by one.
#[derive(Debug)]
pub(crate) struct Tokens {
    cells: Vec<(usize, char)>,
    next: usize,
    /// For each open brace, whether it is a part of a template.
    braces: Vec<bool>,
    in_template: bool,
    previous: Kind,
    line_ended: bool,
}

impl Tokens {
    pub(crate) fn new(text: &str) -> Self {
        let mut tokens = Self {
            cells: text.char_indices().collect(),
            next: 0,
            braces: Vec::new(),
            in_template: false,
            previous: Kind::Operator,
            line_ended: true,
        };
        if text.starts_with("#!") {
            tokens.skip_line();
        }
        tokens
    }

    /// Tells what the last token was to the one after it.
    pub(crate) fn set_previous(&mut self, kind: Kind) {
        self.previous = kind;
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.cells.get(self.next + ahead).map(|(_, c)| *c)
    }

    fn sees(&self, text: &str) -> bool {
        (0..)
            .zip(text.chars())
            .all(|(i, c)| self.peek(i) == Some(c))
    }

    fn at(&self) -> usize {
        self.cells.get(self.next).map_or(0, |(at, _)| *at)
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| !is_line_end(c)) {
            self.next += 1;
        }
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.peek(0) {
            if is_line_end(c) {
                self.line_ended = true;
                self.next += 1;
            } else if is_space(c) {
                self.next += 1;
            } else if self.sees("//") {
                self.skip_line();
            } else if self.sees("/*") {
                self.next += 2;
                while self.peek(0).is_some() && !self.sees("*/") {
                    self.line_ended |= self.peek(0).is_some_and(is_line_end);
                    self.next += 1;
                }
                self.next += 2;
            } else {
                break;
            }
        }
    }

    /// The next token, or why the text is rejected.
    pub(crate) fn next(&mut self) -> Option<Result<Token, Refusal>> {
        if self.in_template {
            return self.template_part().map(Ok);
        }
        self.skip_blanks();
        let first = self.peek(0)?;
        let (from, at) = (self.next, self.at());
        let after_line_end = std::mem::take(&mut self.line_ended);
        let mut is_operand = true;
        let mut name = None;
        if is_word(first) {
            while self.peek(0).is_some_and(is_word) {
                self.next += 1;
            }
        } else if matches!(first, '"' | '\'') {
            self.skip_string(first);
            name = Some("\"");
        } else if first == '/' && self.begins_expression() {
            self.skip_regular_expression();
            name = Some("/");
        } else {
            if let Some(message) = self.refusal(after_line_end) {
                return Some(Err((at, message)));
            }
            is_operand = false;
            name = self.punctuation(first);
        }
        let own = self.cells.get(from..self.next).unwrap_or_default();
        let text = match name {
            Some(name) => name.to_owned(),
            None => own.iter().map(|(_, c)| c).collect(),
        };
        Some(Ok(Token {
            at,
            text,
            after_line_end,
            is_operand,
        }))
    }

    fn begins_expression(&self) -> bool {
        self.previous == Kind::Operator
    }

    fn refusal(&self, after_line_end: bool) -> Option<&'static str> {
        if self.sees("<!--") || (after_line_end && self.sees("-->")) {
            return Some("comments begin with `//`, not with `<!--` or `-->`");
        }
        let unclear = matches!(self.previous, Kind::Brace | Kind::Unclear);
        (unclear && self.sees("/")).then_some(
            "a regular expression or a division? Write a `;` or put parentheses around it",
        )
    }

    /// Takes a token that is not a word; returns a name if its characters are not its name.
    fn punctuation(&mut self, first: char) -> Option<&'static str> {
        let width = if ["++", "--", "=>", "?.", "<=", ">="]
            .iter()
            .any(|t| self.sees(t))
        {
            2
        } else {
            1
        };
        self.next += width;
        match first {
            '{' => self.braces.push(false),
            '}' if self.braces.pop() == Some(true) => {
                self.in_template = true;
                return Some("}`");
            }
            '`' => self.in_template = true,
            _ => {}
        }
        None
    }

    fn template_part(&mut self) -> Option<Token> {
        while self.peek(0).is_some() && !self.sees("`") && !self.sees("${") {
            self.next += if self.sees("\\") { 2 } else { 1 };
        }
        let at = self.at();
        let text = if self.peek(0)? == '`' {
            self.next += 1;
            "``"
        } else {
            self.next += 2;
            self.braces.push(true);
            "${"
        };
        self.in_template = false;
        Some(Token {
            at,
            text: text.to_owned(),
            after_line_end: false,
            is_operand: false,
        })
    }

    fn skip_string(&mut self, quote: char) {
        self.next += 1;
        while let Some(c) = self.peek(0) {
            if self.sees("\\\r\n") {
                self.next += 3;
            } else if c == '\\' {
                self.next += 2;
            } else if matches!(c, '\n' | '\r') {
                return;
            } else {
                self.next += 1;
                if c == quote {
                    return;
                }
            }
        }
    }

    fn skip_regular_expression(&mut self) {
        self.next += 1;
        let mut in_class = false;
        while let Some(c) = self.peek(0).filter(|c| !is_line_end(*c)) {
            self.next += 1;
            match c {
                '\\' if self.peek(0).is_some_and(|c| !is_line_end(c)) => self.next += 1,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => break,
                _ => {}
            }
        }
        while self.peek(0).is_some_and(is_word) {
            self.next += 1;
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '$' | '#' | '\\')
        || (!c.is_ascii() && !is_space(c) && !is_line_end(c))
}
