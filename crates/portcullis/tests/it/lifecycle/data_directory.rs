//! Where a server keeps its data, and whose files it accepts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::harness::{Folder, Gate, Pki, Setup, chain, free_port, program, run_in};

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A gate with a development certificate and sessions; its files are in `data`.
fn setup() -> Setup {
    let mut config = chain(&["AlwaysAdmit"]);
    let address = format!("127.0.0.1:{}", free_port());
    config["listeners"] = json!([{"name": "dev", "tcp": address, "tls": {"development": true}, "serves": ["kubernetes"]}]);
    config["authenticators"] = json!([{"name": "sso", "driver": "OpenIDConnect", "issuer": "https://sso.example", "audience": "a", "clientId": "c"}]);
    Setup::new(config)
}

#[test]
fn without_a_home_the_directory_must_be_given() {
    let folder = Folder::new();
    folder.write(
        "portcullis.yaml",
        "listeners: [{name: a, tcp: 127.0.0.1:0, serves: [kubernetes]}]\n",
    );
    for arguments in [
        &["serve", "--config", "portcullis.yaml"][..],
        &["decisions", "list"],
    ] {
        let ran = program(folder.root())
            .env_remove("HOME")
            .args(arguments)
            .output()
            .unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{told}");
        assert!(told.contains("--data-dir DIR"), "{told}");
    }
}

#[test]
fn a_service_keeps_its_data_where_systemd_says() {
    let (folder, port) = (Folder::new(), free_port());
    let listener = json!({"name": "all", "tcp": format!("127.0.0.1:{port}"), "serves": ["kubernetes", "health"]});
    folder.write(
        "portcullis.yaml",
        json!({"listeners": [listener]}).to_string(),
    );
    let mut command = program(folder.root());
    command
        .env_remove("HOME")
        .env("STATE_DIRECTORY", folder.path("state"));
    command.args(["serve", "--config", "portcullis.yaml"]);
    let gate = Gate::spawn(folder, port, command);
    let state = gate.folder.path("state");
    assert_eq!(mode(&state), 0o700);
    assert!(fs::read_dir(&state).unwrap().count() > 0);
}

#[test]
fn what_it_makes_is_for_its_owner_alone() {
    let gate = setup().start();
    let data = gate.folder.path("data");
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("development")), 0o700);
    for file in ["session.key", "development/tls.key"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn what_others_can_write_is_refused_with_owner_and_mode() {
    let folder = Folder::new();
    let data = folder.path("data");
    // Whole files, so that nothing else is wrong with them.
    let mut made = setup().data_dir(data.display().to_string()).start();
    made.terminate();
    made.wait();
    let database = fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "db"))
        .unwrap();
    for (path, wrong) in [
        (data.clone(), 0o777),
        (data.join("session.key"), 0o666),
        (data.join("session.key"), 0o644),
        (data.join("development"), 0o777),
        (data.join("development/tls.key"), 0o602),
        (database, 0o666),
    ] {
        let good = mode(&path);
        set_mode(&path, wrong);
        let ran = setup().data_dir(data.display().to_string()).run();
        assert!(
            matches!(ran.code, Some(3 | 5)),
            "{}: {ran:?}",
            path.display()
        );
        let (shown, mode) = (path.display().to_string(), format!("mode {wrong:04o}"));
        ran.says(&[&shown, "owner uid ", &mode]);
        set_mode(&path, good);
    }
    setup().data_dir(data.display().to_string()).start();
}

#[test]
fn files_of_another_user_are_refused() {
    let data = Folder::new();
    let key = data.path("session.key");
    fs::write(&key, [7; 32]).unwrap();
    set_mode(&key, 0o600);
    // Only root can give files away.
    if std::os::unix::fs::chown(&key, Some(65534), Some(65534)).is_err() {
        return;
    }
    let ran = setup().data_dir(data.text("")).run();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    ran.says(&[
        "session.key",
        "belongs to another user (owner uid 65534",
        "mode 0600",
    ]);
}

#[test]
fn keys_that_others_can_write_or_that_are_too_short_are_refused() {
    let (folder, pki) = (Folder::new(), Pki::new());
    let config = json!({
        "listeners": [{"name": "tls", "tcp": "127.0.0.1:0", "tls": {"certificate": "tls.crt", "key": "tls.key"}, "serves": ["kubernetes"]}],
        "admission": {"order": ["AlwaysAdmit"]},
        "authenticators": [{"name": "corp", "driver": "HS256", "issuer": "corp", "audience": "a", "secretFile": "corp.key"}],
    });
    folder.write("portcullis.yaml", config.to_string());
    folder.write("tls.crt", &pki.server.certificate_pem);
    folder.write("tls.key", &pki.server.key_pem);
    folder.write("corp.key", "0123456789abcdef0123456789abcdef");
    let check = |tls: u32, secret: u32| {
        set_mode(&folder.path("tls.key"), tls);
        set_mode(&folder.path("corp.key"), secret);
        run_in(&folder, &["check", "--config", "portcullis.yaml"])
    };
    let ran = check(0o600, 0o600);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for (tls, secret, file) in [(0o666, 0o600, "tls.key"), (0o600, 0o666, "corp.key")] {
        let ran = check(tls, secret);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        ran.says(&[file, "others can write it", "mode 0666"]);
    }
    folder.write("corp.key", "too short\n");
    let ran = check(0o600, 0o600);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    ran.says(&["secretFile", "9 bytes", "at least 32"]);
}

#[test]
fn keys_that_others_can_read_are_told_at_the_start() {
    let pki = Pki::new();
    let address = format!("127.0.0.1:{}", free_port());
    let tls = json!({"certificate": "tls.crt", "key": "tls.key"});
    let config = json!({
        "listeners": [{"name": "tls", "tcp": address, "tls": tls, "serves": ["kubernetes"]}],
        "authenticators": [{"name": "corp", "driver": "HS256", "issuer": "corp", "audience": "a", "secretFile": "corp.key"}],
    });
    for mode in [0o600, 0o644] {
        let setup = Setup::new(config.clone())
            .file("tls.crt", &pki.server.certificate_pem)
            .file("tls.key", &pki.server.key_pem)
            .file("corp.key", "0123456789abcdef0123456789abcdef");
        for file in ["tls.key", "corp.key"] {
            set_mode(&setup.path(file), mode);
        }
        let log = setup.start().log();
        for file in ["tls.key", "corp.key"] {
            let told = log.lines().find(|line| line.contains(file));
            assert_eq!(told.is_some(), mode == 0o644, "{log}");
            let told = told.unwrap_or("others can read it, mode 0644");
            assert!(
                told.contains("others can read it") && told.contains("mode 0644"),
                "{told}"
            );
        }
    }
}
