//! Policies in JavaScript and TypeScript: folders, the answer of each policy, and its position.

use serde_json::{Value, json};

use super::xml::elements;
use super::{Evaluated, eval};
use crate::harness::{Folder, program, run_in};

/// A pod with this image.
fn image(name: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "image": image}]}})
}

const NO_LATEST: &str = "import { isPinned } from \"./lib/images.ts\";\n\
    export const policy: Policy = { match: { kinds: [\"Pod\"] } };\n\
    export default function () {\n\
    \x20 const images: string[] = object.spec.containers.map((c: any) => c.image);\n\
    \x20 if (!images.every(isPinned)) deny(\"pin a version\");\n\
    }\n";
const LIBRARY: &str =
    "export const isPinned = (image: string): boolean => !image.endsWith(\":latest\");\n";

/// Policies of all kinds, and two pods.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("policies/no-latest.ts", NO_LATEST);
    folder.write("policies/lib/images.ts", LIBRARY);
    folder.write(
        "policies/owner.js",
        "object.metadata.labels = {owner: 'nobody'}",
    );
    folder.write(
        "policies/services.js",
        "export const policy = {match: {kinds: ['Service']}}\nexport default () => false\n",
    );
    folder.write(
        "policies/soft.js",
        "export const policy = {mode: 'warn'}\nexport default () => { deny('think again') }\n",
    );
    folder.write("good.yaml", image("good", "nginx:1.27").to_string());
    folder.write("bad.yaml", image("bad", "nginx:latest").to_string());
    folder
}

/// Name, mode, outcome, message and line of each policy of a result.
fn said(done: &Evaluated, index: usize) -> Vec<(String, String, String, String, Value)> {
    let policies = done.results()[index]["policies"].as_array().unwrap();
    let text = |p: &Value, key: &str| p[key].as_str().unwrap().to_owned();
    let one = |p: &Value| {
        let of = |key: &str| text(p, key);
        (
            of("name"),
            of("mode"),
            of("outcome"),
            of("message"),
            p["line"].clone(),
        )
    };
    policies.iter().map(one).collect()
}

#[test]
fn each_policy_says_what_it_said_whatever_its_mode() {
    let folder = folder();
    let files = ["-f", "good.yaml", "-f", "bad.yaml"];
    let done = eval(&folder, &[&files[..], &["--policies", "policies"]].concat());
    assert_eq!((done.code, done.summary()), (Some(1), [1, 1, 0, 0]));
    let part = |name: &str, mode: &str, outcome: &str, message: &str, line: Value| {
        let [name, mode, outcome, message] = [name, mode, outcome, message].map(str::to_owned);
        (name, mode, outcome, message, line)
    };
    let kinds = "kind does not match";
    assert_eq!(
        said(&done, 0),
        [
            part("no-latest", "enforce", "pass", "", Value::Null),
            part("owner", "enforce", "pass", "", Value::Null),
            part("services", "enforce", "skip", kinds, Value::Null),
            part("soft", "warn", "deny", "think again", json!(2)),
        ]
    );
    let (good, bad) = (&done.results()[0], &done.results()[1]);
    assert_eq!(good["object"]["metadata"]["labels"]["owner"], "nobody");
    assert_eq!(good["warnings"], json!(["soft: think again"]));
    assert_eq!(good["policy"], Value::Null);
    assert_eq!(
        (&bad["policy"], &bad["message"]),
        (&json!("no-latest"), &json!("no-latest: pin a version"))
    );
    let outcomes: Vec<String> = said(&done, 1).into_iter().map(|p| p.2).collect();
    assert_eq!(outcomes, ["deny", "pass", "skip", "deny"]);
    assert!(done.err.contains("2 objects, 4 policies: "), "{}", done.err);
}

#[test]
fn the_table_names_the_place() {
    let folder = folder();
    let ran = run_in(
        &folder,
        &[
            "eval",
            "-f",
            "bad.yaml",
            "-f",
            "good.yaml",
            "--policies",
            "policies",
        ],
    );
    assert_eq!(ran.code, Some(1));
    for line in [
        "  DENY   no-latest  pin a version  (policies/no-latest.ts:5:32)\n",
        "  skip   services   kind does not match\n",
        "  deny   soft       think again  (warn only)  (policies/soft.js:2:",
        "  warning: soft: think again\n",
        "    + /metadata/labels: {\"owner\":\"nobody\"}\n",
    ] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
}

