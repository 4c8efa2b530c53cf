//! Output that could not be written is never success, whatever the command.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use portcullis_testing::Authority;
use serde_json::{Value, json};

use crate::decisions::{fill, ids, samples};
use crate::harness::{Folder, Ran, Rest, RestCall, pod, program, run};

/// What a command prints on standard output.
pub(super) enum Prints {
    /// Data, when it is called so.
    Data(&'static str),
    /// Nothing, ever: it has no data, and reports on standard error.
    Nothing,
}

/// Every command, and how to have it print something. `ID` is a recorded decision, `SERVER` a server.
pub(super) const COMMANDS: &[(&str, Prints)] = &[
    ("init", Prints::Nothing),
    ("check", Prints::Data("-o json")),
    ("lint", Prints::Data("-o json policies")),
    ("eval", Prints::Data("pod.yaml --policies policies")),
    ("test", Prints::Data("-o json")),
    ("plugins", Prints::Data("")),
    ("schema", Prints::Data("")),
    ("can-i", Prints::Data("read --tenant example --anonymous")),
    ("who-can", Prints::Data("read --tenant example")),
    ("access-matrix", Prints::Data("--tenant example")),
    ("graph path", Prints::Data("Desk:hq/d1 Robot:r1")),
    ("graph neighbors", Prints::Data("Desk:hq/d1")),
    ("graph export", Prints::Data("--json")),
    ("graph check", Prints::Data("office.yaml")),
    ("graph list", Prints::Data("")),
    ("decisions list", Prints::Data("--data-dir data")),
    ("decisions export", Prints::Data("--data-dir data")),
    ("explain", Prints::Data("ID --data-dir data")),
    (
        "replay",
        Prints::Data("--policies policies --file decisions.jsonl"),
    ),
    ("job submit", Prints::Data("job.json SERVER")),
    ("job list", Prints::Data("SERVER")),
    ("job show", Prints::Data("1 SERVER")),
    ("job why", Prints::Data("1 SERVER")),
    ("job trace", Prints::Data("1 SERVER")),
    ("job retry", Prints::Data("1 SERVER")),
    ("job cancel", Prints::Data("1 SERVER")),
    ("pipeline submit", Prints::Data("pipeline.json SERVER")),
    ("pipeline show", Prints::Data("1 SERVER")),
    ("pipeline enqueue", Prints::Nothing),
    ("pipeline dequeue", Prints::Nothing),
    ("pipeline promote", Prints::Nothing),
    ("controller add", Prints::Data("c --pull SERVER")),
    ("controller list", Prints::Data("SERVER")),
    ("controller show", Prints::Data("1 SERVER")),
    ("controller test", Prints::Data("1 SERVER")),
    ("controller pause", Prints::Nothing),
    ("controller resume", Prints::Nothing),
    ("controller delete", Prints::Nothing),
    ("controller answer", Prints::Nothing),
    ("delivery list", Prints::Data("SERVER")),
    ("delivery redeliver", Prints::Nothing),
    ("runner list", Prints::Data("SERVER")),
    ("runner matrix", Prints::Data("--job 1 SERVER")),
    ("runner pause", Prints::Nothing),
    ("runner resume", Prints::Nothing),
    ("autohold list", Prints::Data("--tenant t1 SERVER")),
    ("autohold show", Prints::Data("7 --tenant t1 SERVER")),
    ("autohold place", Prints::Nothing),
    ("autohold release", Prints::Nothing),
    ("tenant list", Prints::Data("SERVER")),
    ("tenant show", Prints::Data("t1 SERVER")),
    ("tenant pause", Prints::Data("t1 SERVER")),
    ("tenant resume", Prints::Data("t1 SERVER")),
    ("serve", Prints::Nothing),
    ("health", Prints::Nothing),
    ("playground", Prints::Nothing),
    ("demo", Prints::Data("--count 1 SERVER")),
    (
        "token create",
        Prints::Data("--authenticator op --subject zoe"),
    ),
    (
        "generate webhooks",
        Prints::Data("-c cluster.yaml --url https://gate.example --ca ca.crt"),
    ),
    (
        "generate authorization",
        Prints::Data("-c cluster.yaml --url https://gate.example --ca ca.crt"),
    ),
    ("generate rbac", Prints::Data("-c cluster.yaml")),
    ("doctor", Prints::Data("--no-cluster --data-dir data")),
    ("login", Prints::Nothing),
    ("logout", Prints::Nothing),
    ("whoami", Prints::Data("SERVER")),
    ("context list", Prints::Data("")),
    ("context use", Prints::Nothing),
    ("context delete", Prints::Nothing),
    ("completions", Prints::Data("bash")),
    ("man", Prints::Data("")),
    ("version", Prints::Data("")),
    ("help", Prints::Data("")),
];

/// The commands below this one, as its help lists them; itself if there are none.
pub(super) fn leaves(command: &[&str]) -> Vec<String> {
    let help = run(&[command, &["--help"]].concat()).out;
    let listed = match command.is_empty() {
        // In groups, before its options.
        true => help.split_once("\nOptions:\n").unwrap().0,
        false => match help.split_once("\nCommands:\n") {
            Some((_, listed)) => listed.split("\n\n").next().unwrap(),
            None => return vec![command.join(" ")],
        },
    };
    let names = listed.lines().filter_map(|line| {
        let entry = line.strip_prefix("  ")?;
        entry.split(' ').next().filter(|name| !name.is_empty())
    });
    // Below another command it only repeats what `help` says.
    let names = names.filter(|name| *name != "help" || command.is_empty());
    let all = names.flat_map(|name| match name {
        "help" => vec![name.to_owned()],
        name => leaves(&[command, &[name]].concat()),
    });
    all.collect()
}

/// A folder with something for every command.
pub(super) fn folder() -> Folder {
    let folder = Folder::new();
    let graph =
        json!({"profiles": [{"name": "office", "profile": "office.yaml", "objects": "objects"}]});
    let authenticator = json!({"name": "op", "driver": "HS256", "issuer": "op", "audience": "portal",
        "realm": "R", "secretFile": "key"});
    let config = json!({"graph": graph, "tenants": {"file": "tenants.yaml"},
        "authenticators": [authenticator], "policyDirs": ["policies"]});
    folder.write("portcullis.yaml", config.to_string());
    folder.write("tenants.yaml", include_str!("../access/tenants.yaml"));
    folder.write("office.yaml", include_str!("../graph/office.yaml"));
    folder.write("objects/all.yaml", include_str!("../graph/objects.yaml"));
    folder.write("key", "0123456789abcdef0123456789abcdef-key\n");
    folder.write("policies/p.js", "return true");
    folder.write("pod.yaml", pod().to_string());
    let case = json!({"name": "a", "object": pod(), "expect": {"allowed": true}});
    folder.write("a.test.yaml", json!({"tests": [case]}).to_string());
    fill(&folder, "data", &samples());
    folder.write("decisions.jsonl", samples().join("\n"));
    folder.write("job.json", "{}");
    let profiles = json!([{"name": "agents", "profile": "node", "inCluster": true}]);
    let cluster = json!({"graph": {"profiles": profiles}, "admission": {"order": ["AlwaysAdmit"]},
        "authorization": {"chains": {"default": ["agents"]}}});
    folder.write("cluster.yaml", cluster.to_string());
    folder.write("ca.crt", Authority::new("gate").certificate());
    let contexts = ".config/portcullis/config.yaml";
    folder.write(
        contexts,
        r#"{"contexts": [{"name": "gate", "server": "https://gate.example", "token": "geheim"}]}"#,
    );
    std::fs::set_permissions(folder.path(contexts), Permissions::from_mode(0o600)).unwrap();
    folder.write(
        "pipeline.json",
        r#"{"project": "p/q", "ref": "main", "jobs": []}"#,
    );
    folder
}

/// What the server says of CI jobs.
fn about_jobs(line: &str) -> Option<Value> {
    let job = json!({
        "id": 1, "project": "p/q", "name": "unit", "pipeline": null, "stage": "test", "ref": "main",
        "ref_protected": false, "source": "api", "user": {"id": 1, "username": "ann"},
        "status": "pending", "failure_reason": null, "allowed_to_fail": false, "tags": ["linux"],
        "original_tags": ["linux"], "attempt": 1, "created_at": "2026-11-18T03:53:34.098Z",
        "queued_at": "2026-11-18T03:53:34.101Z", "started_at": null, "finished_at": null,
        "runner_id": null, "prerequisites": {"overall": "met", "items": []}, "admission": null,
        "eligible_runners": [1], "stuck_reason": null,
    });
    let pipeline = json!({
        "id": 1, "project": "p/q", "name": "default", "ref": "main", "change": null,
        "status": "running", "stages": ["test"], "created_at": "2026-11-18T03:53:34.163Z",
        "finished_at": null,
        "jobs": [{"id": 2, "name": "x", "stage": "test", "status": "pending", "allowed_to_fail": false}],
    });
    let controller = json!({
        "id": 1, "name": "c", "level": "instance", "kind": "both", "pull": true, "state": "enabled",
        "match": {}, "may_untag": false, "failure_policy": "closed", "concurrency": 32, "rate": 100,
        "timeout": "15s", "variables": [], "created_at": "2026-11-18T03:53:34.141Z", "revision": 1,
        "secret": "whsec_AAAA",
    });
    let page = |item: &Value| json!({"items": [item], "next": null});
    let delivery = json!({
        "id": 1, "job": 2, "project": "p/q", "controller": 1, "controller_name": "c", "attempt": 1,
        "state": "waiting", "webhook_id": "msg_1", "tries": [], "next_at": "2026-11-18T03:53:34.163Z",
        "created_at": "2026-11-18T03:53:34.163Z", "deadline": "2026-11-18T04:53:34.163Z",
    });
    let runner = json!({
        "id": 1, "runner_type": "instance_type", "description": "", "tag_list": ["a"],
        "run_untagged": false, "access_level": "not_protected", "paused": false, "locked": false,
    });
    let (_, path) = line.split_once(" /api/v1/")?;
    let path = path.split('?').next().unwrap_or(path);
    Some(match (line.starts_with("GET "), path) {
        (true, "jobs") => page(&job),
        (_, "jobs" | "jobs/1" | "jobs/1/retry" | "jobs/1/cancel") => job,
        (_, "pipelines" | "pipelines/1") => pipeline,
        (true, "controllers") => page(&controller),
        (_, "controllers" | "controllers/1") => controller,
        (_, "controllers/1/test") => json!({"error": "no answer", "duration_ms": 3}),
        (true, "deliveries") => page(&delivery),
        (true, "jobs/1/trace") => json!("what it wrote"),
        (true, "runners") => page(&runner),
        (true, "jobs/1/runners") => json!([{
            "id": 1, "description": "r", "eligible": true, "reasons": [],
            "requirements": [{"requirement": "scope", "met": true, "reason": null}],
        }]),
        _ => return None,
    })
}

pub(super) fn server() -> Rest {
    server_with(|answer| answer)
}

/// A server whose answers are changed by this.
pub(super) fn server_with(change: fn(Value) -> Value) -> Rest {
    let hold = json!({
        "id": 7, "tenant": "t1", "project": "p", "job": "unit", "ref_filter": ".*", "max_count": 1,
        "current_count": 0, "reason": "x", "node_expiration": 86_400, "expired": null, "nodes": [],
        "placed_by": "bob", "placed_at": 60, "expires_at": null,
    });
    let state = json!({"trigger_queue_paused": false, "trigger_queue_discarding": false,
        "result_queue_paused": false, "reason": null, "set_by": "root", "set_at": 60, "expires_at": null});
    Rest::new(move |call: &RestCall| {
        let answer = match call.line.as_str() {
            "POST /mutate" => json!({"response": {"allowed": true}}),
            "GET /api/tenants" => {
                json!([{"name": "t1", "projects": 3, "queue": 0, "state": state}])
            }
            other if other.starts_with("GET ") && other.ends_with("/authorizations") => {
                json!({"user": "ann", "zuul": {"admin": false, "scope": ["t1"]}, "roles": ["dev"],
                    "rules": ["devs"], "permissions": {"read": true}})
            }
            "GET /api/tenant/t1/status" => json!({"pipelines": [], "state": state}),
            "POST /api/tenant/t1/state" => state.clone(),
            "GET /api/tenant/t1/autohold" => json!([hold]),
            "GET /api/tenant/t1/autohold/7" => hold.clone(),
            other => about_jobs(other).unwrap_or_else(|| panic!("{other}")),
        };
        (200, change(answer).to_string())
    })
}

/// Runs it with this as its standard output.
fn run_into(folder: &Folder, arguments: &[String], out: Stdio) -> Ran {
    let err = File::create(folder.path("stderr")).unwrap();
    let mut command = program(folder.root());
    let status = command.args(arguments).stdout(out).stderr(err).status();
    Ran {
        code: status.unwrap().code(),
        out: String::new(),
        err: std::fs::read_to_string(folder.path("stderr")).unwrap(),
    }
}

fn full() -> Stdio {
    let full = OpenOptions::new().write(true).open("/dev/full");
    full.unwrap().into()
}

pub(super) fn words(command: &str, more: &str, server: &Rest) -> Vec<String> {
    let id = ids(&samples()).remove(0);
    let access = format!("--server {} --token geheim", server.url);
    let line = format!("{command} {more}").replace("SERVER", &access);
    let line = line.replace("ID ", &format!("{id} "));
    line.split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn is_told(ran: &Ran, arguments: &[String]) {
    let err = &ran.err;
    assert_eq!(ran.code, Some(5), "{arguments:?}: {err}");
    let told = "error: cannot write to standard output: no space left on device\n";
    assert!(err.ends_with(told), "{arguments:?}: {err}");
}

#[test]
fn every_command_says_that_it_could_not_write() {
    let (folder, server) = (folder(), server());
    let leaves = leaves(&[]);
    let known: Vec<&str> = COMMANDS.iter().map(|(command, _)| *command).collect();
    assert_eq!(
        leaves, known,
        "a command is missing in this test, or here twice"
    );
    for (command, prints) in COMMANDS {
        let Prints::Data(more) = prints else {
            continue;
        };
        let arguments = words(command, more, &server);
        let out = File::create(folder.path("out")).unwrap();
        let fine = run_into(&folder, &arguments, out.into());
        let printed = std::fs::metadata(folder.path("out")).unwrap().len();
        assert!(printed > 0, "{arguments:?} prints nothing: {}", fine.err);
        is_told(&run_into(&folder, &arguments, full()), &arguments);
    }
}

#[test]
fn so_do_help_and_version() {
    let folder = Folder::new();
    for command in leaves(&[]).into_iter().filter(|name| name != "help") {
        let mut arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
        arguments.push("--help".to_owned());
        is_told(&run_into(&folder, &arguments, full()), &arguments);
    }
    let version = ["--version".to_owned()];
    is_told(&run_into(&folder, &version, full()), &version);
}

#[test]
fn every_format_of_eval_and_test_says_so_too() {
    let folder = folder();
    for (command, formats) in [
        ("eval pod.yaml", "table json yaml junit sarif tap"),
        ("test", "table json yaml junit lcov"),
    ] {
        for format in formats.split(' ') {
            let line = format!("{command} -o {format}");
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            is_told(&run_into(&folder, &arguments, full()), &arguments);
        }
    }
}

#[test]
fn an_export_that_is_not_whole_counts_nothing() {
    let folder = folder();
    let arguments = words("decisions export", "--data-dir data", &server());
    let ran = run_into(&folder, &arguments, full());
    assert!(!ran.err.contains("decisions"), "{}", ran.err);
    let out = File::create(folder.path("out")).unwrap();
    let whole = run_into(&folder, &arguments, out.into());
    assert_eq!((whole.code, whole.err.as_str()), (Some(0), "4 decisions\n"));
    let written = std::fs::read_to_string(folder.path("out")).unwrap();
    assert_eq!(written.lines().count(), 4);
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let folder = folder();
    for command in ["schema", "man", "decisions export --data-dir data"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let ran = run_into(&folder, &arguments, writer.into());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{command}");
    }
}

#[test]
fn standard_error_that_is_full_changes_nothing() {
    let folder = folder();
    let mut command = program(folder.root());
    command.args(["eval", "pod.yaml"]).stdout(Stdio::null());
    assert_eq!(command.stderr(full()).status().unwrap().code(), Some(0));
}

#[test]
fn a_report_is_written_whole_or_told() {
    let folder = folder();
    for command in ["eval pod.yaml", "test"] {
        for (file, why) in [
            ("/nonexistent/x.xml", "no such file or directory"),
            ("/dev/full", "no space left on device"),
            ("objects", "it is a directory"),
            ("key/x.xml", "a part of its path is not a directory"),
        ] {
            let line = format!("{command} --report junit={file}");
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let ran = run_into(&folder, &arguments, Stdio::null());
            assert_eq!(ran.code, Some(5), "{line}: {}", ran.err);
            let told = format!("error: cannot write the report {file}: {why}\n");
            assert!(ran.err.ends_with(&told), "{line}: {}", ran.err);
        }
    }
}
