//! Configurations that are rejected: exit 3 from `check` and `serve`, and the same message on standard error.
//! Which are rejected, and with which message, is tested in portcullis-server.

use crate::harness::{Folder, run_in};

const HEAD: &str =
    "listeners:\n- {name: all, tcp: \"127.0.0.1:1\", serves: [kubernetes, health]}\n";

#[test]
fn a_fault_is_exit_3_with_file_line_and_key_from_check_and_serve() {
    for (text, needles) in [
        (
            "admission: {order: [AlwaysAdmit]}\nlistenerz: []\n",
            ["portcullis.yaml:4:", "did you mean `listeners`"],
        ),
        (
            "limits:\n  deadline: banana\n",
            ["portcullis.yaml:4:", "limits.deadline"],
        ),
        // Found when the gate is built.
        (
            "admission:\n  plugins:\n  - {name: PodSecurity, configuration: {kind: Nonsense}}\n",
            ["portcullis.yaml:5:", "PodSecurity"],
        ),
        ("\tadmission: {}\n", ["portcullis.yaml:3:", "error: "]),
    ] {
        let folder = Folder::new();
        folder.write("portcullis.yaml", format!("{HEAD}{text}"));
        let check = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
        let serve = ["serve", "--config", "portcullis.yaml", "--data-dir", "data"];
        let serve = run_in(&folder, &serve);
        for ran in [&check, &serve] {
            assert_eq!(ran.code, Some(3), "{text}: {}", ran.err);
            ran.says(&needles);
        }
        // Both may warn of something before.
        let faults = &check.err[check.err.find("error: ").unwrap()..];
        assert!(
            serve.err.ends_with(faults),
            "check and serve say different things: {}\n{}",
            check.err,
            serve.err
        );
    }
}

#[test]
fn what_is_no_configuration_at_all_is_refused() {
    let folder = Folder::new();
    for (content, needle) in [(&b""[..], "empty"), (b"listeners: \xff\n", "UTF-8")] {
        folder.write("portcullis.yaml", content);
        let ran = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        ran.says(&["portcullis.yaml", needle]);
    }
    let ran = run_in(&folder, &["check", "--config", "."]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["directory"]);
}
