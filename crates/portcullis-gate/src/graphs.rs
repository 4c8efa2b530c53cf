//! The graphs in force: each with its profile, the state of its objects, and what keeps that current.
//!
//! A configuration names profiles and where their objects come from; `Graphs::build` builds them, and
//! `Graphs::start` begins to follow the objects. A profile that a new configuration has too, unchanged, is
//! carried over with everything that is known. Following ends with the last holder of a profile.

mod feed;

use std::sync::Arc;
use std::time::Duration;

use portcullis_graph::{GraphAuthorizer, Observer, Profile, State};
use portcullis_kube::scoped_access::ScopedProfile;
use portcullis_watch::Access;

use crate::digest;
use crate::graph_answers::AskedGraph;
use crate::watched::WatchedKind;
use portcullis_config::{GraphProfile, GraphSource};

use feed::Feed;

/// How often a wait for the graphs looks again.
/// Larger files are not kubeconfigs.
const LARGEST_KUBECONFIG: u64 = 16 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A profile in force.
#[derive(Debug)]
pub struct ProfileInForce {
    /// Its name in the configuration.
    pub name: String,
    /// The authorizer that answers by it.
    pub authorizer: GraphAuthorizer,
    settings: Settings,
    feed: Feed,
}

/// What a profile was made of: the same settings make the same profile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Settings {
    text: String,
    source: GraphSource,
    /// Of the kubeconfig: with other credentials it is another way to the cluster.
    credentials: Option<Arc<str>>,
    compat: portcullis_graph::Compat,
    selectors: portcullis_graph::Selectors,
}

impl Settings {
    fn of(declared: &GraphProfile) -> Self {
        Self {
            text: declared.text.text().to_owned(),
            source: declared.source.clone(),
            credentials: match &declared.source {
                GraphSource::Cluster(Access::Kubeconfig(path)) => {
                    let text = portcullis_files::read(path, LARGEST_KUBECONFIG).ok();
                    text.map(|text| digest::bytes(&text))
                }
                _ => None,
            },
            compat: declared.compat,
            selectors: declared.selectors,
        }
    }
}

impl ProfileInForce {
    pub(crate) fn new(declared: &GraphProfile, observer: Option<Arc<dyn Observer>>) -> Self {
        let state = Arc::new(State::new(Arc::clone(&declared.profile), observer));
        let authorizer =
            GraphAuthorizer::new(Arc::clone(&state), declared.compat, declared.selectors);
        Self {
            name: declared.name.clone(),
            authorizer,
            settings: Settings::of(declared),
            feed: Feed::new(declared.source.clone(), state),
        }
    }

    /// Reads the objects of a directory once, without following it.
    ///
    /// # Errors
    ///
    /// When the directory can't be read.
    pub(crate) fn look_once(&self) -> Result<(), String> {
        self.feed.look_once()
    }

    /// What is known of its objects.
    pub fn state(&self) -> &Arc<State> {
        self.authorizer.state()
    }

    /// How long ago its objects were last known to be current.
    pub fn lag(&self) -> Duration {
        self.feed.lag()
    }

    /// What is wrong with its objects or with following them, a line each.
    pub fn troubles(&self) -> Vec<String> {
        self.feed.troubles()
    }

    /// Every kind that is followed, in the order of the profile.
    pub fn watches(&self) -> Vec<WatchedKind> {
        self.feed.watches()
    }

    /// Itself, to be asked as one of several authorizers.
    pub fn asked(&self) -> AskedGraph<'_> {
        AskedGraph {
            name: &self.name,
            authorizer: &self.authorizer,
            problems: self.troubles(),
        }
    }
}

/// All profiles of a configuration, in its order.
#[derive(Debug, Clone, Default)]
pub struct Graphs {
    list: Vec<Arc<ProfileInForce>>,
}

impl Graphs {
    /// Makes the profiles of a configuration; those that `previous` has unchanged are carried over. Nothing
    /// is followed yet. `observer` says who counts what happens to a profile.
    pub(crate) fn build(
        declared: &[GraphProfile],
        previous: Option<&Self>,
        observer: impl Fn(&str, &Profile) -> Option<Arc<dyn Observer>>,
    ) -> Self {
        let make = |one: &GraphProfile| {
            let known = previous.and_then(|graphs| graphs.get(&one.name));
            match known {
                Some(known) if known.settings == Settings::of(one) => Arc::clone(known),
                _ => Arc::new(ProfileInForce::new(one, observer(&one.name, &one.profile))),
            }
        };
        Self {
            list: declared.iter().map(make).collect(),
        }
    }

