//! Runners get jobs.

use std::collections::BTreeSet;
use std::sync::Arc;

use portcullis_ci::{
    JobFilter, JobRequest, NewRunner, PageRequest, RunnerContact, Service, TakenJob,
};
use portcullis_document::Duration;
use portcullis_jobs::{AccessLevel, JobId, JobStatus, Runner, RunnerType, read_job};
use serde_json::{Value, json};

use crate::bench::{Bench, answers, job, pause, until, words};
use crate::servers::on_both;

on_both! {
    runners_are_given_what_they_may_take,
    a_runner_of_protected_refs_takes_no_others,
    admission_says_which_runners_take_a_job,
    instance_runners_serve_the_project_with_least_of_them,
    promoted_jobs_come_first,
    a_held_request_is_answered_with_the_job_that_comes,
    a_job_that_comes_wakes_who_waits_longest,
    a_request_that_is_given_up_passes_its_job_on,
    what_another_server_queued_wakes_who_waits_here,
    exactly_one_runner_gets_a_job,
    a_job_that_is_not_acknowledged_goes_back,
    a_runner_that_is_paused_while_it_waits_gets_nothing,
    a_held_manager_gets_nothing_until_it_is_released,
    managers_are_listed,
    a_server_that_stops_lets_waiting_runners_go,
    a_server_that_is_about_to_end_holds_no_request,
    many_jobs_for_others_before_one_that_fits,
}

fn short(settings: &mut portcullis_ci::Settings) {
    settings.runners.long_poll = Duration::from_secs(60);
}

fn contact(system_id: &str) -> RunnerContact {
    RunnerContact {
        system_id: Some(system_id.to_owned()),
        info: json!({"version": "18.5.0", "features": {"cancelable": true}, "name": "r"}),
        address: None,
    }
}

/// What a runner is given at once.
async fn ask(service: &Service, id: u64) -> Result<TakenJob, String> {
    let runner = service.runner(id).await.unwrap();
    let request = service.request_job(runner, contact("s_1"), None);
    match request.await.unwrap() {
        JobRequest::Given(job) => Ok(*job),
        JobRequest::Nothing { cursor } => Err(cursor),
    }
}

/// The number of the job that a runner is given at once.
async fn taken(bench: &Bench, runner: u64) -> Option<JobId> {
    ask(&bench.service, runner).await.ok().map(|job| job.job)
}

/// A request that is held.
fn wait(service: &Service, runner: Runner, cursor: String) -> tokio::task::JoinHandle<JobRequest> {
    let service = service.clone();
    tokio::spawn(async move {
        let request = service.request_job(runner, contact("s_1"), Some(&cursor));
        request.await.unwrap()
    })
}

async fn wait_here(bench: &Bench, runner: u64) -> tokio::task::JoinHandle<JobRequest> {
    let cursor = ask(&bench.service, runner).await.unwrap_err();
    let runner = bench.service.runner(runner).await.unwrap();
    let before = bench.service.waiting_requests();
    let task = wait(&bench.service, runner, cursor);
    let is_held = || bench.service.waiting_requests() > before;
    until("the request is held", is_held).await;
    task
}

fn number(request: JobRequest) -> Option<JobId> {
    match request {
        JobRequest::Given(job) => Some(job.job),
        JobRequest::Nothing { .. } => None,
    }
}

async fn runner(bench: &Bench, tags: &str) -> u64 {
    let new = NewRunner {
        kind: RunnerType::Instance,
        path: None,
        description: String::new(),
        tags: words(tags),
        run_untagged: tags.is_empty(),
        access_level: AccessLevel::NotProtected,
        paused: false,
        locked: false,
    };
    bench.service.add_runner(new).await.unwrap().runner.id
}

