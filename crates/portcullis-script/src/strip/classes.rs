//! What types leave in classes: modifiers, fields that are only declared, methods without a body.

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    AutoAccessor, Class, ClassMethod, ClassProp, Constructor, Expr, Function, Key, PrivateMethod,
    PrivateProp, PropName, TsTypeAnn,
};
use swc_ecma_parser::unstable::Token;
use swc_ecma_visit::VisitWith;

use super::eraser::Eraser;
use super::tokens::between;

impl Eraser<'_> {
    pub(super) fn class(&mut self, class: &Class) {
        if class.is_abstract {
            self.blank_first(class.span, Token::Abstract);
        }
        if let (Some(first), Some(last)) = (class.implements.first(), class.implements.last()) {
            let before = between(class.span.lo, first.span.lo);
            if let Some(word) = self.tokens.last(before, Token::Implements) {
                self.blank(between(word.span.lo, last.span.hi));
            }
        }
        class.visit_children_with(self);
    }

    pub(super) fn class_prop(&mut self, field: &ClassProp) {
        if field.declare || field.is_abstract {
            self.blank_item(field.span);
            return;
        }
        let key = field.key.span();
        let is_first = self.modifiers(field.span, key);
        self.keep_apart(
            field.span,
            is_first && !field.is_static && joins(&field.key),
        );
        self.field(key, field.type_ann.as_deref(), field.value.as_deref());
        field.visit_children_with(self);
    }

    pub(super) fn private_prop(&mut self, field: &PrivateProp) {
        self.modifiers(field.span, field.key.span);
        let (annotation, value) = (field.type_ann.as_deref(), field.value.as_deref());
        self.field(field.key.span, annotation, value);
        field.visit_children_with(self);
    }

    pub(super) fn auto_accessor(&mut self, field: &AutoAccessor) {
        if field.is_abstract {
            self.blank_item(field.span);
            return;
        }
        let key = match &field.key {
            Key::Private(name) => name.span,
            Key::Public(name) => name.span(),
        };
        self.modifiers(field.span, key);
        self.field(key, field.type_ann.as_deref(), field.value.as_deref());
        field.visit_children_with(self);
    }

    pub(super) fn class_method(&mut self, method: &ClassMethod) {
        if method.is_abstract || method.function.body.is_none() {
            self.blank_item(method.span);
            return;
        }
        let key = method.key.span();
        let is_first = self.modifiers(method.span, key);
        let joins = joins(&method.key) || method.function.is_generator;
        self.keep_apart(method.span, is_first && !method.is_static && joins);
        self.optional_method(method.is_optional, key, &method.function);
        method.visit_children_with(self);
    }

    pub(super) fn private_method(&mut self, method: &PrivateMethod) {
        if method.is_abstract || method.function.body.is_none() {
            self.blank_item(method.span);
            return;
        }
        self.modifiers(method.span, method.key.span);
        self.optional_method(method.is_optional, method.key.span, &method.function);
        method.visit_children_with(self);
    }

    pub(super) fn constructor(&mut self, constructor: &Constructor) {
        if constructor.body.is_none() {
            self.blank_item(constructor.span);
            return;
        }
        self.modifiers(constructor.span, constructor.key.span());
        constructor.visit_children_with(self);
    }

    /// Blanks the modifiers before a key. Tells whether the member began with one.
    fn modifiers(&mut self, member: Span, key: Span) -> bool {
        let mut is_first = false;
        for token in self.tokens.within(between(member.lo, key.lo)) {
            if let Token::Readonly
            | Token::Override
            | Token::Public
            | Token::Protected
            | Token::Private = token.token
            {
                self.blank(token.span);
                is_first |= token.span.lo == member.lo;
            }
        }
        is_first
    }

    /// Writes a `;` in the place of a modifier, if the member would go on with the one before it.
    fn keep_apart(&mut self, member: Span, joins: bool) {
        if joins && self.joins_the_one_before() {
            self.write(member.lo, ";");
        }
    }

    /// Blanks the `?` or `!` behind a field's key. A field called `get`, `set` or `static` without
    /// a value needs a `;`, lest it become a modifier of the next member.
    fn field(&mut self, key: Span, annotation: Option<&TsTypeAnn>, value: Option<&Expr>) {
        let next = self.tokens.after(key.hi);
        let marker = next
            .filter(|token| matches!(token.token, Token::QuestionMark | Token::Bang))
            .map(|token| token.span);
        if let Some(marker) = marker {
            self.blank(marker);
        }
        let annotation = annotation.map(|annotation| annotation.span);
        let Some(gap) = annotation.or(marker).filter(|_| value.is_none()) else {
            return;
        };
        let first = self.tokens.within(key).next();
        if first.is_some_and(|name| matches!(name.token, Token::Get | Token::Set | Token::Static)) {
            self.write(gap.lo, ";");
        }
    }

    fn optional_method(&mut self, is_optional: bool, key: Span, function: &Function) {
        if is_optional {
            self.blank_first(between(key.hi, function.span.hi), Token::QuestionMark);
        }
    }
}

/// Whether a key at the beginning of a line goes on with the line before it.
fn joins(key: &PropName) -> bool {
    match key {
        PropName::Computed(_) => true,
        PropName::Ident(name) => matches!(name.sym.as_ref(), "in" | "instanceof"),
        _ => false,
    }
}
