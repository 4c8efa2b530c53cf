//! The human-readable explanation of a decision, section by section.

use portcullis_core::Door;
use portcullis_record::{Answer, Decision};

use super::subject::Subject;
use super::{action, calls, changes, considered, inputs, near_misses, verdict};
use crate::commands::text::plain::{printable, took};
use crate::commands::text::terminal::Terminal;
use crate::commands::text::wrap::{hanging, wrapped};

/// The whole text.
pub(super) fn write(decision: &Decision, terminal: Terminal) -> String {
    let subject = Subject::of(decision);
    let is_yes = decision.summary.verdict == Answer::Allow;
    let (word, rest) = match decision.summary.door {
        Door::Api => action::sentence(decision),
        _ => verdict::sentence(decision),
    };
    let sentence = hanging(&format!("{word}{}", printable(&rest)), 2, terminal.width);
    let rest = sentence.strip_prefix(word).unwrap_or_default();
    let mut text = format!("{}{rest}\n\n", terminal.answer(word, is_yes));
    for (name, value) in head(decision, &subject) {
        let value = wrapped(&printable(&value), 10, terminal.width);
        text.push_str(&format!("{name:<9} {value}\n"));
    }
    let who = match decision.summary.door {
        Door::Authorization => "Authorizers, in the order in which they were asked",
        _ => "Evaluation, in order",
    };
    for (heading, lines) in [
        (who, considered::lines(decision)),
        ("Near misses and warnings", near_misses::lines(decision)),
        (
            changes::heading(decision),
            changes::lines(decision, &subject),
        ),
        ("Host calls", calls::lines(decision)),
        ("Inputs", inputs::lines(decision, &subject)),
    ] {
        if lines.is_empty() {
            continue;
        }
        text.push_str(&format!("\n{}\n", terminal.heading(heading)));
        for line in lines {
            text.push_str(&hanging(
                &format!("  {}", printable(&line)),
                4,
                terminal.width,
            ));
            text.push('\n');
        }
    }
    text
}

/// What, who, when, and who decided.
fn head(decision: &Decision, subject: &Subject) -> Vec<(&'static str, String)> {
    let summary = &decision.summary;
    let mut head = vec![
        ("decision", summary.id.clone()),
        (
            "when",
            format!("{}, took {}", summary.time, took(summary.duration_us)),
        ),
        ("door", inputs::door(decision)),
    ];
    head.extend(match summary.door {
        Door::Api => [
            ("who", action::who(decision)),
            ("what", action::what(decision)),
            ("decided", action::decider(decision)),
        ],
        _ => [
            ("who", subject.who(&summary.user)),
            ("what", subject.what(summary)),
            ("decided", verdict::decider(decision)),
        ],
    });
    if let Some(digest) = &summary.digest {
        head.push(("digest", format!("{digest} (of the policy)")));
    }
    if let Some(gate) = &summary.gate {
        head.push(("", format!("{gate} (of the whole configuration)")));
    }
    if summary.digest.is_none()
        && let Some((name, _)) = head.iter_mut().find(|(name, _)| name.is_empty())
    {
        *name = "digest";
    }
    head
}