async fn runners_are_given_what_they_may_take(bench: Bench) {
    bench.runners().await;
    assert_eq!(taken(&bench, 1).await, None);
    // Case 51.
    let untagged = bench.submit(json!({"tags": []})).await.id;
    for id in [1, 3, 4, 6] {
        assert_eq!(taken(&bench, id).await, None, "{id}");
    }
    let job = ask(&bench.service, 5).await.unwrap();
    assert_eq!(
        (job.job, job.attempt, job.manager.as_str()),
        (untagged, 1, "s_1")
    );
    assert_eq!(job.running_on_instance_runners, 1);
    assert_eq!(job.record.state.runner_id, Some(5));
    let shown = bench.service.job(untagged).await.unwrap();
    assert_eq!(
        (shown.status, shown.runner_id),
        (JobStatus::Running, Some(5))
    );
    assert_eq!(taken(&bench, 2).await, None, "it is taken");
    // Tags are a subset; a runner of a group takes those of its projects alone.
    let tagged = bench.submit(json!({"tags": ["linux", "docker"]})).await.id;
    assert_eq!(taken(&bench, 2).await, None);
    assert_eq!(taken(&bench, 1).await, Some(tagged));
    let elsewhere = bench.submit(json!({"project": "h/p"})).await.id;
    assert_eq!(taken(&bench, 3).await, None);
    assert_eq!(taken(&bench, 1).await, Some(elsewhere));
    // The oldest first.
    let first = bench.submit(json!({})).await.id;
    let second = bench.submit(json!({"project": "g/q"})).await.id;
    let third = bench.submit(json!({})).await.id;
    for wanted in [first, second, third] {
        assert_eq!(taken(&bench, 3).await, Some(wanted));
    }
}

async fn a_runner_of_protected_refs_takes_no_others(bench: Bench) {
    // Case 50.
    bench.runners().await;
    let open = bench.submit(json!({"tags": ["secure"]})).await;
    assert!(open.stuck_reason.is_some());
    assert_eq!(taken(&bench, 4).await, None);
    let keys = json!({"tags": ["secure"], "ref_protected": true});
    let protected = bench.submit(keys).await.id;
    assert_eq!(taken(&bench, 4).await, Some(protected));
    assert_eq!(taken(&bench, 4).await, None);
}

async fn admission_says_which_runners_take_a_job(bench: Bench) {
    bench.runners().await;
    bench.controller(json!({})).await;
    let lists = json!({"runners": {"accepted_ids": ["2"]}});
    bench.hook.answer(answers(lists));
    let accepted = bench.submit(json!({})).await.id;
    assert_eq!(bench.settled(accepted).await.eligible_runners, [2]);
    let lists = json!({"runners": {"rejected_ids": ["1", "2"]}});
    bench.hook.answer(answers(lists));
    let rejected = bench.submit(json!({})).await.id;
    assert_eq!(bench.settled(rejected).await.eligible_runners, [3]);
    assert_eq!(taken(&bench, 1).await, None);
    assert_eq!(taken(&bench, 3).await, Some(rejected));
    assert_eq!(taken(&bench, 3).await, None);
    assert_eq!(taken(&bench, 2).await, Some(accepted));
}

async fn instance_runners_serve_the_project_with_least_of_them(bench: Bench) {
    // Case 52.
    bench.runners().await;
    for _ in 0..3 {
        bench.submit(json!({"project": "g/a"})).await;
        assert!(taken(&bench, 1).await.is_some());
    }
    let submit = |project: &str| {
        let keys = json!({"project": project});
        async { bench.submit(keys).await.id }
    };
    let (a, b) = (submit("g/a").await, submit("g/b").await);
    assert_eq!(taken(&bench, 2).await, Some(b));
    assert_eq!(taken(&bench, 3).await, Some(a));
    // A server that has just started counts what others gave.
    let (a, b) = (submit("g/a").await, submit("g/b").await);
    let (other, _) = bench.another().await;
    assert_eq!(ask(&other, 2).await.unwrap().job, b);
    assert_eq!(ask(&other, 2).await.unwrap().job, a);
    // Jobs that end make room again.
    let filter = JobFilter {
        status: Some(JobStatus::Running),
        project: Some("g/a".to_owned()),
        roots: None,
    };
    let running = other.jobs(filter, PageRequest::default()).await.unwrap();
    for job in running.items {
        other.cancel(job.id).await.unwrap();
    }
    let (b, a) = (submit("g/b").await, submit("g/a").await);
    let (other, _) = bench.another().await;
    assert_eq!(ask(&other, 2).await.unwrap().job, a);
    assert_eq!(ask(&other, 2).await.unwrap().job, b);
}

