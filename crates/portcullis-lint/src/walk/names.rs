//! The names of a text: which are bound, and which get another value later.

use std::collections::HashSet;

use swc_ecma_ast::{
    AssignExpr, AssignTarget, BindingIdent, CallExpr, Callee, Decl, Expr, ForHead, ForInStmt,
    ForOfStmt, Function, ImportDecl, MemberExpr, MemberProp, ModuleItem, OptChainBase, Pat,
    SimpleAssignTarget, Stmt, UnaryExpr, UnaryOp, UpdateExpr, VarDecl, VarDeclKind,
};
use swc_ecma_visit::{Visit, VisitWith};

/// Methods that change the list they are called on.
const CHANGING: &[&str] = &[
    "push",
    "unshift",
    "splice",
    "fill",
    "copyWithin",
    "set",
    "add",
];

/// Names that are assigned to, or whose value is changed.
pub(super) fn changed(items: &[ModuleItem]) -> HashSet<String> {
    let mut found = Changed::default();
    items.iter().for_each(|item| item.visit_with(&mut found));
    found.names
}

/// Whether anything called `kind` is assigned to.
pub(super) fn changes_kind(items: &[ModuleItem]) -> bool {
    let mut found = Changed::default();
    items.iter().for_each(|item| item.visit_with(&mut found));
    found.assigns_kind
}

#[derive(Default)]
struct Changed {
    names: HashSet<String>,
    assigns_kind: bool,
}

impl Changed {
    fn target(&mut self, expr: &Expr) {
        match expr {
            Expr::Ident(name) => {
                self.names.insert(name.sym.to_string());
            }
            Expr::Paren(inner) => self.target(&inner.expr),
            Expr::TsAs(inner) => self.target(&inner.expr),
            Expr::TsNonNull(inner) => self.target(&inner.expr),
            Expr::Member(member) => self.member(member),
            _ => {}
        }
    }

    /// A member gets another value. An element of a list is a part of what its name holds.
    fn member(&mut self, member: &MemberExpr) {
        let name = match &*member.obj {
            Expr::Ident(name) => &*name.sym,
            _ => "",
        };
        match &member.prop {
            MemberProp::Ident(key) if key.sym == *"kind" => self.assigns_kind = true,
            MemberProp::Computed(_)
                if ["object", "oldObject", "req", "request"].contains(&name) =>
            {
                self.assigns_kind = true;
            }
            MemberProp::Computed(_) => {
                self.names.insert(name.to_owned());
            }
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(name) => {
                self.names.insert(name.id.sym.to_string());
            }
            Pat::Expr(expr) => self.target(expr),
            other => {
                let mut bound = Bound::default();
                other.visit_with(&mut bound);
                self.names.extend(bound.0);
            }
        }
    }

    fn call(&mut self, callee: &Expr) {
        let member = match callee {
            Expr::Member(member) => member,
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => member,
                OptChainBase::Call(_) => return,
            },
            _ => return,
        };
        if let (Expr::Ident(name), MemberProp::Ident(method)) = (&*member.obj, &member.prop)
            && CHANGING.contains(&&*method.sym)
        {
            self.names.insert(name.sym.to_string());
        }
    }
}

impl Visit for Changed {
    fn visit_assign_expr(&mut self, node: &AssignExpr) {
        match &node.left {
            AssignTarget::Simple(target) => match target {
                SimpleAssignTarget::Ident(name) => {
                    self.names.insert(name.id.sym.to_string());
                }
                SimpleAssignTarget::Member(member) => self.member(member),
                SimpleAssignTarget::Paren(inner) => self.target(&inner.expr),
                SimpleAssignTarget::TsAs(inner) => self.target(&inner.expr),
                SimpleAssignTarget::TsNonNull(inner) => self.target(&inner.expr),
                _ => {}
            },
            AssignTarget::Pat(pattern) => {
                let mut bound = Bound::default();
                pattern.visit_with(&mut bound);
                self.names.extend(bound.0);
                // What is assigned to by a pattern may be anything.
                self.assigns_kind = true;
            }
        }
        node.visit_children_with(self);
    }

    fn visit_update_expr(&mut self, node: &UpdateExpr) {
        self.target(&node.arg);
        node.visit_children_with(self);
    }

