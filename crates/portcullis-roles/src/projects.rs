//! The projects that a tenant holds: by name, by pattern, or all.

use std::collections::{BTreeSet, HashMap};

use portcullis_core::Glob;

/// A project that a tenant holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its name, as the tenant has it.
    pub name: String,
    /// Its name with the host, where the tenant knows it.
    pub canonical: Option<String>,
}

/// Which projects a tenant holds.
#[derive(Debug, Default)]
pub(super) struct Projects {
    /// Whether it holds every project, because none is configured.
    all: bool,
    /// Those with a name, in the order of the document.
    named: Vec<Project>,
    /// Their places by both names.
    places: HashMap<String, usize>,
    /// Patterns for the others.
    patterns: Vec<Glob>,
}

/// Projects as they are written, before they are put together.
#[derive(Debug, Default)]
pub(super) struct ProjectList {
    /// Names and patterns of `projects`.
    pub(super) plain: Vec<String>,
    /// Hosts and names of `source`.
    pub(super) hosted: Vec<(String, String)>,
}

impl Projects {
    /// Every project.
    pub(super) fn all() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// Those that are written. Of two projects of one name on different hosts, both are known by their
    /// canonical names only.
    pub(super) fn of(written: &ProjectList) -> Self {
        let ambiguous = Self::ambiguous(written);
        let mut projects = Self::default();
        for (host, name) in &written.hosted {
            let canonical = format!("{host}/{name}");
            projects.add(Project {
                name: if ambiguous.contains(name.as_str()) {
                    canonical.clone()
                } else {
                    name.clone()
                },
                canonical: Some(canonical),
            });
        }
        // A name of one project that is the canonical name of another means the one.
        for (place, project) in projects.named.iter().enumerate() {
            if let Some(canonical) = &project.canonical {
                projects.places.entry(canonical.clone()).or_insert(place);
            }
        }
        for text in &written.plain {
            if text.contains(['*', '?']) {
                projects.patterns.push(Glob::new(text));
            } else if !ambiguous.contains(text.as_str()) {
                projects.add(Project {
                    name: text.clone(),
                    canonical: None,
                });
            }
        }
        projects
    }

    /// The names that stand for several projects on different hosts.
    pub(super) fn ambiguous(written: &ProjectList) -> BTreeSet<&str> {
        let mut hosts: HashMap<&str, &str> = HashMap::new();
        let mut found = BTreeSet::new();
        for (host, name) in &written.hosted {
            if *hosts.entry(name).or_insert(host) != host {
                found.insert(name.as_str());
            }
        }
        found
    }

    /// Whether it holds projects whose names it does not have.
    pub(super) fn has_patterns(&self) -> bool {
        self.all || !self.patterns.is_empty()
    }

    fn add(&mut self, project: Project) {
        if !self.places.contains_key(&project.name) {
            self.places.insert(project.name.clone(), self.named.len());
            self.named.push(project);
        }
    }

    /// The project of this name or canonical name, if it is held.
    pub(super) fn find(&self, named: &str) -> Option<Project> {
        if named.is_empty() {
            return None;
        }
        if let Some(place) = self.places.get(named) {
            return self.named.get(*place).cloned();
        }
        let held = self.all || self.patterns.iter().any(|pattern| pattern.matches(named));
        held.then(|| Project {
            name: named.to_owned(),
            canonical: None,
        })
    }

    /// Whether every project of a group is held, at any depth: all are, or one pattern covers them. Whether one
    /// covers them is tried with names that no one writes into a pattern.
    pub(super) fn has_group(&self, group: &str) -> bool {
        if group.is_empty() {
            return false;
        }
        let part = "\u{1}";
        let probes = [
            format!("{group}/{part}"),
            format!("{group}/{part}{part}"),
            format!("{group}/{part}/{part}/{part}{part}"),
        ];
        let covers = |pattern: &Glob| probes.iter().all(|name| pattern.matches(name));
        self.all || self.patterns.iter().any(covers)
    }

    /// Those with a name.
    pub(super) fn named(&self) -> &[Project] {
        &self.named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projects(plain: &[&str], hosted: &[(&str, &str)]) -> Projects {
        Projects::of(&ProjectList {
            plain: plain.iter().map(ToString::to_string).collect(),
            hosted: hosted
                .iter()
                .map(|(host, name)| ((*host).to_owned(), (*name).to_owned()))
                .collect(),
        })
    }

    #[test]
    fn projects_are_found_by_both_names_and_by_pattern() {
        let held = projects(
            &["solo", "group/*", "org/p"],
            &[("git.example.org", "org/p"), ("git.example.org", "q")],
        );
        for (named, found) in [
            ("org/p", Some(("org/p", Some("git.example.org/org/p")))),
            (
                "git.example.org/org/p",
                Some(("org/p", Some("git.example.org/org/p"))),
            ),
            ("q", Some(("q", Some("git.example.org/q")))),
            ("solo", Some(("solo", None))),
            ("group/a", Some(("group/a", None))),
            ("group/a/b", None),
            ("group", None),
            ("other.example/org/p", None),
            ("org/x", None),
            ("", None),
        ] {
            let found = found.map(|(name, canonical)| Project {
                name: name.to_owned(),
                canonical: canonical.map(str::to_owned),
            });
            assert_eq!(held.find(named), found, "{named}");
        }
        let names: Vec<_> = held.named().iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["org/p", "q", "solo"]);
        assert!(Projects::all().find("what/ever").is_some());
        assert!(Projects::all().find("").is_none());
        assert!(projects(&[], &[]).find("a").is_none());
    }

    #[test]
    fn a_group_is_held_only_with_everything_in_it() {
        assert!(Projects::all().has_group("a"));
        assert!(!Projects::all().has_group(""));
        for (patterns, group, is_held) in [
            (&["a/**"][..], "a", true),
            (&["a/**"], "a/b", true),
            (&["**"], "a", true),
            (&["*/**"], "a", true),
            (&["a/*"], "a", false),
            (&["a/?", "a/?/?/??", "a/??"], "a", false),
            (&["a/b/**"], "a", false),
            (&["a", "a/b"], "a", false),
            (&["b/**"], "a", false),
        ] {
            let held = projects(patterns, &[]);
            assert_eq!(held.has_group(group), is_held, "{patterns:?} {group}");
        }
    }

    #[test]
    fn a_name_on_two_hosts_is_known_by_its_canonical_names_only() {
        let hosted = [("one", "p"), ("two", "p"), ("one", "q")];
        let held = projects(&["p"], &hosted);
        assert_eq!(held.find("p"), None);
        assert_eq!(held.find("two/p").unwrap().name, "two/p");
        assert_eq!(held.find("q").unwrap().canonical.unwrap(), "one/q");
        assert_eq!(held.named().len(), 3);
    }

    #[test]
    fn a_name_goes_before_the_same_canonical_name() {
        let held = projects(&["one/two/p"], &[("one", "two/p"), ("three", "one/two/p")]);
        assert_eq!(held.find("two/p").unwrap().canonical.unwrap(), "one/two/p");
        assert_eq!(
            held.find("one/two/p").unwrap().canonical.unwrap(),
            "three/one/two/p"
        );
        assert_eq!(held.named().len(), 2);
    }
}
