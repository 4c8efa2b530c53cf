//! Every scenario's expected answer is what the real server gives, over every transport.
//!
//! The server runs inside the test; the program that is measured is made of the same library.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use portcullis_config::{ConfigSource, Listening, LoadOptions};
use portcullis_server::RunOptions;

use crate::archive::{all_kept, sender};
use crate::certificate::Certificate;
use crate::client::Target;
use crate::fixture::{self, varied::Varied};
use crate::ledger::Ledger;
use crate::load::{ask_once, measure};
use crate::log::Log;
use crate::peers::{Job, Peer};
use crate::plain;
use crate::policies::Set;
use crate::scenario::{self, CEILING, Scenario, Subject};
use crate::server::write_configuration;
use crate::setup::Setup;
use crate::transport::{Places, Transport};
use crate::{ceiling, load};

/// Serves in the background until the test ends.
fn serve(file: PathBuf, data_dir: PathBuf) {
    std::thread::spawn(move || {
        let registry = portcullis_gate::registry();
        let load = LoadOptions {
            source: ConfigSource::File(&file),
            admission_control: None,
            admission_control_config_file: None,
            known_plugins: &registry.names(),
            listeners: Listening::Needed,
            objects: None,
            coverage: false,
            env: &|_| None,
        };
        portcullis_server::run(RunOptions {
            is_demonstration: false,
            load,
            data_dir,
            on_ready: None,
            sign_in_link: None,
            colours: false,
            worker: None,
            playground: None,
        })
        .unwrap();
    });
}

fn wait_for(places: &Places) {
    let is_ready = || plain::get(places.tcp, "/readyz").is_ok_and(|(status, _)| status == 200);
    while !is_ready() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn asked(scenario: &Scenario, places: &Places, certificate: &Certificate) -> Vec<Vec<u8>> {
    let scenario = Arc::new(scenario.clone());
    let ask = |transport| {
        let scenario = Arc::clone(&scenario);
        ask_once(&Target {
            places,
            transport,
            certificate,
            scenario,
        })
        .unwrap()
    };
    Transport::ALL.map(ask).to_vec()
}

#[test]
fn portcullis_answers_every_scenario_as_expected() {
    let dir = tempfile::tempdir().unwrap();
    let certificate = Certificate::make(dir.path()).unwrap();
    for (setup, log) in [
        (Setup::AlwaysAdmit, Log::Off),
        (Setup::PodSecurity, Log::Off),
        (Setup::AlwaysPullImages, Log::Off),
        (Setup::Abac, Log::Off),
        (Setup::Graph, Log::Off),
        (Setup::Policies(Set::Validating), Log::Off),
        (Setup::Policies(Set::Reference), Log::Off),
        (Setup::Policies(Set::TwoWriters), Log::Off),
        (Setup::Policies(Set::Hundred), Log::Off),
        (Setup::AlwaysAdmit, Log::Kept),
        (Setup::PodSecurity, Log::Kept),
        (Setup::Policies(Set::Validating), Log::Kept),
        (Setup::Policies(Set::Reference), Log::Kept),
        (Setup::Policies(Set::Validating), Log::Required),
        (Setup::Policies(Set::Reference), Log::Required),
    ] {
        let subject = Subject::Portcullis(setup, log);
        let own = dir.path().join(subject.process(Transport::Unix));
        std::fs::create_dir(&own).unwrap();
        let places = Places::free(&own).unwrap();
        serve(
            write_configuration((setup, log), &own, &places, &certificate).unwrap(),
            own,
        );
        wait_for(&places);
        let all = scenario::all().unwrap();
        let mine: Vec<_> = all.iter().filter(|s| s.subject == subject).collect();
        assert!(!mine.is_empty(), "no scenario for {subject:?}");
        for scenario in mine {
            let answers = asked(scenario, &places, &certificate);
            if scenario.name == "AlwaysAdmit" {
                let lengths: Vec<usize> = answers.iter().map(Vec::len).collect();
                assert_eq!(
                    lengths,
                    [fixture::ADMITTED.len(); 4],
                    "the ceiling answers as much"
                );
            }
        }
    }
}

#[test]
fn reviews_that_differ_are_answered_as_expected_and_every_decision_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let certificate = Certificate::make(dir.path()).unwrap();
    let places = Places::free(dir.path()).unwrap();
    let subject = (Setup::Everything, Log::Required);
    let file = write_configuration(subject, dir.path(), &places, &certificate).unwrap();
    serve(file, dir.path().to_owned());
    wait_for(&places);
    let ledger = Ledger::begin(places.tcp).unwrap();
    let reviews = Varied::new().unwrap();
    let bytes = sender::send_all(&places.unix, &reviews, 7..67, 4).unwrap();
    assert!(bytes > 60 * 6_000, "{bytes}");
    all_kept(&ledger, 60).unwrap();
}

