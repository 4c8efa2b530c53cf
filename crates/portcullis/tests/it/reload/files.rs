//! When a reload happens, and what a faulty one leaves.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{becomes, gate_for, is_let_in, is_open, may, with_attributes};
use crate::harness::{
    Connection, Folder, Gate, Review, Verdict, chain, free_port, pod, program, until,
};

const OPEN: &[&str] = &["AlwaysAdmit"];
const SHUT: &[&str] = &["AlwaysDeny"];

#[test]
fn a_signal_reloads_any_number_of_times_in_the_same_process() {
    let mut gate = Gate::of(OPEN);
    for order in [SHUT, OPEN, SHUT, OPEN, SHUT] {
        gate.configure(chain(order));
        gate.hang_up();
        becomes(&gate, order == OPEN);
    }
    assert!(gate.is_running());
    assert_eq!(
        gate.log().matches("listening").count(),
        1,
        "the listener was bound again"
    );
}

#[test]
fn a_signal_without_a_change_is_a_reload_too() {
    let gate = Gate::of(OPEN);
    gate.hang_up();
    until("the log tells", || {
        gate.log().contains("configuration reloaded")
    });
    assert!(is_open(&gate));
    gate.last_reload_is(true);
}

#[test]
fn a_file_written_over_or_renamed_into_place_is_seen_without_a_signal() {
    let gate = Gate::of(OPEN);
    gate.configure(chain(SHUT));
    becomes(&gate, false);
    gate.folder
        .replace("portcullis.yaml", gate.text_of(chain(OPEN)));
    becomes(&gate, true);
    gate.folder
        .replace("portcullis.yaml", gate.text_of(chain(SHUT)));
    becomes(&gate, false);
    gate.configure(chain(OPEN));
    becomes(&gate, true);
}

#[test]
fn the_swap_of_a_mounted_config_map_is_seen() {
    let (folder, port) = (Folder::new(), free_port());
    let text = |order: &[&str]| {
        let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health", "metrics"]});
        json!({"listeners": [listener], "admission": {"order": order}}).to_string()
    };
    folder.write("..v1/portcullis.yaml", text(OPEN));
    folder.link("..data", "..v1");
    folder.link("portcullis.yaml", "..data/portcullis.yaml");
    let mut command = program(folder.root());
    command.args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"]);
    let gate = Gate::spawn(folder, port, command);
    assert!(is_open(&gate));
    for (version, order) in [(2, SHUT), (3, OPEN), (4, SHUT)] {
        gate.folder
            .write(&format!("..v{version}/portcullis.yaml"), text(order));
        gate.folder.link("..data", &format!("..v{version}"));
        std::fs::remove_dir_all(gate.folder.path(&format!("..v{}", version - 1))).unwrap();
        becomes(&gate, order == OPEN);
    }
}

#[test]
fn a_file_that_the_configuration_names_is_watched() {
    let gate = gate_for(OPEN, "ann");
    assert!(is_let_in(&gate, "ann"));
    gate.folder.write("abac.jsonl", may("ben"));
    until("ben is let in", || is_let_in(&gate, "ben"));
    assert!(!is_let_in(&gate, "ann"));
    gate.folder.replace("abac.jsonl", may("cid"));
    until("cid is let in", || is_let_in(&gate, "cid"));
    assert!(!is_let_in(&gate, "ben"));
}

#[test]
fn the_file_of_plugins_and_the_files_it_names_are_watched() {
    const LIST: &str = "{apiVersion: apiserver.config.k8s.io/v1, kind: AdmissionConfiguration, plugins: [{name: PodSecurity, path: pss.yaml}]}";
    let level = |level: &str| {
        format!(
            "{{apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: {{enforce: {level}}}}}"
        )
    };
    let config = json!({"admission": {"order": ["PodSecurity"], "configFile": "sub/list.yaml"}});
    let setup = crate::harness::Setup::new(config).file("sub/list.yaml", LIST);
    let gate = setup.file("sub/pss.yaml", level("baseline")).start();
    assert!(is_open(&gate));
    gate.folder.write("sub/pss.yaml", level("restricted"));
    becomes(&gate, false);
    gate.folder
        .replace("sub/list.yaml", LIST.replace(", path: pss.yaml", ""));
    becomes(&gate, true);
}

#[test]
fn a_faulty_file_keeps_the_last_good_one_until_it_is_repaired() {
    let gate = Gate::of(SHUT);
    gate.last_reload_is(true);
    let faulty = [
        (gate.text_of(chain(&["NoSuchPlugin"])), "NoSuchPlugin"),
        (String::new(), "portcullis.yaml"),
        ("{{{".to_owned(), "portcullis.yaml"),
        (
            gate.text_of(json!({"admission": {"order": OPEN}, "zzz": 1})),
            "zzz",
        ),
        ("\u{0}".to_owned(), "portcullis.yaml"),
    ];
    for (text, why) in faulty {
        gate.folder.write("portcullis.yaml", text);
        gate.hang_up();
        let verbose = || gate.get("/readyz?verbose").text();
        until("the fault is shown", || {
            verbose().contains("last reload failed") && verbose().contains(why)
        });
        gate.last_reload_is(false);
        until("the log says why", || gate.log().contains(why));
        assert_eq!(gate.get("/readyz").status, 200);
        assert!(!is_open(&gate), "the last good chain is gone");
    }
    gate.configure(chain(OPEN));
    gate.hang_up();
    becomes(&gate, true);
    gate.last_reload_is(true);
    assert!(!gate.get("/readyz?verbose").text().contains("failed"));
}

