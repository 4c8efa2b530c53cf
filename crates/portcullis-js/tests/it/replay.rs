//! Evaluations repeated from a record: reads of what is not in the record are noticed, no others.

use portcullis_core::PolicyMode;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_js::{
    Evaluation, HostRequest, Input, Missing, PlainSubject, Plan, PolicyVerdict, Pool, PoolOptions,
    RecordedCalls, Replay,
};
use serde_json::{Value, json};

use crate::conversion::any_json;
use crate::support::{denied, limits, set, tree};

const MASK: &str = "(masked)";

/// Answers calls of one key.
#[derive(Debug)]
struct Calls;

impl RecordedCalls for Calls {
    fn answer(&self, request: &HostRequest<'_>) -> Option<Result<Value, String>> {
        match request.arguments.first()?.as_str()? {
            "known.pub" => Some(Ok(json!(true))),
            "refused.pub" => Some(Err("no signature".to_owned())),
            _ => None,
        }
    }
}

fn object() -> Value {
    json!({"kind": "Pod", "metadata": {"name": "p", "annotations": {"a/b": MASK}},
        "data": {"password": MASK, "user": "bob"},
        "spec": {"secrets": [MASK, "plain"], "containers": [
            {"name": "app", "image": "img", "env": [
                {"name": "A", "value": MASK}, {"name": "B", "value": MASK},
                {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
            {"name": "side", "image": "img2"}]}})
}

fn input(object: &Value) -> Input {
    Input {
        object: Arc::new(tree(object)),
        old_object: Arc::new(tree(object)),
        subject: Arc::new(PlainSubject {
            req: json!({"operation": "CREATE", "userInfo": {"username": "bob", "extra": {"t": [MASK]}}}),
            ac: json!({"HTTPRequest": {"Header": {"Authorization": [MASK], "X-A": ["1"]},
                "URL": {"Path": "/a", "RawQuery": "token=(masked)"}}}),
        }),
        replay: Some(Arc::new(Replay {
            now: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            mask: MASK.into(),
            calls: Arc::new(Calls),
        })),
        ..Input::new(&Value::Null)
    }
}

fn pool(policies: &[(&str, &str)]) -> Pool {
    let options = PoolOptions {
        threads: 1,
        queue: 8,
    };
    Pool::start_for_replays(set("", policies), limits(), options).unwrap()
}

/// What one policy named P says of the object.
fn p(code: &str) -> Evaluation {
    pool(&[("P", code)]).evaluate(input(&object())).unwrap()
}

/// The places of masked values that a policy got.
fn masked(code: &str) -> Vec<String> {
    let evaluation = p(code);
    let place = |missing: &Missing| match missing {
        Missing::Masked(place) => place.clone(),
        other => panic!("{code}: {other:?}"),
    };
    evaluation
        .unknown
        .iter()
        .map(|u| place(&u.missing))
        .collect()
}

#[test]
fn a_masked_value_is_missed_where_the_policy_gets_it() {
    for (code, places) in [
        (
            "return object.data.password === 'x'",
            &["object.data.password"][..],
        ),
        ("const {password} = object.data", &["object.data.password"]),
        ("const copy = {...object.data}", &["object.data.password"]),
        ("Object.values(object.data)", &["object.data.password"]),
        ("Object.entries(object.data)", &["object.data.password"]),
        (
            "for (const k in object.data) object.data[k]",
            &["object.data.password"],
        ),
        ("JSON.stringify(object.data)", &["object.data.password"]),
        ("Object.assign({}, object.data)", &["object.data.password"]),
        (
            "return Object.getOwnPropertyDescriptor(object.data, 'password').value === '(masked)' ? true : 'no'",
            &["object.data.password"],
        ),
        (
            "Object.getOwnPropertyDescriptors(object.data)",
            &["object.data.password"],
        ),
        (
            "Reflect.getOwnPropertyDescriptor(object.spec.secrets, 0)",
            &["object.spec.secrets[0]"],
        ),
        (
            "return object.metadata.annotations['a/b']",
            &["object.metadata.annotations[\"a/b\"]"],
        ),
        (
            "object.spec.secrets.includes('x')",
            &["object.spec.secrets[0]"],
        ),
        (
            "const [first] = object.spec.secrets",
            &["object.spec.secrets[0]"],
        ),
        (
            "object.spec.secrets.map(s => s)",
            &["object.spec.secrets[0]"],
        ),
        (
            "for (const c of object.spec.containers) for (const e of c.env || []) if (e.value === 'x') return 'no'",
            &[
                "object.spec.containers[0].env[0].value",
                "object.spec.containers[0].env[1].value",
            ],
        ),
        (
            "return oldObject.data.password === ''",
            &["oldObject.data.password"],
        ),
        ("return req.object.data.password", &["object.data.password"]),
        (
            "return req.userInfo.extra.t[0]",
            &["req.userInfo.extra.t[0]"],
        ),
        (
            "return ac.HTTPRequest.Header.Get('authorization')",
            &["ac.HTTPRequest.Header.Authorization[0]"],
        ),
        (
            "return ac.HTTPRequest.URL.Query().Get('token')",
            &["ac.HTTPRequest.URL.RawQuery"],
        ),
        ("return req.Object.Raw.length > 5", &["req.Object.Raw"]),
        ("return req.OldObject.Raw[0]", &["req.OldObject.Raw"]),
    ] {
        assert_eq!(masked(code), places, "{code}");
    }
}

#[test]
fn what_is_around_a_masked_value_can_be_read() {
    for code in [
        "for (const c of object.spec.containers) if (c.image !== 'img' && c.image !== 'img2') return 'no'",
        "return object.spec.containers[0].env.map(e => e.name).join() === 'A,B,C'",
        "return object.spec.containers[0].env.length === 3 && object.spec.secrets.length === 2",
        "return Object.keys(object.data).join() === 'password,user' && object.data.user === 'bob'",
        "return 'password' in object.data && Object.hasOwn(object.data, 'password')",
        "return object.spec.secrets[1] === 'plain'",
        "const {containers, ...rest} = object.spec; return containers.length === 2 && rest.secrets[1] === 'plain'",
        "return req.userInfo.username === 'bob' && req.operation === 'CREATE'",
        "return ac.HTTPRequest.Header.Get('x-a') === '1' && ac.HTTPRequest.URL.Path === '/a'",
        "const copy = {...object, spec: {...object.spec}}; return copy.kind === 'Pod'",
        "return 'Raw' in req.Object && object.metadata.name === 'p'",
    ] {
        let evaluation = p(code);
        assert_eq!(evaluation.unknown, [], "{code}");
        assert!(evaluation.denial().is_none(), "{code}: {evaluation:?}");
        assert_eq!(evaluation.object, None, "{code}");
    }
}

#[test]
fn masked_values_stay_as_they_are_in_what_changes() {
    let evaluation = p(
        "object.metadata.labels = {a: '1'}; object.spec.containers.push({name: 'new'}); return true",
    );
    let mut wanted = object();
    wanted["metadata"]["labels"] = json!({"a": "1"});
    wanted["spec"]["containers"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "new"}));
    assert_eq!(evaluation.object, Some(wanted));
    assert_eq!(evaluation.unknown, []);
    // They go along with what is around them.
    let evaluation = p(
        "object.spec.containers = object.spec.containers.map(c => ({...c, image: 'x'})).reverse(); return true",
    );
    let moved = evaluation.object.unwrap();
    assert_eq!(
        moved["spec"]["containers"][1]["env"],
        object()["spec"]["containers"][0]["env"]
    );
    assert_eq!(evaluation.unknown, []);
}

#[test]
fn masked_values_can_be_overwritten_and_removed() {
    let evaluation = p(
        "object.data.password = 'new'; delete object.spec.containers[0].env[0].value; object.spec.secrets[0] = 'x'; return object.data.password === 'new' && object.spec.secrets[0] === 'x'",
    );
    assert_eq!(evaluation.unknown, []);
    assert_eq!(evaluation.verdict, PolicyVerdict::Allow);
    let after = evaluation.object.unwrap();
    assert_eq!(after["data"]["password"], "new");
    assert_eq!(after["spec"]["secrets"], json!(["x", "plain"]));
    assert_eq!(
        after["spec"]["containers"][0]["env"][0],
        json!({"name": "A"})
    );
}

#[test]
fn every_mode_notices() {
    for mode in [PolicyMode::Enforce, PolicyMode::Warn, PolicyMode::DryRun] {
        let pool = pool(&[
            ("first", "object.kind = 'X'"),
            ("P", "object.data.password"),
            ("last", "return object.data.password.length > 3"),
        ]);
        let mut input = input(&object());
        input.plan = vec![Plan::Run(PolicyMode::Enforce), Plan::Run(mode), Plan::Skip];
        let evaluation = pool.evaluate(input).unwrap();
        assert_eq!(evaluation.unknown.len(), 1, "{mode:?}");
        assert_eq!(
            evaluation.unknown[0].to_string(),
            "P reads object.data.password, which is masked"
        );
    }
}

#[test]
fn now_is_then() {
    for code in [
        "return Date.now() === 1700000000123",
        "return new Date().getTime() === 1700000000123",
        "return Date() === new Date(1700000000123).toString()",
        "return new Date('2020-01-02T03:04:05Z').toISOString() === '2020-01-02T03:04:05.000Z'",
        "return new Date(2020, 1) instanceof Date && Date.UTC(1970, 0) === 0 && Date.parse('1970-01-01') === 0",
        "class D extends Date {}; return new D().getTime() === 1700000000123 && new D() instanceof D",
        "return new (new Date().constructor)().getTime() === 1700000000123",
        "return Reflect.construct(Date, []).valueOf() === 1700000000123",
        "return Date.name === 'Date' && Date.length === 7 && Object.getPrototypeOf(new Date()) === Date.prototype",
    ] {
        let evaluation = p(code);
        assert_eq!(
            evaluation.verdict,
            PolicyVerdict::Allow,
            "{code}: {:?}",
            evaluation.denial()
        );
        assert_eq!(evaluation.unknown, [], "{code}");
    }
}

#[test]
fn what_was_never_recorded_is_missed() {
    let missing = |code: &str| {
        let evaluation = p(code);
        let missing = evaluation.unknown.into_iter().map(|u| u.missing);
        missing.collect::<Vec<_>>()
    };
    assert_eq!(
        missing("return ac.GlobalContext.n > 1"),
        [Missing::GlobalContext]
    );
    assert_eq!(
        missing("ac.GlobalContext.n = (ac.GlobalContext.n || 0) + 1"),
        [Missing::GlobalContext]
    );
    assert_eq!(
        missing(
            "ac.GlobalContext = {n: 1}; ac.GlobalContext.m = 2; return ac.GlobalContext.n === 1"
        ),
        []
    );
    assert_eq!(
        missing("return Math.random() < 2"),
        [Missing::Chance("Math.random()")]
    );
    assert_eq!(
        missing("return typeof performance === 'undefined' || performance.now() >= 0").len(),
        usize::from(!missing("performance").is_empty())
    );
    assert_eq!(missing("return ac.HTTPRequest.URL.Path"), []);
}

#[test]
fn nothing_stays_in_the_global_context() {
    let pool = pool(&[(
        "P",
        "const n = ac.GlobalContext.n; ac.GlobalContext.n = 1; return n === undefined",
    )]);
    for _ in 0..3 {
        let evaluation = pool.evaluate(input(&object())).unwrap();
        assert_eq!(evaluation.verdict, PolicyVerdict::Allow);
        assert_eq!(evaluation.unknown.len(), 1);
    }
    assert!(pool.realms_made() <= pool.threads() as u64);
}

#[test]
fn calls_are_answered_from_the_record() {
    let evaluation = p("return cosignVerify('known.pub')");
    assert_eq!(evaluation.verdict, PolicyVerdict::Allow);
    assert_eq!(evaluation.unknown, []);
    assert_eq!(evaluation.host_calls.len(), 1);
    let evaluation = p("return cosignVerify('refused.pub')");
    assert!(denied(&evaluation).denial.message.contains("no signature"));
    assert_eq!(evaluation.unknown, []);
    let evaluation =
        p("try { cosignVerify('other.pub', {current: object}) } catch {}; return true");
    let [unknown] = evaluation.unknown.as_slice() else {
        panic!("{:?}", evaluation.unknown)
    };
    let said = unknown.to_string();
    assert!(
        said.starts_with("P calls cosignVerify(\"other.pub\", {"),
        "{said}"
    );
    assert!(
        said.ends_with("…), which has no answer in the record"),
        "{said}"
    );
}

#[test]
fn one_evaluation_leaves_nothing_for_the_next() {
    let pool = pool(&[(
        "P",
        "if (object.read) return object.read === 'x'; return true",
    )]);
    for _ in 0..3 {
        let first = pool.evaluate(input(&json!({"read": MASK}))).unwrap();
        assert_eq!(first.unknown.len(), 1);
        let second = pool.evaluate(input(&json!({"other": MASK}))).unwrap();
        assert_eq!(second.unknown, []);
        // Without a replay a mask is a text like others.
        let mut third = input(&json!({"read": MASK}));
        third.replay = None;
        let third = pool.evaluate(third).unwrap();
        assert_eq!(third.unknown, []);
        assert!(denied(&third).denial.message.starts_with("P: "));
    }
    assert!(pool.realms_made() <= pool.threads() as u64);
}

#[test]
fn time_and_chance_can_not_be_changed() {
    let pool = pool(&[(
        "P",
        "for (const t of [Date, Math, Date.prototype, typeof performance === 'undefined' ? Math : performance]) { try { t.left = 1 } catch {} }
         try { Date.now = () => 1; Math.random = () => 1; Date = 1 } catch {}
         return Date.left === undefined && Math.left === undefined && Date.prototype.left === undefined && Date.now() !== 1
            && (typeof performance === 'undefined' || performance.left === undefined)",
    )]);
    for _ in 0..2 {
        let evaluation = pool.evaluate(input(&json!({}))).unwrap();
        assert_eq!(evaluation.verdict, PolicyVerdict::Allow, "{evaluation:?}");
    }
}

#[test]
fn it_is_told_who_changes_the_object() {
    let pool = pool(&[
        ("reads", "object.kind"),
        ("adds", "object.metadata.labels = {a: '1'}"),
        ("same", "object.metadata.labels.a = '1'"),
        ("more", "object.metadata.labels.b = '2'"),
        ("back", "delete object.metadata.labels"),
        ("warns", "object.kind = 'X'; return 'no'"),
    ]);
    let mut input = input(&object());
    input.plan = vec![Plan::Run(PolicyMode::Enforce); 5];
    input.plan.push(Plan::Run(PolicyMode::Warn));
    let evaluation = pool.evaluate(input).unwrap();
    assert_eq!(evaluation.changed_by, ["adds", "more", "back"]);
    assert_eq!(evaluation.object, None);
    // In the end there is no change.
    assert!(evaluation.steps.iter().all(|step| !step.changed));
}

#[test]
fn every_policy_that_ran_says_how_long() {
    let pool = pool(&[("ran", "return true"), ("skipped", "return true")]);
    let evaluation = pool.evaluate(input(&object())).unwrap();
    let timed: Vec<bool> = evaluation
        .steps
        .iter()
        .map(|s| s.duration.is_some())
        .collect();
    assert_eq!(timed, [true, false]);
}

/// Masks every text whose turn it is; how many.
fn mask_some(value: &mut Value, turns: &[bool], at: &mut usize) -> usize {
    match value {
        Value::String(text) => {
            *at += 1;
            let is_masked = turns[*at % turns.len()];
            if is_masked {
                MASK.clone_into(text);
            }
            usize::from(is_masked)
        }
        Value::Array(list) => list.iter_mut().map(|v| mask_some(v, turns, at)).sum(),
        Value::Object(map) => map.values_mut().map(|v| mask_some(v, turns, at)).sum(),
        _ => 0,
    }
}

#[test]
fn whatever_is_masked_stays_and_is_noticed_when_read() {
    let adds = pool(&[("P", "object.added = 1; return true")]);
    let reads = pool(&[("P", "JSON.stringify(object.value)")]);
    let looks = pool(&[("P", "Object.keys(object.value ?? {}).length")]);
    let turns = prop::collection::vec(any::<bool>(), 1..5);
    let config = ProptestConfig::with_cases(96);
    proptest!(config, |(mut value in any_json(), turns in turns)| {
        let masked = mask_some(&mut value, &turns, &mut 0);
        let object = json!({"value": value});
        let added = adds.evaluate(input(&object)).unwrap();
        let mut wanted = object.clone();
        wanted["added"] = json!(1);
        prop_assert_eq!(added.object, Some(wanted));
        prop_assert_eq!(added.unknown.len(), 0);
        let read = reads.evaluate(input(&object)).unwrap();
        prop_assert_eq!(read.unknown.len(), masked.min(32), "{}", object);
        prop_assert_eq!(read.object, None);
        if !value_is_masked(&object) {
            let looked = looks.evaluate(input(&object)).unwrap();
            prop_assert_eq!(looked.unknown.len(), 0);
        }
    });
}

/// Whether the policy can't but read a masked value to begin with.
fn value_is_masked(object: &Value) -> bool {
    object["value"] == MASK
}
