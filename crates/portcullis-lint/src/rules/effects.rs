//! `no-effect`: a policy that can't deny, warn, allow or change anything, whatever comes.
//!
//! What might have an effect has one: a call of what is not known to be harmless, any assignment to a member.

use swc_ecma_ast::{
    AssignExpr, AssignTarget, AwaitExpr, CallExpr, Callee, Expr, ExprOrSpread, Ident, MemberProp,
    ModuleItem, NewExpr, OptCall, OptChainBase, ReturnStmt, SimpleAssignTarget, TaggedTpl,
    ThrowStmt, UnaryExpr, UnaryOp, UpdateExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use super::policy_body::{self, PolicyBody};
use crate::finding::Report;
use crate::rule::Rule;

/// Methods that change nothing and throw nothing, whatever they are called on.
const HARMLESS: &[&str] = &[
    "log",
    "info",
    "debug",
    "includes",
    "startsWith",
    "endsWith",
    "indexOf",
    "slice",
    "split",
    "trim",
    "toLowerCase",
    "toUpperCase",
    "join",
    "map",
    "filter",
    "some",
    "every",
    "find",
    "forEach",
    "flatMap",
    "keys",
    "values",
    "entries",
    "test",
    "isArray",
];

/// Those that call what they are given.
const TAKING_FUNCTIONS: &[&str] = &[
    "map", "filter", "some", "every", "find", "forEach", "flatMap",
];

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    if context.scope.is_none() {
        return;
    }
    let items = context.tree.items();
    let mut found = Effects(false);
    items.iter().for_each(|item| item.visit_with(&mut found));
    match policy_body::of(items) {
        Some(PolicyBody::Value(value)) => found.0 |= decides(value),
        Some(PolicyBody::Statements(_)) => {}
        None => found.0 = true,
    }
    if !found.0 {
        let message = "the policy never denies, warns, allows or changes anything";
        let fix = "return a string, or call `deny(...)` or `warn(...)`";
        let at = items.iter().find(|item| is_code(item));
        let at = at.map_or(0..0, |item| {
            context.tree.range(swc_common::Spanned::span(item))
        });
        report.at(at, Rule::NoEffect, message, fix);
    }
}

/// The function of the policy, or its first statement.
fn is_code(item: &ModuleItem) -> bool {
    use swc_ecma_ast::ModuleDecl::{ExportDefaultDecl, ExportDefaultExpr};
    match item {
        ModuleItem::Stmt(_) => true,
        ModuleItem::ModuleDecl(declaration) => {
            matches!(declaration, ExportDefaultDecl(_) | ExportDefaultExpr(_))
        }
    }
}

/// Whether a value that is returned decides something: what is no verdict denies as an error.
fn decides(expr: &Expr) -> bool {
    match expr.unwrap_parens() {
        Expr::Ident(name) => name.sym != *"undefined",
        Expr::Unary(unary) => unary.op != UnaryOp::Void,
        _ => true,
    }
}

struct Effects(bool);

impl Visit for Effects {
    fn visit_return_stmt(&mut self, node: &ReturnStmt) {
        self.0 |= node.arg.as_deref().is_some_and(decides);
        node.visit_children_with(self);
    }

    fn visit_throw_stmt(&mut self, _: &ThrowStmt) {
        self.0 = true;
    }

    fn visit_await_expr(&mut self, _: &AwaitExpr) {
        self.0 = true;
    }

    fn visit_new_expr(&mut self, _: &NewExpr) {
        self.0 = true;
    }

    fn visit_tagged_tpl(&mut self, _: &TaggedTpl) {
        self.0 = true;
    }

    fn visit_update_expr(&mut self, node: &UpdateExpr) {
        self.0 |= !node.arg.is_ident();
    }

    fn visit_unary_expr(&mut self, node: &UnaryExpr) {
        self.0 |= node.op == UnaryOp::Delete;
        node.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, node: &AssignExpr) {
        let to_name = matches!(
            &node.left,
            AssignTarget::Simple(SimpleAssignTarget::Ident(_))
        );
        self.0 |= !to_name;
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, node: &CallExpr) {
        match &node.callee {
            Callee::Expr(callee) => self.0 |= !is_harmless(callee, &node.args),
            Callee::Super(_) | Callee::Import(_) => self.0 = true,
        }
        node.visit_children_with(self);
    }

    fn visit_opt_call(&mut self, node: &OptCall) {
        self.0 |= !is_harmless(&node.callee, &node.args);
        node.visit_children_with(self);
    }

    /// What is given to a function may be called there.
    fn visit_ident(&mut self, node: &Ident) {
        self.0 |= matches!(&*node.sym, "deny" | "warn" | "allow");
    }
}

fn is_harmless(callee: &Expr, arguments: &[ExprOrSpread]) -> bool {
    // A function that is given by its name may do anything.
    let is_name = |one: &ExprOrSpread| matches!(&*one.expr, Expr::Ident(_));
    let takes_function = |name: &str| TAKING_FUNCTIONS.contains(&name);
    let member = match callee.unwrap_parens() {
        Expr::Member(member) => member,
        Expr::OptChain(chain) => match &*chain.base {
            OptChainBase::Member(member) => member,
            OptChainBase::Call(_) => return false,
        },
        _ => return false,
    };
    let MemberProp::Ident(name) = &member.prop else {
        return false;
    };
    HARMLESS.contains(&&*name.sym) && !(takes_function(&name.sym) && arguments.iter().any(is_name))
}