    fn visit_unary_expr(&mut self, node: &UnaryExpr) {
        if node.op == UnaryOp::Delete
            && let Expr::Member(member) = &*node.arg
        {
            self.member(member);
        }
        node.visit_children_with(self);
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        if let ForHead::Pat(pattern) = &node.left {
            self.pattern(pattern);
        }
        node.visit_children_with(self);
    }

    fn visit_for_in_stmt(&mut self, node: &ForInStmt) {
        if let ForHead::Pat(pattern) = &node.left {
            self.pattern(pattern);
        }
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, node: &CallExpr) {
        if let Callee::Expr(callee) = &node.callee {
            self.call(callee);
            // It may change what it is given.
            if let Expr::Member(member) = &**callee
                && matches!(&member.prop, MemberProp::Ident(name) if name.sym == *"assign")
                && let Some(first) = node.args.first()
            {
                self.target(&first.expr);
            }
        }
        node.visit_children_with(self);
    }
}

/// The names that patterns bind.
#[derive(Default)]
struct Bound(HashSet<String>);

impl Visit for Bound {
    fn visit_binding_ident(&mut self, node: &BindingIdent) {
        self.0.insert(node.id.sym.to_string());
    }

    // What stands in a default value binds nothing here.
    fn visit_expr(&mut self, _: &Expr) {}
}

/// Every name that a pattern binds.
pub(super) fn of_pattern(pattern: &Pat) -> HashSet<String> {
    let mut bound = Bound::default();
    pattern.visit_with(&mut bound);
    bound.0
}

/// Every name that is bound anywhere: variables, functions, classes, parameters and imports.
pub(super) fn bound_anywhere(items: &[ModuleItem]) -> HashSet<String> {
    let mut found = Everywhere::default();
    items.iter().for_each(|item| item.visit_with(&mut found));
    found.0
}

#[derive(Default)]
struct Everywhere(HashSet<String>);

impl Visit for Everywhere {
    fn visit_pat(&mut self, node: &Pat) {
        self.0.extend(of_pattern(node));
        node.visit_children_with(self);
    }

    fn visit_decl(&mut self, node: &Decl) {
        match node {
            Decl::Fn(function) => {
                self.0.insert(function.ident.sym.to_string());
            }
            Decl::Class(class) => {
                self.0.insert(class.ident.sym.to_string());
            }
            _ => {}
        }
        node.visit_children_with(self);
    }

    fn visit_fn_expr(&mut self, node: &swc_ecma_ast::FnExpr) {
        self.0
            .extend(node.ident.iter().map(|name| name.sym.to_string()));
        node.visit_children_with(self);
    }

    fn visit_import_decl(&mut self, node: &ImportDecl) {
        let locals = node
            .specifiers
            .iter()
            .map(|one| one.local().sym.to_string());
        self.0.extend(locals);
    }
}

/// Every name that these statements declare in their block; with `is_function`, also by `var` further inside.
pub(super) fn declared<'a>(
    statements: impl Iterator<Item = &'a Stmt> + Clone,
    is_function: bool,
) -> HashSet<String> {
    let mut names = HashSet::new();
    for statement in statements.clone() {
        if let Stmt::Decl(declaration) = statement {
            names.extend(of_declaration(declaration));
        }
    }
    if is_function {
        let mut vars = Vars::default();
        statements.for_each(|statement| statement.visit_with(&mut vars));
        names.extend(vars.0);
    }
    names
}

/// The names of a declaration.
pub(super) fn of_declaration(declaration: &Decl) -> HashSet<String> {
    match declaration {
        Decl::Fn(function) => HashSet::from([function.ident.sym.to_string()]),
        Decl::Class(class) => HashSet::from([class.ident.sym.to_string()]),
        Decl::Var(var) => var
            .decls
            .iter()
            .flat_map(|one| of_pattern(&one.name))
            .collect(),
        _ => HashSet::new(),
    }
}

/// Names declared by `var`, functions aside.
#[derive(Default)]
struct Vars(HashSet<String>);

impl Visit for Vars {
    fn visit_var_decl(&mut self, node: &VarDecl) {
        if node.kind == VarDeclKind::Var {
            let names = node.decls.iter().flat_map(|one| of_pattern(&one.name));
            self.0.extend(names);
        }
        node.visit_children_with(self);
    }

    fn visit_function(&mut self, _: &Function) {}

    fn visit_arrow_expr(&mut self, _: &swc_ecma_ast::ArrowExpr) {}
}
