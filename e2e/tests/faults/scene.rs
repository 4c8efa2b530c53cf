//! Servers, controllers and clients of one test, and the comparison at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use portcullis_e2e::{Portcullis, until};
use serde_json::{Value, json};

use crate::checker::{Fault, Finding, check};
use crate::client::Client;
use crate::history::{Answered, History, Ledger};
use crate::instance::{Instance, Settings};
use crate::load::{Amount, Load, submit_silent_jobs};
use crate::plan::{CONTROLLERS, Controller, How};
use crate::random::{Random, seed};
use crate::snapshot::Snapshot;
use crate::world::{Worker, World};

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take until everything is decided.
const SETTLED: Duration = Duration::from_secs(180);
/// How long a controller may take; a delivery of a server that was killed is taken over some seconds later.
const TIMEOUT: &str = "8s";
/// How long the admission of jobs may take whose controller never answers, and of all others.
const SHORT_DEADLINE: &str = "20s";
const LONG_DEADLINE: &str = "30m";
/// Jobs whose controller never answers.
const SILENT_JOBS: usize = 8;
/// Findings that are shown.
const SHOWN: usize = 30;

/// What a test is made of.
#[derive(Debug, Clone)]
pub(crate) struct Setup<'a> {
    pub(crate) name: &'a str,
    pub(crate) servers: usize,
    /// The address of the store; by default an SQLite file.
    pub(crate) store: Option<String>,
}

/// Servers, controllers and clients.
#[derive(Debug)]
pub(crate) struct Scene {
    name: String,
    directory: PathBuf,
    seed: u64,
    pub(crate) random: Random,
    pub(crate) servers: Vec<Instance>,
    pub(crate) ledger: Arc<Ledger>,
    world: World,
    kills: usize,
}

/// Whether the suite can run: it says so in one line if not.
pub(crate) fn is_wanted() -> bool {
    static SKIPPED: Once = Once::new();
    let is_wanted = Portcullis::program().is_some();
    if !is_wanted {
        let line = "SKIPPED: portcullis-e2e faults: PORTCULLIS is not set; run scripts/test-faults";
        SKIPPED.call_once(|| say(line));
    }
    is_wanted
}

/// Writes past libtest's capture of output, which would swallow it.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A number from the environment.
pub(crate) fn number(name: &str, default: usize) -> usize {
    let given = env::var(name).ok();
    let given = given.map(|text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number"))
    });
    given.unwrap_or(default)
}

impl Scene {
    /// Starts everything but the clients.
    pub(crate) fn start(setup: &Setup<'_>) -> Self {
        let seed = seed();
        say(&format!("{}: FAULTS_SEED={seed}", setup.name));
        let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = base
            .join(format!("faults-{}", std::process::id()))
            .join(setup.name);
        let mut servers: Vec<Instance> = (0..setup.servers)
            .map(|number| Instance::prepare(&directory.join(format!("server-{number}"))))
            .collect();
        let ports: Vec<u16> = servers.iter().map(Instance::port).collect();
        let ledger = Arc::new(Ledger::default());
        let mut world = World::start(&ledger, &ports, seed);
        let settings = Settings {
            store: setup.store.clone(),
            webhooks: world.place(),
        };
        for server in &mut servers {
            server.configure(&settings, SHORT_DEADLINE);
            server.start();
        }
        let mut client = Client::new(ports[0]);
        for controller in CONTROLLERS {
            let (id, secret) = add(&mut client, &world, controller);
            if controller.how == How::Pull {
                let worker = Worker {
                    controller,
                    id,
                    secret,
                };
                world.employ(worker, &ports, seed);
            }
        }
        // Their deadline is kept, whatever happens meanwhile; for all others there is time enough.
        submit_silent_jobs(&ledger, ports[0], SILENT_JOBS);
        for server in &mut servers {
            server.configure(&settings, LONG_DEADLINE);
            server.kill();
            server.start();
        }
        Self {
            name: setup.name.to_owned(),
            directory,
            seed,
            random: Random::new(seed, 9999),
            servers,
            ledger,
            world,
            kills: 0,
        }
    }

    fn ports(&self) -> Vec<u16> {
        self.servers.iter().map(Instance::port).collect()
    }

    /// A client of one of the servers.
    pub(crate) fn client(&self, server: usize) -> Client {
        Client::new(self.servers[server].port())
    }

    /// Starts clients.
    pub(crate) fn load(&self, amount: Amount) -> Load {
        Load::start(&self.ledger, &self.ports(), self.seed, amount)
    }

    /// Clients that go on until they are ended.
    pub(crate) fn clients(&self) -> Load {
        self.load(Amount {
            clients: 4,
            pause: 60,
            is_calm: false,
            most: usize::MAX,
        })
    }

