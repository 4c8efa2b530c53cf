//! What is logged, and what never is.

use serde_json::{Value, json};

use crate::harness::{Gate, Review, Setup, pod, pod_security, privileged, until};

#[test]
fn json_logs_are_one_object_a_line() {
    let mut config = pod_security(&json!({"enforce": "baseline"}));
    config["log"] = json!({"format": "json"});
    let mut gate = Gate::start(config.clone());
    gate.validate(&privileged()).denied("");
    let odd = Review::create(&privileged()).set("name", "line\nbreak \"quoted\" \u{1b}[31m");
    gate.ask("/validate", &odd).denied("");
    gate.folder.write("portcullis.yaml", "{{{\n\n");
    gate.hang_up();
    until("the fault is logged", || {
        gate.log().contains("last good configuration")
    });
    gate.configure(config);
    gate.hang_up();
    until("the repair is logged", || {
        gate.log().contains("configuration reloaded")
    });
    gate.terminate();
    gate.wait();
    let log = gate.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    for line in &lines {
        for key in ["timestamp", "level", "message"] {
            assert!(line[key].is_string(), "no {key}: {line}");
        }
    }
    let refused: Vec<&Value> = lines
        .iter()
        .filter(|line| line["message"] == "denied")
        .collect();
    assert_eq!(refused.len(), 2, "{log}");
    assert_eq!(refused[0]["plugin"], "PodSecurity");
    assert_eq!(refused[0]["name"], "web");
    assert_eq!(refused[0]["decision_id"].as_str().map(str::len), Some(26));
    assert_eq!(gate.out(), "", "standard output carries data only");
}

#[test]
fn the_variables_win_over_the_file() {
    let config = json!({"log": {"format": "text", "filter": "info"}});
    let gate = Setup::new(config)
        .variable("PORTCULLIS_LOG_FORMAT", "json")
        .variable("PORTCULLIS_LOG", "error")
        .start();
    assert_eq!(gate.log(), "", "more than errors is logged");
    gate.folder.write("portcullis.yaml", "{{{");
    gate.hang_up();
    until("the fault is logged", || !gate.log().is_empty());
    let first: Value = serde_json::from_str(gate.log().lines().next().unwrap()).unwrap();
    assert_eq!(first["level"], "ERROR");
}

#[test]
fn text_logs_are_one_line_each_whatever_names_hold() {
    let gate = Gate::of(&["AlwaysDeny"]);
    let forged = "x\n2026-01-01T00:00:00Z  INFO forged line\r\u{1b}[31m";
    for field in ["name", "namespace", "uid"] {
        gate.ask("/validate", &Review::create(&pod()).set(field, forged))
            .denied("");
    }
    let user = json!({"username": forged});
    gate.ask("/validate", &Review::create(&pod()).set("userInfo", user))
        .denied("");
    let log = gate.log();
    assert!(
        !log.lines()
            .any(|line| line.contains("INFO forged") && !line.contains("denied")),
        "{log}"
    );
    assert!(!log.contains('\u{1b}'), "a control character is logged");
}

#[test]
fn nothing_of_an_object_is_logged_at_any_level() {
    const SECRET: &str = "hunter2-planted-secret";
    let mut config =
        pod_security(&json!({"enforce": "baseline", "warn": "restricted", "audit": "restricted"}));
    config["log"] = json!({"filter": "trace"});
    let gate = Gate::start(config);
    let mut planted = privileged();
    planted["spec"]["containers"][0]["env"] = json!([{"name": "PASSWORD", "value": SECRET}]);
    planted["metadata"]["annotations"] = json!({"token": SECRET});
    gate.validate(&planted).denied("privileged");
    gate.mutate(&planted).denied("privileged");
    let update = Review::create(&planted)
        .set("operation", "UPDATE")
        .set("oldObject", planted.clone());
    gate.ask("/validate", &update);
    // The same where it can't be understood.
    let text = Review::create(&planted).text();
    gate.post_bytes("/validate", &text.as_bytes()[..text.len() - 1])
        .error(400);
    gate.post_bytes(
        "/validate",
        text.replacen("\"spec\":", "\"spec\":1,\"spec\":", 1)
            .as_bytes(),
    )
    .error(400);
    gate.post_bytes(
        "/validate",
        text.replacen(
            "\"operation\":\"CREATE\"",
            &format!("\"operation\":\"{SECRET}\""),
            1,
        )
        .as_bytes(),
    )
    .error(400);
    let odd = text.replacen("\"containers\":[", "\"containers\":[7,", 1);
    gate.post_bytes("/validate", odd.as_bytes());
    let log = gate.log();
    assert!(log.contains("denied"), "nothing is logged at all");
    assert!(!log.contains(SECRET), "{log}");
    assert!(!gate.get("/metrics").text().contains(SECRET));
}

#[test]
fn colours_of_the_log_are_for_those_who_want_them() {
    let plain = Gate::of(&["AlwaysAdmit"]);
    assert!(!plain.log().contains('\u{1b}'), "{}", plain.log());
    let coloured = Setup::new(json!({}))
        .arguments(&["--color", "always"])
        .start();
    assert!(coloured.log().contains('\u{1b}'), "{}", coloured.log());
}

#[test]
fn what_runs_is_told_at_the_start_in_as_much_detail_as_is_wanted() {
    let config = || {
        json!({
            "admission": {"order": ["AlwaysAdmit"]},
            "policies": [{"name": "idle", "code": "return true"}],
            "authorization": {"chains": {"default": ["AlwaysAllow"]}},
        })
    };
    let gate = Gate::start(config());
    let log = gate.log();
    assert_eq!(log.matches(" started ").count(), 1, "{log}");
    // Policies that are not evaluated are not in force.
    assert!(
        log.contains("they are not evaluated") && !log.contains("policies in force"),
        "{log}"
    );
    let gate = Setup::new(config())
        .variable("PORTCULLIS_LOG", "debug")
        .start();
    let log = gate.log();
    for line in [
        "plug-in name=\"AlwaysAdmit\"",
        "policy name=\"idle\"",
        "chain of authorizers name=\"default\"",
        "limits",
    ] {
        let found = log.lines().any(|l| l.contains("DEBUG") && l.contains(line));
        assert!(found, "no {line}: {log}");
    }
}
