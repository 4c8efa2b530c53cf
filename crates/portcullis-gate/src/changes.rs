//! The differences between two configurations, by name, for the log of a reload.
//!
//! An [`Inventory`] holds a digest of every named part, never a part itself. The position of a part in its
//! file does not count, only its content.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use crate::digest;
use portcullis_config::{Authenticator, Identity, Listener, Loaded};
use portcullis_core::text::shortened;
use portcullis_document::yaml;

/// The most names that are listed of one kind of change.
const MOST_NAMES: usize = 10;
/// Of larger files nothing is known; they are rejected elsewhere.
const LARGEST: u64 = 16 << 20;
/// The most characters that are shown of a name.
const LONGEST_NAME: usize = 64;

/// The parts of one kind, by name, with a digest of each.
type Parts = BTreeMap<String, Arc<str>>;

/// The named parts of a configuration.
#[derive(Debug, Default)]
pub struct Inventory(BTreeMap<&'static str, Parts>);

/// How two configurations differ; shown on one line.
#[derive(Debug)]
pub struct Changes<'a> {
    before: &'a Inventory,
    now: &'a Inventory,
}

impl Inventory {
    /// Of a configuration. Files that it names are taken as they are now.
    pub fn of(loaded: &Loaded) -> Self {
        let mut made = Self::default();
        for one in &loaded.listeners {
            made.add("listeners", &one.name, listener(one));
        }
        for (place, one) in loaded.plugins.iter().enumerate() {
            let configuration = one.configuration.as_ref().map(ToString::to_string);
            let text = format!(
                "{place} {:?} {:?} {configuration:?}",
                one.failure, one.timeout
            );
            made.add("plug-ins", &one.name, text);
        }
        let policies = digest::policies(loaded);
        for (place, one) in loaded.policies.list.iter().enumerate() {
            let digest = policies.get(&one.name);
            let text = format!("{place} {digest:?} {:?} {:?}", one.mode, one.matcher);
            made.add("policies", &one.name, text);
        }
        for one in &loaded.authorizers {
            let text = format!(
                "{:?} {:?} {:?}",
                one.driver,
                one.file,
                seen(one.file.iter())
            );
            made.add("authorizers", &one.name, text);
        }
        for (name, members) in &loaded.chains {
            made.add("chains", name, format!("{members:?}"));
        }
        for one in &loaded.graphs {
            let text = one.text.text();
            let text = format!(
                "{text} {:?} {:?} {:?}",
                one.source, one.compat, one.selectors
            );
            made.add("graph profiles", &one.name, text);
        }
        for one in &loaded.access.authenticators {
            made.add("authenticators", &one.name, authenticator(one));
        }
        if let Some((file, _)) = &loaded.access.tenants {
            made.add_tenants(file);
        }
        for (name, text) in [
            ("limits", format!("{:?}", loaded.limits)),
            ("namespaces", format!("{:?}", loaded.namespaces)),
            (
                "defaultAction",
                format!("{:?}", loaded.policies.default_action),
            ),
            ("globals", loaded.policies.globals.text().to_owned()),
            ("hostCalls", format!("{:?}", loaded.policies.host)),
            ("sessions", format!("{:?}", loaded.access.sessions)),
            (
                "admission.pendingMutation",
                format!("{:?}", loaded.pending_mutation),
            ),
            ("decisions", format!("{:?}", loaded.decisions)),
        ] {
            made.add("settings", name, text);
        }
        made
    }

    /// How this differs from what was before.
    pub fn since<'a>(&'a self, before: &'a Self) -> Changes<'a> {
        Changes { before, now: self }
    }

    fn add(&mut self, kind: &'static str, name: &str, text: impl AsRef<[u8]>) {
        let parts = self.0.entry(kind).or_default();
        parts.insert(name.to_owned(), digest::bytes(text.as_ref()));
    }

    /// Every entry of the tenants file is a map of its kind to what it is.
    fn add_tenants(&mut self, file: &std::path::Path) {
        let parsed = portcullis_config::read_source(file).map(|source| yaml::parse(&source));
        let Ok(Ok(document)) = parsed else {
            return;
        };
        let entries = document.root.to_json();
        let entries = entries.as_array().into_iter().flatten();
        for (key, entry) in entries.filter_map(|entry| entry.as_object()).flatten() {
            let kind = match key.as_str() {
                "tenant" => "tenants",
                _ => "rules and roles",
            };
            let name = entry.get("name").and_then(|name| name.as_str());
            self.add(kind, name.unwrap_or(key), format!("{key} {entry}"));
        }
    }
}