async fn promoted_jobs_come_first(bench: Bench) {
    bench.runners().await;
    let old = bench.submit(json!({})).await.id;
    let jobs = json!([{"name": "a", "stage": "build", "script": ["true"], "tags": ["linux"]}]);
    let pipeline = bench.submit_pipeline(jobs).await;
    let new = bench.service.pipeline(pipeline).await.unwrap().jobs[0].id;
    assert_eq!(bench.service.promote_pipeline(pipeline).await.unwrap(), 1);
    assert_eq!(taken(&bench, 1).await, Some(new));
    assert_eq!(taken(&bench, 3).await, Some(old));
}

async fn a_held_request_is_answered_with_the_job_that_comes(bench: Bench) {
    bench.runners().await;
    let waiting = wait_here(&bench, 1).await;
    let unfit = bench.submit(json!({"tags": ["other"]})).await.id;
    let job = bench.submit(json!({})).await.id;
    assert_eq!(number(waiting.await.unwrap()), Some(job));
    let unfit = bench.service.job(unfit).await.unwrap();
    assert_eq!(unfit.status, JobStatus::Pending);
    // One whose admission takes a while.
    bench.controller(json!({})).await;
    let waiting = wait_here(&bench, 1).await;
    let job = bench.submit(json!({})).await.id;
    assert_eq!(number(waiting.await.unwrap()), Some(job));
    // An old cursor is answered at once.
    let cursor = ask(&bench.service, 1).await.unwrap_err();
    let job = bench.submit(json!({})).await.id;
    bench.settled(job).await;
    let taker = taken(&bench, 2).await;
    assert_eq!(taker, Some(job));
    let runner = bench.service.runner(1).await.unwrap();
    let again = wait(&bench.service, runner, cursor.clone()).await.unwrap();
    let JobRequest::Nothing { cursor: newer } = again else {
        panic!("there is no job: {again:?}");
    };
    assert_ne!(newer, cursor);
}

async fn a_job_that_comes_wakes_who_waits_longest(bench: Bench) {
    bench.runners().await;
    let first = wait_here(&bench, 1).await;
    let second = wait_here(&bench, 2).await;
    let third = wait_here(&bench, 1).await;
    for task in [first, second, third] {
        let job = bench.submit(json!({})).await.id;
        assert_eq!(number(task.await.unwrap()), Some(job));
    }
}

async fn a_request_that_is_given_up_passes_its_job_on(bench: Bench) {
    bench.runners().await;
    for _ in 0..10 {
        let gone = wait_here(&bench, 1).await;
        let other = wait_here(&bench, 2).await;
        let job = bench.submit(json!({})).await.id;
        // Before, while or after the job is taken for it.
        gone.abort();
        if let Ok(JobRequest::Given(taken)) = gone.await {
            assert_eq!(taken.job, job);
            other.abort();
            continue;
        }
        assert_eq!(number(other.await.unwrap()), Some(job));
    }
}