    /// Kills one of the servers after a random time, and starts it again. Mostly something was done since the last time;
    /// now and then it is killed before.
    pub(crate) fn kill_any(&mut self) {
        if !self.random.once_in(4) {
            self.more_submissions(1);
        }
        let pause = self.random.time(0, 200);
        std::thread::sleep(pause);
        let place = self.random.below(self.servers.len());
        let server = &mut self.servers[place];
        server.must_run();
        server.kill();
        self.kills += 1;
        server.start();
    }

    /// Waits until so many more submissions were acknowledged.
    pub(crate) fn more_submissions(&self, count: usize) {
        let wanted = self.ledger.acknowledged() + count;
        let what = format!("{}: {count} more submissions", self.name);
        until(&what, PATIENCE, || self.ledger.acknowledged() >= wanted);
    }

    /// Waits until no job waits for admission.
    pub(crate) fn settle(&mut self) {
        let mut client = self.client(0);
        let mut last = Value::Null;
        let what = format!("{}: every job is decided", self.name);
        until(&what, SETTLED, || {
            last = client.read("/api/v1/jobs?status=preparing&limit=1");
            last["items"] == json!([])
        });
        for server in &mut self.servers {
            server.must_run();
        }
    }

    /// Waits until everything is decided, and compares.
    pub(crate) fn finish(mut self, load: Load) {
        load.end();
        self.settle();
        let snapshot = Snapshot::read(&mut self.client(0));
        self.world.end();
        let history = self.ledger.with(|history| history.clone());
        say(&summary(&self.name, &history, &snapshot, self.kills));
        let findings = check(&history, &snapshot);
        assert!(
            findings.is_empty(),
            "{}",
            report(&findings, self.seed, &self.directory)
        );
        assert_not_idle(&history, &snapshot);
    }
}

/// Adds a controller; its id and secret.
fn add(client: &mut Client, world: &World, controller: &Controller) -> (u64, String) {
    let name = controller.name;
    let mut body = json!({
        "name": name, "level": "project", "path": controller.project, "kind": "both",
        "state": "enabled", "failure_policy": "closed", "timeout": TIMEOUT, "rate": 10_000,
    });
    match controller.how {
        How::Policy => {
            let code = format!(
                "if (object.ref === 'deny-{name}') deny('as the ref says');\n\
                 object.tags.push('{name}');\n"
            );
            body["policy"] = json!({"code": code});
        }
        How::Pull => body["pull"] = json!(true),
        How::Inline | How::Callback | How::Silent => body["url"] = json!(world.url(controller)),
    }
    let answer = client.call("POST", "/api/v1/controllers", &body).unwrap();
    assert_eq!(answer.status, 201, "{}", answer.text());
    let answer = answer.json();
    let secret = answer["secret"].as_str().unwrap_or_default().to_owned();
    (answer["id"].as_u64().unwrap(), secret)
}

/// What happened, in one line.
fn summary(name: &str, history: &History, snapshot: &Snapshot, kills: usize) -> String {
    let count = |wanted: fn(&Answered<_>) -> bool| {
        let all = history.submissions.iter();
        all.filter(|one| wanted(&one.answer)).count()
    };
    let acknowledged = count(|answer| matches!(answer, Answered::Yes(_)));
    let unknown = count(|answer| matches!(answer, Answered::Unknown));
    format!(
        "{name}: {kills} kills, {acknowledged} submissions acknowledged, {unknown} unknown, {} jobs, \
         {} deliveries, {} verdicts, {} records",
        snapshot.jobs.len(),
        history.deliveries.len(),
        history.said.len(),
        snapshot.records.values().sum::<u64>(),
    )
}

fn report(findings: &[Finding], seed: u64, directory: &Path) -> String {
    let mut by_fault: BTreeMap<Fault, usize> = BTreeMap::new();
    for finding in findings {
        *by_fault.entry(finding.fault).or_default() += 1;
    }
    let mut text = format!(
        "{} findings {by_fault:?} with FAULTS_SEED={seed}, logs in {}\n",
        findings.len(),
        directory.display()
    );
    for finding in findings.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{finding}");
    }
    text
}

/// A run in which too little happened proves nothing.
fn assert_not_idle(history: &History, snapshot: &Snapshot) {
    let submissions = history.submissions.iter();
    let acknowledged = submissions.filter(|one| matches!(one.answer, Answered::Yes(_)));
    let acknowledged = acknowledged.count();
    assert!(acknowledged >= 50, "only {acknowledged} were acknowledged");
    let jobs = snapshot.jobs.iter();
    let projects: BTreeSet<&str> = jobs.map(|job| job.project.as_str()).collect();
    assert_eq!(projects.len(), 7, "only jobs of {projects:?}");
    let asked: BTreeSet<&str> = history.deliveries.iter().map(|one| one.place.0).collect();
    assert_eq!(asked.len(), 7, "only {asked:?} were asked");
}
