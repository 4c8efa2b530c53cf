//! Where a graph comes from, and the answers that are available there.

use std::path::Path;
use std::sync::Arc;

use portcullis_config::ConfigSource;
use portcullis_core::{Authorizer, AuthorizerChain};
use portcullis_document::Source;
use portcullis_gate::graph_answers::{AskedGraph, GraphView, Unanswered};
use portcullis_gate::graphs::ProfileInForce;
use portcullis_gate::offline_graphs::{self, OfflineError};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::GraphFlags;
use crate::arguments::{Admission, load_options};
use crate::client::{ClientError, ServerAccess};
use crate::commands::failure::{Failure, remark};
use crate::commands::remote::Remote;
use crate::commands::text::plain::printable;
use crate::exit::Exit;
use crate::output;

/// Where a graph is.
pub(in crate::commands) enum Opened {
    /// Read here.
    Local(LocalGraphs),
    /// At a running server.
    Remote(RemoteGraphs),
}

/// Graphs that were read here.
pub(in crate::commands) struct LocalGraphs {
    /// In the order of the configuration.
    profiles: Vec<Arc<ProfileInForce>>,
    pub(in crate::commands) authorizers: AuthorizerChain,
    /// The one that is picked.
    profile: Option<String>,
}

/// Graphs at a running server.
pub(in crate::commands) struct RemoteGraphs {
    remote: Remote,
    /// The one that is picked.
    profile: Option<String>,
}

/// Reads the graph here, or finds out whom to ask. Flags come before the environment, a server before a
/// configuration.
pub(in crate::commands) fn open(place: &GraphFlags) -> Result<Opened, Failure> {
    if let (Some(objects), Some(profile)) = (&place.objects, &place.profile) {
        return LocalGraphs::from_directory(profile, objects).map(Opened::Local);
    }
    let is_config = place.config.is_some();
    let server = place.server();
    let given = ServerAccess::given(server.server.as_deref(), None, None)?;
    if !is_config && given.is_some() {
        let remote = Remote::open(&server)?;
        let profile = place.profile.clone();
        return Ok(Opened::Remote(RemoteGraphs { remote, profile }));
    }
    if place.token.is_some() || place.ca.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "--token and --ca are for a server: give --server URL, or PORTCULLIS_SERVER",
        ));
    }
    let here = LocalGraphs::from_config(&place.config_file(), place.profile.as_deref())?;
    Ok(Opened::Local(here))
}

impl LocalGraphs {
    fn from_directory(profile: &str, objects: &Path) -> Result<Self, Failure> {
        let read = offline_graphs::from_directory(profile, objects);
        let one = read.map_err(|faults| Failure::faults(&faults))?;
        let authorizer: Arc<dyn Authorizer> = Arc::new(one.authorizer.clone());
        let authorizers = vec![(Arc::from(one.name.as_str()), authorizer)];
        Ok(Self {
            profiles: vec![Arc::new(one)],
            authorizers: AuthorizerChain::new(authorizers),
            profile: None,
        })
    }

    fn from_config(file: &Path, profile: Option<&str>) -> Result<Self, Failure> {
        let registry = portcullis_gate::registry();
        let known = registry.names();
        let admission = Admission::default();
        let options = load_options(ConfigSource::File(file), &admission, &known);
        let read = offline_graphs::from_config(&options);
        let offline = read.map_err(|error| match error {
            OfflineError::Invalid(faults) => Failure::faults(&faults),
            OfflineError::Unreachable(why) => Failure::new(Exit::Failed, why),
        })?;
        let profiles = offline.graphs.iter().map(Arc::clone);
        let authorizers = offline.authorizers.into_iter();
        let authorizers = authorizers.map(|(name, one)| (Arc::from(name), one));
        let here = Self {
            profiles: profiles.collect(),
            authorizers: AuthorizerChain::new(authorizers.collect()),
            profile: profile.map(str::to_owned),
        };
        if let Some(name) = profile {
            let names = here.profiles.iter().map(|one| one.name.as_str());
            is_known("--profile", "profile", name, &names.collect::<Vec<_>>())?;
        }
        Ok(here)
    }

