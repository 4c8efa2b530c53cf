//! The controllers outside the server: webhooks on loopback that fail now and then, one that calls back, workers that
//! claim jobs. Everything they are asked and say goes to the ledger.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use portcullis_testing::{Reply, Request, Server};
use serde_json::{Value, json};

use crate::client::{Client, Silence};
use crate::history::{Answered, Delivery, Ledger, Place, Said};
use crate::plan::{CONTROLLERS, Controller, How, denies};
use crate::random::Random;

/// How long a controller waits before it tries again to reach a server that is gone.
const PAUSE: Duration = Duration::from_millis(20);
/// One delivery of so many fails the first time.
const FAILING: usize = 7;
/// One claim of so many is forgotten by the worker.
const FORGOTTEN: usize = 9;

/// Something to say to a server.
#[derive(Debug)]
struct Errand {
    place: Place,
    git_ref: String,
    /// The path of the callback URL.
    path: String,
}

/// All controllers outside the server.
#[derive(Debug)]
pub(crate) struct World {
    server: Server,
    hooks: Arc<Hooks>,
    calling: Vec<JoinHandle<()>>,
    claiming: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// What webhooks share.
#[derive(Debug)]
struct Hooks {
    ledger: Arc<Ledger>,
    /// What was delivered before: places, so that only the first delivery fails.
    seen: Mutex<HashSet<Place>>,
    fresh: AtomicUsize,
    errands: Mutex<Option<Sender<Errand>>>,
}

/// A worker's controller.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    pub(crate) controller: &'static Controller,
    pub(crate) id: u64,
    pub(crate) secret: String,
}

impl World {
    /// Starts the webhooks.
    pub(crate) fn start(ledger: &Arc<Ledger>, ports: &[u16], seed: u64) -> Self {
        let (sender, receiver) = channel();
        let hooks = Arc::new(Hooks {
            ledger: Arc::clone(ledger),
            seen: Mutex::default(),
            fresh: AtomicUsize::new(0),
            errands: Mutex::new(Some(sender)),
        });
        let receiver = Arc::new(Mutex::new(receiver));
        let calling = (0..2)
            .map(|number| {
                let (ledger, receiver) = (Arc::clone(ledger), Arc::clone(&receiver));
                let mut servers = Servers::new(ports, Random::new(seed, 1000 + number));
                thread::spawn(move || call_back(&ledger, &receiver, &mut servers))
            })
            .collect();
        let asked = Arc::clone(&hooks);
        Self {
            server: Server::http(move |request| asked.answer(request)),
            hooks,
            calling,
            claiming: Vec::new(),
            is_over: Arc::default(),
        }
    }

    /// The address of a controller's webhook.
    pub(crate) fn url(&self, controller: &Controller) -> String {
        format!("{}/{}", self.server.url(), controller.name)
    }

    /// Host and port of the webhooks.
    pub(crate) fn place(&self) -> String {
        self.server.place()
    }

    /// Lets a worker claim jobs from now on.
    pub(crate) fn employ(&mut self, worker: Worker, ports: &[u16], seed: u64) {
        let random = Random::new(seed, 2000 + worker.id);
        let mut servers = Servers::new(ports, random);
        let (hooks, is_over) = (Arc::clone(&self.hooks), Arc::clone(&self.is_over));
        self.claiming.push(thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                claim(&hooks, &worker, &mut servers);
            }
        }));
    }

    /// Ends it, when everything that is to be said was said.
    pub(crate) fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.claiming {
            thread.join().unwrap();
        }
        *self.hooks.errands.lock().unwrap() = None;
        for thread in self.calling {
            thread.join().unwrap();
        }
    }
}

impl Hooks {
    fn answer(&self, request: &Request) -> Reply {
        let name = request.target().trim_start_matches('/');
        let mut known = CONTROLLERS.iter();
        let Some(controller) = known.find(|one| one.name == name) else {
            return Reply::Status(404, "", String::new());
        };
        let entry = &request.json()[0];
        let place = place(controller, entry);
        let is_failed = controller.how == How::Inline && self.is_first_to_fail(place);
        self.note(
            place,
            entry,
            request.header("webhook-id").map(str::to_owned),
            is_failed,
        );
        match controller.how {
            How::Inline if is_failed && place.1.is_multiple_of(2) => Reply::Raw(Vec::new()),
            How::Inline if is_failed => Reply::Status(500, "", String::new()),
            How::Inline => {
                let (verdict, body) = verdict(place, &text(&entry["ref"]));
                let answer = None;
                self.ledger.with(|history| {
                    history.said.push(Said {
                        place,
                        verdict,
                        answer,
                    });
                });
                Reply::json(&json!([body]))
            }
            How::Callback => {
                self.send(place, entry);
                Reply::Status(202, "", String::new())
            }
            How::Silent => Reply::Status(202, "", String::new()),
            How::Policy | How::Pull => Reply::Status(404, "", String::new()),
        }
    }

