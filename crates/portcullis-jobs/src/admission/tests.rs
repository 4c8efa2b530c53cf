//! The behavioural cases of admission, on the fleet of the reference.

use serde_json::{Value, json};

use super::*;
use crate::controller::{Controller, ControllerDefinition, controller_chain};
use crate::exemption::{Exemption, ExemptionBody};
use crate::failure::FailureReason;
use crate::job::{JobDefinition, JobUser};
use crate::runners::{AccessLevel, Runner, RunnerLists, RunnerType, eligible_runners};
use crate::tags::TagChange;
use crate::timestamp::Timestamp;
use crate::verdict::{Verdict, VerdictFault};
use crate::{AllowFailure, Event};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn strings(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn job() -> JobDefinition {
    JobDefinition {
        project: "g/p".to_owned(),
        project_id: None,
        name: "build".to_owned(),
        stage: "test".to_owned(),
        git_ref: "main".to_owned(),
        ref_protected: false,
        source: "push".to_owned(),
        user: JobUser {
            id: 5,
            username: "ann".to_owned(),
        },
        tags: strings("linux"),
        variables: crate::Variables::new(),
        script: strings("true"),
        image: None,
        allow_failure: AllowFailure::default(),
        timeout: None,
        work: crate::JobWork::default(),
    }
}

fn fleet() -> Vec<Runner> {
    let runner = |id, tags: &str, run_untagged, paused| Runner {
        id,
        kind: RunnerType::Instance,
        path: None,
        description: String::new(),
        tags: strings(tags),
        run_untagged,
        access_level: AccessLevel::NotProtected,
        paused,
        locked: false,
    };
    vec![
        runner(1, "docker linux", false, false),
        runner(2, "linux us-west", true, false),
        Runner {
            kind: RunnerType::Group,
            path: Some("g".to_owned()),
            ..runner(3, "linux", false, false)
        },
        runner(5, "", true, false),
        runner(6, "linux us-west", true, true),
    ]
}

/// A controller of the instance, with other keys on top.
fn controller(id: u64, extra: &Value) -> Controller {
    let mut body = json!({"name": format!("c{id}"), "level": "instance", "kind": "both",
        "url": "https://c.example/"});
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    body.as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    Controller {
        id,
        created_at: at(0),
        revision: 1,
        definition: ControllerDefinition::read(&body).unwrap(),
    }
}

/// The three levels: the project, its group, the instance.
fn three() -> Vec<Controller> {
    vec![
        controller(1, &json!({"level": "project", "path": "g/p"})),
        controller(2, &json!({"level": "group", "path": "g"})),
        controller(3, &json!({})),
    ]
}

struct Case {
    job: JobDefinition,
    controllers: Vec<Controller>,
    exemptions: Vec<Exemption>,
    runners: Vec<Runner>,
    admission: Admission,
}

impl Case {
    fn of(controllers: Vec<Controller>) -> Self {
        let job = job();
        let links = controller_chain(&controllers, &job.project)
            .into_iter()
            .map(Link::controller)
            .collect();
        let admission = Admission::begin(links, job.tags.clone(), at(0), HOUR);
        Self {
            job,
            controllers,
            exemptions: Vec::new(),
            runners: fleet(),
            admission,
        }
    }

    /// A job that has been asked about.
    fn asked(controllers: Vec<Controller>) -> Self {
        let mut case = Self::of(controllers);
        case.tick(0);
        case
    }

    fn advance(&mut self, happened: Happened, now: u64) -> Result<Next, AdmissionError> {
        let world = AdmissionContext {
            job: 7,
            pipeline: None,
            definition: &self.job,
            controllers: &self.controllers,
            exemptions: &self.exemptions,
            runners: &self.runners,
        };
        let before = self.admission.clone();
        let next = self.admission.advance(happened, &world, at(now));
        if next.is_err() {
            assert_eq!(self.admission, before, "an error changes nothing");
        }
        let stored = serde_json::to_string(&self.admission).unwrap();
        let read: Admission = serde_json::from_str(&stored).unwrap();
        assert_eq!(read, self.admission, "{stored}");
        next
    }

    fn tick(&mut self, now: u64) -> Next {
        self.advance(Happened::Tick, now).unwrap()
    }

    fn try_answer(&mut self, id: u64, verdict: Verdict, now: u64) -> Result<Next, AdmissionError> {
        let answered = Happened::Answered {
            judge: Judge::Controller(id),
            verdict,
            policy: None,
        };
        self.advance(answered, now)
    }

    fn answer(&mut self, id: u64, verdict: Verdict) -> Next {
        self.try_answer(id, verdict, 1).unwrap()
    }

    fn fail(&mut self, id: u64, error: &str) -> Next {
        let failed = Happened::AttemptFailed {
            judge: Judge::Controller(id),
            error: error.to_owned(),
        };
        self.advance(failed, 1).unwrap()
    }

    fn eligible(&self) -> Vec<u64> {
        let needs = self.job.needs(&self.admission.tags, &self.admission.filter);
        eligible_runners(&needs, &self.runners)
    }

    fn verdicts(&self) -> Vec<DecisionVerdict> {
        self.admission
            .current_decisions()
            .map(|d| d.verdict)
            .collect()
    }
}

fn ask(id: u64) -> Next {
    Next::Ask(Judge::Controller(id))
}

fn denied(message: &str) -> Next {
    Next::Failed(FailureReason::AdmissionDenied, message.to_owned())
}

fn accepted() -> Verdict {
    Verdict::accepted(7)
}

fn tagging(add: &str, remove: &str) -> Verdict {
    Verdict {
        tags: TagChange {
            add: strings(add),
            remove: strings(remove),
        },
        ..accepted()
    }
}

fn filtering(accepted_ids: &[u64], rejected_ids: &[u64]) -> Verdict {
    Verdict {
        runners: Some(RunnerLists {
            accepted_ids: accepted_ids.to_vec(),
            rejected_ids: rejected_ids.to_vec(),
        }),
        ..accepted()
    }
}

fn because(verdict: Verdict, reason: &str) -> Verdict {
    Verdict {
        reason: Some(reason.to_owned()),
        ..verdict
    }
}

#[test]
fn an_acceptance_leads_to_the_queue_with_its_reason() {
    // Case 2.
    let mut case = Case::of(vec![controller(1, &json!({}))]);
    assert_eq!(case.tick(0), ask(1));
    assert_eq!(case.tick(1), Next::Wait(at(3600)));
    let next = case.answer(1, because(accepted(), "ok"));
    assert_eq!(next, Next::Accepted);
    assert_eq!(next.event(), Some(Event::Accept));
    assert_eq!(case.admission.reason.as_deref(), Some("c1: ok"));
    assert_eq!(case.eligible(), [1, 2, 3]);
    assert_eq!(case.admission.decisions[0].latency_ms, 1000);
}

#[test]
fn a_denial_ends_the_admission_and_names_its_controller() {
    // Case 3.
    let mut case = Case::asked(vec![controller(1, &json!({}))]);
    let next = case.answer(1, Verdict::denied(7, "not on list"));
    assert_eq!(next, denied("c1: not on list"));
    assert_eq!(next.event(), Some(Event::Deny));
    assert_eq!(case.admission.tags, ["linux"]);
    let mut case = Case::asked(vec![controller(1, &json!({}))]);
    let next = case.answer(
        1,
        Verdict {
            reason: None,
            ..Verdict::denied(7, "")
        },
    );
    assert_eq!(next, denied("c1: denied"));
}

#[test]
fn tags_and_runner_lists_of_a_verdict_have_effect() {
    for (verdict, tags, eligible, warnings) in [
        (tagging("us-west", ""), "linux us-west", &[2][..], 0), // case 6
        (tagging("linux", ""), "linux", &[1, 2, 3], 0),         // case 8
        (tagging("linux", "linux"), "linux", &[1, 2, 3], 1),    // case 9
        (filtering(&[2], &[]), "linux", &[2], 0),               // case 12
        (filtering(&[], &[1]), "linux", &[2, 3], 0),            // case 13
        (filtering(&[1, 2], &[2]), "linux", &[1], 0),           // case 14
        (filtering(&[], &[]), "linux", &[1, 2, 3], 0),          // case 15
    ] {
        let mut case = Case::asked(vec![controller(1, &json!({}))]);
        assert_eq!(case.answer(1, verdict), Next::Accepted);
        assert_eq!(case.admission.tags, strings(tags));
        assert_eq!(case.eligible(), eligible);
        let decision = &case.admission.decisions[0];
        assert_eq!(decision.warnings.len(), warnings);
        assert_eq!(decision.tags_before, ["linux"]);
        assert_eq!(decision.tags_after, strings(tags));
    }
}

#[test]
fn lists_that_leave_no_runner_fail_the_job_and_tags_that_do_leave_it_stuck() {
    for verdict in [filtering(&[99], &[]), filtering(&[], &[1, 2, 3, 6])] {
        // Cases 16 and 17.
        let mut case = Case::asked(vec![controller(1, &json!({}))]);
        let next = case.answer(1, verdict);
        assert_eq!(next.event(), Some(Event::LeaveNoRunner));
        assert_eq!(case.admission.state, AdmissionState::NoRunner);
    }
    let mut case = Case::asked(vec![controller(1, &json!({}))]);
    assert_eq!(case.answer(1, tagging("gpu", "")), Next::Accepted);
    assert_eq!(case.eligible(), [0; 0]);
}

#[test]
fn invalid_verdicts_change_nothing() {
    // Cases 10, 11 and 20.
    let mut case = Case::asked(vec![controller(1, &json!({}))]);
    let error = case.try_answer(1, tagging("", "linux"), 1).unwrap_err();
    assert_eq!(error, AdmissionError::Invalid(VerdictFault::WouldUntag));
    let error = case.try_answer(1, Verdict::accepted(8), 1).unwrap_err();
    assert!(matches!(
        error,
        AdmissionError::Invalid(VerdictFault::WrongId { .. })
    ));
    let mut case = Case::asked(vec![controller(1, &json!({"may_untag": true}))]);
    assert_eq!(case.answer(1, tagging("", "linux")), Next::Accepted);
    assert_eq!(case.eligible(), [2, 5]);
    let mut case = Case::asked(vec![controller(1, &json!({"kind": "validating"}))]);
    let error = case.try_answer(1, filtering(&[1], &[]), 1).unwrap_err();
    assert_eq!(
        error,
        AdmissionError::Invalid(VerdictFault::MutationByValidating)
    );
}

#[test]
fn a_controller_answers_once() {
    // Cases 24 and 25.
    let mut case = Case::asked(three());
    assert_eq!(
        case.try_answer(2, accepted(), 1),
        Err(AdmissionError::NotAsked)
    );
    assert_eq!(case.answer(1, accepted()), ask(2));
    assert_eq!(
        case.try_answer(1, Verdict::denied(7, ""), 2),
        Err(AdmissionError::NotAsked)
    );
    case.answer(2, Verdict::denied(7, ""));
    let over = AdmissionError::Over(AdmissionState::Denied);
    assert_eq!(case.try_answer(2, accepted(), 2), Err(over));
}

#[test]
fn the_deadline_is_one_for_the_whole_chain() {
    // Cases 27, 28 and 46.
    let mut case = Case::asked(three());
    assert_eq!(
        case.try_answer(1, because(accepted(), "fine"), 2400),
        Ok(ask(2))
    );
    let late = case.try_answer(2, accepted(), 3900);
    assert_eq!(late, Err(AdmissionError::TooLate(at(3600))));
    let next = case.tick(3900);
    assert_eq!(next.event(), Some(Event::TimeOut));
    assert_eq!(
        case.verdicts(),
        [DecisionVerdict::Accepted, DecisionVerdict::Timeout]
    );
    assert_eq!(
        case.admission.reason.as_deref(),
        Some("c1: fine; c2: timeout: no verdict until 1970-01-01T01:00:00.000Z")
    );
    let over = AdmissionError::Over(AdmissionState::Timeout);
    assert_eq!(case.try_answer(2, accepted(), 3901), Err(over));
}

#[test]
fn each_controller_sees_what_the_one_before_it_changed() {
    // Case 41.
    let mut case = Case::asked(three());
    assert_eq!(case.admission.tags, ["linux"]);
    assert_eq!(case.answer(1, because(tagging("a", ""), "one")), ask(2));
    assert_eq!(case.admission.tags, ["linux", "a"]);
    assert_eq!(case.answer(2, because(tagging("b", ""), "two")), ask(3));
    assert_eq!(case.admission.tags, ["linux", "a", "b"]);
    assert_eq!(
        case.answer(3, because(tagging("c", ""), "three")),
        Next::Accepted
    );
    assert_eq!(case.admission.tags, ["linux", "a", "b", "c"]);
    assert_eq!(
        case.admission.reason.as_deref(),
        Some("c1: one; c2: two; c3: three")
    );
}

#[test]
fn the_first_denial_ends_the_chain() {
    // Case 42.
    let mut case = Case::asked(three());
    case.answer(1, because(accepted(), "fine"));
    let next = case.answer(2, Verdict::denied(7, "no"));
    assert_eq!(next, denied("c1: fine; c2: no"));
    assert_eq!(case.admission.decisions.len(), 2);
}

#[test]
fn runner_lists_combine_along_the_chain() {
    // Cases 43 and 44.
    for (first, second, third, eligible) in [
        (
            filtering(&[1, 2], &[]),
            accepted(),
            filtering(&[2, 3], &[]),
            &[2][..],
        ),
        (filtering(&[], &[1]), filtering(&[], &[2]), accepted(), &[3]),
    ] {
        let mut case = Case::asked(three());
        case.answer(1, first);
        case.answer(2, second);
        assert_eq!(case.answer(3, third), Next::Accepted);
        assert_eq!(case.eligible(), eligible);
    }
    let mut case = Case::asked(three());
    case.answer(1, filtering(&[1], &[]));
    case.answer(2, filtering(&[2], &[]));
    assert_eq!(
        case.answer(3, accepted()).event(),
        Some(Event::LeaveNoRunner)
    );
}

#[test]
fn runners_before_and_after_each_controller_are_those_of_its_tags_and_lists() {
    let changes = |case: &Case| -> Vec<(Vec<u64>, Vec<u64>)> {
        let all = runner_changes(&case.job, &case.admission.decisions, &case.runners);
        all.into_iter().map(|one| (one.before, one.after)).collect()
    };
    let mut case = Case::asked(three());
    case.answer(1, filtering(&[1, 2], &[]));
    case.answer(2, tagging("us-west", ""));
    assert_eq!(
        case.answer(3, filtering(&[], &[1])),
        Next::Accepted,
        "{:?}",
        case.admission
    );
    assert_eq!(
        changes(&case),
        [
            (vec![1, 2, 3], vec![1, 2]),
            (vec![1, 2], vec![2]),
            (vec![2], vec![2])
        ]
    );
    assert_eq!(case.eligible(), [2]);
    // A denial changes nothing; the next attempt begins anew.
    let mut case = Case::asked(three());
    case.answer(1, filtering(&[3], &[]));
    case.answer(2, Verdict::denied(7, "no"));
    let first = [(vec![1, 2, 3], vec![3]), (vec![3], vec![3])];
    assert_eq!(changes(&case), first);
    let again = case.admission.decisions.iter().cloned();
    let again: Vec<AdmissionDecision> = again
        .map(|decision| AdmissionDecision {
            attempt: 2,
            ..decision
        })
        .collect();
    case.admission.decisions.extend(again);
    assert_eq!(changes(&case), [first.clone(), first].concat());
}

#[test]
fn a_dry_run_says_what_it_would_leave_and_leaves_all() {
    let controllers = vec![
        controller(
            1,
            &json!({"state": "dry_run", "level": "project", "path": "g/p"}),
        ),
        controller(2, &json!({})),
    ];
    let mut case = Case::asked(controllers);
    let verdict = Verdict {
        tags: tagging("us-west", "").tags,
        ..filtering(&[1, 2], &[])
    };
    case.answer(1, verdict);
    case.answer(2, filtering(&[], &[3]));
    let changes = runner_changes(&case.job, &case.admission.decisions, &case.runners);
    assert_eq!(
        (&changes[0].before, &changes[0].after),
        (&vec![1, 2, 3], &vec![2])
    );
    assert!(changes[0].dry_run && !changes[1].dry_run);
    assert_eq!(
        (&changes[1].before, &changes[1].after),
        (&vec![1, 2, 3], &vec![1, 2])
    );
}

#[test]
fn a_dry_run_is_recorded_and_has_no_effect() {
    // Case 47.
    let dry = || vec![controller(1, &json!({"state": "dry_run"}))];
    let mut case = Case::asked(dry());
    assert_eq!(
        case.answer(1, Verdict::denied(7, "would deny")),
        Next::Accepted
    );
    let decision = &case.admission.decisions[0];
    assert!(decision.dry_run && decision.verdict == DecisionVerdict::Denied);
    assert_eq!(
        (case.admission.reason.clone(), case.eligible()),
        (None, vec![1, 2, 3])
    );
    let mut case = Case::asked(dry());
    let verdict = Verdict {
        tags: tagging("x", "").tags,
        ..filtering(&[99], &[])
    };
    assert_eq!(case.answer(1, verdict), Next::Accepted);
    assert_eq!(case.admission.tags, ["linux"]);
    assert_eq!(case.admission.decisions[0].tags.add, ["x"]);
    assert_eq!(case.eligible(), [1, 2, 3]);
    let mut case = Case::asked(dry());
    assert_eq!(case.fail(1, "500"), Next::Accepted);
    let mut case = Case::asked(dry());
    assert_eq!(case.tick(14), Next::Wait(at(15)));
    assert_eq!(case.tick(15), Next::Accepted);
    assert_eq!(case.verdicts(), [DecisionVerdict::Timeout]);
}

#[test]
fn controllers_that_do_not_match_or_are_gone_are_skipped() {
    // Cases 48 and 49.
    let mut controllers = three();
    controllers[0] = controller(
        1,
        &json!({"level": "project", "path": "g/p", "match": {"users": ["bob"]}}),
    );
    let mut case = Case::of(controllers);
    assert_eq!(case.tick(0), ask(2));
    assert_eq!(case.verdicts(), [DecisionVerdict::Skipped]);
    let reason = case.admission.decisions[0].reason.as_deref();
    assert_eq!(reason, Some("the user `ann` doesn't match"));
    // While it is asked, the group's controller is disabled, and the instance's is deleted.
    case.controllers[1] = controller(
        2,
        &json!({"level": "group", "path": "g", "state": "disabled"}),
    );
    assert_eq!(
        case.try_answer(2, accepted(), 1),
        Err(AdmissionError::NotAsked)
    );
    case.controllers.pop();
    assert_eq!(case.tick(1), Next::Accepted);
    assert_eq!(case.verdicts(), [DecisionVerdict::Skipped; 3]);
    assert_eq!(case.admission.reason, None);
}

#[test]
fn match_conditions_are_and_of_or() {
    for (conditions, is_asked) in [
        (json!({}), true),
        (json!({"projects": ["g/*"], "users": ["ann", "bob"]}), true),
        (json!({"projects": ["*"]}), false),
        (json!({"projects": ["**"]}), true),
        (json!({"projects": ["g/*"], "refs": ["release/*"]}), false),
        (json!({"protected": false}), true),
        (json!({"protected": true}), false),
        (json!({"sources": ["push", "web"]}), true),
        (json!({"sources": ["web"]}), false),
        (json!({"tags": ["gpu", "linux"]}), true),
        (json!({"tags": ["gpu"]}), false),
    ] {
        let mut case = Case::of(vec![controller(1, &json!({"match": conditions}))]);
        assert_eq!(case.tick(0) == ask(1), is_asked, "{conditions}");
    }
}

#[test]
fn a_failing_controller_is_waited_for_or_passed_by_its_policy() {
    // Cases 5, 29 and 31.
    let mut case = Case::asked(vec![controller(1, &json!({}))]);
    assert_eq!(case.fail(1, "status 500"), Next::Wait(at(3600)));
    assert_eq!(case.verdicts(), []);
    assert_eq!(case.answer(1, accepted()), Next::Accepted);
    let mut case = Case::asked(vec![controller(1, &json!({"failure_policy": "open"}))]);
    assert_eq!(case.fail(1, "status 500"), Next::Accepted);
    assert_eq!(case.verdicts(), [DecisionVerdict::Error]);
    assert_eq!(case.admission.reason.as_deref(), Some("c1: status 500"));
}

#[test]
fn a_suspended_controller_is_never_absent() {
    // Case 31.
    let suspended = |policy: &str| {
        let mut controller = controller(1, &json!({"failure_policy": policy}));
        controller.definition.state = crate::ControllerState::Suspended;
        vec![controller]
    };
    let mut case = Case::of(suspended("closed"));
    assert_eq!(case.tick(0), Next::Wait(at(3600)));
    case.controllers = vec![controller(1, &json!({}))];
    assert_eq!(case.tick(60), ask(1));
    let mut case = Case::of(suspended("closed"));
    case.tick(0);
    assert_eq!(case.tick(3600).event(), Some(Event::TimeOut));
    let mut case = Case::of(suspended("open"));
    assert_eq!(case.tick(0), Next::Accepted);
    assert_eq!(case.verdicts(), [DecisionVerdict::Error]);
}

#[test]
fn a_policy_that_fails_decides_at_once() {
    for (policy, is_denied) in [("closed", true), ("open", false)] {
        let keys = json!({"url": null, "policy": "p", "failure_policy": policy});
        let mut case = Case::asked(vec![controller(1, &keys)]);
        let next = case.fail(1, "ReferenceError: x");
        assert_eq!(next == denied("c1: ReferenceError: x"), is_denied);
        assert_eq!(next == Next::Accepted, !is_denied);
    }
}

#[test]
fn the_configured_policies_are_asked_last() {
    let mut case = Case::of(vec![controller(1, &json!({}))]);
    case.admission.chain.push(Link::policies());
    case.tick(0);
    assert_eq!(case.answer(1, accepted()), Next::Ask(Judge::Policies));
    let answered = |verdict| Happened::Answered {
        judge: Judge::Policies,
        verdict,
        policy: Some("no-root".to_owned()),
    };
    let next = case.advance(answered(Verdict::denied(7, "no")), 2).unwrap();
    assert_eq!(next, denied("policies: no"));
}

#[test]
fn the_denial_of_an_exempted_job_does_not_count() {
    for (keys, counts) in [
        (json!({"project": "g/p"}), false),
        (json!({"user": "ann", "controller": "c1"}), false),
        (json!({"policy": "p"}), false),
        (json!({"controller": "c2"}), true),
        (json!({"project": "g/q", "user": "ann"}), true),
        (json!({"policy": "q"}), true),
    ] {
        let mut body = json!({"reason": "incident", "until": "1970-01-01T00:10:00Z"});
        body.as_object_mut()
            .unwrap()
            .extend(keys.as_object().unwrap().clone());
        let exemption = Exemption {
            id: 11,
            body: ExemptionBody::read(&body, at(0)).unwrap(),
            granted_by: None,
            granted_at: Some(at(0)),
        };
        let stored = serde_json::to_string(&exemption).unwrap();
        assert_eq!(
            serde_json::from_str::<Exemption>(&stored).unwrap(),
            exemption
        );
        let policy = json!({"url": null, "policy": "p"});
        for (now, is_over) in [(1, false), (600, true)] {
            let mut case = Case::asked(vec![controller(1, &policy)]);
            case.exemptions = vec![exemption.clone()];
            let next = case.try_answer(1, Verdict::denied(7, "no"), now).unwrap();
            let is_denied = counts || is_over;
            assert_eq!(next == Next::Accepted, !is_denied, "{keys} {now}");
            let exempted_by = case.admission.decisions[0].exempted_by;
            assert_eq!(exempted_by, (!is_denied).then_some(11), "{keys}");
            let reason = match is_denied {
                true => "c1: no",
                false => "c1: denied, but exempted by exemption 11: no",
            };
            assert_eq!(case.admission.reason.as_deref(), Some(reason), "{keys}");
        }
    }
    let faults = |body: Value| ExemptionBody::read(&body, at(60)).unwrap_err().len();
    assert_eq!(
        faults(json!({"reason": " ", "until": "1970-01-01T00:00:00Z"})),
        3
    );
    let until = "1971-01-01T00:00:00Z";
    let both = json!({"reason": "r", "until": until, "controller": "c", "policy": "p"});
    assert_eq!(faults(both), 1);
}

#[test]
fn a_retry_carries_or_resets_what_verdicts_changed() {
    // Cases 38, 39 and 40.
    let verdict = Verdict {
        tags: tagging("us-west", "").tags,
        ..filtering(&[2], &[])
    };
    let mut first = Case::asked(vec![controller(1, &json!({}))]);
    first.answer(1, verdict);
    for (policy, tags, eligible) in [
        (RetryPolicy::Carry, "linux us-west", &[2][..]),
        (RetryPolicy::Reset, "linux", &[1, 2, 3]),
    ] {
        let mut case = Case::of(vec![controller(1, &json!({}))]);
        let links = case.admission.chain.clone();
        let original = &case.job.tags;
        case.admission = first
            .admission
            .retried(2, links, original, policy, at(100), HOUR);
        assert_eq!(case.admission.deadline, at(3700));
        assert_eq!(case.tick(100), ask(1), "a fresh verdict is needed");
        assert_eq!(case.admission.tags, strings(tags));
        assert_eq!(case.try_answer(1, accepted(), 101), Ok(Next::Accepted));
        assert_eq!(case.eligible(), eligible);
        let attempts: Vec<u32> = case.admission.decisions.iter().map(|d| d.attempt).collect();
        assert_eq!(attempts, [1, 2]);
    }
    let mut case = Case::of(vec![controller(1, &json!({}))]);
    let links = case.admission.chain.clone();
    let retry = RetryPolicy::Carry;
    case.admission = first
        .admission
        .retried(2, links, &case.job.tags, retry, at(100), HOUR);
    case.tick(100);
    case.try_answer(1, filtering(&[], &[1]), 101).unwrap();
    assert_eq!(
        case.eligible(),
        [2],
        "new lists replace the old ones, carried tags stay"
    );
}

#[test]
fn nothing_comes_after_a_cancellation() {
    // Case 33.
    let mut case = Case::asked(three());
    case.admission.cancel();
    let over = AdmissionError::Over(AdmissionState::Canceled);
    assert_eq!(case.try_answer(1, accepted(), 1), Err(over));
    assert_eq!(case.admission.wake_at(), None);
}
