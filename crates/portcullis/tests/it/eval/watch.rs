//! `--watch`: run again when files change.

use std::fs::File;
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::harness::{Folder, eventually, pod, program, run_in, until};

/// A run that goes on; what it printed is in two files.
struct Watching {
    folder: Folder,
    child: Child,
}

impl Watching {
    fn start(folder: Folder, arguments: &[&str]) -> Self {
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let child = program(folder.root())
            .args(arguments)
            .stdout(file("printed.out"))
            .stderr(file("printed.err"))
            .spawn()
            .unwrap();
        Self { folder, child }
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path(name)).unwrap()
    }

    /// Waits until so many runs have ended.
    #[track_caller]
    fn ran(&self, times: usize) {
        until("a run", || {
            self.read("printed.err").matches("\nwatching ").count() == times
        });
    }

    /// What the last run said, after what changed.
    fn last(&self) -> String {
        self.read("printed.err")
            .rsplit("--- ")
            .next()
            .unwrap()
            .to_owned()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is changed and how, the line that says so, and what the next run says.
type Step<'a> = (&'a str, &'a dyn Fn(&Folder), &'a str, &'a str);

fn named(name: &str) -> String {
    let mut pod = pod();
    pod["metadata"]["name"] = json!(name);
    pod.to_string()
}

#[test]
fn eval_runs_again_when_a_file_changes_comes_or_goes() {
    let folder = Folder::new();
    folder.write("policies/a.js", "import {no} from './lib/words.js'\nexport default () => { if (object.metadata.name === no) deny('no') }");
    folder.write("policies/lib/words.js", "export const no = 'web'");
    folder.write(
        "portcullis.yaml",
        "{policyDirs: [policies], defaultAction: allow}",
    );
    folder.write("m/a.yaml", named("web"));
    let mut watching = Watching::start(
        folder,
        &["eval", "m", "--watch", "--report", "json=policies/out.json"],
    );
    watching.ran(1);
    assert!(
        watching
            .last()
            .contains("1 object, 1 policy: 0 allowed, 1 denied"),
        "{}",
        watching.last()
    );
    let steps: [Step<'_>; 6] = [
        (
            "a module",
            &|f| f.write("policies/lib/words.js", "export const no = 'other'"),
            "policies/lib/words.js changed",
            "1 allowed, 0 denied",
        ),
        (
            "a new manifest",
            &|f| f.write("m/sub/b.yaml", named("other")),
            "m/sub/b.yaml was added",
            "1 allowed, 1 denied",
        ),
        (
            "a fault",
            &|f| f.write("policies/lib/words.js", "export const no = ("),
            "policies/lib/words.js changed",
            "error: ",
        ),
        (
            "its repair",
            &|f| f.write("policies/lib/words.js", "export const no = 'none'"),
            "policies/lib/words.js changed",
            "2 allowed, 0 denied",
        ),
        (
            "no manifest",
            &|f| std::fs::remove_file(f.path("m/sub/b.yaml")).unwrap(),
            "m/sub/b.yaml was removed",
            "1 object,",
        ),
        (
            "the configuration",
            &|f| {
                f.write("portcullis.yaml", "{policyDirs: [policies], policies: [{name: b, code: return}], defaultAction: allow}")
            },
            "portcullis.yaml changed",
            "1 object, 2 policies",
        ),
    ];
    for (number, (what, change, line, result)) in steps.into_iter().enumerate() {
        change(&watching.folder);
        watching.ran(number + 2);
        let said = watching.last();
        assert!(said.starts_with(&format!("{line}\n")), "{what}: {said}");
        assert!(said.contains(result), "{what}: {said}");
    }
    let printed = watching.read("printed.out") + &watching.read("printed.err");
    assert!(!printed.contains('\u{1b}'), "{printed}");
    // A signal ends it at once, as usual. Where tests run in the background, SIGINT is ignored.
    kill(
        Pid::from_raw(watching.child.id().cast_signed()),
        Signal::SIGTERM,
    )
    .unwrap();
    let status = eventually("its end", || watching.child.try_wait().unwrap());
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
}

#[test]
fn test_runs_again_when_a_test_or_policy_changes() {
    let folder = Folder::new();
    folder.write(
        "policies/a.js",
        "if (object.metadata.name === 'web') deny('no')",
    );
    let tests = |allowed: bool| {
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}});
        json!({"tests": [{"name": "web", "object": object, "expect": {"allowed": allowed}}]})
            .to_string()
    };
    folder.write("tests/a.test.yaml", tests(true));
    let watching = Watching::start(folder, &["test", "--watch"]);
    watching.ran(1);
    assert!(watching.last().contains("1 failed"), "{}", watching.last());
    watching.folder.write("tests/a.test.yaml", tests(false));
    watching.ran(2);
    assert!(
        watching.last().starts_with("tests/a.test.yaml changed\n"),
        "{}",
        watching.last()
    );
    assert!(watching.last().contains("1 passed"), "{}", watching.last());
    watching.folder.write("policies/a.js", "return");
    watching.ran(3);
    assert!(
        watching.last().starts_with("policies/a.js changed\n"),
        "{}",
        watching.last()
    );
    assert!(watching.last().contains("1 failed"), "{}", watching.last());
}

#[test]
fn standard_input_can_not_be_watched() {
    let folder = Folder::new();
    folder.write("policies/a.js", "");
    let ran = run_in(&folder, &["eval", "-", "--policies", "policies", "--watch"]);
    assert_eq!(ran.code, Some(2));
    ran.says(&["error: --watch needs files or folders"]);
}
