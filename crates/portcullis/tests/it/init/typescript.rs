//! The types that `init` writes are right: the real TypeScript compiler accepts the starter folders,
//! and rejects errors in them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{TEMPLATES, started};
use crate::harness::Folder;

const VERSION: &str = "typescript@5.9.3";

/// The compiler, installed once beside what cargo builds; nothing where there is no npm or network.
fn compiler() -> Option<&'static PathBuf> {
    static COMPILER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = COMPILER.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("typescript");
        let compiler = folder.join("node_modules/typescript/bin/tsc");
        if compiler.is_file() {
            return Some(compiler);
        }
        std::fs::create_dir_all(&folder).ok()?;
        let install = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--no-save", VERSION])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output();
        let is_installed = install.is_ok_and(|output| output.status.success());
        (is_installed && compiler.is_file()).then_some(compiler)
    });
    if found.is_none() {
        let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!is_ci, "there is no npm that can install {VERSION}");
        eprintln!("skipped: there is no npm that can install {VERSION}");
    }
    found.as_ref()
}

fn compile(compiler: &PathBuf, folder: &Folder) -> Output {
    Command::new("node")
        .arg(compiler)
        .args(["-p", "demo/tsconfig.json"])
        .current_dir(folder.root())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What the language server of editors answers about files that are opened, by the number of the request.
fn asked(compiler: &std::path::Path, requests: &[Value]) -> Vec<Value> {
    let mut server = Command::new("node")
        .arg(compiler.with_file_name("tsserver"))
        .arg("--disableAutomaticTypingAcquisition")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    for (number, request) in requests.iter().enumerate() {
        let mut request = request.clone();
        request["seq"] = number.into();
        request["type"] = "request".into();
        writeln!(input, "{request}").unwrap();
    }
    // It drops answers that it has not written when it ends.
    let last = requests.len() - 1;
    let mut answers: Vec<Value> = Vec::new();
    for line in BufReader::new(server.stdout.take().unwrap()).lines() {
        let Ok(answer) = serde_json::from_str::<Value>(&line.unwrap()) else {
            continue;
        };
        let is_last = answer["request_seq"] == last;
        if answer["type"] == "response" {
            answers.push(answer);
        }
        if is_last {
            break;
        }
    }
    server.kill().unwrap();
    server.wait().unwrap();
    answers
}

#[test]
fn editors_know_the_types_in_policies_of_either_language() {
    let Some(compiler) = compiler() else { return };
    let folder = started("kubernetes");
    let names = ["resource-limits.js", "own.js", "image-tags.ts"];
    folder.write(
        "demo/policies/own.js",
        "if (object.kind === \"Pod\") return req.operation\n",
    );
    for name in names {
        let file = folder.path(&format!("demo/policies/{name}"));
        let text = std::fs::read_to_string(&file).unwrap();
        let (line, column) = text
            .lines()
            .enumerate()
            .filter(|(_, text)| !text.starts_with("//"))
            .find_map(|(line, text)| Some((line + 1, text.find("object")? + 1)))
            .unwrap();
        let answers = asked(
            compiler,
            &[
                json!({"command": "open", "arguments": {"file": file}}),
                json!({"command": "projectInfo", "arguments": {"file": file, "needFileNameList": false}}),
                json!({"command": "quickinfo", "arguments": {"file": file, "line": line, "offset": column}}),
                json!({"command": "syntacticDiagnosticsSync", "arguments": {"file": file}}),
            ],
        );
        let of = |command: &str| {
            let mut answers = answers.iter();
            let answer = answers.find(|answer| answer["command"] == command);
            &answer.unwrap_or_else(|| panic!("{command}: {answers:?}"))["body"]
        };
        let project = of("projectInfo")["configFileName"].as_str().unwrap();
        assert!(project.ends_with("demo/tsconfig.json"), "{name}: {project}");
        let shown = &of("quickinfo")["displayString"];
        assert_eq!(shown, "const object: PolicyObject", "{name}");
        assert_eq!(of("syntacticDiagnosticsSync"), &json!([]), "{name}");
    }
}

#[test]
fn the_compiler_takes_the_starter_folders() {
    let Some(compiler) = compiler() else { return };
    for template in TEMPLATES {
        let output = compile(compiler, &started(template));
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{template}: {told}");
    }
}

#[test]
fn the_types_know_everything_a_policy_finds() {
    let Some(compiler) = compiler() else { return };
    let folder = started("kubernetes");
    folder.write(
        "demo/policies/all.ts",
        "export const policy = { match: { doors: [\"ci\"], operations: [\"*\"], paths: [\"/a/**\"] }, mode: \"dry-run\" } satisfies Policy;\n\
         export default async function (): Promise<PolicyVerdict> {\n\
         \x20 const n: string = object.metadata.name ?? oldObject.metadata.name ?? req.name + req.Name;\n\
         \x20 const groups: string[] = req.userInfo.groups.concat(req.UserInfo.Groups);\n\
         \x20 console.log(n, groups, atob(btoa(\"a\")), ac.HTTPRequest.Header.Get(\"x\"), ac.HTTPRequest.URL.Query().Get(\"y\"));\n\
         \x20 ac.GlobalContext.count = 1;\n\
         \x20 const verified = cosignVerify(\"k.pub\");\n\
         \x20 const signatures: any[][] = Object.values(verified);\n\
         \x20 pinDigests(object, verified);\n\
         \x20 if (signatures.length === 0) warn(\"no images\");\n\
         \x20 const isBuilt: boolean = slsaVerify({ SourceURI: \"s\", BuilderID: \"b\", ProvenancePath: \"p\" });\n\
         \x20 if (!isBuilt) return false;\n\
         \x20 if (!slsaEnsureComingFrom([\"github.com/a/b\"])) deny(\"no\", \"REASON\", 418);\n\
         \x20 const teams = kube.get(\"v1\", \"ConfigMap\", req.namespace, \"teams\")?.data.names;\n\
         \x20 const zone: string | undefined = kube.get(\"v1\", \"Node\", \"n\")?.metadata.labels?.zone;\n\
         \x20 const pods = kube.list(\"v1\", \"Pod\", { namespace: teams, labelSelector: \"a=b\", limit: 3 });\n\
         \x20 if (pods.some((pod) => pod.metadata.name === zone)) return false;\n\
         \x20 const quota: any = get(\"ResourceQuota\", \"v1\", \"shop/quota\")?.spec.hard;\n\
         \x20 const claims = list(\"PersistentVolumeClaim\", \"v1\", { namespace: request.namespace, labelSelector: \"a=b\" });\n\
         \x20 if (claims.length > quota) exit();\n\
         \x20 if (ac.UserAuthNMethod === \"mTLS\") allow();\n\
         \x20 return forwardToAdmissionController(\"https://other.example\", { current: true });\n\
         }\n",
    );
    let output = compile(compiler, &folder);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn the_compiler_refuses_what_is_wrong() {
    let Some(compiler) = compiler() else { return };
    // All at once: the compiler takes longest to start.
    let all = [
        "export const policy: Policy = { match: { kind: [\"Pod\"] } };\n",
        "export const policy: Policy = { mode: \"off\" };\n",
        "deny(1);\nexport {};\n",
        "req.operation === \"PATCH\";\nexport {};\n",
        "req.nothing;\nexport {};\n",
        "process.exit();\nexport {};\n",
        "review({}, { usr: \"x\" });\nexport {};\n",
        "expect(1).toBeTrue();\nexport {};\n",
        "cosignVerify();\nexport {};\n",
        "kube.get(\"v1\");\nexport {};\n",
        "get(\"Pod\", \"v1\", \"shop\", \"web\");\nexport {};\n",
        "list(\"Pod\", \"v1\")[0].metadata.name = \"x\";\nexport {};\n",
        "kube.list(\"v1\", \"Pod\")[0].metadata.name = \"x\";\nexport {};\n",
    ];
    let folder = started("kubernetes");
    for (index, wrong) in all.iter().enumerate() {
        folder.write(&format!("demo/policies/wrong{index}.ts"), wrong);
    }
    let output = compile(compiler, &folder);
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stdout);
    for (index, wrong) in all.iter().enumerate() {
        let place = format!("wrong{index}.ts(");
        assert!(told.contains(&place), "taken: {wrong}\n{told}");
    }
}
