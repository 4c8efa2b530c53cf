//! The tokens of a text, looked up by their places.

use swc_common::{BytePos, Span};
use swc_ecma_parser::unstable::{Token, TokenAndSpan};

/// The parser's tokens in the order of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a>(pub(super) &'a [TokenAndSpan]);

impl<'a> Tokens<'a> {
    /// Those that stand wholly within a span, from both ends.
    pub(super) fn within(self, span: Span) -> impl DoubleEndedIterator<Item = &'a TokenAndSpan> {
        let from = self.0.partition_point(|token| token.span.lo < span.lo);
        let to = self.0.partition_point(|token| token.span.hi <= span.hi);
        self.0.get(from..to).unwrap_or_default().iter()
    }

    /// The first of a kind within a span.
    pub(super) fn first(self, span: Span, kind: Token) -> Option<&'a TokenAndSpan> {
        self.within(span).find(|token| token.token == kind)
    }

    /// The last of a kind within a span.
    pub(super) fn last(self, span: Span, kind: Token) -> Option<&'a TokenAndSpan> {
        self.within(span).rfind(|token| token.token == kind)
    }

    /// The token before a position.
    pub(super) fn before(self, position: BytePos) -> Option<&'a TokenAndSpan> {
        let after = self.0.partition_point(|token| token.span.hi <= position);
        self.0.get(after.checked_sub(1)?)
    }

    /// The token at a position, or the next one.
    pub(super) fn after(self, position: BytePos) -> Option<&'a TokenAndSpan> {
        let after = self.0.partition_point(|token| token.span.hi <= position);
        self.0.get(after)
    }

    /// The token at a position, or the next one, if it is of a kind.
    pub(super) fn next_is(self, position: BytePos, kind: Token) -> Option<&'a TokenAndSpan> {
        self.after(position).filter(|token| token.token == kind)
    }
}

/// From one position to another; nothing if they are the wrong way round.
pub(super) fn between(lo: BytePos, hi: BytePos) -> Span {
    Span::new(lo, hi.max(lo))
}
