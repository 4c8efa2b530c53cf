//! The metadata of a policy: `export const policy = { … }`.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    CallExpr, Callee, Expr, ExprOrSpread, KeyValueProp, Lit, MemberProp, Prop, PropName,
    PropOrSpread, UnaryOp,
};

/// The name under which a policy describes itself.
pub(crate) const NAME: &str = "policy";

/// Why a description is rejected.
pub(crate) const MESSAGE: &str = "`policy` must be a literal: it is read before the policy runs";

/// A policy's description of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    /// The literal.
    pub value: Value,
    /// Where each of its parts stands, by JSON pointer without escapes; the empty one is the literal.
    pub places: BTreeMap<String, Place>,
}

/// Where a part of a literal stands: line and column, from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its key; for the literal itself and in lists the same as the value.
    pub key: (u32, u32),
    /// Its value.
    pub value: (u32, u32),
}

/// The parts of a literal by JSON pointer, with the spans of key and value.
pub(crate) fn spans(expr: &Expr, pointer: &str, key: Span, found: &mut Vec<(String, [Span; 2])>) {
    match expr {
        Expr::Paren(inner) => return spans(&inner.expr, pointer, key, found),
        Expr::Call(call) => {
            if let Some(inner) = frozen(call) {
                return spans(inner, pointer, key, found);
            }
        }
        Expr::Array(array) => {
            for (index, element) in array.elems.iter().flatten().enumerate() {
                let key = element.expr.span();
                spans(&element.expr, &format!("{pointer}/{index}"), key, found);
            }
        }
        Expr::Object(object) => {
            for prop in &object.props {
                if let PropOrSpread::Prop(prop) = prop
                    && let Prop::KeyValue(KeyValueProp { key, value }) = &**prop
                    && let Some(name) = name(key)
                {
                    spans(value, &format!("{pointer}/{name}"), key.span(), found);
                }
            }
        }
        _ => {}
    }
    found.push((pointer.to_owned(), [key, expr.span()]));
}

/// The value of a literal, or where it ceases to be one.
pub(crate) fn literal(expr: &Expr) -> Result<Value, Span> {
    let refused = Err(expr.span());
    match expr {
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::Call(call) => frozen(call).map_or(refused, literal),
        Expr::Lit(Lit::Str(text)) => Ok(text.value.to_string_lossy().into()),
        Expr::Lit(Lit::Bool(truth)) => Ok(truth.value.into()),
        Expr::Lit(Lit::Null(_)) => Ok(Value::Null),
        Expr::Lit(Lit::Num(n)) => number(n.value).ok_or(n.span),
        Expr::Unary(unary) => match (unary.op, &*unary.arg) {
            (UnaryOp::Minus, Expr::Lit(Lit::Num(n))) => number(-n.value).ok_or(n.span),
            _ => refused,
        },
        Expr::Tpl(template) => match template.quasis.as_slice() {
            [only] if template.exprs.is_empty() => {
                let text = only.cooked.as_ref().ok_or(template.span)?;
                Ok(text.to_string_lossy().into())
            }
            _ => refused,
        },
        Expr::Array(array) => array
            .elems
            .iter()
            .map(|element| match element {
                Some(ExprOrSpread { spread: None, expr }) => literal(expr),
                Some(ExprOrSpread { spread, expr }) => Err(spread.unwrap_or(expr.span())),
                None => Err(array.span),
            })
            .collect(),
        Expr::Object(object) => {
            let entries: Result<Map<_, _>, _> = object.props.iter().map(entry).collect();
            entries.map(Value::Object)
        }
        _ => refused,
    }
}

/// What `Object.freeze(…)` is called with.
fn frozen(call: &CallExpr) -> Option<&Expr> {
    let Callee::Expr(callee) = &call.callee else {
        return None;
    };
    let member = callee.as_member()?;
    let MemberProp::Ident(name) = &member.prop else {
        return None;
    };
    match call.args.as_slice() {
        [ExprOrSpread { spread: None, expr }]
            if name.sym == *"freeze" && member.obj.as_ident()?.sym == *"Object" =>
        {
            Some(expr)
        }
        _ => None,
    }
}

fn entry(prop: &PropOrSpread) -> Result<(String, Value), Span> {
    let refused = Err(prop.span());
    let PropOrSpread::Prop(prop) = prop else {
        return refused;
    };
    let Prop::KeyValue(KeyValueProp { key, value }) = &**prop else {
        return refused;
    };
    let Some(name) = name(key) else {
        return refused;
    };
    // This is not an entry: it sets the prototype.
    if name == "__proto__" {
        return refused;
    }
    Ok((name, literal(value)?))
}

fn name(key: &PropName) -> Option<String> {
    match key {
        PropName::Ident(name) => Some(name.sym.to_string()),
        PropName::Str(name) => Some(name.value.to_string_lossy().into_owned()),
        PropName::Num(n) => number(n.value).map(|number| number.to_string()),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers that fit are cast"
)]
fn number(value: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}
