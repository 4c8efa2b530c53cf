//! The reason of an allow: which rule, and the path where there was one and it is known.
//!
//! ```text
//! rule "secrets: get by path" (rules[2].path): Secret:shop/creds -> Pod:shop/p -> Node:n2
//! rule "nodes: create always" (rules[9].always), for Node:n2
//! ```

use std::fmt::Write as _;

use portcullis_core::access::ResourceTarget;

use super::decision::{AgentRequest, AllowedBy, RuleRef};
use super::rules::AccessRules;
use crate::engine::Named;
use crate::names::printable_name;
use crate::vertex::VertexRef;

impl AccessRules {
    /// Why a request about a resource is allowed.
    pub(super) fn allowed(
        &self,
        place: RuleRef,
        how: AllowedBy,
        request: &AgentRequest<'_>,
        target: &ResourceTarget,
        path: Option<&[Named]>,
    ) -> String {
        let mut text = String::with_capacity(224);
        text.push_str("rule \"");
        text.push_str(&printable_name(&target.resource));
        for (mark, part) in [('.', &target.group), ('/', &target.subresource)] {
            if !part.is_empty() {
                text.push(mark);
                text.push_str(&printable_name(part));
            }
        }
        rule(&mut text, place, how, request);
        match (how, path) {
            (AllowedBy::Path, Some(path)) => {
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
            (AllowedBy::Path, None) => {
                if let Some(from) = self.object(target) {
                    text.push_str(": ");
                    self.write(&mut text, from);
                }
                text.push_str(" leads to ");
                self.write(&mut text, request.subject.stands_for());
            }
            _ => {
                text.push_str(", for ");
                self.write(&mut text, request.subject.stands_for());
            }
        }
        text
    }

    /// Why a request about something that is not a resource is allowed.
    pub(crate) fn allowed_path(
        &self,
        place: RuleRef,
        how: AllowedBy,
        request: &AgentRequest<'_>,
        asked: &str,
    ) -> String {
        let mut text = format!("rule \"{}", printable_name(asked));
        rule(&mut text, place, how, request);
        text.push_str(", for ");
        self.write(&mut text, request.subject.stands_for());
        text
    }
}

/// The rest of a rule's name, and its place in the profile.
fn rule(text: &mut String, place: RuleRef, how: AllowedBy, request: &AgentRequest<'_>) {
    text.push_str(": ");
    text.push_str(&printable_name(request.verb.as_str()));
    text.push_str(match how {
        AllowedBy::Path => " by path",
        AllowedBy::Always | AllowedBy::Static => " always",
        AllowedBy::Shortcut(_) => " by shortcut",
        AllowedBy::Named(_) => " by name",
        AllowedBy::Selector(_) => " by selector",
        AllowedBy::NoSelectors => " without selectors",
        AllowedBy::UnknownDelete => " of an unknown object",
    });
    let _ = write!(text, "\" ({})", RulePath(place, how));
}

/// The place of a rule in the profile, and of what in it allowed.
pub(super) struct RulePath(pub(super) RuleRef, pub(super) AllowedBy);

impl std::fmt::Display for RulePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            RuleRef::Static(number) => return write!(f, "static[{number}]"),
            RuleRef::Rule(number) => write!(f, "rules[{number}]")?,
        }
        match self.1 {
            AllowedBy::Shortcut(number) => write!(f, ".shortcuts[{number}]"),
            AllowedBy::Always => f.write_str(".always"),
            AllowedBy::Named(number) => write!(f, ".named[{number}]"),
            AllowedBy::Selector(number) => write!(f, ".selectors[{number}]"),
            AllowedBy::NoSelectors => f.write_str(".selectors"),
            AllowedBy::UnknownDelete | AllowedBy::Path | AllowedBy::Static => f.write_str(".path"),
        }
    }
}
