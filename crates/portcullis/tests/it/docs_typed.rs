//! Every command of every page in `docs/` and beside the examples, typed as a reader would: in order, into
//! one shell, in a fresh copy of what ships, with nothing prepared.
//!
//! A `console` block shows commands after `$ ` and what they print. Ids, times, durations and digests are
//! examples; `...` stands for anything else that differs from time to time: a part of a line, or any number
//! of lines. A `sh` block has commands alone. A command ends with 0, unless the next one is `echo $?`, which
//! shows what it ends with. A block that needs more than what ships says so behind its language and in the
//! sentence before it, and is listed in [`NEEDS`]. CONTRIBUTING.md explains this to writers.
//!
//! `UPDATE_DOCS=1` writes what commands print into the pages instead of comparing it.

mod checkout;
mod output;
mod page;
mod shell;

use std::path::Path;
use std::sync::Mutex;

use crate::harness::{Folder, repository};
use page::{Block, Page};
use shell::Shell;

/// Blocks that can't be typed here: page, what they need, how many there are, and why.
const NEEDS: &[(&str, &str, usize, &str)] = &[
    (
        "docs/api.md",
        "zuul-client",
        1,
        "a program from PyPI; e2e/api runs it against the same example",
    ),
    (
        "docs/benchmarks.md",
        "release build",
        4,
        "some fifteen minutes on a quiet machine, and Go for the peers; `make bench` runs it",
    ),
    (
        "docs/ci.md",
        "gitlab-runner",
        1,
        "a program in Go; e2e/runners runs it where there is one, and an independent runner everywhere",
    ),
    (
        "docs/containerd.md",
        "ctrdac",
        1,
        "a program that can't be built here, and containerd; `ctrdac.rs` sends what it sends",
    ),
    (
        "docs/eval.md",
        "Helm",
        1,
        "a program in Go and a chart; tests of `eval -f -` read standard input",
    ),
    (
        "docs/helm.md",
        "a cluster",
        9,
        "a real kube-apiserver and helm, both built from Go modules; e2e/tests/chart/guide.rs follows the page",
    ),
    (
        "docs/install.md",
        "Docker",
        2,
        "a container engine and a release build; scripts/test-image runs the same image, and `eval` in it",
    ),
    (
        "docs/install.md",
        "Debian",
        1,
        "a Debian to install into, and a release build; scripts/test-deb does it with the quick one",
    ),
    (
        "docs/install.md",
        "systemd",
        1,
        "a system to install into; scripts/test-deb runs the same unit",
    ),
];

/// Pages are typed one after the other: their servers listen on the ports that the pages say, and not every
/// system gives each its own network.
static TURN: Mutex<()> = Mutex::new(());

macro_rules! typed {
    ($($name:ident: $page:literal,)*) => {
        const TYPED: &[&str] = &[$($page),*];
        $(#[test]
        fn $name() {
            type_page($page);
        })*
    };
}

typed! {
    acjs: "docs/acjs.md",
    api: "docs/api.md",
    authentication: "docs/authentication.md",
    ci: "docs/ci.md",
    coming_from: "docs/coming-from.md",
    command_line: "docs/command-line.md",
    containerd: "docs/containerd.md",
    decision_log: "docs/decision-log.md",
    doctor: "docs/doctor.md",
    editors: "docs/editors.md",
    eval: "docs/eval.md",
    example_acjs_ctrdac: "examples/acjs-ctrdac/README.md",
    example_acjs_forward: "examples/acjs-forward/README.md",
    example_acjs_fruit: "examples/acjs-fruit/README.md",
    example_acjs_gitrepo: "examples/acjs-gitrepo/README.md",
    example_acjs_parameters: "examples/acjs-parameters/README.md",
    example_acjs_runc: "examples/acjs-runc/README.md",
    example_acjs_slsa: "examples/acjs-slsa/README.md",
    example_acjs_webhooks: "examples/acjs-webhooks/README.md",
    example_ci: "examples/ci/README.md",
    example_coming_from: "examples/coming-from/README.md",
    example_demonstration: "examples/demonstration/README.md",
    example_eval: "examples/eval/README.md",
    example_graph: "examples/graph/README.md",
    example_graph_gardener: "examples/graph-gardener/README.md",
    example_graph_node: "examples/graph-node/README.md",
    example_policies: "examples/policies/README.md",
    example_roles: "examples/roles/README.md",
    example_webhook: "examples/webhook/README.md",
    graph: "docs/graph.md",
    graph_commands: "docs/graph-commands.md",
    install: "docs/install.md",
    kubernetes: "docs/kubernetes.md",
    lint: "docs/lint.md",
    plugins: "docs/plugins.md",
    policies: "docs/policies.md",
    replay: "docs/replay.md",
    roles: "docs/roles.md",
    store: "docs/store.md",
    telemetry: "docs/telemetry.md",
    testing_policies: "docs/testing-policies.md",
}

