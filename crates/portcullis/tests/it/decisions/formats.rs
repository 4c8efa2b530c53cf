//! How lists look.

use super::{fill, filled, sample};
use crate::harness::{Folder, run_in};

#[test]
fn the_table_tells_what_and_who() {
    let ran = run_in(&filled(), &["decisions", "list", "--data-dir", "data"]);
    let wanted = "\
ID                          TIME                  DOOR           USER            ACTION                          VERDICT  BY                   MESSAGE
01K9ZV3N5J0000000000000004  2026-11-15T09:17:00Z  authorization  gardenlet-eu-1  update deployments garden/etcd  deny     -                    no path from deployments garden/etcd to Seed eu-1; No policy matched.
01K9ZV3N5J0000000000000003  2026-11-15T09:16:00Z  kubernetes     dev@corp        CREATE Pod dev/web              allow    -                    (changed)
01K9ZV3N5J0000000000000002  2026-11-15T09:15:40Z  kubernetes     maria@corp      UPDATE Deployment pay/api       deny     policy image-signed  no signature for key prod-2026
01K9ZV3N5J0000000000000001  2026-11-15T09:14:02Z  kubernetes     ci-bot          CREATE Pod shop/debug           deny     PodSecurity          pods \"debug\" is forbidden: violates PodSecurity \"baseline:latest\": privileged (container \"shell\" must not set securityContext.privileged=true)
";
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.as_str()),
        (Some(0), wanted, "")
    );
}

#[test]
fn an_empty_list_is_no_failure() {
    let folder = filled();
    for (output, out, err) in [
        ("table", "", "no decisions found\n"),
        ("json", "{\n  \"items\": [],\n  \"next\": null\n}\n", ""),
        ("yaml", "items: []\nnext: null\n", ""),
    ] {
        let flags = [
            "decisions",
            "list",
            "--data-dir",
            "data",
            "--user",
            "nobody",
            "-o",
            output,
        ];
        let ran = run_in(&folder, &flags);
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.as_str()),
            (Some(0), out, err)
        );
    }
}

#[test]
fn yaml_says_the_same() {
    let folder = Folder::new();
    fill(&folder, "data", &[sample("refusal"), sample("changed")]);
    let ran = run_in(
        &folder,
        &["decisions", "list", "--data-dir", "data", "-o", "yaml"],
    );
    assert!(
        ran.out
            .starts_with("items:\n  - concerned:\n      - AlwaysPullImages\n"),
        "{}",
        ran.out
    );
    assert_eq!(
        ran.out.matches("\n    verdict: deny\n").count(),
        1,
        "{}",
        ran.out
    );
    assert_eq!(
        ran.out.matches("\n  - concerned:\n").count(),
        2,
        "{}",
        ran.out
    );
    assert!(ran.out.ends_with("\nnext: null\n"), "{}", ran.out);
}

#[test]
fn json_has_the_summaries_alone() {
    let ran = run_in(
        &filled(),
        &["decisions", "list", "--data-dir", "data", "-o", "json"],
    );
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let first = value["items"][0].as_object().unwrap();
    for key in [
        "id",
        "time",
        "door",
        "operation",
        "kind",
        "namespace",
        "name",
        "user",
        "verdict",
        "mutated",
        "message",
        "plugin",
        "policy",
        "digest",
        "duration_us",
        "warnings",
    ] {
        assert!(first.contains_key(key), "{key}");
    }
    for key in ["trace", "input", "patch"] {
        assert!(!first.contains_key(key), "{key}");
    }
}
