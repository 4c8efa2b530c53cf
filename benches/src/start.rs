//! How long a server takes to get ready, how long its first answer takes, and what it needs at rest.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::client::Target;
use crate::failure::{Context, Result};
use crate::load;
use crate::log::Log;
use crate::policies::Set;
use crate::proc::{self, Memory};
use crate::scenario::{self, Scenario, Subject};
use crate::server::{self, Server};
use crate::setup::Setup;
use crate::statistics::Times;
use crate::transport::{Places, Transport};

/// What `portcullis serve` runs without a configuration.
const DEMONSTRATION: &str = include_str!("../../examples/demonstration/portcullis.yaml");

/// How long a server is left alone before its memory is looked at.
const REST: Duration = Duration::from_secs(2);

/// What is started: a name, and a configuration unless it is the demonstration.
const STARTED: [(&str, Option<(Setup, Log)>); 5] = [
    ("demonstration", None),
    ("three listeners, TLS", Some((Setup::AlwaysAdmit, Log::Off))),
    (
        "2 policies",
        Some((Setup::Policies(Set::Validating), Log::Off)),
    ),
    (
        "2 policies-kept",
        Some((Setup::Policies(Set::Validating), Log::Kept)),
    ),
    (
        "100 policies",
        Some((Setup::Policies(Set::Hundred), Log::Off)),
    ),
];

/// What one configuration costs before and at the first request.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Start {
    /// The configuration.
    pub(crate) name: &'static str,
    /// From the start of the process to the first 200 of `/readyz`, in milliseconds.
    pub(crate) ready_ms: Times,
    /// The first review after that, over a new connection to the unix socket, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_ms: Option<Times>,
    /// Memory two seconds after ready, without a request but those for `/readyz`.
    pub(crate) memory: Memory,
}

/// Starts each configuration so many times, in turns.
pub(crate) fn run(portcullis: &Path, times: usize) -> Result<Vec<Start>> {
    let dir = tempfile::Builder::new()
        .prefix("portcullis-bench-")
        .tempdir();
    let dir = dir.context("no directory for this run")?;
    let certificate = Certificate::make(dir.path())?;
    let beginner = Beginner {
        portcullis,
        dir: dir.path(),
        certificate: &certificate,
    };
    let questions = questions()?;
    let mut found = STARTED.map(|_| (Vec::new(), Vec::new()));
    for _ in 0..times.max(1) {
        for ((name, setup), (ready, first)) in STARTED.iter().zip(&mut found) {
            let (_server, places, took) = beginner.begin(*setup).context(name)?;
            ready.push(millis(took));
            if let Some(question) = question(&questions, *setup) {
                first.push(millis(beginner.ask(&places, question).context(name)?));
            }
        }
    }
    let mut starts = Vec::with_capacity(STARTED.len());
    for ((name, setup), (ready, first)) in STARTED.iter().zip(found) {
        let (server, ..) = beginner.begin(*setup).context(name)?;
        std::thread::sleep(REST);
        starts.push(Start {
            name,
            ready_ms: Times::of(ready),
            first_ms: Some(first).filter(|f| !f.is_empty()).map(Times::of),
            memory: proc::memory(server.pid())?,
        });
    }
    Ok(starts)
}

/// Starts servers in one directory, one after the other.
struct Beginner<'a> {
    portcullis: &'a Path,
    dir: &'a Path,
    certificate: &'a Certificate,
}

impl Beginner<'_> {
    /// Starts one, with nothing in its data directory.
    fn begin(&self, setup: Option<(Setup, Log)>) -> Result<(Server, Places, Duration)> {
        let places = Places::free(self.dir)?;
        let file = match setup {
            None => demonstration(self.dir, &places)?,
            Some(setup) => server::write_configuration(setup, self.dir, &places, self.certificate)?,
        };
        let data = self.dir.join("data");
        if data.exists() {
            std::fs::remove_dir_all(&data).context(data.display())?;
        }
        std::fs::create_dir(&data).context(data.display())?;
        let mut command = server::portcullis(self.portcullis, &file, &data);
        let mut server = Server::spawn(&mut command, self.dir)?;
        let took = server.wait_until_ready(places.tcp)?;
        Ok((server, places, took))
    }

    fn ask(&self, places: &Places, scenario: &Arc<Scenario>) -> Result<Duration> {
        let target = Target {
            places,
            transport: Transport::Unix,
            certificate: self.certificate,
            scenario: Arc::clone(scenario),
        };
        Ok(load::ask_timed(&target)?.1)
    }
}

/// Every scenario that asks for a review.
fn questions() -> Result<Vec<Arc<Scenario>>> {
    let all = scenario::all()?.into_iter();
    Ok(all
        .filter(|s| s.question.method == "POST")
        .map(Arc::new)
        .collect())
}

/// The first review that this configuration is asked for.
fn question(all: &[Arc<Scenario>], setup: Option<(Setup, Log)>) -> Option<&Arc<Scenario>> {
    let (setup, log) = setup?;
    let subject = Subject::Portcullis(setup, log);
    all.iter().find(|s| s.subject == subject)
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The demonstration on ports that are free: others on this machine may run it too.
fn demonstration(dir: &Path, places: &Places) -> Result<std::path::PathBuf> {
    let text = DEMONSTRATION
        .replace("127.0.0.1:9090", &places.tcp.to_string())
        .replace("127.0.0.1:8080", &places.tls.to_string());
    // The objects of its graph are in this folder.
    let objects = dir.join("objects");
    std::fs::create_dir_all(&objects).context(objects.display())?;
    let file = dir.join("demonstration.yaml");
    std::fs::write(&file, text).context(file.display())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demonstration_gets_ports_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::free(dir.path()).unwrap();
        let text = std::fs::read_to_string(demonstration(dir.path(), &places).unwrap()).unwrap();
        assert!(text.contains(&places.tcp.to_string()) && text.contains(&places.tls.to_string()));
        assert!(
            !text.contains(":9090\"") && !text.contains(":8080\""),
            "{text}"
        );
    }

    #[test]
    fn every_configuration_of_ours_is_asked_for_a_first_review() {
        let all = questions().unwrap();
        let asked = STARTED.map(|(_, setup)| question(&all, setup).map(|s| s.name));
        let expected = [
            None,
            Some("AlwaysAdmit"),
            Some("validating"),
            Some("validating-kept"),
            Some("100-policies"),
        ];
        assert_eq!(asked, expected);
    }
}
