//! What types leave in expressions and patterns.

use swc_common::{BytePos, Span, Spanned};
use swc_ecma_ast::{ArrowExpr, Expr, TsTypeAnn};
use swc_ecma_parser::unstable::Token;
use swc_ecma_visit::VisitWith;

use super::eraser::Eraser;
use super::tokens::between;
use crate::canvas::is_line_end;
use crate::parse;

const POWER: &str = "put parentheses around the operand before `**`";

impl Eraser<'_> {
    /// Rejects `-a as B ** c`: without the type, its left side needs parentheses.
    pub(super) fn power(&mut self, left: &Expr) {
        let inner = left.unwrap_with(|expression| match expression {
            Expr::TsAs(outer) => Some(&outer.expr),
            Expr::TsSatisfies(outer) => Some(&outer.expr),
            Expr::TsConstAssertion(outer) => Some(&outer.expr),
            Expr::TsNonNull(outer) => Some(&outer.expr),
            Expr::TsInstantiation(outer) => Some(&outer.expr),
            _ => None,
        });
        if matches!(inner, Expr::Unary(_) | Expr::Await(_)) {
            self.refuse(left.span(), POWER);
        }
    }

    /// Blanks the `?` of a parameter.
    pub(super) fn pattern(&mut self, is_optional: bool, span: Span, of: Option<&TsTypeAnn>) {
        if !is_optional {
            return;
        }
        let end = match of {
            Some(annotation) => annotation.span.lo,
            // The span of a name may end before its `?`.
            None => {
                let next = self.tokens.next_is(span.hi, Token::QuestionMark);
                next.map_or(span.hi, |token| token.span.hi)
            }
        };
        if let Some(mark) = self.tokens.last(between(span.lo, end), Token::QuestionMark) {
            self.blank(mark.span);
        }
    }

    /// Blanks what stands behind an expression.
    pub(super) fn suffix(&mut self, expression: &Expr, whole: Span) {
        expression.visit_with(self);
        self.blank(between(expression.span_hi(), whole.hi));
    }

    /// Blanks `as T` and `satisfies T`, which end a statement where the next line could go on with
    /// the expression.
    pub(super) fn assertion(&mut self, expression: &Expr, whole: Span) {
        self.suffix(expression, whole);
        let Some(next) = self.tokens.after(whole.hi) else {
            return;
        };
        let goes_on = matches!(
            next.token,
            Token::LParen
                | Token::LBracket
                | Token::NoSubstitutionTemplateLiteral
                | Token::TemplateHead
        );
        if next.had_line_break && goes_on {
            self.write(expression.span_hi(), ";");
        }
    }

    /// Blanks the types of an arrow function. Its parentheses move into the blanks where a line
    /// would end otherwise between `async` or `return` and `(`, or between `)` and `=>`.
    pub(super) fn arrow(&mut self, arrow: &ArrowExpr) {
        self.move_opening(arrow);
        self.move_closing(arrow);
        arrow.visit_children_with(self);
    }

    fn move_opening(&mut self, arrow: &ArrowExpr) {
        let Some(types) = arrow.type_params.as_ref().map(|types| types.span) else {
            return;
        };
        let before = self.tokens.before(types.lo).map(|token| token.token);
        let on_one_line = (self.tokens.after(types.lo)).is_some_and(|first| !first.had_line_break);
        let is_operand =
            on_one_line && matches!(before, Some(Token::Return | Token::Throw | Token::Yield));
        if !arrow.is_async && !is_operand {
            return;
        }
        let rest = between(types.hi, arrow.span.hi);
        if let Some(opening) = self.tokens.first(rest, Token::LParen)
            && self.has_line_end(types.lo, opening.span.lo)
        {
            self.write(types.lo, "(");
            self.blank(opening.span);
        }
    }

    fn move_closing(&mut self, arrow: &ArrowExpr) {
        let Some(returned) = arrow.return_type.as_ref().map(|returned| returned.span) else {
            return;
        };
        let (head, rest) = (
            between(arrow.span.lo, returned.lo),
            between(returned.hi, arrow.span.hi),
        );
        if let Some(closing) = self.tokens.last(head, Token::RParen)
            && let Some(sign) = self.tokens.first(rest, Token::Arrow)
            && self.has_line_end(closing.span.hi, sign.span.lo)
            && let Some(last) = self.last_character(returned)
        {
            self.blank(between(closing.span.lo, returned.hi));
            self.write(last, ")");
        }
    }

    fn has_line_end(&self, from: BytePos, to: BytePos) -> bool {
        let part = self.text.get(parse::bytes(between(from, to)));
        part.is_some_and(|part| part.contains(is_line_end))
    }

    /// Where the last character of a span begins.
    fn last_character(&self, span: Span) -> Option<BytePos> {
        let part = self.text.get(parse::bytes(span))?;
        let width = part.chars().next_back()?.len_utf8();
        Some(span.hi - BytePos(u32::try_from(width).ok()?))
    }
}