/// The file that acjs is given is one that Portcullis reads too, with the same answers.
#[test]
fn the_file_for_acjs_gives_the_answers_that_are_expected_of_acjs() {
    let dir = tempfile::tempdir().unwrap();
    let certificate = Certificate::make(dir.path()).unwrap();
    for set in [Set::Validating, Set::Reference] {
        for transport in [Transport::Unix, Transport::Tls] {
            let own = dir.path().join(Peer::Acjs.process(set, transport));
            std::fs::create_dir(&own).unwrap();
            let places = Places::free(&own).unwrap();
            let job = Job {
                peers: dir.path(),
                set,
                transport,
                dir: &own,
                places: &places,
                certificate: &certificate,
            };
            let command = Peer::Acjs.command(&job).unwrap();
            assert_eq!(command.get_program(), dir.path().join("acjs"));
            serve(own.join("acjs.yaml"), own.clone());
            while !Peer::is_listening(&places, transport) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let all = scenario::all().unwrap();
            let mine = all
                .iter()
                .filter(|s| s.subject == Subject::Peer(Peer::Acjs, set));
            let target = |scenario: &Scenario| Target {
                places: &places,
                transport,
                certificate: &certificate,
                scenario: Arc::new(scenario.clone()),
            };
            let asked = mine.map(|scenario| ask_once(&target(scenario)).unwrap());
            assert!(asked.count() > 0, "nothing was asked");
        }
    }
}

#[test]
fn the_ceiling_answers_over_every_transport_and_can_be_measured() {
    let dir = tempfile::tempdir().unwrap();
    let certificate = Certificate::make(dir.path()).unwrap();
    let places = Places::free(dir.path()).unwrap();
    let options = ceiling::Options {
        tcp: Some(places.tcp),
        unix: Some(places.unix.clone()),
        tls: Some(places.tls),
        certificate: Some(certificate.certificate.clone()),
        key: Some(certificate.key.clone()),
    };
    std::thread::spawn(|| ceiling::run(options).unwrap());
    wait_for(&places);
    let all = scenario::all().unwrap();
    let ceiling = all.iter().find(|s| s.name == CEILING).unwrap();
    for scenario in all.iter().filter(|s| s.subject == Subject::Ceiling) {
        for answer in asked(scenario, &places, &certificate) {
            assert_eq!(answer, fixture::ADMITTED.as_bytes(), "{}", scenario.name);
        }
    }

    let plan = load::Plan {
        seconds: 0.25,
        connections: 3,
    };
    let (places, certificate) = (&places, &certificate);
    let wrong = all
        .iter()
        .find(|s| s.name == "PodSecurity-refuses")
        .unwrap();
    for transport in Transport::ALL {
        let target = |scenario: &Scenario| Target {
            places,
            transport,
            certificate,
            scenario: Arc::new(scenario.clone()),
        };
        let sample = measure(&target(ceiling), std::process::id(), plan).unwrap();
        assert!(
            sample.requests > 0 && sample.p50_us <= sample.p99_us,
            "{sample:?}"
        );
        let failure = measure(&target(wrong), std::process::id(), plan)
            .unwrap_err()
            .to_string();
        assert!(
            failure.contains("PodSecurity-refuses: expected 200"),
            "{failure}"
        );
    }
}