/// The pages in a folder and the folders below it.
fn pages(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            let name = path.strip_prefix(repository()).unwrap();
            found.push(name.to_str().unwrap().to_owned());
        }
    }
}

fn all_pages() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["docs", "examples"] {
        pages(&repository().join(folder), &mut found);
    }
    found.sort();
    found
}

#[track_caller]
fn type_page(name: &str) {
    let turn = TURN.lock();
    let _between_processes = checkout::lock();
    let mut page = Page::read(name);
    let (checkout, home) = (checkout::fresh(), Folder::new());
    let mut shell = Shell::start(checkout.root(), home.root());
    let updates = std::env::var_os("UPDATE_DOCS").is_some_and(|v| v == "1");
    let (mut faults, mut typed) = (Vec::new(), 0);
    let mut rewritten = Vec::new();
    for block in page.blocks.iter().filter(|block| block.needs.is_empty()) {
        for (n, command) in block.commands.iter().enumerate() {
            typed += 1;
            let (got, code) = shell.type_in(&command.text, &format!("{name}:{}", command.line));
            let next = block.commands.get(n + 1);
            let tells = next.is_some_and(|next| next.text == "echo $?");
            let place = format!("{name}:{}: {}", command.line, command.text);
            if code != 0 && !tells {
                faults.push(format!("{place}\nends with {code}:\n{got}"));
            }
            let Some(shown) = &command.shown else {
                continue;
            };
            if output::fits(shown, &got) {
                continue;
            }
            if updates {
                rewritten.push((command.line, command.end, output::updated(shown, &got)));
            } else {
                let shown = shown.join("\n");
                faults.push(format!("{place}\nshown:\n{shown}\nprinted:\n{got}"));
            }
        }
    }
    if !faults.is_empty() {
        let log = "for log in *.log; do [ ! -e $log ] || tail -n 20 $log; done";
        faults.push(format!("logs:\n{}", shell.type_in(log, name).0));
    }
    shell.end();
    page.rewrite(rewritten);
    drop(turn);
    assert!(typed > 0, "{name} has no commands");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

#[test]
fn every_page_with_commands_is_typed() {
    for name in all_pages() {
        let page = Page::read(&name);
        let has_commands = page.blocks.iter().any(|block| block.needs.is_empty());
        let is_typed = TYPED.contains(&name.as_str());
        assert_eq!(
            has_commands, is_typed,
            "{name}: is it in the list, and should it be?"
        );
    }
}

#[test]
fn what_is_not_typed_says_what_it_needs_and_is_counted() {
    let mut found: Vec<(String, String, usize)> = Vec::new();
    for name in all_pages() {
        for Block { needs, before, .. } in Page::read(&name).blocks {
            if needs.is_empty() {
                continue;
            }
            assert!(
                before.to_lowercase().contains(&needs.to_lowercase()),
                "{name}: the sentence before a block doesn't say that it needs {needs}: {before}"
            );
            match found.last_mut() {
                Some((page, need, count)) if *page == name && *need == needs => *count += 1,
                _ => found.push((name.clone(), needs, 1)),
            }
        }
    }
    let listed = NEEDS.iter().map(|(page, need, count, why)| {
        assert!(!why.is_empty());
        ((*page).to_owned(), (*need).to_owned(), *count)
    });
    assert_eq!(found, listed.collect::<Vec<_>>());
}

#[test]
fn links_lead_somewhere() {
    for name in all_pages() {
        let text = std::fs::read_to_string(repository().join(&name)).unwrap();
        let folder = repository().join(&name);
        let folder = folder.parent().unwrap();
        for link in text.split("](").skip(1) {
            let (link, _) = link.split_once(')').unwrap();
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target = if file.is_empty() {
                repository().join(&name)
            } else {
                folder.join(file)
            };
            assert!(target.exists(), "{name}: {link}");
            if !heading.is_empty() {
                let there = std::fs::read_to_string(&target).unwrap();
                assert!(page::headings(&there).contains(heading), "{name}: {link}");
            }
        }
    }
}
