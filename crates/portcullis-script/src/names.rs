//! The names a module declares at its top level.

use std::collections::HashSet;

use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, Class, Decl, DefaultDecl, Function, ImportDecl, Module, ModuleDecl, ModuleItem,
    ObjectPatProp, Pat, Stmt, VarDecl, VarDeclKind,
};
use swc_ecma_visit::{Visit, VisitWith};

/// Every name a module declares at its top, imports among them.
pub(crate) fn of_module(module: &Module) -> HashSet<String> {
    let mut names = Names::default();
    for item in &module.body {
        match item {
            ModuleItem::Stmt(Stmt::Decl(declaration)) => names.declare(declaration),
            ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => names.declare(&export.decl),
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => {
                names.0.extend(of_default(&export.decl));
            }
            other => other.visit_with(&mut names),
        }
    }
    names.0
}

/// The name of a default export that has one of its own.
pub(crate) fn of_default(declaration: &DefaultDecl) -> Option<String> {
    let name = match declaration {
        DefaultDecl::Fn(function) => function.ident.as_ref(),
        DefaultDecl::Class(class) => class.ident.as_ref(),
        DefaultDecl::TsInterfaceDecl(_) => None,
    };
    name.map(|name| name.sym.to_string())
}

/// The names a declaration declares, with their places.
pub(crate) fn of_declaration(declaration: &Decl) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    match declaration {
        Decl::Class(class) => names.push((class.ident.sym.to_string(), class.ident.span)),
        Decl::Fn(function) => names.push((function.ident.sym.to_string(), function.ident.span)),
        Decl::Var(var) => {
            for declarator in &var.decls {
                of_pattern(&declarator.name, &mut names);
            }
        }
        _ => {}
    }
    names
}

/// The names a pattern binds.
fn of_pattern(pattern: &Pat, names: &mut Vec<(String, Span)>) {
    match pattern {
        Pat::Ident(name) => names.push((name.id.sym.to_string(), name.id.span)),
        Pat::Array(array) => {
            for element in array.elems.iter().flatten() {
                of_pattern(element, names);
            }
        }
        Pat::Rest(rest) => of_pattern(&rest.arg, names),
        Pat::Object(object) => {
            for property in &object.props {
                match property {
                    ObjectPatProp::KeyValue(pair) => of_pattern(&pair.value, names),
                    ObjectPatProp::Assign(short) => {
                        names.push((short.key.id.sym.to_string(), short.key.id.span));
                    }
                    ObjectPatProp::Rest(rest) => of_pattern(&rest.arg, names),
                }
            }
        }
        Pat::Assign(assign) => of_pattern(&assign.left, names),
        Pat::Invalid(_) | Pat::Expr(_) => {}
    }
}

#[derive(Debug, Default)]
struct Names(HashSet<String>);

impl Names {
    fn declare(&mut self, declaration: &Decl) {
        self.0.extend(
            of_declaration(declaration)
                .into_iter()
                .map(|(name, _)| name),
        );
    }
}

/// Finds imports, and each `var` outside of functions.
impl Visit for Names {
    fn visit_import_decl(&mut self, node: &ImportDecl) {
        let locals = node.specifiers.iter().map(|s| s.local().sym.to_string());
        self.0.extend(locals);
    }

    fn visit_var_decl(&mut self, node: &VarDecl) {
        if node.kind == VarDeclKind::Var {
            for declarator in &node.decls {
                let mut names = Vec::new();
                of_pattern(&declarator.name, &mut names);
                self.0.extend(names.into_iter().map(|(name, _)| name));
            }
        }
        node.visit_children_with(self);
    }

    fn visit_function(&mut self, _: &Function) {}

    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}

    fn visit_class(&mut self, _: &Class) {}
}
