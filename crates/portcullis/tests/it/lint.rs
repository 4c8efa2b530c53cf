//! `portcullis lint`: from outside, and of everything that is shipped.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::eval::documentation::check_flags;
use crate::harness::{Folder, Ran, repository, run_at, run_in};

/// A policy with a mistake, in its line 3.
const BAD: &str = "export const policy = { match: { kinds: [\"Pod\"] } }\n\
    export default function () {\n  if (object.spec.container) return 'x'\n}\n";

#[track_caller]
fn lint(folder: &Folder, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["lint"], arguments].concat())
}

/// Rule, file, line and column of each finding.
#[track_caller]
fn found(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let ran = lint(folder, &[&["-o", "json"], arguments].concat());
    let value: Value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err));
    let findings = value["findings"].as_array().unwrap();
    let code = if findings.is_empty() { 0 } else { 1 };
    assert_eq!(ran.code, Some(code), "{}", ran.out);
    let written = findings.iter().map(|one| {
        let file = one["file"].as_str().unwrap();
        let rule = one["rule"].as_str().unwrap();
        format!("{rule} {file}:{}:{}", one["line"], one["column"])
    });
    written.collect()
}

#[test]
fn everything_that_is_shipped_is_clean() {
    let root = repository();
    let mut shipped: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root.join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        let configuration = folder.join("portcullis.yaml");
        if configuration.exists() {
            shipped.push(configuration);
        }
    }
    assert!(shipped.len() > 10, "{shipped:?}");
    shipped
        .extend(["examples/policies/stricter", "examples/policies/signed"].map(|it| root.join(it)));
    let templates = ["kubernetes", "ci"];
    let folder = Folder::new();
    for template in templates {
        let ran = run_in(&folder, &["init", template, "--template", template]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        shipped.push(folder.path(template));
    }
    for path in shipped {
        let ran = lint(&folder, &[path.to_str().unwrap()]);
        let is_clean = ran.out.is_empty() && matches!(ran.code, Some(0 | 6));
        assert!(
            is_clean,
            "{}: {:?}\n{}{}",
            path.display(),
            ran.code,
            ran.out,
            ran.err
        );
    }
}

