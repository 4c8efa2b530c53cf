//! Holds: the machine of a job that failed takes no other until somebody has looked at it.

use portcullis_ci::{JobReport, ReportedState};
use portcullis_core::clock;
use portcullis_jobs::JobStatus;
use portcullis_store::{Hold, NewHold, Placed};
use serde_json::json;

use crate::bench::Bench;
use crate::running::{ask, instance_runner, report, short, update};
use crate::servers::on_both;

on_both! {
    the_machine_of_a_job_that_fails_is_held_until_it_is_released,
    a_job_that_succeeds_holds_nothing,
}

/// Places a hold; gives its number.
async fn place(bench: &Bench, change: Option<&str>) -> u64 {
    let hold = NewHold {
        tenant: "default".to_owned(),
        project: "g/p".to_owned(),
        job: "unit".to_owned(),
        reference: None,
        change: change.map(str::to_owned),
        reason: "flaky".to_owned(),
        max_count: 1,
        node_expiration: None,
        placed_by: "ann".to_owned(),
        placed_at: clock::wall(),
        expires_at: None,
    };
    let placed = bench.in_store(move |store| store.place_hold(&hold).unwrap());
    match placed.await {
        Placed::Done(hold) => hold.id,
        Placed::Full => panic!("there is room"),
    }
}

async fn hold(bench: &Bench, id: u64) -> Hold {
    let found = bench.in_store(move |store| store.hold("default", id, clock::wall()).unwrap());
    found.await.unwrap()
}

async fn the_machine_of_a_job_that_fails_is_held_until_it_is_released(bench: Bench) {
    let other = place(&bench, Some("99")).await;
    let wanted = place(&bench, None).await;
    let runner = instance_runner(&bench).await;
    let failing = bench.submit(json!({"name": "unit"})).await.id;
    let taken = ask(&bench, &runner).await.unwrap();
    assert_eq!(taken.id, failing);
    assert_eq!(hold(&bench, wanted).await.nodes, [""; 0]);
    let failed = JobReport {
        failure_reason: Some("script_failure".to_owned()),
        ..report(ReportedState::Failed)
    };
    update(&bench, &taken, failed).await.unwrap();
    let job = bench.service.job(failing).await.unwrap();
    assert_eq!(job.status, JobStatus::Failed);
    assert_eq!(hold(&bench, wanted).await.nodes, ["runner-1"]);
    assert_eq!(hold(&bench, other).await.nodes, [""; 0]);

    let waiting = bench.submit(json!({"name": "unit"})).await.id;
    assert!(ask(&bench, &runner).await.is_none(), "it is held");
    let release = bench.in_store(move |store| store.release_hold("default", wanted).unwrap());
    assert!(release.await);
    let taken = ask(&bench, &runner).await.unwrap();
    assert_eq!(taken.id, waiting);
}

async fn a_job_that_succeeds_holds_nothing(bench: Bench) {
    let id = place(&bench, None).await;
    let runner = instance_runner(&bench).await;
    bench.submit(json!({"name": "unit"})).await;
    let taken = ask(&bench, &runner).await.unwrap();
    update(&bench, &taken, report(ReportedState::Success))
        .await
        .unwrap();
    let found = hold(&bench, id).await;
    assert_eq!((found.current_count, found.nodes.len()), (0, 0));
}