/// What is in these files now.
fn seen<'a>(files: impl Iterator<Item = &'a PathBuf>) -> Vec<Option<Arc<str>>> {
    let read = |file: &PathBuf| portcullis_files::read(file, LARGEST).ok();
    files
        .map(|file| read(file).map(|content| digest::bytes(&content)))
        .collect()
}

fn listener(one: &Listener) -> String {
    let tls = one.tls.as_ref();
    let own = tls.into_iter().flat_map(|tls| match &tls.identity {
        Identity::Files { certificate, key } => vec![certificate, key],
        Identity::Development => Vec::new(),
    });
    let authorities = tls.and_then(|tls| tls.client_ca.as_ref());
    let files = seen(own.chain(authorities));
    format!(
        "{:?} {tls:?} {:?} {:?} {files:?}",
        one.bind, one.serves, one.style
    )
}

fn authenticator(one: &Authenticator) -> String {
    let mut files = Vec::new();
    let tokens = one.tokens.as_ref();
    let tokens = tokens.map(|tokens| tokens.map_files(|named| files.push(named.file.clone())));
    let (driver, issuer, seen) = (one.driver, &one.issuer, seen(files.iter()));
    format!("{driver:?} {issuer:?} {tokens:?} {files:?} {seen:?}")
}

impl fmt::Display for Changes<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = Parts::new();
        let mut line = String::new();
        let kinds = self.before.0.keys().chain(self.now.0.keys());
        let mut kinds: Vec<_> = kinds.collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let before = self.before.0.get(kind).unwrap_or(&none);
            let now = self.now.0.get(kind).unwrap_or(&none);
            let added = now.keys().filter(|name| !before.contains_key(*name));
            let removed = before.keys().filter(|name| !now.contains_key(*name));
            let changed = now.iter().filter(|(name, part)| {
                let earlier = before.get(*name);
                earlier.is_some_and(|earlier| earlier != *part)
            });
            let told: Vec<String> = [
                listed("added", &added.collect::<Vec<_>>()),
                listed("removed", &removed.collect::<Vec<_>>()),
                listed(
                    "changed",
                    &changed.map(|(name, _)| name).collect::<Vec<_>>(),
                ),
            ]
            .into_iter()
            .flatten()
            .collect();
            if !told.is_empty() {
                let apart = if line.is_empty() { "" } else { "; " };
                let _ = write!(line, "{apart}{kind} {}", told.join(", "));
            }
        }
        formatter.write_str(if line.is_empty() { "nothing" } else { &line })
    }
}

/// `added a, b and 3 more`.
fn listed(what: &str, names: &[&String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let shown: Vec<String> = names
        .iter()
        .take(MOST_NAMES)
        .map(|name| plain(name))
        .collect();
    let rest = names.len().saturating_sub(MOST_NAMES);
    let more = match rest {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    Some(format!("{what} {}{more}", shown.join(", ")))
}

/// A name that can't be taken for anything else in a line of the log.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@".contains(c);
    let name = shortened(name, LONGEST_NAME);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.into_owned(),
        false => format!("{name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory(parts: &[(&'static str, &str, &str)]) -> Inventory {
        let mut made = Inventory::default();
        for (kind, name, text) in parts {
            made.add(kind, name, text);
        }
        made
    }

    #[test]
    fn what_came_went_and_changed_is_named() {
        let before = inventory(&[
            ("policies", "a", "1"),
            ("policies", "b", "1"),
            ("policies", "c", "1"),
            ("listeners", "api", "1"),
        ]);
        let now = inventory(&[
            ("policies", "b", "2"),
            ("policies", "c", "1"),
            ("policies", "d", "1"),
            ("policies", "e", "1"),
            ("tenants", "t", "1"),
        ]);
        assert_eq!(
            now.since(&before).to_string(),
            "listeners removed api; policies added d, e, removed a, changed b; tenants added t"
        );
        assert_eq!(now.since(&now).to_string(), "nothing");
    }

    #[test]
    fn the_line_is_bounded_and_names_can_not_forge_another() {
        let mut now = Inventory::default();
        for n in 0..1000 {
            now.add("policies", &format!("p{n:03}"), "");
        }
        now.add("policies", "\n2026 ERROR forged\u{1b}[31m", "");
        now.add("tenants", &"x".repeat(10_000), "");
        let line = now.since(&Inventory::default()).to_string();
        assert!(
            line.contains("p000") && line.contains(" and 991 more"),
            "{line}"
        );
        assert!(line.len() < 1000, "{line}");
        assert!(!line.contains(char::is_control), "{line}");
        assert!(
            line.contains(r#""\n2026 ERROR forged\u{1b}[31m""#),
            "{line}"
        );
    }
}
