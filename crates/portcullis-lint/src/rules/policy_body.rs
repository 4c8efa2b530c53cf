//! The function of a policy: its body, or what it exports by default.

use swc_ecma_ast::{
    ArrowFunctionBody, Decl, DefaultDecl, Expr, ModuleDecl, ModuleItem, Stmt, VarDecl,
};

/// What runs for each request.
pub(super) enum PolicyBody<'t> {
    Statements(Vec<&'t Stmt>),
    /// An arrow function of one expression.
    Value(&'t Expr),
}

/// The function of a policy; nothing if it is not written here.
pub(super) fn of(items: &[ModuleItem]) -> Option<PolicyBody<'_>> {
    let is_module = items.iter().any(|item| {
        let ModuleItem::ModuleDecl(declaration) = item else {
            return false;
        };
        // Types alone make no module.
        !matches!(declaration, ModuleDecl::Import(import) if import.type_only)
    });
    if !is_module {
        let statements = items.iter().filter_map(|item| match item {
            ModuleItem::Stmt(statement) => Some(statement),
            ModuleItem::ModuleDecl(_) => None,
        });
        return Some(PolicyBody::Statements(statements.collect()));
    }
    items.iter().find_map(|item| match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Fn(function) => {
                let body = function.function.body.as_ref()?;
                Some(PolicyBody::Statements(body.stmts.iter().collect()))
            }
            _ => None,
        },
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => {
            of_expression(&export.expr, items)
        }
        _ => None,
    })
}

fn of_expression<'t>(expr: &'t Expr, items: &'t [ModuleItem]) -> Option<PolicyBody<'t>> {
    match expr.unwrap_parens() {
        Expr::Arrow(arrow) => Some(match &*arrow.body {
            ArrowFunctionBody::Expr(body) => PolicyBody::Value(body),
            ArrowFunctionBody::FunctionBody(body) => {
                PolicyBody::Statements(body.stmts.iter().collect())
            }
        }),
        Expr::Fn(function) => {
            let body = function.function.body.as_ref()?;
            Some(PolicyBody::Statements(body.stmts.iter().collect()))
        }
        Expr::Ident(name) => items.iter().find_map(|item| match item {
            ModuleItem::Stmt(Stmt::Decl(Decl::Fn(function))) if function.ident.sym == name.sym => {
                let body = function.function.body.as_ref()?;
                Some(PolicyBody::Statements(body.stmts.iter().collect()))
            }
            ModuleItem::Stmt(Stmt::Decl(Decl::Var(variable))) => {
                of_variable(variable, &name.sym, items)
            }
            _ => None,
        }),
        _ => None,
    }
}

fn of_variable<'t>(
    variable: &'t VarDecl,
    name: &str,
    items: &'t [ModuleItem],
) -> Option<PolicyBody<'t>> {
    let one = variable.decls.iter().find(|one| {
        let bound = one.name.as_ident();
        bound.is_some_and(|bound| bound.id.sym == *name)
    })?;
    // A name for a name could go round in circles.
    let init = one.init.as_deref()?.unwrap_parens();
    (!init.is_ident()).then(|| of_expression(init, items))?
}
