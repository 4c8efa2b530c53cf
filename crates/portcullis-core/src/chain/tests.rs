use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::attributes::{Door, Operation};
use crate::document::Document;
use crate::plugin::{Finished, Operations, Pending, Phases, PluginError, Runs};

/// What a scripted plug-in does in a half.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    Pass,
    Ignore,
    Change,
    Deny,
    Fail,
    Panic,
}

#[derive(Debug, Clone)]
struct Scripted {
    admit: Option<Act>,
    validate: Option<Act>,
    creates_only: bool,
    open: bool,
}

/// A plug-in that follows a script and writes down what it was asked and saw.
struct Actor {
    index: usize,
    script: Scripted,
    log: Arc<Mutex<Vec<(usize, Phase, serde_json::Value)>>>,
}

impl Actor {
    fn act(&self, act: Act, phase: Phase, request: &Attributes) -> Result<Outcome, PluginError> {
        let seen = request.object.as_ref().unwrap().value().unwrap().clone();
        self.log.lock().unwrap().push((self.index, phase, seen));
        match act {
            Act::Pass | Act::Change => Ok(Outcome::Pass),
            Act::Ignore => Ok(Outcome::not_applicable("not mine")),
            Act::Deny => Ok(Outcome::Deny(Denial::forbidden("no"))),
            Act::Fail => Err(PluginError::Failed("broken".into())),
            Act::Panic => panic!("on purpose"),
        }
    }
}

impl Plugin for Actor {
    fn handles(&self, operation: Operation) -> bool {
        !self.script.creates_only || Operations::CREATE.contains(operation)
    }

    fn phases(&self) -> Phases {
        Phases {
            admit: self.script.admit.is_some(),
            validate: self.script.validate.is_some(),
        }
    }

    fn admit(&self, request: &mut Attributes, notes: &mut Notes) -> Result<Outcome, PluginError> {
        let act = self.script.admit.unwrap();
        notes.warn(format!("warning {}", self.index));
        if !matches!(act, Act::Pass | Act::Ignore) {
            let object = request.object.as_mut().unwrap().value_mut()?;
            object[format!("by{}", self.index)] = json!(true);
        }
        self.act(act, Phase::Admit, request)
    }

    fn validate(&self, request: &Attributes, _: &mut Notes) -> Result<Outcome, PluginError> {
        self.act(self.script.validate.unwrap(), Phase::Validate, request)
    }
}

fn request(operation: Operation) -> Attributes {
    Attributes {
        door: Door::Kubernetes,
        uid: "u".into(),
        operation,
        kind: Default::default(),
        resource: Default::default(),
        subresource: String::new(),
        name: "n".into(),
        namespace: String::new(),
        user: Default::default(),
        object: Some(Document::from_text("{}")),
        old_object: None,
        options: None,
        dry_run: false,
        received: clock::monotonic(),
        deadline: None,
        context: Default::default(),
    }
}

fn silence_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
}

type Log = Vec<(usize, Phase, serde_json::Value)>;

type SharedLog = Arc<Mutex<Log>>;

fn chain(scripts: &[Scripted]) -> (Chain, SharedLog) {
    silence_panics();
    let log = Arc::new(Mutex::new(Vec::new()));
    let entries = scripts.iter().enumerate().map(|(index, script)| {
        let actor = Actor {
            index,
            script: script.clone(),
            log: Arc::clone(&log),
        };
        let mode = if script.open {
            FailureMode::Open
        } else {
            FailureMode::Closed
        };
        ChainEntry::new(&format!("p{index}"), Arc::new(actor)).failure(mode)
    });
    (Chain::new(entries.collect()), log)
}

fn run(scripts: &[Scripted], operation: Operation) -> (Verdict, Log, Attributes) {
    let (chain, log) = chain(scripts);
    let mut request = request(operation);
    let verdict = chain.decide(&mut request);
    let log = std::mem::take(&mut *log.lock().unwrap());
    (verdict, log, request)
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Pass),
        1 => Just(Act::Ignore),
        4 => Just(Act::Change),
        1 => Just(Act::Deny),
        1 => Just(Act::Fail),
        1 => Just(Act::Panic),
    ]
}

prop_compose! {
    fn any_script()(
        admit in proptest::option::of(any_act()),
        validate in proptest::option::of(any_act()),
        creates_only in any::<bool>(),
        open in any::<bool>(),
    ) -> Scripted {
        Scripted { admit, validate, creates_only, open }
    }
}

/// Whether an act of a plug-in denies the request.
fn refuses(script: &Scripted, act: Act) -> bool {
    act == Act::Deny || (matches!(act, Act::Fail | Act::Panic) && !script.open)
}

