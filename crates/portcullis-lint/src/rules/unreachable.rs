//! `unreachable-code`: statements behind `return`, `throw`, `break`, `continue`, `deny()` or `allow()`.

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    BlockStmt, Decl, Expr, FunctionBody, ModuleItem, Stmt, SwitchCase, VarDeclKind,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    let mut found = Found {
        verdicts: ["deny", "allow"]
            .into_iter()
            .filter(|name| !context.bound.contains(*name))
            .collect(),
        spans: Vec::new(),
    };
    let items = context.tree.items();
    found.list(items.iter().filter_map(|item| match item {
        ModuleItem::Stmt(statement) => Some(statement),
        ModuleItem::ModuleDecl(_) => None,
    }));
    items.iter().for_each(|item| item.visit_with(&mut found));
    for (span, after) in found.spans {
        let message = format!("this never runs, because it is behind {after}");
        let fix = format!("remove it, or move it before {after}");
        report.at(
            context.tree.range(span),
            Rule::UnreachableCode,
            message,
            fix,
        );
    }
}

struct Found {
    /// Functions that end the policy, under the names that mean them.
    verdicts: Vec<&'static str>,
    spans: Vec<(Span, &'static str)>,
}

impl Found {
    fn list<'s>(&mut self, statements: impl Iterator<Item = &'s Stmt>) {
        let mut end = None;
        for statement in statements {
            match end {
                // One finding for all that follows.
                Some(after) if !is_hoisted(statement) => {
                    self.spans.push((statement.span(), after));
                    return;
                }
                Some(_) => {}
                None => end = self.ends(statement),
            }
        }
    }

    /// What of a statement nothing comes behind.
    fn ends(&self, statement: &Stmt) -> Option<&'static str> {
        match statement {
            Stmt::Return(_) => Some("`return`"),
            Stmt::Throw(_) => Some("`throw`"),
            Stmt::Break(_) => Some("`break`"),
            Stmt::Continue(_) => Some("`continue`"),
            Stmt::Expr(statement) => {
                let Expr::Call(call) = &*statement.expr else {
                    return None;
                };
                let name = call.callee.as_expr()?.as_ident()?;
                let verdict = self.verdicts.iter().find(|one| name.sym == ***one)?;
                Some(if *verdict == "deny" {
                    "`deny()`"
                } else {
                    "`allow()`"
                })
            }
            _ => None,
        }
    }
}

/// Functions, types and `var` without a value are declared wherever they stand.
fn is_hoisted(statement: &Stmt) -> bool {
    match statement {
        Stmt::Empty(_) => true,
        Stmt::Decl(Decl::Var(variable)) => {
            variable.kind == VarDeclKind::Var && variable.decls.iter().all(|one| one.init.is_none())
        }
        Stmt::Decl(declaration) => !matches!(declaration, Decl::Class(_)),
        _ => false,
    }
}

impl Visit for Found {
    fn visit_block_stmt(&mut self, node: &BlockStmt) {
        self.list(node.stmts.iter());
        node.visit_children_with(self);
    }

    fn visit_function_body(&mut self, node: &FunctionBody) {
        self.list(node.stmts.iter());
        node.visit_children_with(self);
    }

    fn visit_switch_case(&mut self, node: &SwitchCase) {
        // `return ...; break` is a habit.
        let statements = node.cons.iter();
        let last = node.cons.last();
        let last_is_break = matches!(last, Some(Stmt::Break(_)));
        self.list(statements.take(node.cons.len() - usize::from(last_is_break)));
        node.visit_children_with(self);
    }
}