    /// The graphs that an answer is about, and their profile. Warns of problems with its objects.
    pub(in crate::commands) fn view(
        &self,
        target: Option<&str>,
    ) -> Result<(&Arc<ProfileInForce>, GraphView), Failure> {
        let mut profiles = self.profiles.iter();
        let found = match &self.profile {
            Some(wanted) => profiles.find(|one| one.name == *wanted),
            None => profiles.next(),
        };
        let Some(one) = found else {
            let message = "the configuration has no graph profile";
            return Err(Failure::new(Exit::Invalid, message));
        };
        if self.profile.is_none() && self.profiles.len() > 1 {
            remark(&format!(
                "using the first of {} profiles, {}; choose another with --profile",
                self.profiles.len(),
                one.name
            ));
        }
        let view = GraphView::caught_up(one.state(), target);
        let view = view.map_err(|why| unanswered(&why, &[]))?;
        warn(&one.troubles());
        Ok((one, view))
    }

    /// Those among the authorizers that judge by a graph.
    pub(in crate::commands) fn graphs(&self) -> Vec<AskedGraph<'_>> {
        self.profiles.iter().map(|one| one.asked()).collect()
    }

    /// The authorizers to ask: the one of this name, the profile that is picked, or all of them.
    pub(in crate::commands) fn asked(
        &self,
        authorizer: Option<&str>,
    ) -> Result<AuthorizerChain, Failure> {
        let Some(name) = authorizer.or(self.profile.as_deref()) else {
            if self.authorizers.names().next().is_none() {
                let message = "the configuration has no authorizer";
                return Err(Failure::new(Exit::Invalid, message));
            }
            return Ok(self.authorizers.clone());
        };
        let names: Vec<&str> = self.authorizers.names().collect();
        is_known("--authorizer", "authorizer", name, &names)?;
        Ok(self.authorizers.only(name).unwrap_or_default())
    }
}

