//! A limit on the size of files, which the system enforces with a signal.

use std::process::Command;

use serde_json::json;

use crate::harness::{Folder, Gate, Review, free_port, pod, program, until};

#[test]
fn a_file_that_may_not_grow_is_an_error_and_not_the_end() {
    let (folder, port) = (Folder::new(), free_port());
    let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health", "metrics"]});
    let config = json!({"listeners": [listener], "admission": {"order": ["AlwaysAdmit"]}});
    folder.write("portcullis.yaml", config.to_string());
    let plain = program(folder.root());
    // 512 KiB, or twice that: shells differ in what they count in.
    let limited = "ulimit -f 1024 && exec \"$0\" serve --config portcullis.yaml --data-dir data";
    let mut command = Command::new("sh");
    command
        .args(["-c", limited])
        .arg(plain.get_program())
        .current_dir(folder.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder.root());
    let mut gate = Gate::spawn(folder, port, command);
    // Text that can't be compressed, so that the store soon is at its limit.
    let mut number: u64 = 1;
    let mut noise = |length: usize| {
        let mut text = String::new();
        while text.len() < length {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text += &format!("{number:016x}");
        }
        text
    };
    until("the store can't be written", || {
        let mut object = pod();
        object["metadata"]["annotations"] = json!({"noise": noise(100_000)});
        let answer = gate.post("/validate", &Review::create(&object).value());
        assert_eq!(answer.status, 200, "{}", answer.text());
        gate.log().contains("store")
    });
    gate.lives();
}