#[test]
fn an_error_shows_the_authors_own_line_and_is_exit_5() {
    let folder = folder();
    folder.write(
        "broken/first.ts",
        "type Tag = string;\nconsole.info('at', 1);\nconst tag: Tag = object.spec.nothing.here;\n",
    );
    let ran = run_in(
        &folder,
        &["eval", "-f", "good.yaml", "--policies", "broken"],
    );
    assert_eq!(ran.code, Some(5), "{}{}", ran.out, ran.err);
    assert!(
        ran.out
            .contains("  ERROR  first  unable to evaluate policy:TypeError")
    );
    let frame = "         3 | const tag: Tag = object.spec.nothing.here;\n";
    let at = ran.out.find(frame).expect(&ran.out) + frame.len();
    let caret = ran.out[at..].lines().next().unwrap();
    assert_eq!(
        caret.find('^'),
        Some(13 + "const tag: Tag = ".len()),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("first:2: info: at 1\n"), "{}", ran.err);
    let json = eval(&folder, &["-f", "good.yaml", "--policies", "broken"]);
    assert_eq!((json.code, json.summary()), (Some(5), [0, 0, 1, 0]));
    assert_eq!(json.results()[0]["policies"][0]["line"], 3);
}

#[test]
fn a_limit_is_exit_5() {
    let folder = folder();
    let config = json!({"policyDirs": ["endless"], "defaultAction": "allow", "limits": {"deadline": "200ms"}});
    folder.write("c.yaml", config.to_string());
    folder.write("endless/loop.js", "for (;;) {}");
    let done = eval(&folder, &["-f", "good.yaml", "--config", "c.yaml"]);
    assert_eq!(done.code, Some(5));
    let message = done.results()[0]["message"].as_str().unwrap();
    assert!(
        message.contains("loop: ") && message.contains("deadline"),
        "{message}"
    );
}

#[test]
fn folders_that_can_not_be_used_are_exit_3_and_named() {
    let folder = folder();
    folder.write("faulty/good.js", "return true");
    folder.write("faulty/wrong.ts", "const a: number = 1;\nreturn ((\n");
    folder.write(
        "unknown/odd.js",
        "export const policy = {mod: 'warn'}\nexport default () => {}\n",
    );
    folder.write(
        "lost/one.js",
        "import {a} from './lib/none.js'\nexport default () => a\n",
    );
    std::fs::create_dir(folder.path("empty")).unwrap();
    for (name, needles) in [
        (
            "missing",
            &["missing: no such file or folder of policies"][..],
        ),
        ("empty", &["empty: there are no policies in this folder"]),
        ("faulty", &["faulty/wrong.ts:3:1", "expression expected"]),
        (
            "unknown",
            &["unknown/odd.js:1:", "mod", "did you mean `mode`?"],
        ),
        ("lost", &["lost/one.js:1:", "none.js"]),
    ] {
        let ran = run_in(&folder, &["eval", "-f", "good.yaml", "--policies", name]);
        assert_eq!(ran.code, Some(3), "{name}: {}", ran.err);
        ran.says(needles);
    }
    let both = [
        "eval",
        "-f",
        "good.yaml",
        "--policies",
        "policies",
        "--config",
        "x.yaml",
    ];
    assert_eq!(run_in(&folder, &both).code, Some(2));
}

#[test]
fn only_the_named_policies_are_asked() {
    let folder = folder();
    let named = |names: &[&str]| {
        let mut all = vec!["-f", "bad.yaml", "--policies", "policies"];
        names.iter().for_each(|name| all.extend(["--policy", name]));
        eval(&folder, &all)
    };
    let done = named(&["owner", "soft"]);
    let names: Vec<String> = said(&done, 0).into_iter().map(|p| p.0).collect();
    assert_eq!(
        (done.code, &names[..]),
        (Some(0), &["owner".to_owned(), "soft".to_owned()][..])
    );
    assert_eq!(named(&["services"]).code, Some(6));
    let ran = run_in(
        &folder,
        &[
            "eval",
            "-f",
            "bad.yaml",
            "--policies",
            "policies",
            "--policy",
            "no-latst",
        ],
    );
    assert_eq!(ran.code, Some(3));
    ran.says(&["no-latst", "did you mean `no-latest`?"]);
}

