//! The differences between two configurations, by name, for the log of a reload.
//!
//! An [`Inventory`] holds a digest of every named part, never a part itself, and the order of what is asked in
//! order. The position of a part in its file does not count, only its content. With policies their digests are shown,
//! which are those in decisions and metrics, and with certificates their expiry.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use crate::digest;
use portcullis_certificates::Certificate;
use portcullis_config::{Authenticator, Identity, Listener, Loaded};
use portcullis_core::text::shortened;
use portcullis_document::yaml;
use portcullis_jobs::Timestamp;

/// The most names that are listed of one kind of change.
const MOST_NAMES: usize = 10;
/// Of larger files nothing is known; they are rejected elsewhere.
const LARGEST: u64 = 16 << 20;
/// The most characters that are shown of a name.
const LONGEST_NAME: usize = 64;

/// The beginning of a digest that is shown.
const SHORT_DIGEST: usize = 12;

/// A part as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// A digest of everything in it.
    digest: Arc<str>,
    /// What is shown beside its name.
    shown: Option<String>,
}

/// The parts of one kind, by name.
type Parts = BTreeMap<String, Part>;

/// The named parts of a configuration.
#[derive(Debug, Default)]
pub struct Inventory {
    parts: BTreeMap<&'static str, Parts>,
    /// Names in the order in which they are asked.
    orders: BTreeMap<&'static str, Vec<String>>,
}

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
            if let Some((files, expires)) = certificate(one) {
                made.add_shown("certificates", &one.name, files, expires);
            }
        }
        for one in &loaded.plugins {
            let configuration = one.configuration.as_ref().map(ToString::to_string);
            let text = format!("{:?} {:?} {configuration:?}", one.failure, one.timeout);
            made.add("plug-ins", &one.name, text);
        }
        let names = loaded.plugins.iter().map(|one| one.name.clone());
        made.orders.insert("plug-ins", names.collect());
        let policies = digest::policies(loaded);
        for one in &loaded.policies.list {
            let digest = policies.get(&one.name);
            let text = format!("{digest:?} {:?} {:?}", one.mode, one.matcher);
            let shown = digest.map(|digest| short(digest));
            made.add_shown("policies", &one.name, text, shown);
        }
        let names = loaded.policies.list.iter().map(|one| one.name.clone());
        made.orders.insert("policies", names.collect());
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
            (
                "kube",
                format!(
                    "{:?}",
                    loaded
                        .kube
                        .as_ref()
                        .map(|kube| (&kube.access, &kube.kinds, kube.memory))
                ),
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
        self.add_shown(kind, name, text, None);
    }

    fn add_shown(
        &mut self,
        kind: &'static str,
        name: &str,
        text: impl AsRef<[u8]>,
        shown: Option<String>,
    ) {
        let digest = digest::bytes(text.as_ref());
        let parts = self.parts.entry(kind).or_default();
        parts.insert(name.to_owned(), Part { digest, shown });
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

/// A listener without what is in the files of its certificate.
fn listener(one: &Listener) -> String {
    let tls = one.tls.as_ref();
    let authorities = tls.and_then(|tls| tls.client_ca.as_ref());
    let files = seen(authorities.into_iter());
    format!(
        "{:?} {tls:?} {:?} {:?} {files:?}",
        one.bind, one.serves, one.style
    )
}

/// The files of a listener's certificate, and when it expires.
fn certificate(one: &Listener) -> Option<(String, Option<String>)> {
    let Identity::Files { certificate, key } = &one.tls.as_ref()?.identity else {
        return None;
    };
    let text = portcullis_files::read(certificate, LARGEST).ok();
    let chain = text.and_then(|text| Certificate::all_from_pem(&text).ok());
    let own = chain.and_then(|chain| chain.into_iter().next());
    let expires = own.map(|own| format!("expires {}", Timestamp::from(own.not_after())));
    Some((
        format!("{:?}", seen([certificate, key].into_iter())),
        expires,
    ))
}

/// The beginning of a digest, as it is told apart by people.
fn short(digest: &str) -> String {
    let hexadecimal = digest.strip_prefix("sha256:").unwrap_or(digest);
    hexadecimal.chars().take(SHORT_DIGEST).collect()
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
        let kinds = self.before.parts.keys().chain(self.now.parts.keys());
        let mut kinds: Vec<_> = kinds.collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let before = self.before.parts.get(kind).unwrap_or(&none);
            let now = self.now.parts.get(kind).unwrap_or(&none);
            let added = now.iter().filter(|(name, _)| !before.contains_key(*name));
            let removed = before.keys().filter(|name| !now.contains_key(*name));
            let changed = now.iter().filter_map(|(name, part)| {
                let earlier = before.get(name)?;
                (earlier.digest != part.digest).then_some((name, earlier, part))
            });
            let added = added.map(|(name, part)| with_shown(name, part.shown.as_deref()));
            let changed =
                changed.map(
                    |(name, earlier, part)| match (&earlier.shown, &part.shown) {
                        (Some(earlier), Some(now)) if earlier != now => {
                            format!("{} ({earlier} -> {now})", plain(name))
                        }
                        _ => plain(name),
                    },
                );
            let mut told: Vec<String> = [
                listed("added", added.collect()),
                listed("removed", removed.map(|name| plain(name)).collect()),
                listed("changed", changed.collect()),
            ]
            .into_iter()
            .flatten()
            .collect();
            told.extend(self.reordered(kind));
            if !told.is_empty() {
                let apart = if line.is_empty() { "" } else { "; " };
                let _ = write!(line, "{apart}{kind} {}", told.join(", "));
            }
        }
        formatter.write_str(if line.is_empty() { "nothing" } else { &line })
    }
}

