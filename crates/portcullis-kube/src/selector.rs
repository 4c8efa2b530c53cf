//! Selectors of labels and fields as Kubernetes writes them, read as requirements.

use portcullis_core::access::Requirement;
use serde_json::Value;

use crate::labels::{MAX_NAME, MAX_PREFIX, is_name, is_subdomain};

/// Fields are compared with one value; there is no other way to select by them.
pub(crate) fn is_field_requirement(requirement: &Requirement) -> bool {
    matches!(requirement.operator.as_str(), "In" | "NotIn") && requirement.values.len() == 1
}

/// Whether a requirement is one that a label selector may have.
pub fn is_label_requirement(requirement: &Requirement) -> bool {
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

/// The requirements of a field selector: `a=b,c==d,e!=f`; in values `\` stands before `\`, `,` and `=`.
/// `None` for any other text.
pub fn parse_fields(text: &str) -> Option<Vec<Requirement>> {
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

/// The requirements of a label selector: `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k`, `!k`,
/// with commas between. `None` for any other text.
pub fn parse_labels(text: &str) -> Option<Vec<Requirement>> {
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

/// Whether the labels of an object meet all these requirements.
pub fn selects_labels(requirements: &[Requirement], object: &Value) -> bool {
    let labels = object.pointer("/metadata/labels");
    is_met(requirements, |key| {
        labels.and_then(|labels| labels.get(key)?.as_str())
    })
}

/// The same for labels that are found by their keys.
pub fn is_met<'l>(requirements: &[Requirement], label: impl Fn(&str) -> Option<&'l str>) -> bool {
    requirements.iter().all(|requirement| {
        let found = label(&requirement.key);
        let is_listed = |found: &str| requirement.values.iter().any(|value| value == found);
        match requirement.operator.as_str() {
            "In" => found.is_some_and(is_listed),
            "NotIn" => !found.is_some_and(is_listed),
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    })
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
    let is_prefix = |prefix: &str| prefix.len() <= MAX_PREFIX && is_subdomain(prefix);
    name.len() <= MAX_NAME && is_name(name) && prefix.is_none_or(is_prefix)
}

/// Letters and digits, with `-`, `_` and `.` between; may be empty.
fn is_label_value(value: &str) -> bool {
    value.is_empty() || (value.len() <= MAX_NAME && is_name(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_are_selected_as_kubernetes_selects_them() {
        let object = json!({"metadata": {"labels": {"team": "red", "tier": ""}}});
        for (selector, selects) in [
            ("", true),
            ("team=red", true),
            ("team==blue", false),
            ("team!=blue", true),
            ("other!=blue", true),
            ("team in (red,blue),tier", true),
            ("team notin (red)", false),
            ("other notin (red)", true),
            ("!other", true),
            ("!team", false),
            ("other", false),
            ("tier=", true),
        ] {
            let wanted = parse_labels(selector).unwrap();
            assert_eq!(selects_labels(&wanted, &object), selects, "{selector}");
        }
        let wanted = parse_labels("a!=b").unwrap();
        assert!(selects_labels(&wanted, &json!({"metadata": {}})));
    }
}