/// What must happen, computed naively: who runs in which half, and who denies.
fn expected(scripts: &[Scripted], operation: Operation) -> (Vec<(usize, Phase)>, Option<usize>) {
    let mut ran = Vec::new();
    for phase in [Phase::Admit, Phase::Validate] {
        for (index, script) in scripts.iter().enumerate() {
            let act = if phase == Phase::Admit {
                script.admit
            } else {
                script.validate
            };
            let handles = !script.creates_only || operation == Operation::Create;
            let Some(act) = act.filter(|_| handles) else {
                continue;
            };
            ran.push((index, phase));
            if refuses(script, act) {
                return (ran, Some(index));
            }
        }
    }
    (ran, None)
}

proptest! {
    #[test]
    fn runs_in_the_configured_order_and_nothing_after_a_refusal(
        scripts in proptest::collection::vec(any_script(), 0..7),
        create in any::<bool>(),
    ) {
        let operation = if create { Operation::Create } else { Operation::Update };
        let (verdict, log, _) = run(&scripts, operation);
        let (ran, refuser) = expected(&scripts, operation);
        prop_assert_eq!(log.iter().map(|(i, p, _)| (*i, *p)).collect::<Vec<_>>(), ran);
        let name = refuser.map(|i| format!("p{i}"));
        prop_assert_eq!(verdict.is_allowed(), refuser.is_none());
        prop_assert_eq!(verdict.plugin.as_deref(), name.as_deref());
    }

    #[test]
    fn asking_on_asks_all_and_leaves_the_verdict_as_it_is(
        scripts in proptest::collection::vec(any_script(), 0..7),
    ) {
        let (verdict, ..) = run(&scripts, Operation::Create);
        let (chain, log) = chain(&scripts);
        let (same, beyond) = chain.decide_and_ask_on(&mut request(Operation::Create));
        prop_assert_eq!(same.denial(), verdict.denial());
        prop_assert_eq!(&same.plugin, &verdict.plugin);
        prop_assert_eq!(&same.warnings, &verdict.warnings);
        prop_assert_eq!(&same.annotations, &verdict.annotations);
        prop_assert_eq!(json!(same.patch), json!(verdict.patch));
        prop_assert_eq!(same.is_undecided(), verdict.is_undecided());
        let halves = scripts.iter().map(|s| usize::from(s.admit.is_some()) + usize::from(s.validate.is_some()));
        prop_assert_eq!(log.lock().unwrap().len(), halves.sum::<usize>());
        prop_assert!(beyond.trace.is_empty() || !same.is_allowed());
    }

    #[test]
    fn validate_sees_the_finished_object_and_a_refusal_has_no_patch(
        scripts in proptest::collection::vec(any_script(), 0..7),
    ) {
        let (verdict, log, request) = run(&scripts, Operation::Create);
        let last_admitted = request.object.as_ref().unwrap().value().unwrap();
        for (_, _, seen) in log.iter().filter(|(_, phase, _)| *phase == Phase::Validate) {
            prop_assert_eq!(seen, last_admitted);
        }
        prop_assert!(verdict.is_allowed() || verdict.patch.is_empty());
        if verdict.is_allowed() {
            let changed = scripts.iter().enumerate().filter(|(_, s)| s.admit == Some(Act::Change));
            prop_assert_eq!(verdict.patch.len(), changed.count());
        }
    }

    #[test]
    fn the_trace_says_of_every_half_what_it_did(
        scripts in proptest::collection::vec(any_script(), 0..7),
    ) {
        let (verdict, log, _) = run(&scripts, Operation::Update);
        let asked = verdict.trace.iter().filter(|s| {
            s.detail.as_deref() != Some("does not handle UPDATE")
        });
        prop_assert_eq!(asked.count(), log.len());
        for step in &verdict.trace {
            let index: usize = step.plugin.trim_start_matches('p').parse().unwrap();
            let script = &scripts[index];
            let act = if step.phase == Phase::Admit { script.admit } else { script.validate };
            let wanted = match act.unwrap() {
                _ if script.creates_only => StepOutcome::Skipped,
                Act::Ignore => StepOutcome::Skipped,
                Act::Change if step.phase == Phase::Admit => StepOutcome::Changed,
                Act::Pass | Act::Change => StepOutcome::Passed,
                Act::Deny => StepOutcome::Denied,
                Act::Fail => StepOutcome::Error,
                Act::Panic => StepOutcome::Panic,
            };
            prop_assert_eq!(step.outcome, wanted);
        }
    }
}

fn one(admit: Act, open: bool) -> Scripted {
    Scripted {
        admit: Some(admit),
        validate: None,
        creates_only: false,
        open,
    }
}

