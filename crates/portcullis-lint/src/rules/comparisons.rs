//! `constant-comparison`: comparisons that always have the same result.

use super::Context;
use super::suggestions::instead_of;
use crate::finding::Report;
use crate::rule::Rule;
use crate::shape::Shape;
use crate::walk::{Comparison, Event, Operand};

/// What `typeof` can give.
const TYPES: &[&str] = &[
    "undefined",
    "object",
    "boolean",
    "number",
    "string",
    "function",
    "symbol",
    "bigint",
];

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    for event in &context.events {
        if let Event::Comparison(comparison) = event
            && let Some((message, fix)) = constant(comparison)
        {
            report.at(
                comparison.at.clone(),
                Rule::ConstantComparison,
                message,
                fix,
            );
        }
    }
}

fn constant(comparison: &Comparison) -> Option<(String, String)> {
    let (left, right) = (&comparison.left, &comparison.right);
    if left.is_nan || right.is_nan {
        let message = "nothing equals `NaN`, not even `NaN`".to_owned();
        return Some((message, "write `Number.isNaN(value)`".to_owned()));
    }
    for (one, other) in [(left, right), (right, left)] {
        if let (true, Some(text)) = (one.is_typeof, &other.text)
            && !TYPES.contains(&text.as_str())
        {
            let message = format!("`typeof` never gives `{text}`");
            return Some((message, instead_of(text, TYPES)));
        }
    }
    let (one, other) = (kind_of(left)?, kind_of(right)?);
    if one == other || !(comparison.is_strict || differ_loosely(one, other, left, right)) {
        return None;
    }
    let message = format!("{} never equals {}", with_article(one), with_article(other));
    Some((message, fix(one, other)))
}

/// What a side certainly is.
fn kind_of(side: &Operand) -> Option<&'static str> {
    match side.shape {
        Shape::Truth => Some("boolean"),
        Shape::Text | Shape::KindName | Shape::OperationName => Some("string"),
        Shape::Number => Some("number"),
        Shape::List(_) => Some("list"),
        _ => None,
    }
}

/// Whether the sides also differ after the conversions of `==`: true becomes 1, `"1"` becomes 1, and a text that is
/// no number equals no number and no boolean.
fn differ_loosely(one: &str, other: &str, left: &Operand, right: &Operand) -> bool {
    let is_number = |text: &String| text.trim().is_empty() || text.trim().parse::<f64>().is_ok();
    let texts: Vec<&String> = [&left.text, &right.text].into_iter().flatten().collect();
    let is_scalar = |kind| matches!(kind, "boolean" | "number" | "string");
    is_scalar(one)
        && is_scalar(other)
        && !texts.is_empty()
        && !texts
            .into_iter()
            .any(|text| is_number(text) || text.starts_with('0'))
}

fn with_article(kind: &str) -> String {
    format!("a {kind}")
}

fn fix(one: &str, other: &str) -> String {
    let has = |kind| one == kind || other == kind;
    if has("boolean") {
        "compare with `true` or `false`, or use the boolean itself; `!` binds more tightly than `===`".to_owned()
    } else if has("list") {
        "compare an element, or use `.includes(...)`".to_owned()
    } else {
        "write the number without quotes, or convert it".to_owned()
    }
}
