//! Made-up histories: the checker accepts the good one, and finds what is wrong with each of the others.

use super::{Fault, check};
use crate::history::{Answered, Delivery, History, Ids, Said, Submission};
use crate::plan::{Becomes, Planned};
use crate::snapshot::{Decision, Job, Pipeline, Snapshot};

const DEADLINE: &str = "2026-10-01T12:01:00.000Z";

fn submitted(jobs: Vec<Planned>, ids: &[u64], pipeline: Option<u64>) -> Submission {
    let jobs_of = ids.to_vec();
    Submission {
        jobs,
        answer: Answered::Yes(Ids {
            jobs: jobs_of,
            pipeline,
        }),
        retries: Vec::new(),
        cancel: None,
        is_calm: true,
    }
}

/// A job as it must be in the end.
fn ended(planned: &Planned, id: u64, pipeline: Option<u64>) -> Job {
    let (status, failure_reason) = planned.end();
    let decisions = planned.verdicts().into_iter();
    Job {
        id,
        name: planned.name.clone(),
        project: planned.project.clone(),
        pipeline,
        status: status.to_owned(),
        failure_reason: failure_reason.map(str::to_owned),
        attempt: 1,
        tags: planned.tags().into_iter().map(str::to_owned).collect(),
        finished_at: (status == "failed").then(|| "2026-10-01T12:01:00.001Z".to_owned()),
        decisions: decisions
            .map(|(controller, verdict)| Decision {
                controller: controller.to_owned(),
                attempt: 1,
                verdict: verdict.to_owned(),
            })
            .collect(),
    }
}

/// Everything as it must be.
fn good() -> (History, Snapshot) {
    let plain = Planned::new("plain", "plain/app", "main");
    let inline = Planned::new("inline", "inline/app", "main");
    let denied = Planned::new("denied", "callback/app", "deny-callback");
    let first = Planned::new("first", "policy/app", "main");
    let second = Planned {
        name: "second".to_owned(),
        becomes: Becomes::Created,
        ..first.clone()
    };
    let silent = Planned::new("silent", "silent/app", "main");
    let delivery = |controller, job, id: &str| Delivery {
        place: (controller, job, 1),
        webhook_id: Some(id.to_owned()),
        deadline: DEADLINE.to_owned(),
        is_failed: false,
    };
    let said = |controller, job, verdict, answer| Said {
        place: (controller, job, 1),
        verdict,
        answer,
    };
    let snapshot = Snapshot {
        jobs: vec![
            ended(&plain, 1, None),
            ended(&inline, 2, None),
            ended(&denied, 3, None),
            ended(&first, 4, Some(1)),
            ended(&second, 5, Some(1)),
            ended(&silent, 6, None),
        ],
        by_status: [
            ("pending", vec![1, 2, 4]),
            ("failed", vec![3, 6]),
            ("created", vec![5]),
        ]
        .map(|(status, ids)| (status.to_owned(), ids.into_iter().collect()))
        .into(),
        pipelines: [(
            1,
            Pipeline {
                status: "running".to_owned(),
                jobs: [(4, "pending".to_owned()), (5, "created".to_owned())].into(),
            },
        )]
        .into(),
        records: ["inline", "denied", "first", "silent"]
            .map(|name| (name.to_owned(), 1))
            .into(),
    };
    let history = History {
        submissions: vec![
            submitted(vec![plain], &[1], None),
            submitted(vec![inline], &[2], None),
            submitted(vec![denied], &[3], None),
            submitted(vec![first, second], &[4, 5], Some(1)),
            submitted(vec![silent], &[6], None),
        ],
        deliveries: vec![
            delivery("inline", 2, "msg_a"),
            delivery("callback", 3, "msg_b"),
            delivery("silent", 6, "msg_c"),
        ],
        said: vec![
            said("inline", 2, "accepted", None),
            said("callback", 3, "denied", Some(Answered::Yes(()))),
        ],
    };
    (history, snapshot)
}

