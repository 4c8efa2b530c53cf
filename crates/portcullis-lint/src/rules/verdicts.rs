//! `uncalled-verdict`: `deny`, `warn` or `allow` is named where its result is expected, but not called.

use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, BinExpr, CondExpr, Expr, ExprStmt, Ident, IfStmt, ReturnStmt,
    TaggedTpl, Tpl,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;

const VERDICTS: [&str; 3] = ["deny", "warn", "allow"];

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let mut found = Found(Vec::new());
    let items = context.tree.items();
    items.iter().for_each(|item| item.visit_with(&mut found));
    for name in found.0 {
        let verdict = name.sym.to_string();
        if context.bound.contains(&verdict) {
            continue;
        }
        let message = format!("`{verdict}` is not called, so nothing happens");
        let fix = format!("write `{verdict}(\"why\")`");
        report.at(
            context.tree.range(name.span),
            Rule::UncalledVerdict,
            message,
            fix,
        );
    }
}

struct Found(Vec<Ident>);

impl Found {
    fn value(&mut self, expr: &Expr) {
        match expr {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Ident(name) if VERDICTS.contains(&&*name.sym) => self.0.push(name.clone()),
            Expr::Cond(cond) => {
                self.value(&cond.cons);
                self.value(&cond.alt);
            }
            _ => {}
        }
    }
}

impl Visit for Found {
    fn visit_expr_stmt(&mut self, node: &ExprStmt) {
        self.value(&node.expr);
        // `a && deny`
        if let Expr::Bin(binary) = &*node.expr {
            self.value(&binary.right);
        }
        node.visit_children_with(self);
    }

    fn visit_return_stmt(&mut self, node: &ReturnStmt) {
        node.arg.iter().for_each(|value| self.value(value));
        node.visit_children_with(self);
    }

    fn visit_arrow_expr(&mut self, node: &ArrowExpr) {
        if let ArrowFunctionBody::Expr(body) = &*node.body {
            self.value(body);
        }
        node.visit_children_with(self);
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        self.value(&node.test);
        node.visit_children_with(self);
    }

    fn visit_cond_expr(&mut self, node: &CondExpr) {
        self.value(&node.test);
        node.visit_children_with(self);
    }

    fn visit_tpl(&mut self, node: &Tpl) {
        node.exprs.iter().for_each(|part| self.value(part));
        node.visit_children_with(self);
    }

    fn visit_tagged_tpl(&mut self, node: &TaggedTpl) {
        self.value(&node.tag);
        node.tpl.exprs.iter().for_each(|part| part.visit_with(self));
    }

    fn visit_bin_expr(&mut self, node: &BinExpr) {
        if !node.op.may_short_circuit() {
            // `typeof deny === "function"` is another expression.
            self.value(&node.left);
            self.value(&node.right);
        }
        node.visit_children_with(self);
    }
}
