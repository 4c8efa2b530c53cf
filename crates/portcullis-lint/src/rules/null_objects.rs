//! `null-object`: a member of `object` on DELETE, or of `oldObject` on CREATE.

use portcullis_core::Operation;

use super::Context;
use crate::finding::Report;
use crate::rule::Rule;
use crate::shape::{Root, Shape};
use crate::walk::Event;

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    for event in &context.events {
        let Event::Member(member) = event else {
            continue;
        };
        let operations = member.facts.operations;
        let (root, other, when) = match &member.base {
            Shape::Root(Root::New) if operations.is_within(&[Operation::Delete]) => {
                ("object", "oldObject", "on DELETE")
            }
            Shape::Root(Root::Old)
                if operations.is_within(&[Operation::Create, Operation::Connect]) =>
            {
                let when = match operations.contains(Operation::Create) {
                    true => "on CREATE",
                    false => "on CONNECT",
                };
                ("oldObject", "object", when)
            }
            _ => continue,
        };
        let message = match member.is_optional {
            true => format!("`{root}` is null {when}, so this is always undefined"),
            false => format!(
                "`{root}` is null {when}, so reading `{}` throws",
                member.name
            ),
        };
        let fix = format!("read `{other}`, or match other operations");
        report.at(member.at.clone(), Rule::NullObject, message, fix);
    }
}
