//! What can be told of the body of a function without running it.

use crate::fault::{Places, ScriptFault};
use crate::parse::{self, BodyOf};
use crate::{isolate, limits, reads_only, refuse};

/// What is known of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Insight {
    /// What the engine would refuse only when it runs.
    pub faults: Vec<ScriptFault>,
    /// Whether it can't change the objects it is given. Not knowing is no.
    pub reads_only: bool,
}

/// Looks at the body of a function, in JavaScript and sloppy mode, that the engine is known to take.
/// `awaits`: it is that of an async function. Of a text that can't be parsed nothing is known.
pub fn examine(text: &str, awaits: bool) -> Insight {
    if limits::check(text).is_err() {
        return Insight::default();
    }
    let kind = match awaits {
        true => BodyOf::Async,
        false => BodyOf::Plain,
    };
    let examined = isolate::run(|| {
        let Some(statements) = parse::body(text, kind) else {
            return Ok(Insight::default());
        };
        let places = Places::new(text);
        let prefix = kind.prefix().len();
        let fault = |(span, message): (swc_common::Span, String)| {
            places.fault(parse::offset(span.lo).saturating_sub(prefix), message)
        };
        Ok(Insight {
            faults: refuse::of_body(&statements)
                .into_iter()
                .map(fault)
                .collect(),
            reads_only: reads_only::statements(&statements),
        })
    });
    examined.unwrap_or_default()
}
