//! Processes that can't be started, die, or send invalid messages.

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use portcullis_js::{
    GlobalContext, Guard, GuardOptions, Host, HostRequest, PolicyVerdict, Pool, PoolError,
    PoolOptions, WorkerCommand,
};
use serde_json::Value;

use crate::attack::{Told, until};
use crate::ending::children;
use crate::start::command;
use crate::support::{input, limits, patiently, pod, set};

/// A host that does not answer before it is let.
struct Door {
    arrived: Mutex<mpsc::Sender<()>>,
    open: Mutex<mpsc::Receiver<()>>,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Door")
    }
}

impl Host for Door {
    fn call(&self, _: &HostRequest<'_>) -> Result<Value, String> {
        self.arrived.lock().unwrap().send(()).unwrap();
        self.open.lock().unwrap().recv().unwrap();
        Ok(Value::Null)
    }
}

const CODE: &str = "if (!object.waits) return true; cosignVerify('k'); return true";

struct Setup {
    pool: Pool,
    guard: Guard,
    told: Arc<Told>,
    arrived: mpsc::Receiver<()>,
    open: mpsc::Sender<()>,
}

fn setup(command: WorkerCommand) -> Setup {
    let told = Arc::new(Told::default());
    let guard = Guard::new(GuardOptions::new(command), Some(Arc::clone(&told) as _));
    guard.cover_everything();
    let options = PoolOptions {
        threads: 1,
        queue: 10,
    };
    let (arrive, arrived) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let host = Arc::new(Door {
        arrived: Mutex::new(arrive),
        open: Mutex::new(opened),
    });
    let context = GlobalContext::new(1000);
    let set = set("", &[("P", CODE)]);
    let pool = Pool::build(set, limits(), options, context, host, guard.clone());
    pool.begin().unwrap();
    Setup {
        pool,
        guard,
        told,
        arrived,
        open,
    }
}

/// A worker that is a line of shell. The socket is its standard input.
fn shell(script: &str) -> WorkerCommand {
    WorkerCommand {
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".into(), script.into()],
    }
}

/// What a worker says first.
const READY: &str = r#"printf '\007\000\000\000"Ready"' >&0"#;