impl Changes<'_> {
    /// The new order, if those that were there before are asked in another one.
    fn reordered(&self, kind: &str) -> Option<String> {
        let (before, now) = (self.before.orders.get(kind)?, self.now.orders.get(kind)?);
        let is_in = |all: &[String], name: &String| all.contains(name);
        let kept_before = before.iter().filter(|name| is_in(now, name));
        let kept_now = now.iter().filter(|name| is_in(before, name));
        if kept_before.eq(kept_now) {
            return None;
        }
        listed("in the order", now.iter().map(|name| plain(name)).collect())
    }
}

fn with_shown(name: &str, shown: Option<&str>) -> String {
    match shown {
        Some(shown) => format!("{} ({shown})", plain(name)),
        None => plain(name),
    }
}

/// `added a, b and 3 more`.
fn listed(what: &str, mut names: Vec<String>) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    names.truncate(MOST_NAMES);
    Some(format!("{what} {}{more}", names.join(", ")))
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
    fn digests_and_times_are_shown_where_there_are_some() {
        let with = |parts: &[(&'static str, &str, &str, &str)]| {
            let mut made = Inventory::default();
            for (kind, name, text, shown) in parts {
                made.add_shown(kind, name, text, Some((*shown).to_owned()));
            }
            made
        };
        let before = with(&[
            ("policies", "a", "1", "aaaa"),
            ("policies", "b", "1", "bbbb"),
            ("certificates", "api", "1", "expires 2026-01-01T00:00:00Z"),
        ]);
        let now = with(&[
            // Its mode alone is another one.
            ("policies", "a", "2", "aaaa"),
            ("policies", "b", "2", "cccc"),
            ("policies", "c", "1", "dddd"),
            ("certificates", "api", "2", "expires 2027-01-01T00:00:00Z"),
        ]);
        assert_eq!(
            now.since(&before).to_string(),
            "certificates changed api (expires 2026-01-01T00:00:00Z -> expires 2027-01-01T00:00:00Z); \
             policies added c (dddd), changed a, b (bbbb -> cccc)"
        );
        assert_eq!(short("sha256:0123456789abcdef"), "0123456789ab");
    }

    #[test]
    fn an_order_has_changed_when_those_that_stay_are_asked_in_another_one() {
        let with = |order: &[&str]| {
            let mut made = Inventory::default();
            for name in order {
                made.add("plug-ins", name, "1");
            }
            let order = order.iter().map(ToString::to_string).collect();
            made.orders.insert("plug-ins", order);
            made
        };
        let before = with(&["A", "B", "C"]);
        let told = |order: &[&str]| with(order).since(&before).to_string();
        assert_eq!(told(&["A", "B", "C"]), "nothing");
        assert_eq!(told(&["A", "C"]), "plug-ins removed B");
        assert_eq!(told(&["A", "D", "B", "C"]), "plug-ins added D");
        assert_eq!(told(&["B", "A", "C"]), "plug-ins in the order B, A, C");
        assert_eq!(
            told(&["C", "D", "A"]),
            "plug-ins added D, removed B, in the order C, D, A"
        );
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
