//! Everything that was considered for an answer, human-readable.

use portcullis_roles::{Explanation, Parameters, Permission};

use super::caller::Caller;
use super::phrases::{any, if_any, when};
use crate::commands::text::columns;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::hanging;

/// Rules, grants, near misses, and whether anyone may read.
pub(in crate::commands) fn text(
    explanation: &Explanation,
    action: Permission,
    parameters: &Parameters<'_>,
    caller: &Caller,
    anonymous_read: bool,
    terminal: Terminal,
) -> String {
    let mut text = String::new();
    let mut section = |title: &str, body: String, none: &str| {
        text.push_str(&terminal.heading(title));
        text.push('\n');
        let body = if body.is_empty() { none } else { &body };
        for line in body.lines() {
            text.push_str(&hanging(&format!("  {line}"), 4, terminal.width));
            text.push('\n');
        }
        text.push('\n');
    };
    if let Caller::Refused(why) = caller {
        let why = format!("a token with these claims is rejected: {why}");
        section("Claims", printable(&why).into_owned(), "");
    }
    section(
        "Rules",
        rules(explanation, terminal.indented(2)),
        "no rule has a role here",
    );
    let title = format!("Grants of {action} by rules that match");
    section(&title, considered(explanation, parameters), "none");
    let title = format!("Grants of {action} by other rules");
    section(&title, near(explanation), "none that would permit it");
    let anybody = match (anonymous_read, action) {
        (true, Permission::Read) => "anyone may read here, so no role is needed",
        (true, _) => "anyone may read here, but nothing else",
        (false, _) => "reading requires signing in and a role that permits it",
    };
    section("Without signing in", anybody.to_owned(), "");
    text.pop();
    text
}

fn rules(explanation: &Explanation, terminal: Terminal) -> String {
    let rows: Vec<Vec<String>> = explanation
        .rules
        .iter()
        .map(|rule| {
            let matches = match rule.matches {
                true => "matches".to_owned(),
                false => format!("doesn't match{}", if_any(": ", &rule.missed.join("; "))),
            };
            vec![rule.rule.clone(), rule.roles.join(", "), matches]
        })
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => columns::table(&["RULE", "ROLES", "THESE CLAIMS"], &rows, terminal),
    }
}

/// Each condition of each grant: what it wants, and what the request has.
fn considered(explanation: &Explanation, parameters: &Parameters<'_>) -> String {
    let mut text = String::new();
    for (grant, misses) in &explanation.considered {
        let verdict = match misses.is_empty() {
            true => "permits it",
            false => "doesn't permit this",
        };
        let line = format!("rule {}, role {} {verdict}", grant.rule, grant.role);
        text.push_str(&format!("{}\n", printable(&line)));
        for (condition, wanted) in &grant.conditions {
            let got = parameters.get(*condition);
            let is_met = !misses.iter().any(|miss| miss.condition == *condition);
            let line = format!(
                "{} {condition}: expected {}, got {}",
                if is_met { "met:    " } else { "not met:" },
                any(wanted),
                got.unwrap_or("nothing"),
            );
            text.push_str(&format!("  {}\n", printable(&line)));
        }
    }
    text
}

fn near(explanation: &Explanation) -> String {
    let mut text = String::new();
    for grant in &explanation.near {
        let line = format!(
            "rule {}, role {} would permit it{}",
            grant.rule,
            grant.role,
            if_any(" when ", &when(&grant.conditions))
        );
        text.push_str(&format!("{}\n", printable(&line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use portcullis_roles::Condition;

    use super::super::sample;
    use super::*;

    #[test]
    fn everything_that_was_considered_is_told() {
        let parameters = Parameters::new().with(Condition::Project, Some("bar"));
        let told = text(
            &sample::refused(),
            Permission::Enqueue,
            &parameters,
            &sample::alice(),
            false,
            Terminal::default(),
        );
        let wanted = "\
Rules
  RULE        ROLES           THESE CLAIMS
  admin-user  admin           doesn't match: preferred_username is `alice`, not `admin`
  everyone    read, autohold  matches
  alice       enqueue-post    matches

Grants of enqueue by rules that match
  rule alice, role enqueue-post doesn't permit this
    not met: project: expected foo, got bar
    not met: pipeline: expected post or gate, got nothing

Grants of enqueue by other rules
  rule admin-user, role admin would permit it

Without signing in
  reading requires signing in and a role that permits it
";
        assert_eq!(told, wanted);
    }

    #[test]
    fn what_is_met_is_told_too() {
        let parameters = Parameters::new()
            .with(Condition::Project, Some("foo"))
            .with(Condition::Pipeline, Some("gate"));
        let told = considered(&sample::allowed(), &parameters);
        assert_eq!(
            told,
            "rule alice, role enqueue-post permits it\n  met:     project: expected foo, got foo\n  \
             met:     pipeline: expected post or gate, got gate\n"
        );
    }

    #[test]
    fn nothing_is_told_as_nothing() {
        let mut empty = sample::refused();
        empty.rules.clear();
        empty.considered.clear();
        empty.near.clear();
        let told = text(
            &empty,
            Permission::Read,
            &Parameters::new(),
            &Caller::Refused("who\u{1b}".to_owned()),
            true,
            Terminal::default(),
        );
        for line in [
            "  a token with these claims is rejected: who\\u{1b}",
            "  no rule has a role here",
            "  none that would permit it",
            "  anyone may read here, so no role is needed",
        ] {
            assert!(told.lines().any(|l| l == line), "{told}");
        }
    }
}