#[test]
fn a_finding_is_shown_with_its_line_and_a_fix() {
    let folder = Folder::new();
    folder.write("policies/a.js", BAD);
    let ran = lint(&folder, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(
        ran.out,
        "policies/a.js:3:19: unknown-field\n  PodSpec has no `container`\n  |\n\
         3 |   if (object.spec.container) return 'x'\n  |                   ^\n  \
         fix: did you mean `containers`?\n"
    );
    assert_eq!(ran.err.trim_end(), "1 policy: 1 finding");
}

#[test]
fn folders_files_and_configurations_are_linted() {
    let folder = Folder::new();
    folder.write("demo/policies/a.js", BAD);
    folder.write("demo/policies/b.js", BAD);
    folder.write(
        "demo/policies/c.ts",
        "import { f, g } from './lib/d.ts'\nexport default () => f()\n",
    );
    folder.write(
        "demo/policies/lib/d.ts",
        "export function g() {}\nexport function f() {\n  return 'x'\n  g()\n}\n",
    );
    folder.write(
        "demo/portcullis.yaml",
        "policyDirs: [policies]\ndefaultAction: allow\n",
    );
    let all = [
        "unknown-field demo/policies/a.js:3:19",
        "unknown-field demo/policies/b.js:3:19",
        "unused-import demo/policies/c.ts:1:13",
        "unreachable-code demo/policies/lib/d.ts:4:3",
    ];
    assert_eq!(found(&folder, &["demo"]), all);
    assert_eq!(found(&folder, &["demo/portcullis.yaml"]), all);
    assert_eq!(found(&folder, &["--config", "demo/portcullis.yaml"]), all);
    assert_eq!(
        found(&folder, &["demo/policies/b.js", "demo/policies/lib/d.ts"]),
        [all[1], all[3]]
    );
    let helper = found(
        &folder,
        &["--config", "demo/portcullis.yaml", "demo/policies/c.ts"],
    );
    assert_eq!(helper, [all[2]]);
}

#[test]
fn places_in_yaml_are_those_of_the_file() {
    let folder = Folder::new();
    folder.write(
        "portcullis.yaml",
        "defaultAction: allow\npolicies:\n- name: a\n  match:\n    kinds: [Pods, apps/Deployment]\n    \
         namespaces:\n    - Prod\n  code: |\n    const é = 'é'; if (object.kind === 'Service')\n\n      return é\n\
         - {name: b, code: \"if (object.metadata.label) return 'x'\"}\n",
    );
    assert_eq!(
        found(&folder, &[]),
        [
            "unknown-kind portcullis.yaml:5:13",
            "impossible-match portcullis.yaml:7:7",
            "excluded-kind portcullis.yaml:9:40",
            "unknown-field portcullis.yaml:12:40",
        ]
    );
    folder.write(
        "portcullis.yaml",
        "defaultAction: allow\npolicies:\n- name: a\n  match:\n    # portcullis-lint-ignore unknown-kind: of an aggregated API\n    \
         kinds: [Pods]\n  code: |\n    // portcullis-lint-ignore no-effect: a test\n    req.name\n\
         # portcullis-lint-ignore no-effect: nothing\n- {name: b, code: return 'x'}\n",
    );
    assert_eq!(found(&folder, &[]), ["unused-ignore portcullis.yaml:10:1"]);
    let ran = lint(&folder, &[]);
    assert_eq!(ran.err.trim_end(), "2 policies: 1 finding, 2 silenced");
}

#[test]
fn exit_codes_say_what_is_wrong() {
    let folder = Folder::new();
    folder.write("policies/a.js", "return 'x'\n");
    assert_eq!(lint(&folder, &[]).code, Some(0));
    for output in ["json", "yaml", "sarif", "github", "gitlab"] {
        assert_eq!(lint(&folder, &["-o", output]).code, Some(0), "{output}");
    }
    folder.write("policies/b.js", "return )\n");
    let ran = lint(&folder, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""));
    ran.says(&["b.js:1:"]);
    assert_eq!(lint(&folder, &["missing.js"]).code, Some(3));
    assert_eq!(lint(&folder, &["missing"]).code, Some(3));
    folder.write("empty/README.md", "nothing");
    assert_eq!(lint(&folder, &["empty"]).code, Some(6));
    folder.write("other/policies/c.js", "return 'x'\n");
    folder.write("other/lib/d.js", "return 'x'\n");
    // What nothing loads is linted alone, unless the command line names what judges.
    assert_eq!(lint(&folder, &["other/lib/d.js"]).code, Some(0));
    let named = ["--config", "other/portcullis.yaml", "other/lib/d.js"];
    folder.write("other/portcullis.yaml", "policyDirs: [policies]\n");
    let ran = lint(&folder, &named);
    assert_eq!(ran.code, Some(3));
    ran.says(&["neither a policy of"]);
    assert_eq!(lint(&folder, &["--nonsense"]).code, Some(2));
}

