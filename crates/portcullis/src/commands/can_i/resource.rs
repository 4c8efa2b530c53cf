//! `portcullis can-i VERB RESOURCE`.

use clap::Args;
use portcullis_gate::graph_answers::{self, AccessQuestion, CanI, Explained};
use serde_json::json;

use crate::commands::failure::{Failure, remark};
use crate::commands::graph::opened::{self, Opened};
use crate::commands::graph::{GraphFlags, listed};
use crate::commands::text::data::Output;
use crate::commands::text::plain::printable;
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::hanging;
use crate::commands::text::{columns, data};
use crate::exit::Exit;
use crate::output;

/// What only resources have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Verbs on resources")]
pub(super) struct ResourceFlags {
    /// The user.
    #[arg(long = "as", value_name = "USER")]
    pub(super) user: Option<String>,
    /// A group of the user; may be repeated. The default for a service account is its own groups.
    #[arg(long = "as-group", value_name = "GROUP")]
    pub(super) groups: Vec<String>,
    /// The namespace of the object.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// Part of the object, like status.
    #[arg(long, value_name = "SUBRESOURCE")]
    pub(super) subresource: Option<String>,
    /// Label selector of a list.
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(super) selector: Option<String>,
    /// Field selector of a list.
    #[arg(long, value_name = "SELECTOR")]
    pub(super) field_selector: Option<String>,
    /// Ask only this authorizer [default: all, in the order of the configuration].
    #[arg(long, value_name = "NAME")]
    pub(super) authorizer: Option<String>,
}

impl ResourceFlags {
    /// The first that is given.
    pub(super) fn first(&self) -> Option<&'static str> {
        let all = [
            ("--as", self.user.is_some()),
            ("--as-group", !self.groups.is_empty()),
            ("--namespace", self.namespace.is_some()),
            ("--subresource", self.subresource.is_some()),
            ("--selector", self.selector.is_some()),
            ("--field-selector", self.field_selector.is_some()),
            ("--authorizer", self.authorizer.is_some()),
        ];
        let mut given = all.into_iter().filter(|(_, is_given)| *is_given);
        given.next().map(|(flag, _)| flag)
    }
}

/// Whether a user may do something to a resource.
#[derive(Debug)]
pub(super) struct CanIAccess {
    pub(super) question: AccessQuestion,
    pub(super) authorizer: Option<String>,
    pub(super) place: GraphFlags,
    pub(super) explain: bool,
    pub(super) output: Output,
}

/// Asks the authorizers, and prints what they say.
pub(super) fn run(asked: &CanIAccess) -> Result<Exit, Failure> {
    let authorizer = asked.authorizer.as_deref();
    let answer: CanI = match opened::open(&asked.place)? {
        Opened::Local(here) => {
            let chain = here.asked(authorizer)?;
            let access = asked.question.access();
            let access = access.map_err(|wrong| Failure::new(Exit::Usage, wrong))?;
            graph_answers::can_i(&here.graphs(), &chain, &access)
        }
        Opened::Remote(mut there) => there.can_i(authorizer, &asked.question.parameters())?,
    };
    opened::warn(&answer.problems);
    let terminal = Terminal::of_output();
    output::data(&data::write(&json!(answer), asked.output, || {
        let line = hanging(&printable(&line(&answer)), 2, terminal.width);
        let mut text = terminal.answer(&line, answer.allowed);
        text.push('\n');
        if asked.explain {
            text.push_str(&explained(&answer, terminal));
        }
        text
    }));
    if !answer.allowed && asked.output == Output::Table && !answer.hints.is_empty() {
        let hints = listed(&answer.hints);
        remark(&format!(
            "no profile has this resource; did you mean {hints}?"
        ));
    }
    Ok(match (answer.allowed, &answer.error) {
        (true, _) => Exit::Yes,
        (false, None) if !answer.is_uncertain => Exit::No,
        (false, _) => Exit::Failed,
    })
}

/// The answer in a line.
fn line(answer: &CanI) -> String {
    let with_reason = |said: String| match answer.reason.as_str() {
        "" => said,
        reason => format!("{said}: {reason}"),
    };
    let who = answer.authorizer.as_deref().unwrap_or("no authorizer");
    let no = match answer.is_uncertain {
        true => format!("can't tell, {}", opened::UNREAD),
        false => "no".to_owned(),
    };
    match (answer.decision.as_str(), &answer.error) {
        (_, Some(error)) => format!("can't tell: {error}"),
        ("allow", None) => with_reason(format!("yes: {who} allows it")),
        ("deny", None) => with_reason(format!("{no}: {who} denies it")),
        _ => with_reason(format!("{no}: no authorizer allowed it (no opinion)")),
    }
}

