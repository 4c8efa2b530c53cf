//! The policies of a configuration: those in the file, then those in folders.

mod candidates;
mod folder;
mod host_calls;
mod jspolicy;
mod paths;
mod scripts;
mod test_modules;
mod texts;

use crate::matcher::{MatchSpec, Matcher};
use crate::{
    model::{About, Configuration, DefaultAction, Policies, Policy, PolicySpec, Written},
    notes::Notes,
};
pub use candidates::PolicyChange;
pub(crate) use folder::PolicyFile;
pub use folder::{holds_policies, is_policy_list};
use portcullis_document::{Document, Fault, Source};
use scripts::{Metadata, Scripts};
pub use test_modules::{TestModules, test_modules};
pub use texts::PolicyText;

use std::sync::Arc;

use portcullis_js::PolicyCode;

/// How strictly a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// What is unknown is a fault.
    Strict,
    /// What acjs takes without a word is a warning.
    Acjs,
}

/// Checks and resolves everything about policies.
pub(crate) fn policies(
    document: &Document,
    spec: &Configuration,
    strictness: Strictness,
    is_covered: bool,
    notes: &mut Notes,
) -> Policies {
    let mut scripts = Scripts::new(is_covered);
    let mut list = of_document(
        document,
        spec.policies.as_deref(),
        strictness,
        &mut scripts,
        notes,
    );
    for (index, named) in spec.policy_dirs.iter().enumerate() {
        let at = format!("policyDirs[{index}]");
        list.extend(folder::policies(document, &at, named, &mut scripts, notes));
    }
    check_names(&list, notes);
    let globals = spec.globals.clone().unwrap_or_default();
    let (modules, marks) = scripts.finish();
    Policies {
        globals: Source::text_named("globals", globals),
        list,
        modules,
        marks,
        default_action: default_action(document, spec.default_action.as_deref(), strictness, notes),
        names_links: strictness == Strictness::Strict,
        host: host_calls::settings(document, &spec.host_calls, strictness, notes),
    }
}

/// The `policies` list of a file.
fn of_document(
    document: &Document,
    specs: Option<&[PolicySpec]>,
    strictness: Strictness,
    scripts: &mut Scripts,
    notes: &mut Notes,
) -> Vec<Policy> {
    let specs = specs.unwrap_or_default().iter().enumerate();
    let mut list = Vec::new();
    for (index, spec) in specs {
        let at = format!("policies[{index}]");
        if strictness == Strictness::Strict {
            for (key, is_missing) in [("name", spec.name.is_none()), ("code", spec.code.is_none())]
            {
                if is_missing {
                    notes.fault(document.fault(&at, format!("the key `{key}` is missing")));
                }
            }
            if spec.name.as_deref() == Some("") {
                notes.fault(document.fault(&format!("{at}.name"), "the name is empty"));
            }
        }
        let name = spec.name.clone().unwrap_or_default();
        let code = spec.code.clone().unwrap_or_default();
        let place = document.root.nearest(&format!("{at}.code")).position;
        let written = format!("{}:{}", document.source.label(), place.line);
        let text = Source::part_of(format!("policy `{name}`"), code, written);
        let rules = |path: &str, message: String| document.fault(&format!("{at}.{path}"), message);
        let Some(matcher) = matcher(&spec.matching, rules, notes) else {
            continue;
        };
        let about = spec.about();
        check_link(&about, rules, notes);
        if let Some(code) = scripts.inline(&text, notes) {
            list.push(Policy {
                name,
                matcher,
                mode: spec.mode,
                code,
                text,
                about,
                written: Written::in_list(&document.source, document.root.nearest(&at)),
            });
        }
    }
    list
}

/// A policy that is a whole text, as it describes itself.
fn described(
    name: String,
    text: &Arc<Source>,
    (code, (node, metadata)): (PolicyCode, Metadata),
    notes: &mut Notes,
) -> Option<Policy> {
    let rules = |path: &str, message: String| {
        let place = node.as_ref().map(|node| node.nearest(path).position);
        text.fault(place, path, message)
    };
    let matcher = matcher(&metadata.matching, rules, notes)?;
    let about = metadata.about();
    check_link(&about, rules, notes);
    Some(Policy {
        name,
        matcher,
        mode: metadata.mode,
        code,
        text: Arc::clone(text),
        about,
        written: Written::whole(text, node.as_ref()),
    })
}

/// The most bytes of a link: it is repeated in messages and records.
const LONGEST_LINK: usize = 1024;

/// What others make a link of has to be one, and nothing that runs.
fn check_link(about: &About, fault: impl Fn(&str, String) -> Fault, notes: &mut Notes) {
    let is_odd = |c: char| c.is_control() || c.is_whitespace();
    let is_url = |link: &str| {
        let rest = link
            .strip_prefix("https://")
            .or(link.strip_prefix("http://"));
        rest.is_some_and(|rest| !rest.is_empty()) && !link.contains(is_odd)
    };
    if about
        .link
        .as_ref()
        .is_some_and(|link| link.len() > LONGEST_LINK)
    {
        let message = format!("invalid link: it is longer than {LONGEST_LINK} bytes");
        notes.fault(fault("link", message));
        return;
    }
    if let Some(link) = about.link.as_deref().filter(|link| !is_url(link)) {
        let message =
            format!("invalid link `{link}`: expected a URL like https://example.org/page");
        notes.fault(fault("link", message));
    }
}

fn matcher(
    spec: &MatchSpec,
    fault: impl Fn(&str, String) -> Fault,
    notes: &mut Notes,
) -> Option<Matcher> {
    match Matcher::new(spec) {
        Ok(matcher) => Some(matcher),
        Err(wrong) => {
            for (path, message) in wrong {
                notes.fault(fault(&format!("match.{path}"), message));
            }
            None
        }
    }
}

fn check_names(list: &[Policy], notes: &mut Notes) {
    for (index, policy) in list.iter().enumerate() {
        let earlier = list.iter().take(index).find(|p| p.name == policy.name);
        if let Some(first) = earlier {
            let message = format!(
                "the policy name `{}` is already used at {}",
                policy.name,
                first.text.place()
            );
            notes.fault(policy.text.fault(None, "", message));
        }
    }
}

fn default_action(
    document: &Document,
    text: Option<&str>,
    strictness: Strictness,
    notes: &mut Notes,
) -> DefaultAction {
    let Some(text) = text else {
        return DefaultAction::Reject;
    };
    if text.eq_ignore_ascii_case("allow") {
        return DefaultAction::Allow;
    }
    if !text.eq_ignore_ascii_case("reject") {
        let fault = document.fault("defaultAction", format!("unknown value `{text}`"));
        let fault = fault.with_known("known values", text, ["allow", "reject"]);
        match strictness {
            Strictness::Strict => notes.fault(fault),
            Strictness::Acjs => notes.warn(format!("{fault}: requests are rejected by default")),
        }
    }
    DefaultAction::Reject
}
