//! What names hold that patterns bind.

use swc_ecma_ast::{ObjectPatProp, Pat, PropName};

use super::Walk;
use crate::shape::Shape;

impl Walk<'_> {
    /// Binds the names of a pattern to the parts of a value.
    pub(super) fn destructure(&mut self, pattern: &Pat, shape: Shape) {
        match pattern {
            // What is annotated is what its author says it is.
            Pat::Ident(name) => {
                let shape = self.typed(name.type_ann.is_some(), shape);
                self.bind(&name.id.sym, shape);
            }
            Pat::Assign(pattern) => {
                let default = self.value(&pattern.right);
                self.destructure(&pattern.left, shape.or(default));
            }
            Pat::Array(list) => {
                let shape = self.typed(list.type_ann.is_some(), shape);
                for element in list.elems.iter().flatten() {
                    match element {
                        Pat::Rest(rest) => self.destructure(&rest.arg, Shape::Any),
                        element => self.destructure(element, shape.element()),
                    }
                }
            }
            Pat::Object(object) => {
                let shape = self.typed(object.type_ann.is_some(), shape);
                for member in &object.props {
                    self.part(member, &shape);
                }
            }
            Pat::Rest(rest) => self.destructure(&rest.arg, Shape::Any),
            Pat::Expr(expr) => drop(self.value(expr)),
            Pat::Invalid(_) => {}
        }
    }

    fn part(&mut self, member: &ObjectPatProp, shape: &Shape) {
        match member {
            ObjectPatProp::KeyValue(pair) => {
                let held = match &pair.key {
                    PropName::Ident(name) => {
                        self.member(shape.clone(), &name.sym, self.range(name.span), false)
                    }
                    PropName::Str(name) => {
                        let text = name.value.to_string_lossy().into_owned();
                        self.member(shape.clone(), &text, self.range(name.span), false)
                    }
                    PropName::Computed(key) => {
                        self.value(&key.expr);
                        shape.indexed()
                    }
                    _ => shape.indexed(),
                };
                self.destructure(&pair.value, held);
            }
            ObjectPatProp::Assign(short) => {
                let name = &short.key.id;
                let held = self.member(shape.clone(), &name.sym, self.range(name.span), false);
                let default = short.value.as_ref().map(|value| self.value(value));
                self.bind(&name.sym, held.or(default.unwrap_or(Shape::Nothing)));
            }
            ObjectPatProp::Rest(rest) => self.destructure(&rest.arg, Shape::Any),
        }
    }
}