impl RemoteGraphs {
    /// Sends a request; names are checked first, to distinguish an unknown name from a missing vertex.
    pub(in crate::commands) fn get<T: DeserializeOwned>(
        &mut self,
        call: &str,
        query: &[(&str, &str)],
    ) -> Result<T, Failure> {
        let profile = self.checked()?;
        let query = [query, &picked(profile.as_deref())].concat();
        let path = ["v1", "graph", call];
        match self.remote.get_with(&path, &query) {
            Ok(value) => Ok(read(value)?),
            // A vertex that is not there may be in an object that the server can't read.
            Err(ClientError::NotFound(message)) => {
                let problems = self.problems(profile.as_deref())?;
                warn(&problems);
                Err(missing(&message, &problems))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What is wrong with the objects of the profile that is picked, or of the first.
    pub(in crate::commands) fn problems(
        &mut self,
        profile: Option<&str>,
    ) -> Result<Vec<String>, ClientError> {
        let all = self.remote.get(&["v1", "graph", "profiles"])?;
        let all = all.get("profiles").and_then(Value::as_array);
        let mut all = all.into_iter().flatten();
        let found = match profile {
            Some(name) => all.find(|one| one.get("name").and_then(Value::as_str) == Some(name)),
            None => all.next(),
        };
        let problems = found.and_then(|one| one.get("problems")?.as_array());
        let texts = problems.into_iter().flatten().filter_map(Value::as_str);
        Ok(texts.map(str::to_owned).collect())
    }

    /// What authorizers say.
    pub(in crate::commands) fn can_i<T: DeserializeOwned>(
        &mut self,
        authorizer: Option<&str>,
        query: &[(&str, &str)],
    ) -> Result<T, Failure> {
        let profile = self.checked()?;
        let mut query = query.to_vec();
        if let Some(name) = authorizer {
            let names = self.names("authorizers")?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            is_known("--authorizer", "authorizer", name, &names)?;
        }
        query.extend(
            authorizer
                .or(profile.as_deref())
                .map(|name| ("authorizer", name)),
        );
        let value = self.remote.get_with(&["v1", "graph", "can-i"], &query)?;
        Ok(read(value)?)
    }

    /// Reads a whole graph.
    pub(in crate::commands) fn pieces(
        &mut self,
        query: &[(&str, &str)],
        take: &mut dyn FnMut(&[u8]) -> std::ops::ControlFlow<()>,
    ) -> Result<(), Failure> {
        let profile = self.checked()?;
        complete(&self.problems(profile.as_deref())?)?;
        let query = [query, &picked(profile.as_deref())].concat();
        let path = ["v1", "graph", "export"];
        Ok(self.remote.pieces(&path, &query, take)?)
    }

    /// The profile that is picked, which is there.
    fn checked(&mut self) -> Result<Option<String>, Failure> {
        let Some(name) = self.profile.clone() else {
            return Ok(None);
        };
        let names = self.names("profiles")?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        is_known("--profile", "profile", &name, &names)?;
        Ok(Some(name))
    }

    /// The names of what there is.
    fn names(&mut self, what: &str) -> Result<Vec<String>, ClientError> {
        let all = self.remote.get(&["v1", "graph", "profiles"])?;
        let all = all.get(what).and_then(Value::as_array);
        let name = |one: &Value| {
            let name = one.get("name").unwrap_or(one);
            name.as_str().map(str::to_owned)
        };
        Ok(all.into_iter().flatten().filter_map(name).collect())
    }
}

fn picked(profile: Option<&str>) -> Vec<(&str, &str)> {
    profile.map(|name| ("profile", name)).into_iter().collect()
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, ClientError> {
    serde_json::from_value(value).map_err(|error| ClientError::senseless("an answer", &error))
}

/// Goes on only with a name that is known.
fn is_known(flag: &str, what: &str, name: &str, known: &[&str]) -> Result<(), Failure> {
    if known.contains(&name) {
        return Ok(());
    }
    let fault = Source::named(flag).fault(None, "", format!("there is no {what} `{name}`"));
    let fault = match known.is_empty() {
        true => fault.with_help(format!("there are no {what}s")),
        false => fault.with_known(&format!("{what}s"), name, known.to_vec()),
    };
    Err(Failure::new(Exit::Invalid, fault))
}

/// How many problems are printed one by one.
const MOST_PROBLEMS: usize = 20;

/// Tells what is wrong with the objects of a graph.
pub(in crate::commands) fn warn(problems: &[String]) {
    for problem in problems.iter().take(MOST_PROBLEMS) {
        output::tell(&format!("warning: {}", printable(problem)));
    }
    if let Some(more) = problems
        .len()
        .checked_sub(MOST_PROBLEMS)
        .filter(|more| *more > 0)
    {
        output::tell(&format!("warning: and {more} more"));
    }
}

/// What is said with an answer that may be another without these problems.
pub(in crate::commands) const UNREAD: &str = "some objects could not be read";

/// Goes on only if nothing is wrong with the objects of a graph.
fn complete(problems: &[String]) -> Result<(), Failure> {
    warn(problems);
    complete_and_told(problems)
}

/// The same, if the problems were printed already.
pub(in crate::commands) fn complete_and_told(problems: &[String]) -> Result<(), Failure> {
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!("the graph is incomplete: {UNREAD}");
    Err(Failure::new(Exit::Failed, message))
}

/// Why there is no answer, and the exit code.
pub(in crate::commands) fn unanswered(why: &Unanswered, problems: &[String]) -> Failure {
    match why {
        Unanswered::UnknownTarget(_) => Failure::new(Exit::Usage, why),
        Unanswered::UnknownVertex(text) => missing(text, problems),
        Unanswered::NotCaughtUp => Failure::new(Exit::Failed, why),
    }
}

/// A vertex does not exist, as far as can be determined.
fn missing(message: &str, problems: &[String]) -> Failure {
    match problems.is_empty() {
        true => Failure::new(Exit::Nothing, message),
        false => Failure::new(Exit::Failed, format!("can't tell, {UNREAD}: {message}")),
    }
}

/// The target as a parameter of a call.
pub(in crate::commands) fn target(name: Option<&str>) -> Vec<(&str, &str)> {
    name.map(|name| ("target", name)).into_iter().collect()
}
