//! Many calls at once, and hosts that go away.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use portcullis_core::HostFunction::{CosignVerify, ForwardToAdmissionController};
use portcullis_host::{ExternalHost, HostSettings};
use portcullis_testing::Server;
use serde_json::json;

use crate::script::Folder;
use crate::support::{call, call_until, forwarding, later, pod, review, settings, soon};

#[test]
fn sixty_four_calls_wait_at_the_same_time() {
    // No call is answered before all have been made.
    let all = Barrier::new(64);
    let remote = Server::http(move |_| {
        all.wait();
        review(&json!({"uid": "u1", "allowed": true}))
    });
    let address = format!("http://{}/", remote.place());
    let host = forwarding(&[&address]);
    let arguments = [json!(address)];
    thread::scope(|scope| {
        let callers: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    call(
                        &host,
                        ForwardToAdmissionController,
                        &arguments,
                        &pod(&["a"]),
                    )
                })
            })
            .collect();
        for caller in callers {
            assert_eq!(caller.join().unwrap(), Ok(json!(true)));
        }
    });
}

#[test]
fn programs_take_turns() {
    let folder = Folder::new();
    // Fails if another one runs at the same time.
    let script = "mkdir \"$D/one\" || exit 7; echo '[{}]'; rmdir \"$D/one\"";
    let host = ExternalHost::new(HostSettings {
        cosign: folder.script("cosign", script),
        tool_limit: 1,
        ..settings()
    })
    .unwrap();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| call(&host, CosignVerify, &[json!("k")], &pod(&["a"]))))
            .collect();
        for caller in callers {
            assert_eq!(caller.join().unwrap(), Ok(json!({"a": [{}]})));
        }
    });
}

#[test]
fn the_limit_of_a_call_counts_too() {
    let folder = Folder::new();
    let host = ExternalHost::new(HostSettings {
        cosign: folder.script("cosign", "sleep 1000"),
        call_limit: Duration::from_millis(300),
        ..settings()
    })
    .unwrap();
    let result = call_until(&host, CosignVerify, &[json!("k")], &pod(&["a"]), later());
    assert!(result.unwrap_err().contains("deadline"));
}

#[test]
fn a_deadline_in_the_past_runs_nothing() {
    let folder = Folder::new();
    let host = folder.cosign("touch \"$D/ran\"");
    let result = call_until(&host, CosignVerify, &[json!("k")], &pod(&["a"]), soon(0));
    assert_eq!(
        result.unwrap_err(),
        "no answer to cosignVerify before the deadline"
    );
    assert!(!folder.path("ran").exists());
}

#[test]
fn a_host_can_be_dropped_anywhere() {
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        drop(folder.cosign("true"));
        let used = folder.cosign("echo '[{}]'");
        assert!(call(&used, CosignVerify, &[json!("k")], &pod(&["a"])).is_ok());
        drop(used);
    });
}