async fn what_another_server_queued_wakes_who_waits_here(bench: Bench) {
    bench.runners().await;
    let (other, _) = bench.another().await;
    let waiting = wait_here(&bench, 1).await;
    let definition = read_job(&job(&json!({}))).unwrap();
    let id = other.submit_job(definition).await.unwrap().id;
    assert_eq!(number(waiting.await.unwrap()), Some(id));
    // One that asks at once sees it as well.
    let definition = read_job(&job(&json!({"tags": ["docker"]}))).unwrap();
    let id = other.submit_job(definition).await.unwrap().id;
    let mut found = None;
    for _ in 0..1000 {
        found = taken(&bench, 1).await;
        if found.is_some() {
            break;
        }
        pause().await;
    }
    assert_eq!(found, Some(id));
}

async fn exactly_one_runner_gets_a_job(bench: Bench) {
    // Case 53, with three servers and some who wait.
    bench.runners().await;
    let (second, _) = bench.another().await;
    let (third, _) = bench.another().await;
    let services = [bench.service.clone(), second, third];
    let mut submitted = BTreeSet::new();
    for count in 0..60 {
        let project = format!("g/p{}", count % 4);
        let definition = read_job(&job(&json!({"project": project}))).unwrap();
        let service = &services[count % 3];
        submitted.insert(service.submit_job(definition).await.unwrap().id);
    }
    let mut tasks = tokio::task::JoinSet::new();
    for count in 0..24_usize {
        let service = services[count % 3].clone();
        let runner = [1, 2, 3][count % 3];
        tasks.spawn(async move {
            let mut all = Vec::new();
            let mut misses = 0;
            // Others may be about to take what is left.
            while misses < 20 {
                match ask(&service, runner).await {
                    Ok(job) => all.push(job.job),
                    Err(_) => misses += 1,
                }
            }
            all
        });
    }
    let mut given = Vec::new();
    while let Some(some) = tasks.join_next().await {
        given.extend(some.unwrap());
    }
    assert_eq!(given.len(), 60);
    assert_eq!(given.into_iter().collect::<BTreeSet<_>>(), submitted);
}

async fn a_job_that_is_not_acknowledged_goes_back(mut bench: Bench) {
    bench.runners().await;
    bench.settings.runners.lease = Duration::from_millis(300);
    bench.service.change(bench.settings.clone());
    let job = bench.submit(json!({})).await.id;
    let first = ask(&bench.service, 1).await.unwrap();
    assert_eq!(first.job, job);
    let waiting = wait_here(&bench, 2).await;
    let JobRequest::Given(second) = waiting.await.unwrap() else {
        panic!("the job never came back");
    };
    assert_eq!((second.job, second.attempt), (job, first.attempt));
    assert!(second.record.state.started_at > first.record.state.started_at);
}

async fn a_runner_that_is_paused_while_it_waits_gets_nothing(bench: Bench) {
    bench.runners().await;
    let (other, _) = bench.another().await;
    let waiting = wait_here(&bench, 1).await;
    // On another server, which can't tell those who wait here.
    other
        .change_runner(1, json!({"paused": true}))
        .await
        .unwrap();
    let job = bench.submit(json!({})).await.id;
    assert_eq!(number(waiting.await.unwrap()), None);
    assert_eq!(taken(&bench, 2).await, Some(job));
    bench
        .service
        .change_runner(1, json!({"paused": false}))
        .await
        .unwrap();
    let job = bench.submit(json!({})).await.id;
    assert_eq!(taken(&bench, 1).await, Some(job));
}