#[test]
fn a_panicking_plugin_is_one_refused_request() {
    let (verdict, ..) = run(&[one(Act::Panic, false)], Operation::Create);
    assert!(verdict.is_undecided());
    assert_eq!(
        verdict.denial().unwrap().message,
        "p0: could not decide: it panicked"
    );
    let (verdict, ..) = run(&[one(Act::Pass, false)], Operation::Create);
    assert!(verdict.is_allowed());
}

#[test]
fn the_trace_says_who_warned() {
    let scripts = [
        one(Act::Pass, false),
        one(Act::Fail, true),
        one(Act::Change, false),
    ];
    let (verdict, ..) = run(&scripts, Operation::Create);
    assert_eq!(verdict.warnings, ["warning 0", "warning 2"]);
    let by_step: Vec<usize> = verdict.trace.iter().map(|s| s.warnings).collect();
    assert_eq!(by_step, [1, 0, 1]);
}

fn added(key: &str) -> Vec<crate::patch::PatchOperation> {
    vec![crate::patch::PatchOperation::Add {
        path: format!("/{key}"),
        value: json!(true),
    }]
}

fn step_patches(verdict: &Verdict) -> Vec<Vec<crate::patch::PatchOperation>> {
    verdict.trace.iter().map(|s| s.patch.clone()).collect()
}

#[test]
fn a_step_says_what_it_changed_where_the_patch_does_not() {
    // One that changed: the verdict's patch is its own.
    let scripts = [one(Act::Pass, false), one(Act::Change, false)];
    let (verdict, ..) = run(&scripts, Operation::Create);
    assert_eq!(verdict.patch, added("by1"));
    assert_eq!(step_patches(&verdict), [vec![], vec![]]);
    // Several: each has its own.
    let scripts = [
        one(Act::Change, false),
        one(Act::Pass, false),
        one(Act::Change, false),
    ];
    let (verdict, ..) = run(&scripts, Operation::Create);
    assert_eq!(verdict.patch.len(), 2);
    assert_eq!(step_patches(&verdict), [added("by0"), vec![], added("by2")]);
    // A denial has no patch; the steps before it say what they changed.
    let scripts = [one(Act::Change, false), one(Act::Deny, false)];
    let (verdict, ..) = run(&scripts, Operation::Create);
    assert!(verdict.patch.is_empty());
    assert_eq!(step_patches(&verdict), [added("by0"), vec![]]);
    let written = serde_json::to_value(&verdict.trace).unwrap();
    assert_eq!(
        written[0]["patch"],
        json!([{"op": "add", "path": "/by0", "value": true}])
    );
    assert_eq!(written[1].get("patch"), None);
}

#[test]
fn what_was_undone_is_no_change_of_a_step() {
    let scripts = [
        one(Act::Change, false),
        one(Act::Fail, true),
        one(Act::Change, false),
        one(Act::Deny, false),
    ];
    let (verdict, ..) = run(&scripts, Operation::Create);
    assert_eq!(
        step_patches(&verdict),
        [added("by0"), vec![], added("by2"), vec![]]
    );
}

#[test]
fn a_half_without_a_step_repeats_no_change() {
    let mut script = one(Act::Change, false);
    script.validate = Some(Act::Pass);
    let validator = Scripted {
        admit: None,
        ..script.clone()
    };
    let (verdict, ..) = run(&[script, validator], Operation::Create);
    assert_eq!(verdict.trace.len(), 3);
    assert!(verdict.trace.iter().all(|s| s.patch.is_empty()));
}

#[test]
fn a_failing_plugin_that_is_passed_over_leaves_nothing_behind() {
    for act in [Act::Fail, Act::Panic] {
        let (verdict, _, request) = run(&[one(act, true)], Operation::Create);
        assert!(verdict.is_allowed() && verdict.patch.is_empty() && verdict.warnings.is_empty());
        assert_eq!(request.object.unwrap().value().unwrap(), &json!({}));
        assert_eq!(verdict.annotations["failed-open"], "p0");
    }
}

#[test]
fn everything_that_was_passed_over_is_named() {
    let failing = || one(Act::Fail, true);
    let (verdict, ..) = run(
        &[failing(), one(Act::Pass, true), failing()],
        Operation::Create,
    );
    assert!(verdict.is_allowed());
    assert_eq!(verdict.annotations["failed-open"], "p0; p2");
    let marks: Vec<bool> = verdict.trace.iter().map(|s| s.failed_open).collect();
    assert_eq!(marks, [true, false, true]);
    let (closed, ..) = run(&[one(Act::Fail, false)], Operation::Create);
    assert!(!closed.annotations.contains_key("failed-open"));
    assert!(closed.trace.iter().all(|s| !s.failed_open));
}

