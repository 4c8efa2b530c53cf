//! Programs leave nothing behind, and see little of the server.

use portcullis_core::HostFunction::CosignVerify;
use portcullis_testing::until;
use serde_json::json;

use crate::script::{Folder, is_alive};
use crate::support::{call, call_until, pod, soon};

/// A program that never ends, nor does its child, which is not in its way.
const ENDLESS: &str = "sleep 1000 & echo $! > \"$D/child\"; echo $$ > \"$D/leader\"; wait";

#[test]
fn a_program_and_its_children_end_at_the_deadline() {
    let folder = Folder::new();
    let host = folder.cosign(ENDLESS);
    let result = call_until(&host, CosignVerify, &[json!("k")], &pod(&["a"]), soon(3000));
    assert!(result.unwrap_err().contains("deadline"));
    let (leader, child) = (folder.read("leader"), folder.read("child"));
    assert!(!leader.is_empty() && !child.is_empty());
    until("they are gone", || !is_alive(&leader) && !is_alive(&child));
    until("it was waited for", || !folder_of(&leader).exists());
}

fn folder_of(id: &str) -> std::path::PathBuf {
    std::path::Path::new("/proc").join(id.trim())
}

#[test]
fn a_child_that_keeps_the_output_open_does_not_keep_us() {
    let folder = Folder::new();
    let host = folder.cosign("sleep 1000 & echo $! > \"$D/child\"; echo '[{}]'");
    let result = call_until(&host, CosignVerify, &[json!("k")], &pod(&["a"]), soon(3000));
    assert!(result.unwrap_err().contains("deadline"));
    let child = folder.read("child");
    assert!(!child.is_empty());
    until("it is gone", || !is_alive(&child));
}

#[test]
fn what_prints_without_end_is_ended() {
    let folder = Folder::new();
    let host = folder.cosign("echo $$ > \"$D/leader\"; exec yes");
    let message = call(&host, CosignVerify, &[json!("k")], &pod(&["a"])).unwrap_err();
    assert!(message.contains("4 MiB"), "{message}");
    let leader = folder.read("leader");
    until("it is gone", || !is_alive(&leader));
}

/// Whether a program may see a variable of the server.
fn is_passed(name: &str) -> bool {
    const PASSED: [&str; 11] = [
        "PATH",
        "HOME",
        "DOCKER_CONFIG",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "https_proxy",
        "http_proxy",
        "no_proxy",
    ];
    PASSED.contains(&name) || name.starts_with("SIGSTORE_") || name.starts_with("COSIGN_")
}

#[test]
fn the_environment_is_small() {
    // The shell's own.
    let shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    let ours: Vec<_> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    let kept_back = |name: &String| !is_passed(name) && !shell.contains(&name.as_str());
    assert!(ours.iter().any(kept_back), "nothing to keep back: {ours:?}");
    let folder = Folder::new();
    let host = folder.cosign("env > \"$D/env\"; cat > \"$D/stdin\"; echo '[{}]'");
    call(&host, CosignVerify, &[json!("k")], &pod(&["a"])).unwrap();
    let environment = folder.read("env");
    let names = environment.lines().filter_map(|line| line.split_once('='));
    let names: Vec<_> = names.map(|(name, _)| name.to_owned()).collect();
    assert!(names.contains(&"PATH".to_owned()), "{environment}");
    let seen: Vec<_> = names.into_iter().filter(kept_back).collect();
    assert_eq!(seen, Vec::<String>::new());
    assert_eq!(folder.read("stdin"), "");
}