async fn a_held_manager_gets_nothing_until_it_is_released(bench: Bench) {
    bench.runners().await;
    let service = &bench.service;
    let now = portcullis_jobs::Timestamp::from(portcullis_core::clock::wall());
    let end = now.after(std::time::Duration::from_secs(3600));
    let waiting = wait_here(&bench, 1).await;
    // On another server, which can't tell those who wait here.
    for (hold, is_new) in [(7, true), (8, false)] {
        let held = bench
            .in_store(move |store| store.jobs(|tx| tx.hold_manager((1, "s_1"), hold, end, now)));
        assert_eq!(held.await.unwrap(), is_new);
    }
    assert_eq!(number(waiting.await.unwrap()), None);
    let job = bench.submit(json!({})).await.id;
    for _ in 0..2 {
        assert_eq!(taken(&bench, 1).await, None);
    }
    let held = &service.managers(1).await.unwrap()[0];
    assert_eq!((held.held, held.hold), (true, Some(7)));
    // Another machine with the same token is not held.
    let runner = service.runner(1).await.unwrap();
    let other = service
        .request_job(runner.clone(), contact("s_2"), None)
        .await;
    assert_eq!(number(other.unwrap()), Some(job));
    let job = bench.submit(json!({})).await.id;
    let (_, cursor) = (taken(&bench, 1).await, ask(service, 1).await.unwrap_err());
    let waiting = wait(service, runner, cursor);
    let released = bench.in_store(|store| store.jobs(|tx| tx.release_managers(7)));
    assert_eq!(released.await.unwrap(), 1);
    let at_once = number(waiting.await.unwrap());
    let then = taken(&bench, 1).await;
    assert_eq!(at_once.or(then), Some(job));
}

async fn managers_are_listed(bench: Bench) {
    bench.runners().await;
    for name in ["s_b", "s_a", "s_a"] {
        let runner = bench.service.runner(1).await.unwrap();
        let request = bench.service.request_job(runner, contact(name), None);
        request.await.unwrap();
    }
    let mut found = Vec::new();
    for _ in 0..500 {
        found = bench.service.managers(1).await.unwrap();
        if found.len() == 2 {
            break;
        }
        pause().await;
    }
    let names: Vec<&str> = found.iter().map(|one| one.system_id.as_str()).collect();
    assert_eq!(names, ["s_a", "s_b"]);
    let wanted: Value = json!({"version": "18.5.0", "name": "r"});
    assert_eq!((&found[0].info, found[0].held), (&wanted, false));
    bench.service.delete_manager(1, "s_a").await.unwrap();
    assert!(bench.service.delete_manager(1, "s_a").await.is_err());
    assert_eq!(bench.service.managers(1).await.unwrap().len(), 1);
}

async fn a_server_that_is_about_to_end_holds_no_request(bench: Bench) {
    bench.runners().await;
    let waiting = wait_here(&bench, 1).await;
    bench.service.stop_holding();
    assert_eq!(number(waiting.await.unwrap()), None);
    let cursor = ask(&bench.service, 1).await.unwrap_err();
    let runner = bench.service.runner(1).await.unwrap();
    let next = wait(&bench.service, runner, cursor).await.unwrap();
    assert_eq!(number(next), None);
    // Jobs are still given.
    let job = bench.submit(json!({})).await.id;
    assert_eq!(taken(&bench, 1).await, Some(job));
}

async fn a_server_that_stops_lets_waiting_runners_go(bench: Bench) {
    bench.runners().await;
    let waiting = wait_here(&bench, 1).await;
    bench.service.shut_down(portcullis_testing::PATIENCE).await;
    assert_eq!(number(waiting.await.unwrap()), None);
    assert_eq!(taken(&bench, 1).await, None);
}

async fn many_jobs_for_others_before_one_that_fits(bench: Bench) {
    // Case 54; the store's tests have more of them.
    bench.runners().await;
    let mine = runner(&bench, "mine").await;
    let service = Arc::new(bench.service.clone());
    let mut tasks = tokio::task::JoinSet::new();
    for count in 0..100 {
        let service = Arc::clone(&service);
        let keys = json!({"tags": [format!("other{}", count % 10)]});
        let definition = read_job(&job(&keys)).unwrap();
        tasks.spawn(async move { service.submit_job(definition).await.unwrap().id });
    }
    while tasks.join_next().await.is_some() {}
    let fits = bench.submit(json!({"tags": ["mine"]})).await.id;
    assert_eq!(taken(&bench, mine).await, Some(fits));
    assert_eq!(taken(&bench, mine).await, None);
}
