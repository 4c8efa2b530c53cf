//! Objects that keep the engine inside functions that can't be interrupted, and what is left for
//! others.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::native;
use crate::harness::{Folder, Gate, Review, run, run_in, until};

/// A configuration map with this note.
fn noted(user: &str, note: &Value) -> Review {
    let object = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "notes", "namespace": "default"},
        "data": {"note": note},
    });
    Review::create(&object).set("userInfo", json!({"username": user, "groups": []}))
}

/// Lets eve ask for so many at once, while others ask for something harmless.
#[track_caller]
fn attack(gate: &Gate, many: usize, evil: &Value) {
    std::thread::scope(|scope| {
        let attack = || {
            let review = noted("eve", evil);
            gate.ask("/validate", &review)
        };
        let attackers: Vec<_> = (0..many).map(|_| scope.spawn(attack)).collect();
        for _ in 0..10 {
            let verdict = gate.ask("/validate", &noted("bob", &json!("fine")));
            assert!(verdict.is_allowed(), "{}", verdict.message());
        }
        for attacker in attackers {
            attacker.join().unwrap();
        }
    });
}

#[test]
fn long_runs_of_combining_marks_take_nothing_from_others() {
    let code = "if (object.data.note.normalize('NFC').includes('forbidden')) return 'no'";
    let mut config = native(&[("Words", code)]);
    config["limits"] = json!({"deadline": "5s"});
    config["defaultAction"] = json!("allow");
    let mut gate = Gate::start(config);
    let evil = json!(format!("a{}", "\u{316}\u{300}".repeat(150_000)));
    attack(&gate, 12, &evil);
    for _ in 0..10 {
        let verdict = gate.ask("/validate", &noted("bob", &json!("fine")));
        assert!(verdict.is_allowed(), "{}", verdict.message());
    }
    let verdict = gate.ask("/validate", &noted("bob", &json!("what is forbidden")));
    verdict.denied("no");
    gate.lives();
}

/// Many rounds, each long, without a call, and too few for the engine to look at the clock.
const BUSY: &str = "const note = object.data.note; if (note === 'fine') return;
    if (note === 'count') { const g = ac.GlobalContext; g.n = (g.n || 0) + 1; return 'n=' + g.n }
    if (note === 'ask') {
        try { forwardToAdmissionController('https://127.0.0.1:1/') } catch (e) { return 'asked: ' + e }
    }
    const n = 3n ** 60000n; for (let i = 0; i < 4000; i++) `${n}`";

fn busy_config() -> Value {
    let mut config = native(&[("Busy", BUSY), ("Other", "return undefined")]);
    config["limits"] = json!({"deadline": "3s"});
    config["defaultAction"] = json!("allow");
    config
}

/// The processes of a gate.
fn workers(gate: &Gate) -> BTreeSet<u32> {
    let all = std::fs::read_dir("/proc").unwrap();
    let numbers = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let parent = gate.pid().to_string();
    let is_own = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest)
            .unwrap_or_default();
        rest.split_whitespace().nth(1) == Some(parent.as_str())
    };
    numbers.filter(is_own).collect()
}

fn readiness(gate: &Gate) -> String {
    gate.get("/readyz?verbose").text()
}

