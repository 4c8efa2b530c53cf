//! `cosignVerify` and `slsaVerify` with stand-ins for the programs.

use serde_json::{Value, json};

use crate::harness::{Acjs, AcjsSetup, Verdict, acjs};
use crate::policies::review_of;

/// Writes its arguments down, one call a line; fails for images called `bad`.
fn tool(output: &str) -> String {
    format!(
        "echo \"$@\" >> \"$HOME/calls\"\n\
         case \"$*\" in *bad*) echo 'FAILED: not ours' >&2; exit 1;; esac\n\
         echo '{output}'"
    )
}

const SIGNED: &str = r#"[{"critical":{"type":"cosign container image signature"}}]"#;

fn pod(images: &[&str]) -> Value {
    let containers = images.iter().enumerate();
    let containers = containers.map(|(n, image)| json!({"name": format!("c{n}"), "image": image}));
    json!({"kind": "Pod", "spec": {"containers": containers.collect::<Vec<_>>()}})
}

fn asked(server: &Acjs, images: &[&str]) -> Verdict {
    server.ask(&review_of(&pod(images)))
}

fn calls(server: &Acjs) -> Vec<String> {
    let text = std::fs::read_to_string(server.folder.path("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

const OPTIONS: &str = "{SourceURI: 'github.com/a/b', BuilderID: 'https://builder.example/x', ProvenancePath: 'p.json'}";

/// Both ways in which policies ask.
fn ways() -> [String; 2] {
    [
        format!("if (!slsaVerify({OPTIONS})) return 'failed'\nreturn true"),
        format!("return slsaVerify({OPTIONS})"),
    ]
}

#[test]
fn signatures_of_every_image() {
    let code = "const r = cosignVerify('key.pub')\n\
        return req.name === 'show' ? JSON.stringify(r) : true";
    let setup = AcjsSetup::new(acjs(&[("P", code)]));
    let server = setup.tool("cosign", &tool(SIGNED)).start();
    let images = ["r.example/a:1", "r.example/b:2"];
    asked(&server, &images).allowed();
    let made = calls(&server);
    assert_eq!(made.len(), 2, "{made:?}");
    for (call, image) in made.iter().zip(images) {
        assert!(call.starts_with("verify --key key.pub"), "{call}");
        assert!(call.ends_with(&format!("-- {image}")), "{call}");
    }
    let verdict = server.ask(&review_of(&pod(&images)).set("name", "show"));
    let text = verdict.message().strip_prefix("P: ").unwrap();
    let shown: Value = serde_json::from_str(text).unwrap();
    let signed: Value = serde_json::from_str(SIGNED).unwrap();
    assert_eq!(shown, json!({(images[0]): signed, (images[1]): signed}));
    let verdict = asked(&server, &["r.example/a:1", "r.example/bad:2"]);
    verdict.denied("P: unable to evaluate policy:");
    verdict.denied("FAILED: not ours");
}

#[test]
fn what_cosign_prints_must_be_signatures() {
    for output in ["", "[]", "{}", "true", "no JSON"] {
        let code = "return cosignVerify('key.pub') ? true : undefined";
        let setup = AcjsSetup::new(acjs(&[("P", code)]));
        let server = setup.tool("cosign", &tool(output)).start();
        asked(&server, &["r.example/a:1"]).denied("P: ");
    }
}

#[test]
fn provenance_in_both_ways_of_asking() {
    for code in ways() {
        let setup = AcjsSetup::new(acjs(&[("P", &code)]));
        let server = setup.tool("slsa-verifier", &tool("PASSED")).start();
        asked(&server, &["r.example/a:1", "r.example/b:1"]).allowed();
        let made = calls(&server);
        assert_eq!(made.len(), 2, "{made:?}");
        for part in [
            "verify-image",
            "--provenance-path p.json",
            "--builder-id https://builder.example/x",
            "--source-uri github.com/a/b",
            "-- r.example/a:1",
        ] {
            assert!(made[0].contains(part), "`{part}` is not in: {}", made[0]);
        }
        let verdict = asked(&server, &["r.example/a:1", "r.example/bad:1"]);
        verdict.denied("P: ");
        verdict.denied("FAILED: not ours");
    }
}

#[test]
fn a_tool_that_is_missing_refuses() {
    for code in ways() {
        let server = AcjsSetup::new(acjs(&[("P", &code)]))
            .without_tools()
            .start();
        asked(&server, &["r.example/a:1"]).denied("slsa-verifier");
    }
    let code = "if (!cosignVerify('key.pub')) return 'unsigned'\nreturn true";
    let server = AcjsSetup::new(acjs(&[("P", code)])).without_tools().start();
    asked(&server, &["r.example/a:1"]).denied("cosign");
}

#[test]
fn an_image_that_looks_like_a_flag_is_never_passed_on() {
    for code in ways() {
        let setup = AcjsSetup::new(acjs(&[("P", &code)]));
        let server = setup.tool("slsa-verifier", &tool("PASSED")).start();
        for image in [
            "--help",
            "-x",
            "a b",
            "",
            "--",
            "$(id)",
            "r.example/a:1\n--help",
        ] {
            asked(&server, &[image]).denied("P: ");
        }
        assert_eq!(calls(&server), Vec::<String>::new());
    }
    let setup = AcjsSetup::new(acjs(&[("P", "return !!cosignVerify('key.pub')")]));
    let server = setup.tool("cosign", &tool(SIGNED)).start();
    asked(&server, &["--help"]).denied("--help");
    assert_eq!(calls(&server), Vec::<String>::new());
}

#[test]
fn a_pod_without_images_is_not_verified() {
    for code in ways() {
        let setup = AcjsSetup::new(acjs(&[("P", &code)]));
        let server = setup.tool("slsa-verifier", &tool("PASSED")).start();
        asked(&server, &[]).denied("P: ");
        let nothing = json!({"kind": "Pod", "spec": {}});
        server.ask(&review_of(&nothing)).denied("P: ");
    }
    let setup = AcjsSetup::new(acjs(&[("P", "return !!cosignVerify('key.pub')")]));
    let server = setup.tool("cosign", &tool(SIGNED)).start();
    asked(&server, &[]).denied("P: ");
}

#[test]
fn the_images_are_those_of_the_changed_object() {
    let code =
        "object.spec.containers[0].image = 'r.example/bad:1'; return !!cosignVerify('key.pub')";
    let setup = AcjsSetup::new(acjs(&[("P", code)]));
    let server = setup.tool("cosign", &tool(SIGNED)).start();
    asked(&server, &["r.example/a:1"]).denied("bad");
}

#[test]
fn a_tool_that_never_ends_costs_the_deadline() {
    let mut config = acjs(&[("P", "return !!cosignVerify('key.pub')")]);
    config["limits"] = json!({"deadline": "1s"});
    let server = AcjsSetup::new(config)
        .tool("cosign", "echo $$ > \"$HOME/pid\"; exec sleep 600")
        .start();
    asked(&server, &["r.example/a:1"]).denied("deadline");
    let pid = crate::harness::eventually("the tool has started", || {
        let text = std::fs::read_to_string(server.folder.path("pid")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    crate::harness::until("the tool is gone", || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        state.is_err() || state.is_ok_and(|text| text.contains(") Z "))
    });
}
