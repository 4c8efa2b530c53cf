//! Calls, above all those of the methods of lists, and functions.

use swc_common::Spanned;
use swc_ecma_ast::{
    ArrowFunctionBody, Expr, ExprOrSpread, Function, MemberExpr, MemberProp, OptChainBase, Pat,
};

use super::expressions::text_of;
use super::{Comparison, Event, Operand, Walk};
use crate::shape::Shape;

impl Walk<'_> {
    /// What a call gives.
    pub(super) fn call(&mut self, callee: &Expr, arguments: &[ExprOrSpread]) -> Shape {
        match callee.unwrap_parens() {
            Expr::Member(member) => self.method(member, false, arguments),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.method(member, chain.optional, arguments),
                OptChainBase::Call(_) => self.unknown(callee, arguments),
            },
            // A function that is called where it is written.
            function @ (Expr::Arrow(_) | Expr::Fn(_)) => {
                let given: Vec<Shape> = self.arguments(arguments);
                self.function_value(function, &given)
            }
            _ => self.unknown(callee, arguments),
        }
    }

    fn unknown(&mut self, callee: &Expr, arguments: &[ExprOrSpread]) -> Shape {
        self.value(callee);
        self.arguments(arguments);
        Shape::Any
    }

    fn arguments(&mut self, arguments: &[ExprOrSpread]) -> Vec<Shape> {
        let each = arguments.iter().map(|argument| {
            let shape = self.argument(&argument.expr);
            match argument.spread {
                Some(_) => Shape::Any,
                None => shape,
            }
        });
        each.collect()
    }

    /// What is given to a function that is not known. A function may be called with anything, at any time.
    pub(super) fn argument(&mut self, expr: &Expr) -> Shape {
        self.value(expr)
    }

    fn method(
        &mut self,
        member: &MemberExpr,
        is_optional: bool,
        arguments: &[ExprOrSpread],
    ) -> Shape {
        let MemberProp::Ident(name) = &member.prop else {
            self.member_of(member, is_optional);
            self.arguments(arguments);
            return Shape::Any;
        };
        if let Some(known) = self.of_object(member, &name.sym, arguments) {
            return known;
        }
        let base = self.value(&member.obj);
        self.member(base.clone(), &name.sym, self.range(name.span), is_optional);
        let has_spread = arguments.iter().any(|argument| argument.spread.is_some());
        match &base {
            Shape::List(element) if !has_spread => {
                self.of_list(&base, element, &name.sym, member, arguments)
            }
            _ => {
                self.arguments(arguments);
                of_text(&base, &name.sym)
            }
        }
    }

    /// `Object.values`, `Object.keys`, `Array.isArray`, `Array.from`.
    fn of_object(
        &mut self,
        member: &MemberExpr,
        name: &str,
        arguments: &[ExprOrSpread],
    ) -> Option<Shape> {
        let Expr::Ident(owner) = &*member.obj else {
            return None;
        };
        if self.is_bound(&owner.sym) {
            return None;
        }
        let wanted = match (&*owner.sym, name) {
            ("Object", "keys" | "values") | ("Array", "isArray" | "from") => name,
            _ => return None,
        };
        let given = self.arguments(arguments);
        let first = given.first().cloned().unwrap_or(Shape::Any);
        Some(match (wanted, first) {
            ("keys", _) => Shape::list(Shape::Text),
            ("values", Shape::Map(inner)) => Shape::list(*inner),
            ("values", _) => Shape::list(Shape::Any),
            ("isArray", _) => Shape::Truth,
            ("from", list @ Shape::List(_)) if given.len() == 1 => list,
            _ => Shape::Any,
        })
    }

    fn of_list(
        &mut self,
        list: &Shape,
        element: &Shape,
        name: &str,
        member: &MemberExpr,
        arguments: &[ExprOrSpread],
    ) -> Shape {
        let given = [element.clone(), Shape::Number, list.clone()];
        match name {
            "map" | "flatMap" | "filter" | "some" | "every" | "find" | "findLast" | "findIndex"
            | "findLastIndex" | "forEach" => {
                let result = self.callback(arguments, &given);
                match name {
                    "map" => Shape::list(result),
                    "flatMap" => match result {
                        Shape::List(inner) => Shape::list(*inner),
                        _ => Shape::list(Shape::Any),
                    },
                    "filter" => list.clone(),
                    "some" | "every" => Shape::Truth,
                    "find" | "findLast" => element.clone(),
                    "forEach" => Shape::Nothing,
                    _ => Shape::Number,
                }
            }
            "reduce" | "reduceRight" => {
                let [element, number, list] = given;
                self.callback(arguments, &[Shape::Any, element, number, list]);
                Shape::Any
            }
            "sort" | "toSorted" => {
                self.callback(arguments, &[element.clone(), element.clone()]);
                list.clone()
            }
            "slice" | "reverse" | "toReversed" => {
                self.arguments(arguments);
                list.clone()
            }
            "at" | "pop" | "shift" => {
                self.arguments(arguments);
                element.clone()
            }
            "concat" => {
                let all = self.arguments(arguments).into_iter();
                all.fold(list.clone(), |list, next| match next {
                    Shape::List(_) => list.or(next),
                    _ => Shape::Any,
                })
            }
            "flat" => {
                self.arguments(arguments);
                match (element, arguments) {
                    (Shape::List(inner), []) => Shape::list((**inner).clone()),
                    _ => Shape::list(Shape::Any),
                }
            }
            "includes" => {
                self.compares(member, arguments);
                Shape::Truth
            }
            "join" => {
                self.arguments(arguments);
                Shape::Text
            }
            "indexOf" | "lastIndexOf" | "push" | "unshift" => {
                self.arguments(arguments);
                Shape::Number
            }
            _ => {
                self.arguments(arguments);
                Shape::Any
            }
        }
    }

    /// `["Pod", "Service"].includes(object.kind)` compares with each.
    fn compares(&mut self, member: &MemberExpr, arguments: &[ExprOrSpread]) {
        let [only] = arguments else {
            self.arguments(arguments);
            return;
        };
        let left = self.operand(&only.expr);
        let Expr::Array(list) = member.obj.unwrap_parens() else {
            return;
        };
        for element in list.elems.iter().flatten() {
            let Some(text) = text_of(&element.expr) else {
                continue;
            };
            let at = self.range(element.expr.span());
            self.events.push(Event::Comparison(Comparison {
                left: left.clone(),
                right: Operand {
                    shape: Shape::Text,
                    text: Some(text),
                    is_typeof: false,
                    is_nan: false,
                    at: at.clone(),
                },
                is_strict: true,
                at,
            }));
        }
    }

    /// What the function gives that a method calls with these values.
    fn callback(&mut self, arguments: &[ExprOrSpread], given: &[Shape]) -> Shape {
        let Some((first, rest)) = arguments.split_first() else {
            return Shape::Any;
        };
        let result = match first.expr.unwrap_parens() {
            function @ (Expr::Arrow(_) | Expr::Fn(_)) => self.function_value(function, given),
            other => {
                self.value(other);
                Shape::Any
            }
        };
        self.arguments(rest);
        result
    }

    /// Follows a function that is written in place, called with these values. Gives what it returns.
    pub(super) fn function_value(&mut self, expr: &Expr, given: &[Shape]) -> Shape {
        match expr {
            Expr::Arrow(arrow) => {
                let plain = !arrow.is_async && !arrow.is_generator;
                let result = self.scoped(|walk| {
                    walk.parameters(arrow.params.iter(), given);
                    match &*arrow.body {
                        ArrowFunctionBody::Expr(body) => walk.value(body),
                        ArrowFunctionBody::FunctionBody(body) => walk.returning(&body.stmts),
                    }
                });
                if plain { result } else { Shape::Any }
            }
            Expr::Fn(function) => self.scoped(|walk| {
                if let Some(name) = &function.ident {
                    walk.bind(&name.sym, Shape::Any);
                }
                walk.function(&function.function, given)
            }),
            _ => Shape::Any,
        }
    }

    /// Follows a function.
    pub(super) fn function(&mut self, function: &Function, given: &[Shape]) -> Shape {
        let result = self.scoped(|walk| {
            // It has an `arguments` of its own; the name is rarely anything else.
            walk.bind("arguments", Shape::Any);
            walk.parameters(function.params.iter().map(|one| &one.pat), given);
            match &function.body {
                Some(body) => walk.returning(&body.stmts),
                None => Shape::Any,
            }
        });
        match function.is_async || function.is_generator {
            true => Shape::Any,
            false => result,
        }
    }

    fn parameters<'p>(&mut self, all: impl Iterator<Item = &'p Pat>, given: &[Shape]) {
        let mut given = given.iter();
        for pattern in all {
            let shape = match pattern {
                Pat::Rest(_) => Shape::Any,
                _ => given.next().cloned().unwrap_or(Shape::Any),
            };
            self.destructure(pattern, shape);
        }
    }
}

/// What a method gives that is named as those of strings are. These are the same for lists.
fn of_text(base: &Shape, name: &str) -> Shape {
    let is_text = matches!(base, Shape::Text | Shape::KindName | Shape::OperationName);
    match name {
        "includes" | "startsWith" | "endsWith" => Shape::Truth,
        "some" | "every" if !matches!(base, Shape::Nothing) => Shape::Truth,
        "split" if is_text => Shape::list(Shape::Text),
        "trim" | "trimStart" | "trimEnd" | "toLowerCase" | "toUpperCase" | "slice"
        | "substring" | "replace" | "replaceAll" | "padStart" | "padEnd" | "repeat" | "charAt"
            if is_text =>
        {
            Shape::Text
        }
        "indexOf" | "lastIndexOf" | "search" | "localeCompare" if is_text => Shape::Number,
        _ => Shape::Any,
    }
}