#[test]
fn plugins_and_policies_stand_in_the_order_they_are_asked() {
    let folder = folder();
    let config = json!({"policyDirs": ["policies"], "defaultAction": "allow",
        "admission": {"order": ["AlwaysPullImages", "Policies", "AlwaysDeny"], "plugins": [{"name": "AlwaysPullImages"}]}});
    folder.write("c.yaml", config.to_string());
    let done = eval(&folder, &["-f", "good.yaml", "--config", "c.yaml"]);
    let names: Vec<String> = said(&done, 0).into_iter().map(|p| p.0).collect();
    assert_eq!(
        names,
        [
            "AlwaysPullImages",
            "no-latest",
            "owner",
            "services",
            "soft",
            "AlwaysDeny"
        ]
    );
    assert_eq!(done.results()[0]["policy"], "AlwaysDeny");
    assert!(
        done.err.contains("1 object, 2 plug-ins, 4 policies: "),
        "{}",
        done.err
    );
    let refused = eval(
        &folder,
        &[
            "-f",
            "good.yaml",
            "--config",
            "c.yaml",
            "--admission-control",
            "AlwaysDeny,Policies",
            "--fail-fast",
        ],
    );
    let first = &refused.results()[0]["policies"][1];
    assert_eq!(
        (&first["outcome"], &first["message"]),
        (&json!("skip"), &json!("not asked: AlwaysDeny denied it"))
    );
}

#[test]
fn a_refusal_by_default_is_in_every_output() {
    let folder = folder();
    let config = json!({"policies": [{"name": "quiet", "code": "return undefined"}]});
    folder.write("c.yaml", config.to_string());
    let reports = ["--report", "junit=j.xml", "--report", "sarif=s.json"];
    let done = eval(
        &folder,
        &[&["-f", "good.yaml", "--config", "c.yaml"], &reports[..]].concat(),
    );
    assert_eq!(done.code, Some(1));
    assert_eq!(said(&done, 0).len(), 1, "one entry for each policy");
    let table = run_in(&folder, &["eval", "-f", "good.yaml", "--config", "c.yaml"]).out;
    assert!(
        table.contains("  DENY   default action  no policy allowed"),
        "{table}"
    );
    let junit = elements(&std::fs::read_to_string(folder.path("j.xml")).unwrap());
    assert_eq!(junit.iter().filter(|e| e.name == "failure").count(), 1);
    let sarif = std::fs::read_to_string(folder.path("s.json")).unwrap();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "default action");
}

#[test]
fn reports_have_a_rule_for_each_policy_and_its_place() {
    let folder = folder();
    let reports = ["--report", "junit=j.xml", "--report", "sarif=s.json"];
    let files = [
        "-f",
        "good.yaml",
        "-f",
        "bad.yaml",
        "--policies",
        "policies",
    ];
    eval(&folder, &[&files[..], &reports].concat());
    let junit = elements(&std::fs::read_to_string(folder.path("j.xml")).unwrap());
    let suites: Vec<(&str, &str, &str)> = junit
        .iter()
        .filter(|e| e.name == "testsuite")
        .map(|e| {
            (
                e.attribute("name"),
                e.attribute("failures"),
                e.attribute("skipped"),
            )
        })
        .collect();
    assert_eq!(
        suites,
        [
            ("no-latest", "1", "0"),
            ("owner", "0", "0"),
            ("services", "0", "2"),
            ("soft", "0", "0")
        ]
    );
    let sarif = std::fs::read_to_string(folder.path("s.json")).unwrap();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let run = &sarif["runs"][0];
    let ids: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "no-latest",
            "owner",
            "services",
            "soft",
            "unreadable-manifest"
        ]
    );
    let results = run["results"].as_array().unwrap();
    let found: Vec<(&Value, &Value)> = results
        .iter()
        .map(|r| (&r["ruleId"], &r["level"]))
        .collect();
    assert_eq!(
        found,
        [
            (&json!("soft"), &json!("warning")),
            (&json!("no-latest"), &json!("error")),
            (&json!("soft"), &json!("warning")),
        ]
    );
    let place = &results[1]["relatedLocations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "policies/no-latest.ts");
    assert_eq!(place["region"]["startLine"], 5);
}