    /// Every so many deliveries one fails, the first time it is made.
    fn is_first_to_fail(&self, place: Place) -> bool {
        let is_new = self.seen.lock().unwrap().insert(place);
        is_new && self.fresh.fetch_add(1, Ordering::Relaxed) % FAILING == FAILING - 1
    }

    fn note(&self, place: Place, entry: &Value, webhook_id: Option<String>, is_failed: bool) {
        let delivery = Delivery {
            place,
            webhook_id,
            deadline: text(&entry["deadline"]),
            is_failed,
        };
        self.ledger
            .with(|history| history.deliveries.push(delivery));
    }

    /// The verdict is sent by another thread.
    fn send(&self, place: Place, entry: &Value) {
        let url = text(&entry["callback_url"]);
        let path = url.splitn(4, '/').nth(3).unwrap();
        let errand = Errand {
            place,
            git_ref: text(&entry["ref"]),
            path: format!("/{path}"),
        };
        if let Some(errands) = &*self.errands.lock().unwrap() {
            errands.send(errand).unwrap();
        }
    }
}

/// Sends verdicts until each is answered.
fn call_back(ledger: &Ledger, errands: &Mutex<Receiver<Errand>>, servers: &mut Servers) {
    loop {
        let errand = errands.lock().unwrap().recv();
        let Ok(errand) = errand else { return };
        let (verdict, body) = verdict(errand.place, &errand.git_ref);
        let answer = loop {
            match servers
                .any()
                .call_as("none", "POST", &errand.path, &json!([body]))
            {
                Ok(answer) if answer.status == 200 => break Answered::Yes(()),
                Ok(answer) if matches!(answer.status, 429 | 503) => {}
                Ok(answer) => break Answered::No(answer.status),
                Err(Silence::NotSent | Silence::Broken) => {}
            }
            thread::sleep(PAUSE);
        };
        let place = errand.place;
        ledger.with(|history| {
            history.said.push(Said {
                place,
                verdict,
                answer: Some(answer),
            });
        });
    }
}

fn claim(hooks: &Hooks, worker: &Worker, servers: &mut Servers) {
    let path = format!("/api/v1/controllers/{}/claim", worker.id);
    let body = json!({"wait": "1s", "max": 5});
    let claimed = servers.any().call_as(&worker.secret, "POST", &path, &body);
    let Some(answer) = claimed.ok().filter(|answer| answer.status == 200) else {
        thread::sleep(PAUSE);
        return;
    };
    for entry in answer.json().as_array().unwrap() {
        let place = place(worker.controller, entry);
        // A worker that forgets is asked again, as if it had failed.
        let is_forgotten = servers.random.once_in(FORGOTTEN);
        hooks.note(place, entry, None, is_forgotten);
        if !is_forgotten {
            hooks.send(place, entry);
        }
    }
}

fn place(controller: &'static Controller, entry: &Value) -> Place {
    let number = |key: &str| entry[key].as_u64().unwrap();
    (controller.name, number("id"), number("attempt"))
}

/// What a controller says about a job: the word, and the whole verdict.
fn verdict((controller, job, _): Place, git_ref: &str) -> (&'static str, Value) {
    if denies(controller, git_ref) {
        let body = json!({"id": job, "admission": "denied", "reason": "as the ref says"});
        return ("denied", body);
    }
    let tags = json!({"add": [controller], "remove": []});
    let body = json!({"id": job, "admission": "accepted", "tags": tags});
    ("accepted", body)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Clients of all servers; each call goes to any of them.
#[derive(Debug)]
pub(crate) struct Servers {
    clients: Vec<Client>,
    pub(crate) random: Random,
}

impl Servers {
    pub(crate) fn new(ports: &[u16], random: Random) -> Self {
        Self {
            clients: ports.iter().map(|port| Client::new(*port)).collect(),
            random,
        }
    }

    pub(crate) fn any(&mut self) -> &mut Client {
        let place = self.random.below(self.clients.len());
        &mut self.clients[place]
    }
}
