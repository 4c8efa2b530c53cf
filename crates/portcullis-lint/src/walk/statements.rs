//! Follows statements, and what is possible behind them.

use swc_ecma_ast::{
    Decl, DefaultDecl, Expr, ForHead, ModuleDecl, ModuleItem, Pat, Stmt, SwitchStmt, VarDecl,
    VarDeclKind, VarDeclOrExpr,
};

use super::expressions::text_of;
use super::{Facts, Walk, names};
use crate::shape::Shape;

impl Walk<'_> {
    /// Follows what stands at the top level.
    pub(super) fn items(&mut self, items: &[ModuleItem]) {
        let statements = items.iter().filter_map(|item| match item {
            ModuleItem::Stmt(statement) => Some(statement),
            ModuleItem::ModuleDecl(_) => None,
        });
        for name in names::declared(statements, true) {
            self.bind(&name, Shape::Any);
        }
        for item in items {
            match item {
                ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => {
                    for specifier in &import.specifiers {
                        self.bind(&specifier.local().sym, Shape::Any);
                    }
                }
                ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => {
                    for name in names::of_declaration(&export.decl) {
                        self.bind(&name, Shape::Any);
                    }
                }
                _ => {}
            }
        }
        for item in items {
            match item {
                ModuleItem::Stmt(statement) => self.statement(statement),
                ModuleItem::ModuleDecl(declaration) => self.module_declaration(declaration),
            }
        }
    }

    fn module_declaration(&mut self, declaration: &ModuleDecl) {
        match declaration {
            ModuleDecl::ExportDecl(export) => self.declaration(&export.decl),
            ModuleDecl::ExportDefaultExpr(export) => drop(self.value(&export.expr)),
            ModuleDecl::ExportDefaultDecl(export) => match &export.decl {
                DefaultDecl::Fn(function) => {
                    self.apart(|walk| drop(walk.function(&function.function, &[])));
                }
                DefaultDecl::Class(class) => self.class(&class.class),
                DefaultDecl::TsInterfaceDecl(_) => {}
            },
            _ => {}
        }
    }

    /// Follows code that may run at any time, so that nothing is known of what ran before.
    pub(super) fn apart(&mut self, inner: impl FnOnce(&mut Self)) {
        let base = self.base.clone();
        self.within(base, inner);
    }

    /// Follows the body of a function, and gives what it returns.
    pub(super) fn returning(&mut self, statements: &[Stmt]) -> Shape {
        self.returns.push(Shape::Nothing);
        let facts = self.facts.clone();
        self.within(facts, |walk| walk.body(statements));
        self.returns.pop().unwrap_or(Shape::Any)
    }

    /// Follows the statements of a function.
    pub(super) fn body(&mut self, statements: &[Stmt]) {
        self.block(statements, true);
    }

    fn block(&mut self, statements: &[Stmt], is_function: bool) {
        self.scoped(|walk| {
            for name in names::declared(statements.iter(), is_function) {
                walk.bind(&name, Shape::Any);
            }
            statements
                .iter()
                .for_each(|statement| walk.statement(statement));
        });
    }

    /// Follows a statement whose effects on what is possible end with it.
    fn inner(&mut self, facts: Facts, statement: &Stmt) {
        self.within(facts, |walk| walk.statement(statement));
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Block(block) => {
                // What holds behind a block held at its end.
                self.block(&block.stmts, false);
            }
            Stmt::Expr(statement) => drop(self.value(&statement.expr)),
            Stmt::Return(statement) => {
                let value = statement.arg.as_ref().map(|arg| self.value(arg));
                let returned = self.returns.pop().unwrap_or(Shape::Any);
                self.returns
                    .push(returned.or(value.unwrap_or(Shape::Nothing)));
            }
            Stmt::Throw(statement) => drop(self.value(&statement.arg)),
            Stmt::If(statement) => {
                self.value(&statement.test);
                let (yes, no) = self.narrow(&statement.test);
                self.inner(yes.clone(), &statement.cons);
                if let Some(other) = &statement.alt {
                    self.inner(no.clone(), other);
                }
                let ends = |statement: &Stmt| self.ends(statement);
                let alternative_ends = statement.alt.as_deref().is_some_and(ends);
                match (ends(&statement.cons), alternative_ends) {
                    (true, _) => self.facts = no,
                    (false, true) => self.facts = yes,
                    (false, false) => {}
                }
            }
            Stmt::Switch(statement) => self.switch(statement),
            Stmt::Labeled(statement) => {
                let facts = self.facts.clone();
                self.inner(facts, &statement.body);
            }
            Stmt::While(statement) => {
                self.value(&statement.test);
                let (facts, _) = self.narrow(&statement.test);
                self.inner(facts, &statement.body);
            }
            Stmt::DoWhile(statement) => {
                let facts = self.facts.clone();
                self.inner(facts, &statement.body);
                self.value(&statement.test);
            }
            Stmt::For(statement) => self.scoped(|walk| {
                match &statement.init {
                    Some(VarDeclOrExpr::VarDecl(declaration)) => walk.variables(declaration),
                    Some(VarDeclOrExpr::Expr(init)) => drop(walk.value(init)),
                    None => {}
                }
                statement
                    .test
                    .iter()
                    .for_each(|test| drop(walk.value(test)));
                statement
                    .update
                    .iter()
                    .for_each(|update| drop(walk.value(update)));
                let facts = walk.facts.clone();
                walk.inner(facts, &statement.body);
            }),
            Stmt::ForOf(statement) => {
                let element = self.value(&statement.right).element();
                self.each(&statement.left, &element, &statement.body);
            }
            Stmt::ForIn(statement) => {
                self.value(&statement.right);
                self.each(&statement.left, &Shape::Any, &statement.body);
            }
            Stmt::Try(statement) => {
                let facts = self.facts.clone();
                self.within(facts.clone(), |walk| {
                    walk.block(&statement.block.stmts, false)
                });
                if let Some(handler) = &statement.handler {
                    self.within(facts, |walk| {
                        walk.scoped(|walk| {
                            if let Some(pattern) = &handler.param {
                                walk.destructure(pattern, Shape::Any);
                            }
                            walk.block(&handler.body.stmts, false);
                        });
                    });
                }
                if let Some(finalizer) = &statement.finalizer {
                    self.block(&finalizer.stmts, false);
                }
            }
            Stmt::Decl(declaration) => self.declaration(declaration),
            // Inside of it every name may be a member.
            Stmt::With(_) => {}
            Stmt::Empty(_) | Stmt::Debugger(_) | Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }

    fn declaration(&mut self, declaration: &Decl) {
        match declaration {
            Decl::Var(declaration) => self.variables(declaration),
            Decl::Fn(function) => {
                self.apart(|walk| drop(walk.function(&function.function, &[])));
            }
            Decl::Class(class) => self.class(&class.class),
            _ => {}
        }
    }

    fn variables(&mut self, declaration: &VarDecl) {
        for one in &declaration.decls {
            let shape = one.init.as_ref().map(|init| self.value(init));
            if declaration.kind == VarDeclKind::Var {
                self.declared_again(&one.name);
            }
            // What gets no value here gets one elsewhere.
            self.destructure(&one.name, shape.unwrap_or(Shape::Any));
        }
    }

    /// A `var` that had a value already gets another one, wherever it stands.
    fn declared_again(&mut self, pattern: &Pat) {
        for name in names::of_pattern(pattern) {
            let mut bound = self.scopes.iter().filter_map(|scope| scope.get(&name));
            if bound.any(|shape| *shape != Shape::Any) {
                self.changed.insert(name);
            }
        }
    }

    fn each(&mut self, head: &ForHead, element: &Shape, body: &Stmt) {
        self.scoped(|walk| {
            if let ForHead::VarDecl(declaration) = head {
                for one in &declaration.decls {
                    walk.destructure(&one.name, element.clone());
                }
            }
            let facts = walk.facts.clone();
            walk.inner(facts, body);
        });
    }

    fn switch(&mut self, statement: &SwitchStmt) {
        let left = self.operand(&statement.discriminant);
        let before = self.facts.clone();
        // The texts of the cases that lead here without a break.
        let mut texts: Option<Vec<String>> = Some(Vec::new());
        self.scoped(|walk| {
            let inner = statement.cases.iter().flat_map(|case| case.cons.iter());
            for name in names::declared(inner, false) {
                walk.bind(&name, Shape::Any);
            }
            for case in &statement.cases {
                let text = case.test.as_ref().and_then(|test| {
                    let right = walk.operand(test);
                    walk.compared(left.clone(), right);
                    text_of(test)
                });
                texts = match (texts.take(), text) {
                    (Some(mut texts), Some(text)) => {
                        texts.push(text);
                        Some(texts)
                    }
                    _ => None,
                };
                let facts = texts
                    .as_ref()
                    .map(|texts| walk.by_texts(&before, &statement.discriminant, texts).0);
                walk.within(facts.unwrap_or_else(|| before.clone()), |walk| {
                    case.cons
                        .iter()
                        .for_each(|statement| walk.statement(statement));
                });
                if case.cons.last().is_some_and(|last| walk.ends(last)) {
                    texts = Some(Vec::new());
                }
            }
        });
        self.facts = before;
    }

    fn compared(&mut self, left: super::Operand, right: super::Operand) {
        let at = right.at.clone();
        self.events
            .push(super::Event::Comparison(super::Comparison {
                left,
                right,
                is_strict: true,
                at,
            }));
    }

    /// Whether nothing behind a statement in its block is reached through it.
    fn ends(&self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Return(_) | Stmt::Throw(_) | Stmt::Break(_) | Stmt::Continue(_) => true,
            Stmt::Block(block) => block.stmts.last().is_some_and(|last| self.ends(last)),
            Stmt::If(statement) => {
                let alternative = statement.alt.as_deref();
                self.ends(&statement.cons) && alternative.is_some_and(|one| self.ends(one))
            }
            Stmt::Expr(statement) => match &*statement.expr {
                Expr::Call(call) => {
                    let callee = call.callee.as_expr().and_then(|callee| callee.as_ident());
                    callee.is_some_and(|name| {
                        matches!(&*name.sym, "deny" | "allow") && !self.is_bound(&name.sym)
                    })
                }
                _ => false,
            },
            _ => false,
        }
    }
}