#[test]
fn explain_lists_what_was_asked_of_the_world() {
    let folder = folder();
    let code = "try { forwardToAdmissionController('https://other.example/x') } catch (e) { warn('not reached') }";
    let config = json!({"policies": [{"name": "ask", "code": code}], "defaultAction": "allow"});
    folder.write("c.yaml", config.to_string());
    let arguments = ["-f", "good.yaml", "--config", "c.yaml", "--explain"];
    let done = eval(&folder, &arguments);
    let policy = &done.results()[0]["policies"][0];
    assert_eq!(policy["outcome"], "warn");
    let call = &policy["host_calls"][0];
    assert_eq!(call["function"], "forwardToAdmissionController");
    assert!(
        call["duration_us"].is_u64() && call["error"].is_string(),
        "{call}"
    );
    let table = run_in(&folder, &[&["eval"], &arguments[..]].concat()).out;
    let line = "forwardToAdmissionController(\"https://other.example/x\") failed: ";
    assert!(
        table.contains(line) && table.contains("policies were asked for "),
        "{table}"
    );
}

#[test]
fn a_ci_job_is_judged_by_the_policies_of_its_door() {
    let folder = folder();
    folder.write(
        "ci/tags.ts",
        "export const policy = {match: {doors: ['ci'], namespaces: ['shop/*']}}\n\
         export default () => { if (object.project !== req.namespace) return 'lost'; object.tags.push('seen') }\n",
    );
    folder.write("ci/web.js", "return 'for Kubernetes alone'");
    let job = json!({"apiVersion": "ci.portcullis.dev/v1", "kind": "Job", "metadata": {"name": "build"},
        "project": "shop/web", "tags": []});
    folder.write("job.yaml", job.to_string());
    let config = json!({"policyDirs": ["ci"], "admission": {"order": ["AlwaysDeny", "Policies"]}});
    folder.write("c.yaml", config.to_string());
    // Whatever no policy denies goes on, whatever the default action.
    let done = eval(&folder, &["-f", "job.yaml", "--config", "c.yaml"]);
    let result = &done.results()[0];
    assert_eq!(
        (done.code, &result["namespace"]),
        (Some(0), &json!("shop/web"))
    );
    assert_eq!(result["object"]["tags"], json!(["seen"]));
    let outcomes: Vec<(String, String)> = said(&done, 0).into_iter().map(|p| (p.0, p.2)).collect();
    let wanted = [("AlwaysDeny", "skip"), ("tags", "pass"), ("web", "skip")];
    assert_eq!(outcomes, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let named = eval(
        &folder,
        &["-f", "job.yaml", "--config", "c.yaml", "--policy", "web"],
    );
    assert_eq!(
        (named.code, &named.results()[0]["policy"]),
        (Some(1), &json!("web")),
        "a controller may name any policy"
    );
    let pod = eval(&folder, &["-f", "good.yaml", "--policies", "ci"]);
    assert_eq!(said(&pod, 0)[0].2, "skip");
}

#[test]
fn an_acjs_file_is_a_configuration() {
    let folder = folder();
    let config = json!({"listener": {"path": {"socketPath": "x.sock"}}, "globals": "var WORD = 'no'",
        "policies": [{"name": "P", "code": "\nreturn WORD + ' ' + req.Operation"}]});
    folder.write("acjs.yaml", config.to_string());
    let done = eval(&folder, &["-f", "good.yaml", "--config", "acjs.yaml"]);
    assert_eq!(
        (done.code, &done.results()[0]["message"]),
        (Some(1), &json!("P: no CREATE"))
    );
    assert!(!folder.path("x.sock").exists());
}

#[test]
fn a_folder_goes_over_the_configuration_of_the_environment() {
    let folder = folder();
    let mut command = program(folder.root());
    command.env("PORTCULLIS_CONFIG", "none.yaml");
    let arguments = ["eval", "-f", "good.yaml", "-o", "json"];
    let alone = command.args(arguments).output().unwrap();
    assert_eq!(alone.status.code(), Some(3), "the variable is read");
    let with = command.args(["--policies", "policies"]).output().unwrap();
    assert_eq!(with.status.code(), Some(0), "the flag wins");
}
