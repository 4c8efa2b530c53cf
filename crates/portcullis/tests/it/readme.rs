//! Every command in the README does what the README says.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Demonstration, Folder, eventually, program, repository, run, run_in};

/// A fenced block: its language and its text.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
}

fn read(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inner: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            found.push(Block {
                language: language.to_owned(),
                text: inner.join("\n"),
            });
        }
    }
    found
}

fn is_command(block: &Block) -> bool {
    matches!(block.language.as_str(), "sh" | "console" | "bash" | "shell")
}

/// The commands of a block, without prompts and comments.
fn commands(block: &Block) -> Vec<&str> {
    let lines = block
        .text
        .lines()
        .map(|line| line.strip_prefix("$ ").unwrap_or(line).trim());
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

fn documented_curl(blocks: &[Block]) -> usize {
    let is_curl = |block: &Block| is_command(block) && block.text.starts_with("curl ");
    blocks
        .iter()
        .position(is_curl)
        .expect("the README shows no curl line")
}

/// Runs a line as a person would, by a shell.
fn shell(folder: &Folder, line: &str) -> String {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .current_dir(folder.root())
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_is_known_to_these_tests_and_works() {
    let blocks = blocks(&read("README.md"));
    let makefile = read("Makefile");
    let folder = Folder::new();
    let mut shown = 0;
    for block in &blocks {
        // A configuration that the next commands use.
        if block.language == "yaml" {
            folder.write("portcullis.yaml", &block.text);
        }
        for command in commands(block).into_iter().filter(|_| is_command(block)) {
            shown += 1;
            let words: Vec<&str> = command.split_whitespace().collect();
            match words.as_slice() {
                ["make", targets @ ..] => {
                    for target in targets {
                        let rule = format!("\n{target}:");
                        assert!(makefile.contains(&rule), "the Makefile has no {target}");
                    }
                }
                // Asked by the test below.
                ["curl", ..] => {}
                [
                    "portcullis" | "target/quick/portcullis" | "target/release/portcullis",
                    arguments @ ..,
                ] => {
                    let ran = run_in(&folder, arguments);
                    assert_eq!(ran.code, Some(0), "{command}: {}", ran.err);
                }
                _ => panic!("nobody checks this command of the README: {command}"),
            }
        }
    }
    assert!(shown >= 3, "the README shows hardly any command");
}

#[test]
fn the_curl_line_is_the_one_that_serve_prints_and_gets_the_answer_shown() {
    let blocks = blocks(&read("README.md"));
    let at = documented_curl(&blocks);
    let line = commands(&blocks[at])[0];
    let answer = blocks[at + 1..]
        .iter()
        .find(|block| block.language == "json");
    let answer = &answer.expect("the README shows no answer").text;
    let gate = Demonstration::start();
    let here = line.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", gate.hooks));
    assert_eq!(here, gate.curl(), "serve prints another line");
    let got = shell(&Folder::new(), &here);
    let without_id = |text: &str| {
        let mut answer: Value =
            serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let annotations = answer["response"]["auditAnnotations"]
            .as_object_mut()
            .unwrap();
        assert!(
            annotations.remove("decision-id").is_some(),
            "no decision id: {text}"
        );
        answer
    };
    assert_eq!(without_id(&got), without_id(answer));
}

#[test]
fn the_lines_about_decisions_that_serve_prints_show_them() {
    let gate = Demonstration::start();
    shell(&Folder::new(), &gate.curl());
    let told = gate.told();
    let printed = |command: &str| -> Vec<String> {
        let start = format!("portcullis {command}");
        let line = told.lines().find(|line| line.starts_with(&start));
        let line = line.expect("the line is not printed");
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    let id = eventually("the decision in the list", || {
        let ran = run(&printed("decisions list"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let row = ran
            .out
            .lines()
            .find(|row| row.contains("PodSecurity") && row.contains("deny"))?;
        row.split_whitespace().next().map(str::to_owned)
    });
    let explain: Vec<String> = printed("explain ID")
        .into_iter()
        .map(|word| if word == "ID" { id.clone() } else { word })
        .collect();
    let ran = run(&explain);
    assert!(ran.out.starts_with("denied by PodSecurity"), "{}", ran.out);
}

#[test]
fn the_lines_about_jobs_that_serve_prints_let_one_in() {
    let gate = Demonstration::start();
    let told = gate.told();
    let printed = |start: &str| {
        let line = told.lines().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no line `{start}`: {told}"))
    };
    let lines = [
        printed("export PORTCULLIS_SERVER="),
        printed("portcullis job why "),
        printed("portcullis controller answer "),
    ];
    let program = Path::new(env!("CARGO_BIN_EXE_portcullis"));
    let path = std::env::var("PATH").unwrap_or_default();
    let here = format!("{}:{path}", program.parent().unwrap().display());
    // In one shell, as printed; the reason once more after the answer, when policies have accepted the job as well.
    let typed = format!(
        "export PATH='{here}'\n{}\necho ==\n{}\necho ==\n{} 2>&1\necho ==\n\
         for _ in $(seq 300); do why=$({}); case $why in *'is preparing'*) sleep 0.1 ;; *) break ;; esac; done; echo \"$why\"",
        lines[0], lines[1], lines[2], lines[1]
    );
    let said = shell(&Folder::new(), &typed);
    let said: Vec<&str> = said.split("==\n").collect();
    let [submitted, waits, answered, after] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert!(submitted.contains("is preparing"), "{submitted}");
    assert!(
        waits.contains("It waits for admission by approval"),
        "{waits}"
    );
    assert!(
        waits.contains("zones (project level) accepted it"),
        "{waits}"
    );
    let job = lines[1].split_whitespace().next_back().unwrap();
    assert_eq!(*answered, format!("job {job} accepted\n"));
    assert!(after.contains("is pending"), "{after}");
    assert!(
        after.contains("Its tags are eu, linux.") || after.contains("Its tags are linux, eu."),
        "{after}"
    );
}

#[test]
fn the_targets_that_the_makefile_promises_are_there() {
    let makefile = read("Makefile");
    for target in ["run", "test", "unit", "e2e-kube", "lint", "bench"] {
        assert!(makefile.contains(&format!("\n{target}:")), "{target}");
    }
}

#[test]
fn files_that_the_readme_links_to_are_there() {
    let text = read("README.md");
    let links = text
        .split("](")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap());
    for link in links.filter(|link| !link.starts_with("http") && !link.starts_with('#')) {
        let file = link.split('#').next().unwrap();
        assert!(
            repository().join(file).exists(),
            "the README links to {link}"
        );
    }
}

#[test]
fn serve_runs_as_the_readme_shows_with_flags_alone() {
    // `portcullis serve --admission-control=...` without a configuration.
    assert!(
        read("README.md")
            .contains("portcullis serve --admission-control=AlwaysPullImages,PodSecurity")
    );
    let folder = Folder::new();
    let mut command = program(folder.root());
    command.args(["serve", "--admission-control=AlwaysPullImages,NoSuchPlugin"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("NoSuchPlugin"), "{told}");
}