    /// Begins to follow the objects of profiles that are not followed yet. Needs a runtime.
    ///
    /// # Errors
    ///
    /// When a source can't be used at all, or its thread can't be started.
    pub async fn start(&self) -> Result<(), String> {
        for profile in &self.list {
            let started = profile.feed.start(&profile.name).await;
            started.map_err(|why| format!("profile `{}`: {why}", profile.name))?;
        }
        Ok(())
    }

    /// Waits until every profile has a full picture.
    ///
    /// # Errors
    ///
    /// When that takes longer; says which and why.
    pub async fn caught_up(&self, within: Duration) -> Result<(), String> {
        let wait = async {
            while self.behind().next().is_some() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        if tokio::time::timeout(within, wait).await.is_ok() {
            return Ok(());
        }
        match self.behind().next() {
            None => Ok(()),
            Some(profile) => Err(profile.behind_text()),
        }
    }

    /// Profiles that have not caught up yet.
    pub fn behind(&self) -> impl Iterator<Item = &Arc<ProfileInForce>> {
        let is_behind = |profile: &&Arc<ProfileInForce>| !profile.state().is_caught_up();
        self.list.iter().filter(is_behind)
    }

    /// All profiles.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ProfileInForce>> {
        self.list.iter()
    }

    /// What is wrong with the objects of any of them, a line each.
    pub fn troubles(&self) -> Vec<String> {
        self.list.iter().flat_map(|one| one.troubles()).collect()
    }

    /// The profile of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<ProfileInForce>> {
        self.list.iter().find(|profile| profile.name == name)
    }

    /// The first profile.
    pub fn first(&self) -> Option<&Arc<ProfileInForce>> {
        self.list.first()
    }

    /// What the plug-in `ScopedAccess` judges by.
    pub(crate) fn scoped(&self) -> Arc<[ScopedProfile]> {
        let one = |profile: &Arc<ProfileInForce>| ScopedProfile {
            name: Arc::from(profile.name.as_str()),
            state: Arc::clone(profile.state()),
            reader: profile.feed.reader(),
        };
        self.list.iter().map(one).collect()
    }
}

impl ProfileInForce {
    /// Why it has not caught up.
    pub(crate) fn behind_text(&self) -> String {
        let name = &self.name;
        match self.troubles().first() {
            None => format!("the graph of `{name}` has not caught up with its objects"),
            Some(why) => {
                format!("the graph of `{name}` has not caught up with its objects: {why}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_config::profile;
    use portcullis_document::Origin;

    fn built(declared: &GraphProfile, previous: Option<&Graphs>) -> Graphs {
        Graphs::build(std::slice::from_ref(declared), previous, |_, _| None)
    }

    #[test]
    fn what_stays_the_same_is_carried_over_and_other_credentials_are_not_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let kubeconfig = dir.path().join("kubeconfig");
        std::fs::write(&kubeconfig, "one").unwrap();
        let read = profile::built_in("node").unwrap().unwrap();
        let mut declared = GraphProfile {
            name: "node".to_owned(),
            profile: read.profile,
            text: read.text,
            source: GraphSource::Cluster(Access::Kubeconfig(kubeconfig.clone())),
            compat: Default::default(),
            selectors: Default::default(),
            origin: Origin::named("test"),
        };
        let first = built(&declared, None);
        let is_carried =
            |graphs: &Graphs| Arc::ptr_eq(first.first().unwrap(), graphs.first().unwrap());
        assert!(is_carried(&built(&declared, Some(&first))));
        std::fs::write(&kubeconfig, "two").unwrap();
        assert!(!is_carried(&built(&declared, Some(&first))));
        std::fs::write(&kubeconfig, "one").unwrap();
        assert!(is_carried(&built(&declared, Some(&first))));
        declared.compat = portcullis_graph::Compat::Upstream;
        assert!(!is_carried(&built(&declared, Some(&first))));
    }
}
