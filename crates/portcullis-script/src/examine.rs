//! What can be determined about the body of a function without running it.

use portcullis_core::deep_stack;

use crate::bare_names::BareNames;
use crate::fault::{Places, ScriptFault};
use crate::parse::{self, BodyOf};
use crate::{limits, reads_only, refuse};

/// What is known of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Insight {
    /// What the engine would reject only when it runs.
    pub faults: Vec<ScriptFault>,
    /// Whether it can't change the objects it is given. False where that is not known.
    pub reads_only: bool,
    /// The names in it that stand alone. None where the text can't be parsed.
    pub names: BareNames,
}

/// The body of a function, in JavaScript and sloppy mode, that the engine is known to take.
#[derive(Debug, Clone, Copy)]
pub struct FunctionBody<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether it is that of an async function.
    pub awaits: bool,
}

/// Looks at bodies of functions. Of a text that can't be parsed nothing is known.
pub fn examine(bodies: &[FunctionBody<'_>]) -> Vec<Insight> {
    // One thread for all: threads cost more than parsing. A panic is the affair of one text alone.
    let one = |body: &FunctionBody<'_>| {
        deep_stack::run(parse::STACK, || insight(*body)).unwrap_or_default()
    };
    deep_stack::run(parse::STACK, || bodies.iter().map(one).collect())
        .unwrap_or_else(|_| vec![Insight::default(); bodies.len()])
}

fn insight(FunctionBody { text, awaits }: FunctionBody<'_>) -> Insight {
    let kind = match awaits {
        true => BodyOf::Async,
        false => BodyOf::Plain,
    };
    if limits::check(text).is_err() {
        return Insight::default();
    }
    let Some(statements) = parse::body(text, kind) else {
        return Insight::default();
    };
    let places = Places::new(text);
    let prefix = kind.prefix().len();
    let fault = |(span, message): (swc_common::Span, String)| {
        places.fault(parse::offset(span.lo).saturating_sub(prefix), message)
    };
    Insight {
        faults: refuse::of_body(&statements)
            .into_iter()
            .map(fault)
            .collect(),
        reads_only: reads_only::statements(&statements),
        names: BareNames::of(&statements),
    }
}
