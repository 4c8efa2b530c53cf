//! `scripts/setup` where Rust is missing. The machine is a folder: the only programs in the path are
//! links to a few real ones, and others that record how they were called.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::harness::{Folder, repository};

/// Programs that setup looks for, and finds.
const THERE: &[&str] = &[
    "cc",
    "make",
    "curl",
    "openssl",
    "git",
    "jq",
    "sqlite3",
    "initdb",
    "pgbouncer",
    "python3",
    "chromium",
    "buildah",
    "podman",
    "runc",
    "debootstrap",
    "systemd-nspawn",
    "dpkg-shlibdeps",
    "shellcheck",
    "apt-get",
    "apt-cache",
];

/// Programs of the real machine that the script is written with.
const REAL: &[&str] = &["bash", "sh", "env", "mktemp", "rm", "mkdir", "chmod", "cat"];

struct Machine {
    folder: Folder,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            folder: Folder::new(),
        };
        std::fs::create_dir(machine.folder.path("bin")).unwrap();
        for name in REAL {
            symlink(found(name), machine.folder.path("bin").join(name)).unwrap();
        }
        for name in THERE {
            machine.program(name, "");
        }
        machine.program("id", "echo 0");
        machine
    }

    /// A program that writes its name and arguments down, and then does something.
    fn program(&self, name: &str, does: &str) {
        let called = self.folder.path("called");
        let script = format!("echo {name} \"$@\" >>'{}'\n{does}", called.display());
        self.folder.tool(name, &script);
    }

    fn setup(&self) -> Output {
        Command::new(found("bash"))
            .arg(repository().join("scripts/setup"))
            .env_clear()
            .env("PATH", self.folder.path("bin"))
            .env("HOME", self.folder.root())
            .output()
            .unwrap()
    }

    fn called(&self) -> String {
        std::fs::read_to_string(self.folder.path("called")).unwrap_or_default()
    }
}

fn found(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut all = std::env::split_paths(&path).map(|folder| folder.join(name));
    all.find(|program| program.exists()).unwrap()
}

fn said(output: &Output) -> String {
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn nothing_is_done_or_said_where_all_is_there() {
    let machine = Machine::new();
    machine.program("cargo", "");
    let output = machine.setup();
    assert_eq!(
        (said(&output).as_str(), output.status.code()),
        ("", Some(0))
    );
    assert!(
        !machine.called().contains("apt-get"),
        "{}",
        machine.called()
    );
}

#[test]
fn rust_comes_from_the_package_where_there_is_one() {
    let machine = Machine::new();
    let cargo = machine.folder.path("bin").join("cargo");
    machine.program("apt-cache", "echo 'rustup | 1.27.1-3 | deb.debian.org'");
    let installs = format!(
        "case \"$*\" in *install*rustup*) printf '#!/bin/sh\\n' >'{0}'; chmod +x '{0}' ;; esac",
        cargo.display()
    );
    machine.program("apt-get", &installs);
    let output = machine.setup();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        said,
        "setup: Rust is not installed: installing the package rustup\n"
    );
    let called = machine.called();
    assert!(called.contains("apt-get update"), "{called}");
    assert!(called.contains("apt-get install -y"), "{called}");
    assert!(!called.contains("curl"), "{called}");
}

#[test]
fn rust_comes_from_the_official_installer_where_there_is_no_package() {
    let machine = Machine::new();
    // The file that curl writes to comes after `-o`.
    machine.program(
        "curl",
        "while [ \"$1\" != -o ]; do shift; done\n\
         echo 'echo \"installer $*\" >>\"$HOME/called\"' >\"$2\"\n\
         echo 'mkdir -p \"$HOME/.cargo/bin\"; touch \"$HOME/.cargo/bin/cargo\"; chmod +x \"$HOME/.cargo/bin/cargo\"' >>\"$2\"",
    );
    symlink(found("touch"), machine.folder.path("bin").join("touch")).unwrap();
    let output = machine.setup();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let home = machine.folder.root().join(".cargo");
    let wanted = format!(
        "setup: Rust is not installed: installing rustup from https://sh.rustup.rs into {}\n",
        home.display()
    );
    assert_eq!(said, wanted);
    let called = machine.called();
    assert!(called.contains("https://sh.rustup.rs"), "{called}");
    assert!(called.contains("installer -y --no-modify-path"), "{called}");
}

#[test]
fn what_can_not_be_installed_is_named() {
    let machine = Machine::new();
    machine.program(
        "curl",
        "echo 'curl: (6) could not resolve host' >&2; exit 6",
    );
    let output = machine.setup();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("curl: (6)"), "{said}");
    assert!(
        said.ends_with("install rustup (https://rustup.rs) and try again\n"),
        "{said}"
    );
}
