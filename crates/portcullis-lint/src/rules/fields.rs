//! `unknown-field`: a member that no object of the matched kinds has, or no string, list or number.

use super::Context;
use super::suggestions::instead_of;
use crate::finding::Report;
use crate::rule::Rule;
use crate::scope::Candidate;
use crate::shape::{Lookup, Shape};
use crate::walk::{Event, Member};

/// How several owners begin.
const NONE_OF: &str = "none of ";

pub(super) fn check(context: &Context<'_>, report: &mut Report) {
    for event in &context.events {
        if let Event::Member(member) = event
            && let Lookup::Missing(known) = &member.found
        {
            let (owner, name) = (owner(member), &member.name);
            let message = match owner.starts_with(NONE_OF) {
                true => format!("{owner} has `{name}`"),
                false => format!("{owner} has no `{name}`"),
            };
            report.at(
                member.at.clone(),
                Rule::UnknownField,
                message,
                fix(member, known),
            );
        }
    }
}

/// What has no such member.
fn owner(member: &Member) -> String {
    match &member.base {
        Shape::Root(_) => match member.facts.kinds.as_deref() {
            Some([only]) => format!("a {}", only.name()),
            Some(kinds) => {
                let mut names: Vec<&str> = kinds.iter().map(Candidate::name).collect();
                names.dedup();
                format!("{NONE_OF}{}", names.join(", "))
            }
            None => "the object".to_owned(),
        },
        Shape::Request => "`req`".to_owned(),
        Shape::RequestKind => "`req.kind`".to_owned(),
        Shape::Fields(name) => short(name).to_owned(),
        Shape::OneOf(all) => {
            let mut names: Vec<&str> = all.iter().map(name_of).collect();
            names.dedup();
            format!("{NONE_OF}{}", names.join(", "))
        }
        one => format!("a {}", name_of(one)),
    }
}

fn name_of(shape: &Shape) -> &'static str {
    match shape {
        Shape::Fields(name) => short(name),
        Shape::List(_) => "list",
        Shape::Map(_) => "map",
        Shape::Text | Shape::KindName | Shape::OperationName => "string",
        Shape::Number => "number",
        Shape::Truth => "boolean",
        _ => "value",
    }
}

/// `PodSpec` of `core.v1.PodSpec`.
fn short(name: &'static str) -> &'static str {
    name.rsplit_once('.').map_or(name, |(_, short)| short)
}

fn fix(member: &Member, known: &[&'static str]) -> String {
    // A field of the elements, read from the list.
    if let Shape::List(element) = &member.base {
        let is_there = matches!(element.member(&member.name, &None, true), Lookup::Found(_));
        if is_there {
            let name = &member.name;
            return format!(
                "each element has one: `.some(x => x.{name} ...)` or `for (const x of ...)`"
            );
        }
    }
    if let Shape::Text = &member.base
        && ["contains", "has"].contains(&member.name.as_str())
    {
        return "did you mean `includes`?".to_owned();
    }
    instead_of(&member.name, known)
}
