//! What a text must not contain anywhere.

use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, AwaitExpr, ClassProp, Constructor, ForOfStmt, Function, Ident, Import, MetaPropExpr,
    MetaPropKind, Module, PrivateProp, ReturnStmt, StaticBlock,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::glue::RESERVED;

/// Everything in a module that is rejected.
pub(crate) fn of_module(module: &Module) -> Vec<(Span, String)> {
    let mut refusals = Refusals {
        is_module: true,
        ..Refusals::default()
    };
    module.visit_with(&mut refusals);
    refusals.found
}

/// Everything in the statements of a function body that is rejected.
pub(crate) fn of_body<T: VisitWith<Refusals> + ?Sized>(statements: &T) -> Vec<(Span, String)> {
    let mut refusals = Refusals::default();
    statements.visit_with(&mut refusals);
    refusals.found
}

#[derive(Debug, Default)]
pub(crate) struct Refusals {
    is_module: bool,
    /// Functions around this place, arrow functions among them.
    functions: usize,
    /// Functions around this place that have `arguments`.
    full_functions: usize,
    found: Vec<(Span, String)>,
}

impl Refusals {
    fn refuse(&mut self, span: Span, message: impl Into<String>) {
        self.found.push((span, message.into()));
    }

    fn inside(&mut self, node: &impl VisitWith<Self>) {
        self.functions += 1;
        self.full_functions += 1;
        node.visit_children_with(self);
        self.functions -= 1;
        self.full_functions -= 1;
    }

    fn at_top(&self) -> bool {
        self.is_module && self.functions == 0
    }
}

impl Visit for Refusals {
    fn visit_function(&mut self, node: &Function) {
        self.inside(node);
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        self.inside(node);
    }

    fn visit_static_block(&mut self, node: &StaticBlock) {
        self.inside(node);
    }

    fn visit_class_prop(&mut self, node: &ClassProp) {
        node.key.visit_with(self);
        self.inside(&node.value);
    }

    fn visit_private_prop(&mut self, node: &PrivateProp) {
        self.inside(&node.value);
    }

    fn visit_arrow_expr(&mut self, node: &ArrowExpr) {
        self.functions += 1;
        node.visit_children_with(self);
        self.functions -= 1;
    }

    fn visit_import(&mut self, node: &Import) {
        let message = "`import()` is not supported: write an `import` declaration at the top";
        self.refuse(node.span, message);
    }

    fn visit_meta_prop_expr(&mut self, node: &MetaPropExpr) {
        if node.kind == MetaPropKind::ImportMeta {
            self.refuse(node.span, "`import.meta` is not supported");
        }
    }

    fn visit_await_expr(&mut self, node: &AwaitExpr) {
        if self.at_top() {
            self.refuse(node.span, AWAIT);
        }
        node.visit_children_with(self);
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        if node.is_await && self.at_top() {
            self.refuse(node.span, AWAIT);
        }
        node.visit_children_with(self);
    }

    fn visit_return_stmt(&mut self, node: &ReturnStmt) {
        if self.at_top() {
            self.refuse(node.span, RETURN);
        }
        node.visit_children_with(self);
    }

    fn visit_ident(&mut self, node: &Ident) {
        if !self.is_module {
            return;
        }
        if let Some(start) = RESERVED.iter().find(|start| node.sym.starts_with(**start)) {
            let message = format!("names that begin with `{start}` are reserved");
            self.refuse(node.span, message);
        } else if self.full_functions == 0 && node.sym == *"arguments" {
            self.refuse(
                node.span,
                "`arguments` is not available outside of a function",
            );
        }
    }
}

/// Why a `return` is rejected.
pub(crate) const RETURN: &str =
    "`return` outside of a function: a policy with `import` or `export` is a module";

const AWAIT: &str = "`await` in a module must be inside an async function";
