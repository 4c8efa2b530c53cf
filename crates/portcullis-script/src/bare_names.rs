//! Which names a text uses that stand alone: functions it calls, values it reads, and names it takes for itself.
//!
//! Nothing is said of where a name is declared.

use std::collections::BTreeSet;

use swc_ecma_ast::{
    AssignTarget, AssignTargetPat, CallExpr, Callee, Expr, ForHead, Ident, OptCall, Pat, Prop,
    SimpleAssignTarget, Stmt, UnaryExpr, UnaryOp, UpdateExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

/// The names in a text that stand alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BareNames {
    called: BTreeSet<String>,
    read: BTreeSet<String>,
    /// Assigned to without a declaration, or asked for with `typeof`.
    taken: BTreeSet<String>,
}

impl BareNames {
    pub(crate) fn of(statements: &[Stmt]) -> Self {
        let mut names = Self::default();
        for statement in statements {
            statement.visit_with(&mut names);
        }
        names
    }

    /// Whether `name(...)` is called, and the text neither assigns to it nor asks whether it is there.
    pub fn calls(&self, name: &str) -> bool {
        self.called.contains(name) && !self.taken.contains(name)
    }

    /// Whether the value of this name is read, and the text neither assigns to it nor asks whether it is there.
    pub fn reads(&self, name: &str) -> bool {
        self.read.contains(name) && !self.taken.contains(name)
    }

    fn call(&mut self, callee: &Expr) {
        if let Expr::Ident(name) = callee {
            self.called.insert(name.sym.to_string());
        }
    }

    fn take(&mut self, expression: &Expr) {
        match expression {
            Expr::Ident(name) => {
                self.taken.insert(name.sym.to_string());
            }
            Expr::Paren(inner) => self.take(&inner.expr),
            _ => {}
        }
    }
}

impl Visit for BareNames {
    fn visit_expr(&mut self, node: &Expr) {
        if let Expr::Ident(name) = node {
            self.read.insert(name.sym.to_string());
        }
        node.visit_children_with(self);
    }

    fn visit_prop(&mut self, node: &Prop) {
        if let Prop::Shorthand(name) = node {
            self.read.insert(name.sym.to_string());
        }
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, node: &CallExpr) {
        if let Callee::Expr(callee) = &node.callee {
            self.call(callee);
        }
        node.visit_children_with(self);
    }

    fn visit_opt_call(&mut self, node: &OptCall) {
        self.call(&node.callee);
        node.visit_children_with(self);
    }

    fn visit_unary_expr(&mut self, node: &UnaryExpr) {
        if node.op == UnaryOp::TypeOf {
            self.take(&node.arg);
        }
        node.visit_children_with(self);
    }

    fn visit_update_expr(&mut self, node: &UpdateExpr) {
        self.take(&node.arg);
        node.visit_children_with(self);
    }

    fn visit_assign_target(&mut self, node: &AssignTarget) {
        if let AssignTarget::Simple(SimpleAssignTarget::Ident(name)) = node {
            self.taken.insert(name.id.sym.to_string());
        }
        node.visit_children_with(self);
    }

    fn visit_assign_target_pat(&mut self, node: &AssignTargetPat) {
        node.visit_with(&mut Targets(self));
        node.visit_children_with(self);
    }

    fn visit_for_head(&mut self, node: &ForHead) {
        if let ForHead::Pat(pattern) = node {
            pattern.visit_with(&mut Targets(self));
        }
        node.visit_children_with(self);
    }
}

/// Takes every name in a pattern that is assigned to.
struct Targets<'a>(&'a mut BareNames);

impl Visit for Targets<'_> {
    fn visit_pat(&mut self, node: &Pat) {
        if let Pat::Expr(target) = node {
            self.0.take(target);
        }
        node.visit_children_with(self);
    }

    fn visit_ident(&mut self, node: &Ident) {
        self.0.taken.insert(node.sym.to_string());
    }

    fn visit_expr(&mut self, _: &Expr) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{self, BodyOf};

    fn names(text: &str) -> BareNames {
        BareNames::of(&parse::body(text, BodyOf::Plain).unwrap())
    }

    #[test]
    fn calls_are_of_names_that_stand_alone() {
        for (text, wanted) in [
            ("get('Pod')", true),
            ("get?.('Pod')", true),
            ("const f = () => [get(1)]", true),
            ("function get() {} get()", true),
            ("map.get('x'); object.get()", false),
            ("const get = 1; get + 1", false),
            ("// get()\n'get()'; /get()/", false),
            ("({ get() { return 1 } })", false),
            (
                "if (typeof get === 'undefined') get = () => 1; get()",
                false,
            ),
            ("if (typeof (get) === 'function') get()", false),
            ("[get] = [f]; get()", false),
            ("({ a: get } = f); get()", false),
            ("({ get } = f); get()", false),
            ("for (get of list) get()", false),
            ("get++; get()", false),
        ] {
            assert_eq!(names(text).calls("get"), wanted, "{text}");
        }
    }

    #[test]
    fn reads_are_of_names_that_stand_alone() {
        for (text, wanted) in [
            ("request.object", true),
            ("const { object } = request", true),
            ("f({ request })", true),
            ("`${request.name}`", true),
            ("req.request", false),
            ("({ request: 1 })", false),
            ("request = req; request.object", false),
            ("typeof request", false),
        ] {
            assert_eq!(names(text).reads("request"), wanted, "{text}");
        }
    }
}