/// The faults that are found after a change.
#[track_caller]
fn finds(wanted: Fault, change: impl FnOnce(&mut History, &mut Snapshot)) {
    let (mut history, mut snapshot) = good();
    change(&mut history, &mut snapshot);
    let found = check(&history, &snapshot);
    assert!(
        found.iter().any(|finding| finding.fault == wanted),
        "no {wanted:?} in {found:?}"
    );
}

#[track_caller]
fn accepts(change: impl FnOnce(&mut History, &mut Snapshot)) {
    let (mut history, mut snapshot) = good();
    change(&mut history, &mut snapshot);
    assert_eq!(check(&history, &snapshot), []);
}

fn remove(snapshot: &mut Snapshot, id: u64) {
    snapshot.jobs.retain(|job| job.id != id);
    for ids in snapshot.by_status.values_mut() {
        ids.remove(&id);
    }
}

#[test]
fn a_good_history_is_accepted() {
    accepts(|_, _| {});
}

#[test]
fn a_lost_job_is_found() {
    finds(Fault::Lost, |_, snapshot| remove(snapshot, 1));
}

#[test]
fn a_job_with_another_id_than_was_acknowledged_is_found() {
    finds(Fault::Lost, |_, snapshot| snapshot.jobs[0].id = 7);
}

#[test]
fn half_a_pipeline_is_found() {
    finds(Fault::Lost, |history, snapshot| {
        history.submissions[3].answer = Answered::Unknown;
        remove(snapshot, 5);
    });
}

#[test]
fn a_doubled_job_is_found() {
    finds(Fault::Doubled, |_, snapshot| {
        let mut again = snapshot.jobs[0].clone();
        again.id = 7;
        snapshot.jobs.push(again);
    });
}

#[test]
fn a_submission_that_was_not_acknowledged_may_be_there_once() {
    accepts(|history, _| history.submissions[0].answer = Answered::Unknown);
    accepts(|history, snapshot| {
        history.submissions[0].answer = Answered::Unknown;
        remove(snapshot, 1);
    });
    finds(Fault::Doubled, |history, snapshot| {
        history.submissions[0].answer = Answered::Unknown;
        let mut again = snapshot.jobs[0].clone();
        again.id = 7;
        snapshot.jobs.push(again);
    });
}

#[test]
fn a_foreign_job_is_found() {
    finds(Fault::Foreign, |_, snapshot| {
        let mut other = snapshot.jobs[0].clone();
        (other.id, other.name) = (7, "other".to_owned());
        snapshot.jobs.push(other);
    });
    finds(Fault::Foreign, |history, _| {
        history.submissions[0].answer = Answered::No(403);
    });
    finds(Fault::Foreign, |_, snapshot| {
        snapshot.records.insert("other".to_owned(), 1);
    });
}

#[test]
fn a_wrong_state_is_found() {
    finds(Fault::WrongState, |_, snapshot| {
        snapshot.jobs[2].status = "pending".to_owned();
    });
    finds(Fault::WrongState, |_, snapshot| {
        snapshot.jobs[2].failure_reason = Some("admission_timeout".to_owned());
    });
    finds(Fault::WrongState, |_, snapshot| {
        snapshot.jobs[1].tags.push("inline".to_owned());
    });
    finds(Fault::WrongState, |_, snapshot| {
        snapshot.jobs[1].decisions.clear();
    });
    finds(Fault::WrongState, |_, snapshot| {
        snapshot.pipelines.get_mut(&1).unwrap().status = "success".to_owned();
    });
}

#[test]
fn retries_and_cancellations_count_as_they_were_answered() {
    let retry = |answer: Answered<()>, attempt: u64| {
        move |history: &mut History, snapshot: &mut Snapshot| {
            history.submissions[0].retries.push(answer);
            snapshot.jobs[0].attempt = attempt;
        }
    };
    accepts(retry(Answered::Yes(()), 2));
    accepts(retry(Answered::Unknown, 1));
    accepts(retry(Answered::Unknown, 2));
    finds(Fault::WrongAttempt, retry(Answered::Yes(()), 1));
    finds(Fault::WrongAttempt, retry(Answered::No(409), 2));
    finds(Fault::WrongState, |history, _| {
        history.submissions[0].cancel = Some(Answered::Yes(()));
    });
    accepts(|history, _| history.submissions[0].cancel = Some(Answered::Unknown));
}

