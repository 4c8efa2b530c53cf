//! Selectors of a review: as requirements, or as the text that a client sent.
//!
//! Requirements replace the text. What is not valid contributes nothing: it never narrows a request, and
//! never makes it an error.

use portcullis_core::access::Requirement;
use serde::Deserialize;

use crate::object::Object;

/// A selector on the wire.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Selector {
    raw_selector: Option<String>,
    requirements: Option<Vec<Object<WireRequirement>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireRequirement {
    key: String,
    operator: String,
    values: Option<Vec<String>>,
}

/// The requirements of a field selector.
pub(super) fn of_fields(selector: Option<Object<Selector>>) -> Vec<Requirement> {
    requirements(selector, is_field_requirement, parse_fields)
}

/// The requirements of a label selector.
pub(super) fn of_labels(selector: Option<Object<Selector>>) -> Vec<Requirement> {
    requirements(selector, is_label_requirement, parse_labels)
}

fn requirements(
    selector: Option<Object<Selector>>,
    is_valid: fn(&Requirement) -> bool,
    parse: fn(&str) -> Option<Vec<Requirement>>,
) -> Vec<Requirement> {
    let Some(Object(selector)) = selector else {
        return Vec::new();
    };
    let sent = selector.requirements.unwrap_or_default();
    if sent.is_empty() {
        let raw = selector.raw_selector.unwrap_or_default();
        return parse(&raw).unwrap_or_default();
    }
    let requirement = |Object(r): Object<WireRequirement>| Requirement {
        key: r.key,
        operator: r.operator,
        values: r.values.unwrap_or_default(),
    };
    sent.into_iter().map(requirement).filter(is_valid).collect()
}

/// Fields are compared with one value; there is no other way to select by them.
fn is_field_requirement(requirement: &Requirement) -> bool {
    matches!(requirement.operator.as_str(), "In" | "NotIn") && requirement.values.len() == 1
}

fn is_label_requirement(requirement: &Requirement) -> bool {
    let values = &requirement.values;
    let fits = match requirement.operator.as_str() {
        "In" | "NotIn" => !values.is_empty(),
        "Exists" | "DoesNotExist" => values.is_empty(),
        _ => false,
    };
    fits && is_label_key(&requirement.key) && values.iter().all(|value| is_label_value(value))
}

fn requirement(key: &str, operator: &str, values: Vec<String>) -> Requirement {
    Requirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values,
    }
}

/// `a=b,c==d,e!=f`; in values `\` stands before `\`, `,` and `=`.
fn parse_fields(text: &str) -> Option<Vec<Requirement>> {
    let mut all = Vec::new();
    let terms = field_terms(text);
    for term in terms.into_iter().filter(|term| !term.is_empty()) {
        let (before, after) = term.split_once('=')?;
        let (key, operator, value) = match (before.strip_suffix('!'), after.strip_prefix('=')) {
            (Some(key), _) => (key, "NotIn", after),
            (None, Some(after)) => (before, "In", after),
            (None, None) => (before, "In", after),
        };
        all.push(requirement(key, operator, vec![unescape(value)?]));
    }
    Some(all)
}

/// The parts between commas that no `\` stands before.
fn field_terms(text: &str) -> Vec<&str> {
    let mut escaped = false;
    text.split(move |c: char| {
        let ends = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })
    .collect()
}

fn unescape(value: &str) -> Option<String> {
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(chars.next().filter(|c| matches!(c, '\\' | ',' | '='))?),
            ',' | '=' => return None,
            c => plain.push(c),
        }
    }
    Some(plain)
}

/// `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`, `!k`, with commas between.
fn parse_labels(text: &str) -> Option<Vec<Requirement>> {
    let tokens = label_tokens(text)?;
    let mut rest = tokens.as_slice();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (found, after) = label_requirement(rest)?;
        if !is_label_requirement(&found) {
            return None;
        }
        all.push(found);
        rest = match after {
            [] => after,
            [Token::Comma, next @ ..] if !next.is_empty() => next,
            _ => return None,
        };
    }
    Some(all)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Equal,
    NotEqual,
    Not,
    Comma,
    Open,
    Close,
}

fn label_tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let mark = |token, mark: &str| Some((token, rest.strip_prefix(mark)?));
        let (token, after) = match first {
            '=' => mark(Token::Equal, "==").or_else(|| mark(Token::Equal, "="))?,
            '!' => mark(Token::NotEqual, "!=").or_else(|| mark(Token::Not, "!"))?,
            ',' => mark(Token::Comma, ",")?,
            '(' => mark(Token::Open, "(")?,
            ')' => mark(Token::Close, ")")?,
            // Greater and less are for node affinity.
            '<' | '>' => return None,
            _ => {
                let ends = |c: char| c.is_whitespace() || "=!,()<>".contains(c);
                let end = rest.find(ends).unwrap_or(rest.len());
                let (word, after) = rest.split_at_checked(end)?;
                (Token::Word(word), after)
            }
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Some(tokens)
}

/// One requirement, and what follows it.
fn label_requirement<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(Requirement, &'a [Token<'t>])> {
    let (key, after) = match tokens {
        [Token::Not, Token::Word(key), after @ ..] => {
            return Some((requirement(key, "DoesNotExist", Vec::new()), after));
        }
        [Token::Word(key), after @ ..] => (key, after),
        _ => return None,
    };
    match after {
        [] | [Token::Comma, ..] => Some((requirement(key, "Exists", Vec::new()), after)),
        [sign @ (Token::Equal | Token::NotEqual), after @ ..] => {
            let operator = if *sign == Token::Equal { "In" } else { "NotIn" };
            let (value, after) = match after {
                [Token::Word(value), after @ ..] => (*value, after),
                _ => ("", after),
            };
            Some((requirement(key, operator, vec![value.to_owned()]), after))
        }
        [
            Token::Word(sign @ ("in" | "notin")),
            Token::Open,
            after @ ..,
        ] => {
            let operator = if *sign == "in" { "In" } else { "NotIn" };
            let (values, after) = label_values(after)?;
            Some((requirement(key, operator, values), after))
        }
        _ => None,
    }
}

/// Values up to the closing parenthesis, and what follows it.
fn label_values<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(Vec<String>, &'a [Token<'t>])> {
    let end = tokens.iter().position(|token| *token == Token::Close)?;
    let (inside, after) = tokens.split_at_checked(end)?;
    let values = inside.split(|token| *token == Token::Comma);
    let values = values.map(|value| match value {
        [] => Some(String::new()),
        [Token::Word(word)] => Some((*word).to_owned()),
        _ => None,
    });
    Some((values.collect::<Option<_>>()?, after.get(1..)?))
}

/// `name` or `prefix/name`.
fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_subdomain)
}

/// Letters and digits, with `-`, `_` and `.` between; may be empty.
fn is_label_value(value: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric();
    let inner = |b: u8| plain(b) || matches!(b, b'-' | b'_' | b'.');
    let ends = |b: Option<&u8>| b.is_none_or(|b| plain(*b));
    let bytes = value.as_bytes();
    bytes.len() <= 63
        && bytes.iter().all(|b| inner(*b))
        && ends(bytes.first())
        && ends(bytes.last())
}

fn is_subdomain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let part = |part: &str| {
        let bytes = part.as_bytes();
        let ends = |b: Option<&u8>| b.is_some_and(|b| plain(*b));
        bytes.iter().all(|b| plain(*b) || *b == b'-') && ends(bytes.first()) && ends(bytes.last())
    };
    text.len() <= 253 && text.split('.').all(part)
}

#[cfg(test)]
mod tests;
