//! `decisions list -w`: existing decisions, and then new ones.

use std::fs::File;
use std::process::Child;

use super::api::Api;
use super::{fill, many, samples};
use crate::harness::{Folder, eventually, program, until};

/// The program, following; ended with this value.
struct Watch {
    child: Child,
    outputs: Folder,
}

impl Watch {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let outputs = Folder::new();
        let file = |name: &str| File::create(outputs.path(name)).unwrap();
        let child = program(folder.root())
            .args(["decisions", "list", "-w"])
            .args(arguments)
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        Self { child, outputs }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.outputs.path(name)).unwrap()
    }

    /// Waits for so many lines, and gives them.
    #[track_caller]
    fn lines(&self, count: usize) -> Vec<String> {
        let lines = || -> Vec<String> { self.read("out").lines().map(str::to_owned).collect() };
        eventually("the lines", || (lines().len() >= count).then_some(()));
        lines()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn names(lines: &[String]) -> Vec<String> {
    let name = |line: &String| {
        let item: serde_json::Value = serde_json::from_str(line).unwrap();
        item["name"].as_str().unwrap().to_owned()
    };
    lines.iter().map(name).collect()
}

#[test]
fn a_store_is_followed() {
    let folder = Folder::new();
    let all = many(12);
    fill(&folder, "data", &all[..5]);
    let flags = ["--data-dir", "data", "--limit", "3", "-o", "json"];
    let watch = Watch::start(&folder, &flags);
    assert_eq!(names(&watch.lines(3)), ["pod-2", "pod-3", "pod-4"]);
    fill(&folder, "data", &all[5..7]);
    watch.lines(5);
    fill(&folder, "data", &all[7..]);
    let wanted: Vec<String> = (2..12).map(|n| format!("pod-{n}")).collect();
    assert_eq!(names(&watch.lines(10)), wanted);
}

#[test]
fn rows_are_appended_to_a_table_and_filters_kept() {
    let folder = Folder::new();
    let all = samples();
    fill(&folder, "data", &all[..1]);
    let watch = Watch::start(&folder, &["--data-dir", "data", "--verdict", "deny"]);
    let first = watch.lines(2);
    assert!(first[0].starts_with("ID ") && first[1].contains("CREATE Pod shop/debug"));
    fill(&folder, "data", &all[1..]);
    let then = watch.lines(4);
    assert!(then[2].contains("policy image-signed"), "{then:?}");
    assert!(
        then[3].contains("update deployments garden/etcd"),
        "{then:?}"
    );
    assert_eq!(then.len(), 4);
}

#[test]
fn a_server_is_followed_through_a_broken_stream() {
    let folder = Folder::new();
    let all = many(12);
    let api = Api::http(&all[..5]);
    let flags = ["--server", &api.url, "--token", "geheim", "-o", "json"];
    let watch = Watch::start(&folder, &flags);
    watch.lines(5);
    until("a stream", || api.streams() == 1);
    api.decide(&all[5]);
    api.decide(&all[6]);
    watch.lines(7);
    api.break_streams();
    // Decided while no stream is open.
    until("no stream", || {
        api.streams() == 0 || watch.read("err").contains("again")
    });
    api.decide(&all[7]);
    watch.lines(8);
    until("another stream", || api.streams() == 1);
    api.decide(&all[8]);
    let wanted: Vec<String> = (0..9).map(|n| format!("pod-{n}")).collect();
    assert_eq!(names(&watch.lines(9)), wanted);
    assert!(
        watch
            .read("err")
            .contains("the server ended the stream; reconnecting")
    );
}

#[test]
fn a_server_that_goes_away_for_good_ends_it() {
    let folder = Folder::new();
    let api = Api::http(&many(2));
    let flags = ["--server", &api.url, "--token", "geheim", "-o", "json"];
    let mut watch = Watch::start(&folder, &flags);
    watch.lines(2);
    until("a stream", || api.streams() == 1);
    api.refuse(401, "{}");
    api.break_streams();
    let status = eventually("the end", || watch.child.try_wait().unwrap());
    assert_eq!(status.code(), Some(4), "{}", watch.read("err"));
}

#[test]
fn it_ends_when_nobody_reads_any_more() {
    let folder = Folder::new();
    fill(&folder, "data", &many(2));
    let mut child = program(folder.root())
        .args(["decisions", "list", "-w", "--data-dir", "data"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    fill(&folder, "data", &samples());
    let status = eventually("the end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}
