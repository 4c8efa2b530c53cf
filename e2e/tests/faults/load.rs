//! Clients that submit, retry and cancel, and remember what was answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use portcullis_testing::Answer;
use serde_json::Value;

use crate::client::Silence;
use crate::history::{Answered, Ids, Ledger};
use crate::plan::{Becomes, PLAIN, POLICY, PROJECTS, Planned, SILENT, chain, submission};
use crate::random::Random;
use crate::world::Servers;

/// Clients at work.
#[derive(Debug)]
pub(crate) struct Load {
    threads: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// How much is submitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) clients: u64,
    /// The longest pause of a client between two calls, in milliseconds.
    pub(crate) pause: u64,
    /// Whether nothing fails meanwhile.
    pub(crate) is_calm: bool,
    /// Each client ends after so many submissions.
    pub(crate) most: usize,
}

/// Submits jobs whose controller never answers, so many and one after the other.
pub(crate) fn submit_silent_jobs(ledger: &Arc<Ledger>, port: u16, count: usize) {
    let amount = Amount {
        clients: 1,
        pause: 1,
        is_calm: false,
        most: count,
    };
    let mut client = Submitter {
        ledger: Arc::clone(ledger),
        servers: Servers::new(&[port], Random::new(0, 0)),
        number: 0,
        amount,
        sent: 0,
    };
    for number in 0..count {
        let job = Planned::new(format!("silent-{number}"), SILENT, "main");
        assert!(client.submit(&[job]).is_some());
    }
}

impl Load {
    /// Starts clients.
    pub(crate) fn start(ledger: &Arc<Ledger>, ports: &[u16], seed: u64, amount: Amount) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = (0..amount.clients).map(|number| {
            let number = number + if amount.is_calm { 100 } else { 0 };
            let mut client = Submitter {
                ledger: Arc::clone(ledger),
                servers: Servers::new(ports, Random::new(seed, number)),
                number,
                amount,
                sent: 0,
            };
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) && client.sent < amount.most {
                    client.step();
                }
            })
        });
        Self {
            threads: threads.collect(),
            is_over,
        }
    }

    /// Ends the clients after the calls under way.
    pub(crate) fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.join();
    }

    /// Waits for clients that end by themselves.
    pub(crate) fn join(self) {
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}

struct Submitter {
    ledger: Arc<Ledger>,
    servers: Servers,
    number: u64,
    amount: Amount,
    sent: usize,
}

impl Submitter {
    fn step(&mut self) {
        let jobs = self.next();
        if let Some((place, ids)) = self.submit(&jobs) {
            let random = &mut self.servers.random;
            let (job, id) = (&jobs[0], ids.jobs[0]);
            let is_single = jobs.len() == 1;
            if is_single && job.project == POLICY && job.denied_by().is_some() {
                self.retry(place, id);
            } else if is_single && job.project == PLAIN && random.once_in(4) {
                self.cancel(place, id);
            }
        }
        let pause = self.servers.random.time(0, self.amount.pause);
        thread::sleep(pause);
    }

    /// What is submitted next.
    fn next(&mut self) -> Vec<Planned> {
        let name = format!("job-{}-{}", self.number, self.sent);
        let random = &mut self.servers.random;
        let project = random.pick(PROJECTS);
        let controllers: Vec<&str> = chain(project).map(|one| one.name).collect();
        let git_ref = match !controllers.is_empty() && random.once_in(4) {
            true => format!("deny-{}", random.pick(&controllers)),
            false => "main".to_owned(),
        };
        let first = Planned::new(name.clone(), project, &git_ref);
        if !random.once_in(4) {
            return vec![first];
        }
        let becomes = match first.denied_by() {
            Some(_) => Becomes::Skipped,
            None => Becomes::Created,
        };
        let second = Planned {
            name: format!("{name}-second"),
            becomes,
            ..first.clone()
        };
        vec![first, second]
    }

    /// The place of the submission in the ledger and what it became, if it was acknowledged.
    fn submit(&mut self, jobs: &[Planned]) -> Option<(usize, Ids)> {
        let (path, body) = submission(jobs);
        let is_pipeline = jobs.len() > 1;
        let place = self.ledger.submit(jobs.to_owned(), self.amount.is_calm);
        let sent = self.servers.any().call("POST", path, &body);
        self.sent += 1;
        let answer = answered(sent, 201, |answer| ids(jobs, &answer.json(), is_pipeline));
        self.ledger
            .with(|history| history.submissions[place].answer = answer.clone());
        match answer {
            Answered::Yes(ids) => Some((place, ids)),
            _ => None,
        }
    }

    fn retry(&mut self, place: usize, id: u64) {
        let path = format!("/api/v1/jobs/{id}/retry");
        let sent = self.servers.any().call("POST", &path, &Value::Null);
        let answer = answered(sent, 200, |_| ());
        self.ledger
            .with(|history| history.submissions[place].retries.push(answer));
    }

    fn cancel(&mut self, place: usize, id: u64) {
        let path = format!("/api/v1/jobs/{id}/cancel");
        let sent = self.servers.any().call("POST", &path, &Value::Null);
        let answer = answered(sent, 200, |_| ());
        self.ledger
            .with(|history| history.submissions[place].cancel = Some(answer));
    }
}

/// What an answer means: 503 and a connection that broke mean that nothing is known.
fn answered<T>(
    sent: Result<Answer, Silence>,
    wanted: u16,
    read: impl FnOnce(&Answer) -> T,
) -> Answered<T> {
    match sent {
        Ok(answer) if answer.status == wanted => Answered::Yes(read(&answer)),
        Ok(answer) if answer.status == 503 => Answered::Unknown,
        Ok(answer) => Answered::No(answer.status),
        Err(Silence::NotSent) => Answered::No(0),
        Err(Silence::Broken) => Answered::Unknown,
    }
}

/// The ids of the jobs, in the order in which they were submitted.
fn ids(jobs: &[Planned], answer: &Value, is_pipeline: bool) -> Ids {
    let id = |value: &Value| value["id"].as_u64().unwrap();
    if !is_pipeline {
        return Ids {
            jobs: vec![id(answer)],
            pipeline: None,
        };
    }
    let all = answer["jobs"].as_array().unwrap();
    let find = |job: &Planned| id(all.iter().find(|one| one["name"] == job.name).unwrap());
    Ids {
        jobs: jobs.iter().map(find).collect(),
        pipeline: Some(id(answer)),
    }
}
