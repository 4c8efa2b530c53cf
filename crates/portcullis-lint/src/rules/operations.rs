//! `excluded-operation`: tests for an operation that never comes.

use portcullis_core::Operation;

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;
use crate::shape::Shape;
use crate::walk::Event;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    for event in &context.events {
        let Event::Comparison(comparison) = event else {
            continue;
        };
        let sides = [
            (&comparison.left, &comparison.right),
            (&comparison.right, &comparison.left),
        ];
        for (value, other) in sides {
            if let (Shape::OperationName, Some(text)) = (&value.shape, &other.text) {
                test(context, other.at.clone(), text, report);
            }
        }
    }
}

fn test(context: &Context<'_>, at: std::ops::Range<usize>, text: &str, report: &mut Report) {
    let Ok(operation) = text.parse::<Operation>() else {
        let message = format!("no operation is named `{text}`, so this never holds");
        let upper = text.to_uppercase();
        let fix = match upper.parse::<Operation>() {
            Ok(meant) => format!("did you mean `{meant}`?"),
            Err(_) => "there are `CREATE`, `UPDATE`, `DELETE` and `CONNECT`".to_owned(),
        };
        return report.at(at, Rule::ExcludedOperation, message, fix);
    };
    if context
        .scope
        .is_some_and(|scope| !scope.has_operation(operation))
    {
        let message = format!("`match.operations` excludes `{operation}`, so this never holds");
        let fix = format!("add `{operation}` to `match.operations`, or remove the test");
        report.at(at, Rule::ExcludedOperation, message, fix);
    }
}
