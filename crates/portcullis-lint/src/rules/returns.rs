//! `meaningless-return`: the policy returns a number, an object or a list, which is no verdict.

use swc_common::Span;
use swc_ecma_ast::{ArrowExpr, Class, Expr, Function, Lit, ReturnStmt};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use super::policy_body::{self, PolicyBody};
use crate::finding::Report;
use crate::rule::Rule;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    if context.scope.is_none() {
        return;
    }
    let mut found = Found(Vec::new());
    match policy_body::of(context.tree.items()) {
        Some(PolicyBody::Statements(all)) => {
            all.iter()
                .for_each(|statement| statement.visit_with(&mut found));
        }
        Some(PolicyBody::Value(value)) => found.value(value),
        None => {}
    }
    for (span, what) in found.0 {
        let message = format!("{what} is not a verdict: the request is denied as an error");
        let fix = "return a string or `false` to deny, `true` to allow, or nothing";
        report.at(
            context.tree.range(span),
            Rule::MeaninglessReturn,
            message,
            fix,
        );
    }
}

struct Found(Vec<(Span, &'static str)>);

impl Found {
    fn value(&mut self, expr: &Expr) {
        let found = match expr {
            Expr::Paren(inner) => return self.value(&inner.expr),
            Expr::Cond(cond) => {
                self.value(&cond.cons);
                return self.value(&cond.alt);
            }
            Expr::Lit(Lit::Num(number)) => (number.span, "a number"),
            Expr::Lit(Lit::BigInt(number)) => (number.span, "a number"),
            Expr::Lit(Lit::Regex(regex)) => (regex.span, "a regular expression"),
            Expr::Object(object) => (object.span, "an object"),
            Expr::Array(list) => (list.span, "a list"),
            Expr::Arrow(arrow) => (arrow.span, "a function"),
            Expr::Fn(function) => (function.function.span, "a function"),
            _ => return,
        };
        self.0.push(found);
    }
}

impl Visit for Found {
    fn visit_return_stmt(&mut self, node: &ReturnStmt) {
        node.arg.iter().for_each(|value| self.value(value));
    }

    // What they return is not what the policy returns.
    fn visit_function(&mut self, _: &Function) {}

    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}

    fn visit_class(&mut self, _: &Class) {}
}