#[test]
fn a_plugin_that_took_too_long_has_not_decided() {
    for mode in FailureMode::ALL {
        let actor = Actor {
            index: 0,
            script: one(Act::Change, false),
            log: Arc::default(),
        };
        let slow = ChainEntry::new("slow", Arc::new(actor));
        // Nothing is done within a nanosecond.
        let slow = slow.timeout(Some(Duration::from_nanos(1))).failure(mode);
        let mut request = request(Operation::Create);
        let verdict = Chain::new(vec![slow]).decide(&mut request);
        assert_eq!(verdict.trace[0].outcome, StepOutcome::Timeout);
        assert_eq!(verdict.is_allowed(), mode == FailureMode::Open);
        assert!(verdict.patch.is_empty());
    }
}

#[test]
fn a_request_whose_time_is_up_is_refused_unasked() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let actor = Actor {
        index: 0,
        script: one(Act::Pass, false),
        log: Arc::clone(&log),
    };
    let mut request = request(Operation::Create);
    request.deadline = Some(request.received);
    let verdict = Chain::new(vec![ChainEntry::new("p0", Arc::new(actor))]).decide(&mut request);
    assert!(verdict.is_undecided());
    assert!(log.lock().unwrap().is_empty());
}

/// A plug-in that judges on a thread of its own.
struct Elsewhere(Act);

impl Plugin for Elsewhere {
    fn handles(&self, _: Operation) -> bool {
        true
    }

    fn phases(&self) -> Phases {
        Phases::ADMIT
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn begin(&self, phase: Phase, _: &Attributes, _: Option<std::time::Instant>) -> Pending {
        assert_eq!(phase, Phase::Admit);
        let shared = Arc::new(Mutex::new((None, None::<std::task::Waker>)));
        let (theirs, act) = (Arc::clone(&shared), self.0);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            let mut state = theirs.lock().unwrap();
            let mut notes = Notes::default();
            notes.warn("from elsewhere");
            state.0 = Some(Finished {
                outcome: match act {
                    Act::Deny => Ok(Outcome::Deny(Denial::forbidden("no"))),
                    Act::Fail => Err(PluginError::Failed("broken".into())),
                    Act::Ignore => Ok(Outcome::Undecided(Denial::undecided("who knows"))),
                    _ => Ok(Outcome::Pass),
                },
                notes,
                object: (act == Act::Change).then(|| json!({"changed": 1})),
            });
            if let Some(waker) = state.1.take() {
                waker.wake();
            }
        });
        Box::pin(std::future::poll_fn(move |context| {
            assert_ne!(act, Act::Panic, "on purpose");
            let mut state = shared.lock().unwrap();
            match state.0.take() {
                Some(finished) => std::task::Poll::Ready(finished),
                None => {
                    state.1 = Some(context.waker().clone());
                    std::task::Poll::Pending
                }
            }
        }))
    }
}

#[test]
fn what_is_judged_elsewhere_is_waited_for() {
    silence_panics();
    let decide = |act: Act, failure: FailureMode| {
        let entry = ChainEntry::new("Elsewhere", Arc::new(Elsewhere(act))).failure(failure);
        let chain = Chain::new(vec![entry]);
        let mut request = request(Operation::Create);
        let verdict = chain.decide(&mut request);
        (verdict, request)
    };
    let (verdict, request) = decide(Act::Change, FailureMode::Closed);
    assert_eq!(verdict.trace[0].outcome, StepOutcome::Changed);
    assert_eq!(
        request.object.unwrap().value().unwrap(),
        &json!({"changed": 1})
    );
    assert_eq!(verdict.warnings, ["from elsewhere"]);
    assert_eq!(verdict.patch.len(), 1);
    for (act, failure, outcome, is_allowed) in [
        (Act::Deny, FailureMode::Open, StepOutcome::Denied, false),
        (Act::Fail, FailureMode::Closed, StepOutcome::Error, false),
        (Act::Fail, FailureMode::Open, StepOutcome::Error, true),
        (Act::Panic, FailureMode::Closed, StepOutcome::Panic, false),
        (Act::Ignore, FailureMode::Open, StepOutcome::Error, false),
    ] {
        let (verdict, _) = decide(act, failure);
        assert_eq!(verdict.trace[0].outcome, outcome, "{act:?}");
        assert_eq!(verdict.is_allowed(), is_allowed, "{act:?}");
    }
    assert!(decide(Act::Ignore, FailureMode::Open).0.is_undecided());
}