#[test]
fn a_file_does_not_depend_on_those_beside_it() {
    let folder = Folder::new();
    let policy = "apiVersion: policy.jspolicy.com/v1beta1\nkind: JsPolicy\nmetadata: {name: a.example.org}\nspec:\n  \
                  operations: [CREATE]\n  resources: [pods]\n  javascript: |\n    \
                  if (request.object.spec.hostPid) deny('x')\n";
    folder.write("one/a.js", BAD);
    folder.write("one/jspolicy.yaml", policy);
    folder.write(
        "one/list.yaml",
        "policies: [{name: b, code: \"return 1\"}]\n",
    );
    folder.write(
        "one/kyverno.yaml",
        "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\n",
    );
    folder.write("policies/broken.js", "return )\n");
    assert_eq!(
        found(&folder, &["one/a.js"]),
        ["unknown-field one/a.js:3:19"]
    );
    assert_eq!(
        found(&folder, &["one/jspolicy.yaml"]),
        ["unknown-field one/jspolicy.yaml:8:29"]
    );
    assert_eq!(
        found(&folder, &["one/list.yaml"]),
        ["meaningless-return one/list.yaml:1:36"]
    );
    let inside = folder.path("one");
    for file in ["a.js", "jspolicy.yaml"] {
        let ran = run_at(&folder, &inside, &["lint", file]);
        assert_eq!(ran.code, Some(1), "{file}: {}", ran.err);
        assert_eq!(ran.err, "1 policy: 1 finding\n", "{file}");
    }
    let ran = lint(&folder, &["one/kyverno.yaml"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let ran = lint(&folder, &["one/a.js", "--quiet"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
}

#[test]
fn what_judges_is_found_above_the_working_directory() {
    let folder = Folder::new();
    assert_eq!(run_in(&folder, &["init", "demo"]).code, Some(0));
    for inside in ["demo/policies/lib", "demo/policies"] {
        let file = if inside.ends_with("lib") {
            "pods.ts"
        } else {
            "lib/pods.ts"
        };
        let ran = run_at(&folder, &folder.path(inside), &["lint", file]);
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (Some(0), ""),
            "{inside}: {}",
            ran.err
        );
        ran.says(&["0 policies: no findings"]);
    }
}

#[test]
fn every_policy_of_the_comparisons_is_clean() {
    let folder = Folder::new();
    let mut count = 0;
    for entry in fs::read_dir(repository().join("examples/coming-from")).unwrap() {
        for name in ["portcullis.js", "jspolicy.yaml"] {
            let file = entry.as_ref().unwrap().path().join(name);
            if !file.exists() {
                continue;
            }
            let ran = lint(&folder, &[file.to_str().unwrap()]);
            assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
            count += 1;
        }
    }
    assert_eq!(count, 24);
}

#[test]
fn reports_have_the_form_that_hosts_expect() {
    let folder = Folder::new();
    folder.write(
        "policies/a b.js",
        format!(
            "{BAD}{}",
            BAD.split_once('\n')
                .unwrap()
                .1
                .replace("export default ", "")
                .replace("()", "f()")
        ),
    );
    let json = |output: &str| -> Value {
        let ran = lint(&folder, &["-o", output]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    };
    let sarif = json("sarif");
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "unknown-field");
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "policies/a%20b.js");
    assert_eq!(location["region"]["startColumn"], 19);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == "unknown-field"));
    let gitlab = json("gitlab");
    let prints: Vec<&Value> = gitlab
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["fingerprint"])
        .collect();
    assert_eq!(prints.len(), 2);
    assert_ne!(prints[0], prints[1]);
    let github = lint(&folder, &["-o", "github"]).out;
    assert!(
        github.starts_with(
            "::warning file=policies/a b.js,line=3,col=19,title=unknown-field::PodSpec has no"
        ),
        "{github}"
    );
}

#[test]
fn every_rule_is_documented_and_no_other() {
    check_flags("docs/lint.md", "lint");
    let page = fs::read_to_string(repository().join("docs/lint.md")).unwrap();
    let mut documented: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
        .collect();
    let folder = Folder::new();
    folder.write("policies/a.js", BAD);
    let sarif: Value = serde_json::from_str(&lint(&folder, &["-o", "sarif"]).out).unwrap();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    let mut rules: Vec<&str> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    documented.sort_unstable();
    rules.sort_unstable();
    assert_eq!(documented, rules);
    let modules = fs::read_to_string(repository().join("e2e/kube/go.mod")).unwrap();
    let version = modules
        .lines()
        .find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes v"));
    assert!(
        page.contains(version.unwrap()),
        "the version of Kubernetes in docs/lint.md"
    );
}