#[test]
fn a_policy_that_can_not_be_stopped_is_evaluated_in_processes() {
    let mut gate = Gate::start(busy_config());
    assert!(
        readiness(&gate).contains("[+]policies ok\n"),
        "{}",
        readiness(&gate)
    );
    assert_eq!(gate.metrics().total("portcullis_policy_guarded", &[]), 0.0);
    attack(&gate, 8, &json!("evil"));
    until("the policy is known", || {
        readiness(&gate).contains("[+]policies ok (evaluated in worker processes: Busy")
    });
    assert!(gate.is_ready());
    assert_eq!(gate.metrics().total("portcullis_policy_guarded", &[]), 1.0);
    attack(&gate, 8, &json!("evil"));
    until("some are killed, and counted", || {
        gate.ask("/validate", &noted("eve", &json!("evil")))
            .denied("Busy: ");
        let killed = "portcullis_policy_evaluations_killed_total";
        gate.metrics().total(killed, &[("policy", "Busy")]) > 0.0
    });
    let log = gate.log();
    assert!(
        log.contains("is evaluated in worker processes from now on"),
        "{log}"
    );
    assert!(
        log.contains("did not stop at the deadline and was killed"),
        "{log}"
    );
    assert!(!log.contains("evil"), "{log}");
    // What a process asks is answered by the server.
    for n in 1..=3 {
        gate.ask("/validate", &noted("bob", &json!("count")))
            .denied(&format!("n={n}"));
    }
    gate.ask("/validate", &noted("bob", &json!("ask")))
        .denied("asked: ");
    // Another configuration knows what was learnt, and what was kept.
    let before = workers(&gate);
    assert!(!before.is_empty());
    let mut changed = busy_config();
    changed["policies"][1]["code"] = json!("if (object.data.note === 'other') return 'changed'");
    gate.configure(changed);
    until("the change is in force", || {
        let verdict = gate.ask("/validate", &noted("bob", &json!("fine")));
        assert!(verdict.is_allowed(), "{}", verdict.message());
        gate.log().contains("configuration reloaded")
    });
    assert!(
        readiness(&gate).contains("worker processes: Busy"),
        "{}",
        readiness(&gate)
    );
    gate.ask("/validate", &noted("bob", &json!("count")))
        .denied("n=4");
    until("the processes before are gone", || {
        workers(&gate).is_disjoint(&before)
    });
    // Nothing is left in the end.
    let after = workers(&gate);
    assert!(!after.is_empty());
    gate.terminate();
    gate.wait();
    let lives = |pid: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
        text.is_ok_and(|text| text.contains("policy-worker"))
    };
    until("no process is left", || !after.iter().any(lives));
}

#[test]
fn a_command_that_judges_once_ends_too() {
    let folder = Folder::new();
    folder.write("portcullis.yaml", busy_config().to_string());
    let object = noted("eve", &json!("evil")).value()["request"]["object"].clone();
    folder.write("evil.json", object.to_string());
    let ran = run_in(
        &folder,
        &["eval", "--config", "portcullis.yaml", "-f", "evil.json"],
    );
    assert!(ran.code.is_some_and(|code| code != 0), "{ran:?}");
    assert!(
        format!("{}{}", ran.out, ran.err).contains("deadline"),
        "{ran:?}"
    );
}

/// The numbers of the evaluation threads that a gate has running. A list of threads that is read while
/// some of them start or end may lack others, so it is to be asked for again.
fn evaluation_threads(gate: &Gate) -> BTreeSet<u64> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", gate.pid())).unwrap();
    let names = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")));
    names
        .filter_map(|name| name.ok()?.trim().strip_prefix("js-")?.parse().ok())
        .collect()
}

#[test]
fn a_reload_that_fails_starts_no_engine() {
    let gate = Gate::start(busy_config());
    // Evaluation threads are numbered as they are started, one for each processor.
    let each = std::thread::available_parallelism().unwrap().get() as u64;
    let run = |numbers: std::ops::RangeInclusive<u64>| {
        let wanted: BTreeSet<u64> = numbers.collect();
        until(&format!("the threads {wanted:?} run"), || {
            evaluation_threads(&gate) == wanted
        });
    };
    run(1..=each);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut config = busy_config();
    config["listeners"] = json!([{"name": "taken", "tcp": address, "serves": ["health"]}]);
    gate.configure(config);
    until("it has failed", || gate.log().contains("stays in force"));
    run(1..=each);
    gate.configure(busy_config());
    gate.last_reload_is(true);
    // No number between the two engines was given away.
    run(each + 1..=2 * each);
}

#[test]
fn the_worker_is_no_command_for_people() {
    let ran = run(&["policy-worker"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("started by the server"), "{}", ran.err);
    for text in [run(&["--help"]).out, run(&["man"]).out] {
        assert!(!text.contains("policy-worker"), "{text}");
    }
}