#[test]
fn a_configuration_that_is_gone_keeps_the_last_good_one() {
    let gate = Gate::of(SHUT);
    std::fs::remove_file(gate.folder.path("portcullis.yaml")).unwrap();
    gate.last_reload_is(false);
    assert!(!is_open(&gate));
    gate.configure(chain(OPEN));
    becomes(&gate, true);
}

#[test]
fn a_reload_is_all_or_nothing() {
    let gate = gate_for(SHUT, "ann");
    gate.folder
        .write("abac.jsonl", may("ben") + "this is no policy\n");
    gate.folder
        .replace("portcullis.yaml", gate.text_of(with_attributes(OPEN)));
    gate.hang_up();
    gate.last_reload_is(false);
    assert!(
        !is_open(&gate),
        "the new order counts though another file is faulty"
    );
    assert!(is_let_in(&gate, "ann") && !is_let_in(&gate, "ben"));
    assert!(
        gate.log().contains("abac.jsonl:2"),
        "the log does not say where"
    );
    gate.folder.write("abac.jsonl", may("ben"));
    becomes(&gate, true);
    assert!(!is_let_in(&gate, "ann") && is_let_in(&gate, "ben"));
}

#[test]
fn a_file_that_was_missing_is_seen_when_it_comes() {
    let gate = Gate::of(SHUT);
    gate.configure(with_attributes(OPEN));
    gate.last_reload_is(false);
    assert!(!is_open(&gate));
    // The file that the new configuration names; nothing else is touched any more.
    gate.folder.write("abac.jsonl", may("ann"));
    becomes(&gate, true);
    assert!(is_let_in(&gate, "ann"));
}

#[test]
fn no_request_fails_while_the_configuration_changes() {
    let gate = Gate::of(OPEN);
    let is_over = AtomicBool::new(false);
    let ask = |mut connection: Connection, keep: bool| {
        let mut answered = 0;
        while !is_over.load(Ordering::Relaxed) {
            if !keep {
                connection = Connection::tcp(gate.port).unwrap();
            }
            let review = Review::create(&pod()).set("uid", format!("u{answered}"));
            let answer = connection
                .post("/mutate", &review.value())
                .expect("a request failed");
            let verdict = Verdict::of(&answer, &review);
            // Whatever is in force, it is one whole configuration.
            match verdict.annotation("plugin") {
                None => assert!(verdict.is_allowed()),
                Some(who) => assert!(who == "AlwaysDeny" && !verdict.is_allowed()),
            }
            answered += 1;
        }
        answered
    };
    std::thread::scope(|scope| {
        let asking = [true, false].map(|keep| {
            let connection = Connection::tcp(gate.port).unwrap();
            scope.spawn(move || ask(connection, keep))
        });
        for order in [SHUT, &["AlwaysPullImages"], SHUT, OPEN].repeat(2) {
            gate.configure(chain(order));
            gate.hang_up();
            becomes(&gate, order != SHUT);
        }
        is_over.store(true, Ordering::Relaxed);
        for thread in asking {
            assert!(
                thread.join().expect("a request failed") > 20,
                "hardly any request was made"
            );
        }
    });
}

#[test]
fn a_reload_says_what_it_changed() {
    let config = |order: &[&str], policies: &[(&str, &str)]| {
        let mut config = chain(order);
        let policies = policies
            .iter()
            .map(|(name, code)| json!({"name": name, "code": code}));
        config["policies"] = policies.collect();
        config
    };
    let before = config(
        &["AlwaysAdmit", "Policies"],
        &[("kept", "return true"), ("changed", "return true")],
    );
    let gate = Gate::start(before);
    let after = config(
        &["Policies", "AlwaysAdmit"],
        &[
            ("added", "return true"),
            ("kept", "return true"),
            ("changed", "return 'no'"),
        ],
    );
    gate.configure(after);
    gate.hang_up();
    until("the log tells", || {
        gate.log().contains("configuration reloaded")
    });
    let log = gate.log();
    let line = log
        .lines()
        .find(|line| line.contains("configuration reloaded"));
    let line = line.unwrap();
    let digest = "[0-9a-f]{12}";
    let expected = format!(
        r#"plug-ins in the order Policies, AlwaysAdmit; policies added added \({digest}\), changed changed \({digest} -> {digest}\)"#
    );
    let expected = regex::Regex::new(&expected).unwrap();
    assert!(expected.is_match(line), "{line}");
    assert!(!line.contains("kept"), "{line}");
}
