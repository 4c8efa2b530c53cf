//! What expressions hold.

use swc_common::Spanned;
use swc_ecma_ast::{
    ArrayLit, AssignExpr, AssignOp, AssignTarget, BinExpr, BinaryOp, CallExpr, Callee, Class,
    ClassMember, Expr, Lit, MemberExpr, MemberProp, ObjectLit, OptChainBase, OptChainExpr, Prop,
    PropName, PropOrSpread, SimpleAssignTarget, UnaryExpr, UnaryOp,
};

use super::{Comparison, Event, Operand, Walk};
use crate::shape::Shape;

impl Walk<'_> {
    /// What an expression holds.
    pub(super) fn value(&mut self, expr: &Expr) -> Shape {
        match expr {
            Expr::Ident(name) => self.name(&name.sym),
            Expr::Lit(literal) => of_literal(literal),
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::TsNonNull(inner) => self.value(&inner.expr),
            Expr::TsSatisfies(inner) => self.value(&inner.expr),
            Expr::TsConstAssertion(inner) => self.value(&inner.expr),
            Expr::TsAs(inner) => self.cast(&inner.expr),
            Expr::TsTypeAssertion(inner) => self.cast(&inner.expr),
            Expr::TsInstantiation(inner) => self.cast(&inner.expr),
            Expr::Await(inner) => self.value(&inner.arg),
            Expr::Member(member) => self.member_of(member, false),
            Expr::OptChain(chain) => self.chain(chain),
            Expr::Call(call) => self.called(call),
            Expr::Bin(binary) => self.binary(binary),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Assign(assign) => self.assignment(assign),
            Expr::Array(list) => self.array(list),
            Expr::Object(object) => self.object(object),
            Expr::Cond(cond) => {
                self.value(&cond.test);
                let (yes, no) = self.narrow(&cond.test);
                let yes = self.within(yes, |walk| walk.value(&cond.cons));
                let no = self.within(no, |walk| walk.value(&cond.alt));
                yes.or(no)
            }
            Expr::Tpl(template) => {
                template
                    .exprs
                    .iter()
                    .for_each(|part| drop(self.value(part)));
                Shape::Text
            }
            Expr::TaggedTpl(tagged) => {
                self.value(&tagged.tag);
                tagged
                    .tpl
                    .exprs
                    .iter()
                    .for_each(|part| drop(self.value(part)));
                Shape::Any
            }
            Expr::Seq(list) => {
                let parts = list.exprs.iter();
                parts.fold(Shape::Any, |_, part| self.value(part))
            }
            Expr::Arrow(_) | Expr::Fn(_) => {
                self.function_value(expr, &[]);
                Shape::Any
            }
            Expr::New(new) => {
                self.value(&new.callee);
                let arguments = new.args.iter().flatten();
                arguments.for_each(|argument| drop(self.argument(&argument.expr)));
                Shape::Any
            }
            Expr::Update(update) => {
                self.value(&update.arg);
                Shape::Number
            }
            Expr::Yield(inner) => {
                inner.arg.iter().for_each(|arg| drop(self.value(arg)));
                Shape::Any
            }
            Expr::Class(class) => {
                self.class(&class.class);
                Shape::Any
            }
            _ => Shape::Any,
        }
    }

    /// The author says what it is, and the author is believed.
    fn cast(&mut self, inner: &Expr) -> Shape {
        let shape = self.value(inner);
        self.typed(true, shape)
    }

    pub(super) fn member_of(&mut self, member: &MemberExpr, is_optional: bool) -> Shape {
        let base = self.value(&member.obj);
        match &member.prop {
            MemberProp::Ident(name) => {
                self.member(base, &name.sym, self.range(name.span), is_optional)
            }
            MemberProp::PrivateName(_) => Shape::Any,
            MemberProp::Computed(key) => {
                let holds = self.value(&key.expr);
                match &*key.expr {
                    Expr::Lit(Lit::Str(name)) => {
                        let name = name.value.to_string_lossy().into_owned();
                        self.member(base, &name, self.range(key.span), is_optional)
                    }
                    Expr::Lit(Lit::Num(_)) => base.indexed(),
                    // What is not a number may be the name of a method.
                    _ if holds == Shape::Text && matches!(base, Shape::List(_)) => Shape::Any,
                    _ => base.indexed(),
                }
            }
        }
    }

    fn chain(&mut self, chain: &OptChainExpr) -> Shape {
        match &*chain.base {
            OptChainBase::Member(member) => self.member_of(member, chain.optional),
            OptChainBase::Call(call) => self.call(&call.callee, &call.args),
        }
    }

    fn called(&mut self, call: &CallExpr) -> Shape {
        match &call.callee {
            Callee::Expr(callee) => self.call(callee, &call.args),
            Callee::Super(_) | Callee::Import(_) => {
                for argument in &call.args {
                    self.argument(&argument.expr);
                }
                Shape::Any
            }
        }
    }

    fn unary(&mut self, unary: &UnaryExpr) -> Shape {
        self.value(&unary.arg);
        match unary.op {
            UnaryOp::Bang | UnaryOp::Delete => Shape::Truth,
            UnaryOp::TypeOf => Shape::Text,
            UnaryOp::Void => Shape::Nothing,
            // It may be a bigint.
            UnaryOp::Minus | UnaryOp::Plus | UnaryOp::Tilde => Shape::Number,
        }
    }

    fn binary(&mut self, binary: &BinExpr) -> Shape {
        let operator = binary.op;
        match operator {
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => {
                let left = self.value(&binary.left);
                let facts = match operator {
                    BinaryOp::LogicalAnd => self.narrow(&binary.left).0,
                    BinaryOp::LogicalOr => self.narrow(&binary.left).1,
                    _ => self.facts.clone(),
                };
                let right = self.within(facts, |walk| walk.value(&binary.right));
                match operator {
                    // What is false on the left has no members that matter.
                    BinaryOp::LogicalAnd if left == Shape::Truth => right.or(Shape::Truth),
                    BinaryOp::LogicalAnd => right,
                    _ => left.or(right),
                }
            }
            BinaryOp::EqEqEq | BinaryOp::NotEqEq | BinaryOp::EqEq | BinaryOp::NotEq => {
                let left = self.operand(&binary.left);
                let right = self.operand(&binary.right);
                self.events.push(Event::Comparison(Comparison {
                    left,
                    right,
                    is_strict: matches!(operator, BinaryOp::EqEqEq | BinaryOp::NotEqEq),
                    at: self.range(binary.span),
                }));
                Shape::Truth
            }
            _ => {
                let left = self.value(&binary.left);
                let right = self.value(&binary.right);
                match operator {
                    BinaryOp::Lt
                    | BinaryOp::LtEq
                    | BinaryOp::Gt
                    | BinaryOp::GtEq
                    | BinaryOp::In
                    | BinaryOp::InstanceOf => Shape::Truth,
                    BinaryOp::Add if left == Shape::Text || right == Shape::Text => Shape::Text,
                    BinaryOp::Add if left == Shape::Number && right == Shape::Number => left,
                    BinaryOp::Add => Shape::Any,
                    _ => Shape::Number,
                }
            }
        }
    }

    /// One side of a comparison.
    pub(super) fn operand(&mut self, expr: &Expr) -> Operand {
        let shape = self.value(expr);
        let inner = expr.unwrap_parens();
        let is_typeof = matches!(inner, Expr::Unary(unary) if unary.op == UnaryOp::TypeOf);
        let is_nan = match inner {
            Expr::Ident(name) => name.sym == *"NaN" && !self.is_bound("NaN"),
            Expr::Member(member) => {
                matches!(&*member.obj, Expr::Ident(name) if name.sym == *"Number")
                    && matches!(&member.prop, MemberProp::Ident(name) if name.sym == *"NaN")
            }
            _ => false,
        };
        Operand {
            shape,
            text: text_of(inner),
            is_typeof,
            is_nan,
            at: self.range(expr.span()),
        }
    }

    fn assignment(&mut self, assign: &AssignExpr) -> Shape {
        let target = match &assign.left {
            AssignTarget::Simple(target) => match target {
                SimpleAssignTarget::Ident(_) => Shape::Any,
                SimpleAssignTarget::Member(member) => self.member_of(member, false),
                SimpleAssignTarget::Paren(inner) => self.value(&inner.expr),
                SimpleAssignTarget::OptChain(chain) => self.chain(chain),
                SimpleAssignTarget::TsAs(inner) => self.cast(&inner.expr),
                SimpleAssignTarget::TsNonNull(inner) => self.value(&inner.expr),
                _ => Shape::Any,
            },
            // The names are known to change.
            AssignTarget::Pat(_) => Shape::Any,
        };
        let value = self.value(&assign.right);
        match assign.op {
            AssignOp::Assign => value,
            AssignOp::AndAssign | AssignOp::OrAssign | AssignOp::NullishAssign => target.or(value),
            _ => Shape::Any,
        }
    }

    fn array(&mut self, list: &ArrayLit) -> Shape {
        let mut inner = Shape::Nothing;
        for element in list.elems.iter().flatten() {
            let value = self.value(&element.expr);
            inner = inner.or(match element.spread {
                Some(_) => value.element(),
                None => value,
            });
        }
        Shape::list(inner)
    }

    fn object(&mut self, object: &ObjectLit) -> Shape {
        for member in &object.props {
            match member {
                PropOrSpread::Spread(spread) => drop(self.value(&spread.expr)),
                PropOrSpread::Prop(prop) => self.property(prop),
            }
        }
        match object.props.is_empty() {
            true => Shape::Nothing,
            false => Shape::Any,
        }
    }

    fn property(&mut self, prop: &Prop) {
        match prop {
            Prop::Shorthand(_) => {}
            Prop::KeyValue(pair) => {
                self.key(&pair.key);
                self.argument(&pair.value);
            }
            Prop::Assign(pair) => drop(self.value(&pair.value)),
            Prop::Getter(getter) => {
                self.key(&getter.key);
                self.function(&getter.function, &[]);
            }
            Prop::Setter(setter) => {
                self.key(&setter.key);
                self.function(&setter.function, &[]);
            }
            Prop::Method(method) => {
                self.key(&method.key);
                self.function(&method.function, &[]);
            }
        }
    }

    fn key(&mut self, key: &PropName) {
        if let PropName::Computed(key) = key {
            self.value(&key.expr);
        }
    }

    /// Members of classes know nothing but what is around the class.
    pub(super) fn class(&mut self, class: &Class) {
        class
            .super_class
            .iter()
            .for_each(|above| drop(self.value(above)));
        for member in &class.body {
            match member {
                ClassMember::Constructor(one) => {
                    if let Some(body) = &one.body {
                        self.apart(|walk| walk.body(&body.stmts));
                    }
                }
                ClassMember::Method(one) => drop(self.function(&one.function, &[])),
                ClassMember::PrivateMethod(one) => drop(self.function(&one.function, &[])),
                ClassMember::ClassProp(one) => {
                    one.value
                        .iter()
                        .for_each(|value| drop(self.argument(value)));
                }
                ClassMember::PrivateProp(one) => {
                    one.value
                        .iter()
                        .for_each(|value| drop(self.argument(value)));
                }
                ClassMember::StaticBlock(one) => self.apart(|walk| walk.body(&one.body.stmts)),
                _ => {}
            }
        }
    }
}

fn of_literal(literal: &Lit) -> Shape {
    match literal {
        Lit::Str(_) => Shape::Text,
        Lit::Num(_) => Shape::Number,
        Lit::Bool(_) => Shape::Truth,
        Lit::Null(_) => Shape::Nothing,
        _ => Shape::Any,
    }
}

/// The text of a literal.
pub(super) fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(Lit::Str(text)) => Some(text.value.to_string_lossy().into_owned()),
        Expr::Tpl(template) => match template.quasis.as_slice() {
            [only] if template.exprs.is_empty() => {
                Some(only.cooked.as_ref()?.to_string_lossy().into_owned())
            }
            _ => None,
        },
        _ => None,
    }
}
