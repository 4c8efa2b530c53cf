//! Checks of `authorization`.

use std::collections::BTreeMap;

use crate::{
    model::{AuthorizationSpec, Authorizer, AuthorizerDriver, AuthorizerSpec, GraphProfile},
    notes::Notes,
};
use portcullis_document::{
    Document, Origin,
    path::{self, Segment},
};

/// Checks and resolves the authorizers, those of graph profiles included, and gives back the chains.
pub(crate) fn authorization(
    document: &Document,
    spec: &AuthorizationSpec,
    profiles: &[GraphProfile],
    notes: &mut Notes,
) -> (Vec<Authorizer>, BTreeMap<String, Vec<String>>) {
    let of_profile = |profile: &GraphProfile| Authorizer {
        name: profile.name.clone(),
        driver: AuthorizerDriver::Graph,
        file: None,
        origin: profile.origin.clone(),
    };
    let mut authorizers: Vec<Authorizer> = profiles.iter().map(of_profile).collect();
    for (index, declared) in spec.authorizers.iter().enumerate() {
        let at = format!("authorization.authorizers[{index}]");
        check_name(
            document,
            &format!("{at}.name"),
            declared,
            &authorizers,
            notes,
        );
        authorizers.push(Authorizer {
            name: declared.name.clone(),
            driver: declared.driver,
            file: file(document, &at, declared, notes),
            origin: Origin::of(document, &at),
        });
    }
    for (name, members) in &spec.chains {
        let mut at = "authorization.chains".to_owned();
        path::push(&mut at, &Segment::Key(name.clone()));
        check_chain(document, &at, name, members, &mut authorizers, notes);
    }
    let unused = |name: &String| !spec.chains.values().any(|members| members.contains(name));
    for declared in spec
        .authorizers
        .iter()
        .filter(|declared| unused(&declared.name))
    {
        notes.warn(format!(
            "the authorizer `{}` is in no chain, so it is never asked",
            declared.name
        ));
    }
    (authorizers, spec.chains.clone())
}

fn check_name(
    document: &Document,
    at: &str,
    declared: &AuthorizerSpec,
    earlier: &[Authorizer],
    notes: &mut Notes,
) {
    let name = &declared.name;
    if name.is_empty() {
        notes.fault(document.fault(at, "the name is empty"));
    }
    if let Some(first) = earlier.iter().find(|other| other.name == *name) {
        let message = format!(
            "the authorizer `{name}` is declared twice, first at {}",
            first.origin.place()
        );
        notes.fault(document.fault(at, message));
    }
    if built_in(name).is_some_and(|driver| driver != declared.driver) {
        let message = format!("the name `{name}` is the built-in authorizer's: choose another");
        notes.fault(document.fault(at, message));
    }
}

fn file(
    document: &Document,
    at: &str,
    declared: &AuthorizerSpec,
    notes: &mut Notes,
) -> Option<std::path::PathBuf> {
    let file_at = format!("{at}.file");
    match (declared.driver, &declared.file) {
        (AuthorizerDriver::Abac, Some(named)) => Some(notes.named_file(document, &file_at, named)),
        (AuthorizerDriver::Abac, None) => {
            let message = format!(
                "the key `file` is missing: the authorizer `{}` is ABAC",
                declared.name
            );
            notes.fault(document.fault(at, message));
            None
        }
        (driver, Some(_)) => {
            notes.fault(document.fault(
                &file_at,
                format!("the driver {} takes no file", driver.name()),
            ));
            None
        }
        (_, None) => None,
    }
}

/// Checks a chain, and adds the built-in authorizers that it names.
fn check_chain(
    document: &Document,
    at: &str,
    name: &str,
    members: &[String],
    authorizers: &mut Vec<Authorizer>,
    notes: &mut Notes,
) {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || !name.chars().all(plain) {
        let message = format!("invalid name `{name}`: use letters, digits, `-`, `_` and `.`");
        notes.fault(document.fault(at, message));
    }
    if members.is_empty() {
        notes.fault(document.fault(
            at,
            format!("the chain `{name}` is empty: name at least one authorizer"),
        ));
    }
    for (index, member) in members.iter().enumerate() {
        let member_at = format!("{at}[{index}]");
        if members.iter().take(index).any(|earlier| earlier == member) {
            notes.fault(document.fault(
                &member_at,
                format!("the authorizer `{member}` is named twice"),
            ));
        } else if authorizers.iter().any(|known| known.name == *member) {
            // Declared, or built in and seen before.
        } else if let Some(driver) = built_in(member) {
            let origin = Origin::of(document, &member_at);
            authorizers.push(Authorizer {
                name: member.clone(),
                driver,
                file: None,
                origin,
            });
        } else {
            let known = authorizers.iter().map(|known| known.name.as_str());
            let mut known: Vec<&str> = known
                .chain(AuthorizerDriver::BUILT_IN.iter().map(|(name, _)| *name))
                .collect();
            known.sort_unstable();
            known.dedup();
            let fault = document.fault(&member_at, format!("unknown authorizer `{member}`"));
            notes.fault(fault.with_known("known authorizers", member, known));
        }
    }
}

fn built_in(name: &str) -> Option<AuthorizerDriver> {
    AuthorizerDriver::BUILT_IN
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, driver)| *driver)
}