#[test]
fn a_worker_that_gets_never_ready_is_a_fault_that_is_shown() {
    for command in [
        shell("exit 1"),
        shell("printf 'garbage that is not a frame' >&0; exec sleep 60"),
        shell(r#"printf '\017\000\000\000{"Failed":"why"}' >&0; exec sleep 60"#),
        WorkerCommand {
            program: PathBuf::from("/nowhere/portcullis"),
            arguments: Vec::new(),
        },
    ] {
        let setup = setup(command.clone());
        let evaluated = setup.pool.evaluate(input(pod()));
        assert!(
            matches!(evaluated, Err(PoolError::NoProcess(_))),
            "{command:?}: {evaluated:?}"
        );
        until("the fault is known", || {
            setup.guard.status().fault.is_some()
        });
    }
}

#[test]
fn a_worker_that_says_what_makes_no_sense_fails_the_evaluation() {
    for said in [
        "printf 'garbage that is not a frame' >&0",
        // Lengths beyond all bounds, nothing at all, a call of nothing, another's evaluation.
        r"printf '\377\377\377\377' >&0",
        "exit 0",
        r#"printf '\007\000\000\000"Ready"' >&0"#,
        r#"printf '\061\000\000\000{"Call":{"function":"x","arguments":[],"object":1}}' >&0"#,
        r#"printf '\020\000\000\000{"Store":{"n":1}}' >&0"#,
        r#"printf '\130\000\000\000{"Done":{"verdict":"Allow","steps":[],"warnings":[],"console":[],"host_calls":[],"covered":[]}}' >&0"#,
    ] {
        // It takes a byte of the evaluation before it speaks.
        let script = format!("{READY}; head -c 1 >/dev/null; {said}; exec sleep 60");
        let setup = setup(shell(&script));
        let evaluated = setup.pool.evaluate(input(pod()));
        assert!(
            matches!(evaluated, Err(PoolError::Engine(_))),
            "{said}: {evaluated:?}"
        );
    }
}

#[test]
fn what_can_be_started_again_is_used_again() {
    let folder = std::env::temp_dir().join(format!("portcullis-guarded-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("worker");
    let setup = setup(WorkerCommand {
        program: program.clone(),
        ..command()
    });
    let evaluated = setup.pool.evaluate(input(pod()));
    assert!(
        matches!(evaluated, Err(PoolError::NoProcess(_))),
        "{evaluated:?}"
    );
    let own = std::env::current_exe().unwrap();
    let script = format!("#!/bin/sh\nexec '{}' \"$@\"\n", own.display());
    let aside = folder.join("aside");
    std::fs::write(&aside, script).unwrap();
    std::fs::set_permissions(&aside, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::rename(&aside, &program).unwrap();
    // No evaluation is requested meanwhile.
    until("it is tried again", || setup.told.has("ProcessAgain"));
    assert_eq!(setup.guard.status().fault, None);
    assert_eq!(
        patiently(&setup.pool, input(pod())).verdict,
        PolicyVerdict::Allow
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Ends a process from outside, and waits until it has ended.
fn kill(pid: u32) {
    let status_file = format!("/proc/{pid}/status");
    let pid = pid.to_string();
    let status = std::process::Command::new("kill")
        .args(["-9", &pid])
        .status();
    assert!(status.unwrap().success());
    until("it has ended", || {
        // With its last thread, not with its first one.
        let status = std::fs::read_to_string(&status_file).unwrap_or_default();
        status.is_empty() || (status.contains("State:\tZ") && status.contains("Threads:\t1\n"))
    });
}

/// The open files in a folder of them.
fn files_of(folder: &str) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let links = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    links.map(|link| link.display().to_string()).collect()
}

/// The environment, open files and folder of a process.
fn look_at(pid: u32) -> (String, Vec<String>, PathBuf) {
    let at = |name: &str| format!("/proc/{pid}/{name}");
    let environment = std::fs::read_to_string(at("environ")).unwrap();
    let files = files_of(&at("fd"));
    (environment, files, std::fs::read_link(at("cwd")).unwrap())
}

/// In a process of its own, because it looks at all of its children: run by the test below.
#[test]
#[ignore = "run by another test, alone"]
fn alone_a_worker_is_bare_and_one_that_is_killed_is_replaced() {
    // What this program was started with, it can't take away.
    let inherited = files_of("/proc/self/fd");
    let setup = setup(command());
    assert_eq!(
        patiently(&setup.pool, input(pod())).verdict,
        PolicyVerdict::Allow
    );
    until("no more than one is kept ready", || children().len() == 1);
    let (environment, files, folder) = look_at(children()[0]);
    assert_eq!((environment.as_str(), folder), ("", PathBuf::from("/")));
    let is_own = |file: &&String| **file != "/dev/null" && !inherited.contains(file);
    let own: BTreeSet<&String> = files.iter().filter(is_own).collect();
    assert!(
        own.iter().all(|file| file.starts_with("socket:")),
        "{own:?}"
    );
    assert_eq!(own.len(), 1, "{own:?}");
    // While one has nothing to do.
    kill(children()[0]);
    assert_eq!(
        patiently(&setup.pool, input(pod())).verdict,
        PolicyVerdict::Allow
    );
    // While one evaluates, and waits for a host call.
    let (sender, receiver) = mpsc::channel();
    let object = serde_json::json!({"waits": 1});
    let deadline = portcullis_core::clock::monotonic() + Duration::from_secs(60);
    let answer = move |e| drop(sender.send(e));
    setup.pool.submit(input(object), deadline, answer).unwrap();
    setup.arrived.recv().unwrap();
    children().into_iter().for_each(kill);
    setup.open.send(()).unwrap();
    let evaluated = receiver.recv().unwrap();
    assert!(
        matches!(evaluated, Err(PoolError::Engine(_))),
        "{evaluated:?}"
    );
    assert_eq!(
        patiently(&setup.pool, input(pod())).verdict,
        PolicyVerdict::Allow
    );
    drop(setup);
    until("all are gone", || children().is_empty());
}

#[test]
fn a_worker_is_bare_and_one_that_is_killed_is_replaced() {
    let name = "faults::alone_a_worker_is_bare_and_one_that_is_killed_is_replaced";
    let mut own = std::process::Command::new(std::env::current_exe().unwrap());
    let ran = own.args(["--exact", name, "--ignored"]).output().unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
}
