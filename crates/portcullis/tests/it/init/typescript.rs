//! The types that `init` writes are right: the real TypeScript compiler accepts the starter folders,
//! and rejects errors in them.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

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
