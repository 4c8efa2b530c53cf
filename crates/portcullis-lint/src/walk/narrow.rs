//! What a condition says of the kind and the operation where it holds, and where it doesn't.

use portcullis_core::Operation;
use swc_ecma_ast::{
    BinExpr, BinaryOp, Callee, Expr, Lit, MemberExpr, MemberProp, OptChainBase, UnaryOp,
};

use super::expressions::text_of;
use super::{Facts, Walk};
use crate::shape::{Lookup, Root, Shape};

/// What is possible where a condition holds, and where it does not.
pub(super) type Both = (Facts, Facts);

impl Walk<'_> {
    /// What is possible where a condition holds, and where it does not.
    pub(super) fn narrow(&self, condition: &Expr) -> Both {
        self.narrowed(&self.facts, condition)
    }

    /// Looks at each part of the condition once, however they are nested.
    fn narrowed(&self, facts: &Facts, condition: &Expr) -> Both {
        match condition {
            Expr::Paren(inner) => self.narrowed(facts, &inner.expr),
            Expr::TsNonNull(inner) => self.narrowed(facts, &inner.expr),
            Expr::Unary(unary) if unary.op == UnaryOp::Bang => {
                let (yes, no) = self.narrowed(facts, &unary.arg);
                (no, yes)
            }
            Expr::Bin(binary) => self.by_operator(facts, binary),
            Expr::Call(call) => match (&call.callee, call.args.as_slice()) {
                (Callee::Expr(callee), [only]) if only.spread.is_none() => {
                    match texts_of_includes(callee) {
                        Some(texts) => self.by_texts(facts, &only.expr, &texts),
                        None => (facts.clone(), facts.clone()),
                    }
                }
                _ => (facts.clone(), facts.clone()),
            },
            // An object that is there.
            other => match self.peek(other) {
                Shape::Root(root) => (of_presence(facts, root), facts.clone()),
                _ => (facts.clone(), facts.clone()),
            },
        }
    }

    fn by_operator(&self, facts: &Facts, binary: &BinExpr) -> Both {
        let (left, right) = (&*binary.left, &*binary.right);
        match binary.op {
            BinaryOp::LogicalAnd => {
                let (first, not_first) = self.narrowed(facts, left);
                let (both, not_second) = self.narrowed(&first, right);
                (both, not_first.or(&not_second))
            }
            BinaryOp::LogicalOr => {
                let (first, not_first) = self.narrowed(facts, left);
                let (second, neither) = self.narrowed(&not_first, right);
                (first.or(&second), neither)
            }
            BinaryOp::EqEqEq | BinaryOp::EqEq => self.by_equality(facts, left, right),
            BinaryOp::NotEqEq | BinaryOp::NotEq => {
                let (yes, no) = self.by_equality(facts, left, right);
                (no, yes)
            }
            _ => (facts.clone(), facts.clone()),
        }
    }

    fn by_equality(&self, facts: &Facts, left: &Expr, right: &Expr) -> Both {
        for (value, other) in [(left, right), (right, left)] {
            if let Some(text) = text_of(other.unwrap_parens()) {
                return self.by_texts(facts, value, &[text]);
            }
            let is_nothing = match other.unwrap_parens() {
                Expr::Lit(Lit::Null(_)) => true,
                Expr::Ident(name) => name.sym == *"undefined",
                _ => false,
            };
            if let (true, Shape::Root(root)) = (is_nothing, self.peek(value)) {
                return (facts.clone(), of_presence(facts, root));
            }
        }
        (facts.clone(), facts.clone())
    }

    /// The value is, or is not, one of these texts.
    pub(super) fn by_texts(&self, facts: &Facts, value: &Expr, texts: &[String]) -> Both {
        match self.peek(value) {
            Shape::KindName if !self.changes_kind => {
                let names: Vec<&str> = texts.iter().map(String::as_str).collect();
                let with = |is| facts.with_kinds(&names, is, self.has_jobs);
                (with(true), with(false))
            }
            Shape::OperationName => {
                let all = texts.iter().filter_map(|text| text.parse().ok());
                let all: Vec<Operation> = all.collect();
                (
                    facts.with_operations(&all, true),
                    facts.with_operations(&all, false),
                )
            }
            _ => (facts.clone(), facts.clone()),
        }
    }

    /// What a simple expression holds; nothing is noted.
    fn peek(&self, expr: &Expr) -> Shape {
        match expr {
            Expr::Ident(name) => self.name(&name.sym),
            Expr::Paren(inner) => self.peek(&inner.expr),
            Expr::TsNonNull(inner) => self.peek(&inner.expr),
            Expr::Member(member) => self.peek_member(member),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.peek_member(member),
                OptChainBase::Call(_) => Shape::Any,
            },
            _ => Shape::Any,
        }
    }

    fn peek_member(&self, member: &MemberExpr) -> Shape {
        let MemberProp::Ident(name) = &member.prop else {
            return Shape::Any;
        };
        let base = self.peek(&member.obj);
        match self.lookup(&base, &name.sym) {
            Lookup::Found(shape) => shape,
            _ => Shape::Any,
        }
    }
}

/// `object` is null on DELETE, `oldObject` on CREATE and CONNECT. Where it is absent nothing is known: it may be
/// absent from a request of another kind.
fn of_presence(facts: &Facts, root: Root) -> Facts {
    match root {
        Root::New => facts.with_operations(&[Operation::Delete], false),
        Root::Old => facts.with_operations(&[Operation::Create, Operation::Connect], false),
    }
}

/// The texts of `["Pod", "Service"].includes`.
fn texts_of_includes(callee: &Expr) -> Option<Vec<String>> {
    let member = callee.as_member()?;
    let is_includes = matches!(&member.prop, MemberProp::Ident(name) if name.sym == *"includes");
    let list = member
        .obj
        .unwrap_parens()
        .as_array()
        .filter(|_| is_includes)?;
    let each = list.elems.iter().map(|element| {
        let element = element
            .as_ref()
            .filter(|element| element.spread.is_none())?;
        text_of(&element.expr)
    });
    each.collect()
}