#[test]
fn two_verdicts_are_found() {
    finds(Fault::TwoVerdicts, |_, snapshot| {
        let again = snapshot.jobs[1].decisions[0].clone();
        snapshot.jobs[1].decisions.push(again);
    });
}

#[test]
fn a_verdict_that_nobody_gave_is_found() {
    finds(Fault::ForeignVerdict, |history, _| {
        history.said.remove(0);
    });
    finds(Fault::ForeignVerdict, |_, snapshot| {
        snapshot.jobs[1].decisions[0].controller = "pull".to_owned();
    });
}

#[test]
fn a_verdict_that_was_acknowledged_and_lost_is_found() {
    finds(Fault::LostVerdict, |_, snapshot| {
        snapshot.jobs[2].decisions.clear();
    });
    finds(Fault::LostVerdict, |_, snapshot| {
        snapshot.jobs[2].decisions[0].verdict = "accepted".to_owned();
    });
    finds(Fault::RefusedVerdict, |history, _| {
        history.said[1].answer = Some(Answered::No(409));
    });
}

#[test]
fn another_webhook_id_is_found() {
    let again = |history: &mut History, id: &str, job| {
        let mut again = history.deliveries[0].clone();
        again.webhook_id = Some(id.to_owned());
        again.place.1 = job;
        history.deliveries.push(again);
    };
    finds(Fault::WebhookId, |history, _| again(history, "msg_x", 2));
    finds(Fault::WebhookId, |history, _| again(history, "msg_a", 9));
}

#[test]
fn a_deadline_that_moved_or_was_not_waited_for_is_found() {
    finds(Fault::Deadline, |history, _| {
        let mut again = history.deliveries[0].clone();
        again.deadline = "2026-10-01T12:02:00.000Z".to_owned();
        history.deliveries.push(again);
    });
    finds(Fault::Deadline, |_, snapshot| {
        snapshot.jobs[5].finished_at = Some("2026-10-01T12:00:59.999Z".to_owned());
    });
}

#[test]
fn work_that_was_done_twice_is_found_where_nothing_failed() {
    let again = |history: &mut History| {
        let again = history.deliveries[0].clone();
        history.deliveries.push(again);
    };
    finds(Fault::DoubleWork, |history, _| again(history));
    accepts(|history, _| {
        again(history);
        history.deliveries[0].is_failed = true;
    });
    accepts(|history, _| {
        again(history);
        history.submissions[1].is_calm = false;
    });
}

#[test]
fn missing_and_doubled_records_are_found() {
    finds(Fault::NoRecord, |_, snapshot| {
        snapshot.records.remove("inline");
    });
    finds(Fault::TwoRecords, |_, snapshot| {
        snapshot.records.insert("inline".to_owned(), 2);
    });
}

#[test]
fn lists_that_contradict_each_other_are_found() {
    finds(Fault::Lists, |_, snapshot| {
        snapshot.by_status.get_mut("pending").unwrap().remove(&1);
    });
    finds(Fault::Lists, |_, snapshot| {
        snapshot.by_status.get_mut("failed").unwrap().insert(1);
    });
    finds(Fault::Lists, |_, snapshot| {
        snapshot.by_status.get_mut("created").unwrap().insert(99);
    });
    finds(Fault::Lists, |_, snapshot| {
        let again = snapshot.jobs[0].clone();
        snapshot.jobs.push(again);
    });
    finds(Fault::Lists, |_, snapshot| {
        snapshot.pipelines.get_mut(&1).unwrap().jobs.remove(&5);
    });
    finds(Fault::Lists, |_, snapshot| snapshot.jobs[3].pipeline = None);
}
