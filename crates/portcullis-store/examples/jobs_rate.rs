//! How many jobs are submitted each second through the writer.
//! `cargo run --release -p portcullis-store --example jobs_rate`.
//!
//! Arguments: `sqlite:PATH` or `postgres://…` of an empty store (a file in the folder for temporary files by default),
//! and for how many seconds each number of callers submits (5 by default). A submission is what the API does: it
//! looks up the controllers, and inserts a job with a delivery for one of them. Then deliveries are claimed.

#![allow(clippy::print_stdout, reason = "it measures, and says what it found")]

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_core::clock::{self, Stopwatch};
use portcullis_jobs::{Controller, ControllerDefinition, Event, JobDefinition, Timestamp};
use portcullis_store::{
    Claimant, ControllerRecord, Delivery, DeliveryShare, DeliveryState, IdKind, JobRecord,
    JobsError, JobsTransaction, JobsWriter, Location, Mode, Store,
};
use serde_json::json;

const HOUR: Duration = Duration::from_secs(3600);

/// The job of this number: of one of some projects.
fn definition(number: u64) -> Result<JobDefinition, serde_json::Error> {
    let variables: serde_json::Map<String, serde_json::Value> = (0..20)
        .map(|place| {
            (
                format!("CI_VARIABLE_{place}"),
                format!("value {number} {place}").into(),
            )
        })
        .collect();
    serde_json::from_value(json!({
        "project": format!("group-{}/project-{}", number % 7, number % 101), "name": "unit",
        "stage": "test", "ref": "main", "ref_protected": false, "source": "push",
        "user": {"id": 7, "username": "alice"}, "tags": ["linux", "docker"], "variables": variables,
        "script": ["make", "make test"], "allow_failure": false
    }))
}

fn submit(
    tx: &mut JobsTransaction<'_>,
    definition: &JobDefinition,
    now: Timestamp,
) -> Result<u64, JobsError> {
    let controllers = tx.controllers_for(&definition.project)?;
    let id = tx.new_id(IdKind::Job)?;
    let mut job = JobRecord::new(id, None, definition.clone(), now);
    let deadline = now.after(HOUR);
    if let Ok(transition) = job.state.apply(&Event::Prepare { deadline }, now) {
        job.state = transition.state;
    }
    job.deadline = Some(deadline);
    tx.insert_job(&mut job)?;
    for record in controllers {
        let delivery = tx.new_id(IdKind::Delivery)?;
        tx.insert_delivery(&Delivery {
            id: delivery,
            project: definition.project.clone(),
            job: id,
            attempt: 1,
            controller: record.controller.id,
            state: DeliveryState::Waiting,
            webhook_id: format!("msg_{delivery}"),
            token_hash: format!("{delivery:064x}"),
            created_at: now,
            next_at: now,
            leased_until: None,
            leased_by: None,
            deadline,
            tries: Vec::new(),
            answer: None,
        })?;
    }
    Ok(id)
}

fn insert_controller(store: &mut Store) -> Result<u64, Box<dyn std::error::Error>> {
    let body = json!({"name": "c", "level": "instance", "kind": "both", "pull": true});
    let definition = ControllerDefinition::read(&body).map_err(|faults| format!("{faults:?}"))?;
    let id = store.jobs(|tx| {
        let id = tx.new_id(IdKind::Controller)?;
        tx.insert_controller(&ControllerRecord {
            controller: Controller {
                id,
                created_at: clock::wall().into(),
                revision: 1,
                definition: definition.clone(),
            },
            secrets: Vec::new(),
        })?;
        Ok::<_, JobsError>(id)
    })?;
    Ok(id)
}

/// Submits from so many threads for so long.
fn measure(writer: &JobsWriter, callers: u64, seconds: u64) {
    let done = AtomicU64::new(0);
    let watch = Stopwatch::start();
    std::thread::scope(|scope| {
        for caller in 0..callers {
            let (done, watch) = (&done, &watch);
            scope.spawn(move || {
                let mut number = caller;
                while watch.elapsed() < Duration::from_secs(seconds) {
                    number += callers;
                    let Ok(definition) = definition(number) else {
                        return;
                    };
                    let now = clock::wall().into();
                    let result = writer.run(move |tx| submit(tx, &definition, now));
                    match result {
                        Ok(_) => done.fetch_add(1, Ordering::Relaxed),
                        Err(error) => return println!("{error}"),
                    };
                }
            });
        }
    });
    let elapsed = watch.elapsed().as_secs_f64();
    let done = done.into_inner() as f64;
    println!(
        "{callers:>4} callers: {:>7.0} submissions each second, {:>6.2} ms each",
        done / elapsed,
        elapsed * 1e3 * callers as f64 / done.max(1.0)
    );
}

/// Claims everything, a hundred at a time.
fn claim(writer: &JobsWriter, controller: u64) -> Result<(), JobsError> {
    let (mut claimed, mut after) = (0, String::new());
    let watch = Stopwatch::start();
    while watch.elapsed() < Duration::from_secs(5) {
        let from = after.clone();
        let found = writer.run(move |tx| {
            let now = Timestamp::from(clock::wall());
            let share = DeliveryShare {
                controller,
                most: 100,
                after: &from,
            };
            let claimant = Claimant {
                name: "example",
                now,
                until: now.after(HOUR),
            };
            tx.claim_deliveries(&[share], 100, claimant)
        })?;
        let Some(last) = found.last() else {
            break;
        };
        after.clone_from(&last.project);
        claimed += found.len();
    }
    let rate = claimed as f64 / watch.elapsed().as_secs_f64();
    println!("claimed {claimed}, {rate:.0} each second, a hundred at a time");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().filter(|url| url != "-");
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("portcullis-rate-{}", std::process::id()));
    let location = match &url {
        Some(url) => Location::parse(url, Path::new("."))?,
        None => Location::in_directory(&folder),
    };
    let mut store = Store::open(&location, Mode::ReadWrite)?;
    let controller = insert_controller(&mut store)?;
    let writer = JobsWriter::start(store, 4096)?;
    for callers in [1, 4, 16, 64, 256] {
        measure(&writer, callers, seconds);
    }
    claim(&writer, controller)?;
    drop(writer);
    if url.is_none() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