/// What every authorizer said, and why.
fn explained(answer: &CanI, terminal: Terminal) -> String {
    let mut text = String::new();
    for one in &answer.explanation {
        let decision = match one.decision.as_str() {
            "allow" => "allows it",
            "deny" => "denies it",
            "error" => "could not decide",
            _ => "has no opinion",
        };
        let mut heading = format!("{} {decision}", one.authorizer);
        if !one.reason.is_empty() {
            heading = format!("{heading}: {}", one.reason);
        }
        let heading = hanging(&printable(&heading), 2, terminal.width);
        text.push_str(&format!("\n{}\n", terminal.heading(&heading)));
        for line in columns::fields(&why(one), terminal.indented(2)).lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

fn why(one: &Explained) -> Vec<(&'static str, String)> {
    if !one.is_graph {
        return Vec::new();
    }
    let mut fields = Vec::new();
    fields.push((
        "user",
        match &one.subject {
            Some(subject) => format!("{}, stands for {}", subject.id, subject.vertex),
            None => match &one.near_miss {
                Some(why) => format!("not an agent of this profile: {why}"),
                None => "not an agent of this profile".to_owned(),
            },
        },
    ));
    if let Some(rule) = &one.rule {
        fields.push(("rule", format!("{}: {}", rule.place, rule.text)));
    }
    let Some(object) = &one.object else {
        return fields;
    };
    fields.push(("object", object.clone()));
    if !one.path.is_empty() {
        fields.push(("path", one.path.join(" -> ")));
    } else if one.is_known == Some(false) {
        fields.push(("miss", format!("{object} is not in the graph")));
    } else if one.is_known == Some(true) && one.decision != "allow" {
        let wanted = one.subject.as_ref().map(|subject| subject.vertex.as_str());
        let wanted = wanted.map_or(String::new(), |vertex| format!(", not to {vertex}"));
        let instead = match one.leads_to.is_empty() {
            true => "no target".to_owned(),
            false => one.leads_to.join(", "),
        };
        fields.push(("miss", format!("{object} leads to {instead}{wanted}")));
    }
    fields
}

#[cfg(test)]
mod tests {
    use portcullis_gate::graph_answers::{RuleAnswer, SubjectAnswer};

    use super::*;

    fn no() -> CanI {
        CanI {
            allowed: false,
            decision: "no_opinion".to_owned(),
            reason: "no relationship found".to_owned(),
            authorizer: None,
            error: None,
            explanation: vec![Explained {
                authorizer: "gardener".to_owned(),
                decision: "no_opinion".to_owned(),
                reason: "no relationship found".to_owned(),
                is_graph: true,
                subject: Some(SubjectAnswer {
                    id: "gardenlet".to_owned(),
                    vertex: "Seed:s2".to_owned(),
                }),
                near_miss: None,
                rule: Some(RuleAnswer {
                    place: "rules[3]".to_owned(),
                    text: "get needs a path".to_owned(),
                }),
                object: Some("Project:p1".to_owned()),
                is_known: Some(true),
                path: Vec::new(),
                leads_to: vec!["Seed:s1".to_owned()],
            }],
            hints: Vec::new(),
            problems: Vec::new(),
            is_uncertain: false,
        }
    }

    #[test]
    fn the_answer_is_a_line() {
        let mut answer = no();
        assert_eq!(
            line(&answer),
            "no: no authorizer allowed it (no opinion): no relationship found"
        );
        answer.is_uncertain = true;
        assert_eq!(
            line(&answer),
            "can't tell, some objects could not be read: no authorizer allowed it (no opinion): no relationship found"
        );
        answer.is_uncertain = false;
        answer.error = Some("gardener: not caught up".to_owned());
        assert_eq!(line(&answer), "can't tell: gardener: not caught up");
        answer.error = None;
        answer.authorizer = Some("local".to_owned());
        answer.decision = "deny".to_owned();
        assert_eq!(line(&answer), "no: local denies it: no relationship found");
        answer.decision = "allow".to_owned();
        answer.reason.clear();
        assert_eq!(line(&answer), "yes: local allows it");
    }

    #[test]
    fn the_nearest_miss_is_named() {
        let mut answer = no();
        let text = explained(&answer, Terminal::default());
        assert_eq!(
            text,
            "\ngardener has no opinion: no relationship found\n  user    gardenlet, stands for Seed:s2\n  \
             rule    rules[3]: get needs a path\n  object  Project:p1\n  \
             miss    Project:p1 leads to Seed:s1, not to Seed:s2\n"
        );
        answer.explanation[0].is_known = Some(false);
        let text = explained(&answer, Terminal::default());
        assert!(
            text.contains("miss    Project:p1 is not in the graph\n"),
            "{text}"
        );
        answer.explanation[0].subject = None;
        answer.explanation[0].object = None;
        let text = explained(&answer, Terminal::default());
        assert!(
            text.contains("not an agent of this profile\n") && !text.contains("miss"),
            "{text}"
        );
        let why = "user matches subject `gardenlet`, but is not in group `seeds`";
        answer.explanation[0].near_miss = Some(why.to_owned());
        let text = explained(&answer, Terminal::default());
        assert!(
            text.contains(&format!("user  not an agent of this profile: {why}\n")),
            "{text}"
        );
    }

    #[test]
    fn a_path_is_named() {
        let mut answer = no();
        let one = &mut answer.explanation[0];
        one.decision = "allow".to_owned();
        one.path = vec!["Project:p1".to_owned(), "Seed:s2".to_owned()];
        let text = explained(&answer, Terminal::default());
        assert!(text.contains("path    Project:p1 -> Seed:s2\n"), "{text}");
    }
}
