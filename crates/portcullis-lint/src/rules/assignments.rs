//! `assignment-in-condition`: `=` where `===` is expected. In parentheses of its own it is meant.

use swc_common::Spanned;
use swc_ecma_ast::{
    AssignOp, BinExpr, BinaryOp, CondExpr, DoWhileStmt, Expr, ForStmt, IfStmt, UnaryExpr, UnaryOp,
    WhileStmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let mut found = Found(Vec::new());
    let items = context.tree.items();
    items.iter().for_each(|item| item.visit_with(&mut found));
    for span in found.0 {
        let message = "the condition assigns, so it does not compare";
        let fix = "write `===`; if it is meant, put it in parentheses of its own";
        report.at(
            context.tree.range(span),
            Rule::AssignmentInCondition,
            message,
            fix,
        );
    }
}

struct Found(Vec<swc_common::Span>);

impl Found {
    fn condition(&mut self, expr: &Expr) {
        match expr {
            Expr::Assign(assign) if assign.op == AssignOp::Assign => self.0.push(expr.span()),
            Expr::Bin(BinExpr {
                op: BinaryOp::LogicalAnd | BinaryOp::LogicalOr,
                left,
                right,
                ..
            }) => {
                self.operand(left);
                self.operand(right);
            }
            Expr::Unary(UnaryExpr {
                op: UnaryOp::Bang,
                arg,
                ..
            }) => self.operand(arg),
            _ => {}
        }
    }

    /// An assignment here needs parentheses anyway, so that a second pair says that it is meant.
    fn operand(&mut self, expr: &Expr) {
        match expr {
            Expr::Paren(inner) if inner.expr.is_assign() => {}
            other => self.condition(other),
        }
    }
}

impl Visit for Found {
    fn visit_if_stmt(&mut self, node: &IfStmt) {
        self.condition(&node.test);
        node.visit_children_with(self);
    }

    fn visit_while_stmt(&mut self, node: &WhileStmt) {
        self.condition(&node.test);
        node.visit_children_with(self);
    }

    fn visit_do_while_stmt(&mut self, node: &DoWhileStmt) {
        self.condition(&node.test);
        node.visit_children_with(self);
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        node.test.iter().for_each(|test| self.condition(test));
        node.visit_children_with(self);
    }

    fn visit_cond_expr(&mut self, node: &CondExpr) {
        self.condition(&node.test);
        node.visit_children_with(self);
    }
}
