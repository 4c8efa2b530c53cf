//! The reason of an allow: which rule, and the path where there was one and it is known.
//!
//! ```text
//! rule "secrets: get by path" (rules[2].path): Secret:shop/creds -> Pod:shop/p -> Node:n2
//! rule "nodes: create always" (rules[9].always), for Node:n2
//! ```

use std::fmt::Write as _;

use portcullis_core::access::ResourceTarget;

use super::decision::{How, Place, Question};
use super::reasons::name;
use super::rules::Rules;
use crate::engine::Named;
use crate::vertex::VertexRef;

impl Rules {
    /// Why a request about a resource is allowed.
    pub(super) fn allowed(
        &self,
        place: Place,
        how: How,
        question: &Question<'_>,
        target: &ResourceTarget,
        path: Option<&[Named]>,
    ) -> String {
        let mut text = String::with_capacity(224);
        text.push_str("rule \"");
        text.push_str(&name(&target.resource));
        for (mark, part) in [('.', &target.group), ('/', &target.subresource)] {
            if !part.is_empty() {
                text.push(mark);
                text.push_str(&name(part));
            }
        }
        rule(&mut text, place, how, question);
        match (how, path) {
            (How::Path, Some(path)) => {
                for (number, (kind, namespace, name)) in path.iter().enumerate() {
                    text.push_str(if number == 0 { ": " } else { " -> " });
                    let kind = *kind;
                    self.write(
                        &mut text,
                        VertexRef {
                            kind,
                            namespace,
                            name,
                        },
                    );
                }
            }
            (How::Path, None) => {
                if let Some(from) = self.object(target) {
                    text.push_str(": ");
                    self.write(&mut text, from);
                }
                text.push_str(" leads to ");
                self.write(&mut text, question.subject.stands_for());
            }
            _ => {
                text.push_str(", for ");
                self.write(&mut text, question.subject.stands_for());
            }
        }
        text
    }

    /// Why a request about something that is not a resource is allowed.
    pub(super) fn allowed_path(
        &self,
        place: Place,
        how: How,
        question: &Question<'_>,
        asked: &str,
    ) -> String {
        let mut text = format!("rule \"{}", name(asked));
        rule(&mut text, place, how, question);
        text.push_str(", for ");
        self.write(&mut text, question.subject.stands_for());
        text
    }
}

/// The rest of a rule's name, and its place in the profile.
fn rule(text: &mut String, place: Place, how: How, question: &Question<'_>) {
    text.push_str(": ");
    text.push_str(&name(question.verb.as_str()));
    text.push_str(match how {
        How::Path => " by path",
        How::Always | How::Static => " always",
        How::Shortcut(_) => " by shortcut",
        How::Named(_) => " by name",
        How::Selector(_) => " by selector",
        How::NoSelectors => " without selectors",
        How::UnknownDelete => " of an unknown object",
    });
    let _ = write!(text, "\" ({})", Spot(place, how));
}

/// The place of a rule in the profile, and of what in it allowed.
pub(super) struct Spot(pub(super) Place, pub(super) How);

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Place::Static(number) => return write!(f, "static[{number}]"),
            Place::Rule(number) => write!(f, "rules[{number}]")?,
        }
        match self.1 {
            How::Shortcut(number) => write!(f, ".shortcuts[{number}]"),
            How::Always => f.write_str(".always"),
            How::Named(number) => write!(f, ".named[{number}]"),
            How::Selector(number) => write!(f, ".selectors[{number}]"),
            How::NoSelectors => f.write_str(".selectors"),
            How::UnknownDelete | How::Path | How::Static => f.write_str(".path"),
        }
    }
}
