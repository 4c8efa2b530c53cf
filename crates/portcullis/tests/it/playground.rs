//! `portcullis playground`: a page to try policies on, with nothing else, and nothing left of it.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::api::browser::{Browser, hidden};
use crate::harness::{Folder, eventually, free_port, program, run, run_in};

const POLICY: &str = "if (object.metadata.name === 'web') deny('no web here')\n";
const OBJECT: &str = "apiVersion: v1%0Akind: Pod%0Ametadata: {name: web}%0A";

/// A running playground, killed when it goes.
struct Playground {
    folder: Folder,
    child: Child,
    /// The link that it printed.
    link: String,
}

impl Playground {
    #[track_caller]
    fn start(folder: Folder, arguments: &[&str]) -> Self {
        std::fs::create_dir(folder.path("tmp")).unwrap();
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let mut command = program(folder.root());
        command.env("TMPDIR", folder.path("tmp"));
        command.arg("playground").args(arguments);
        let child = command
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        let mut started = Self {
            folder,
            child,
            link: String::new(),
        };
        started.link = eventually("the link is printed", || {
            let ended = started.child.try_wait().unwrap();
            assert!(ended.is_none(), "ended: {}", started.told());
            let told = started.told();
            let mut lines = told.lines();
            let link = lines.find(|line| line.starts_with("http://127.0.0.1:"))?;
            told.ends_with('\n').then(|| link.to_owned())
        });
        started
    }

    fn told(&self) -> String {
        std::fs::read_to_string(self.folder.path("err")).unwrap()
    }

    fn port(&self) -> u16 {
        let (_, rest) = self.link.split_once("127.0.0.1:").unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// Path and query of the link.
    fn path(&self) -> &str {
        let (_, rest) = self.link.split_once("127.0.0.1:").unwrap();
        &rest[rest.find('/').unwrap()..]
    }

    /// Ends it as a person does, and returns what is left of its folders.
    #[track_caller]
    fn end(mut self, signal: Signal) -> Vec<String> {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
        let status = eventually("the end", || self.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "{}", self.told());
        let left = std::fs::read_dir(self.folder.path("tmp")).unwrap();
        left.map(|entry| entry.unwrap().path().display().to_string())
            .collect()
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A browser that has followed the link, and is at the page that it leads to.
#[track_caller]
fn signed_in(playground: &Playground) -> (Browser, String) {
    let mut browser = Browser::new(playground.port());
    let answer = browser.get(playground.path());
    assert_eq!(answer.status, 303, "{}", answer.text());
    let to = answer.header("location").unwrap().to_owned();
    (browser, to)
}

#[test]
fn the_link_signs_in_once_and_policies_can_be_tried() {
    let playground = Playground::start(Folder::new(), &["--no-open"]);
    let mut stranger = Browser::new(playground.port());
    assert_eq!(
        stranger.get("/playground").status,
        303,
        "without the link one has to sign in"
    );
    let (mut browser, to) = signed_in(&playground);
    assert_eq!(to, "/playground");
    assert!(browser.is_signed_in());
    let page = browser.get(&to);
    assert_eq!(page.status, 200, "{}", page.text());
    let csrf = hidden(&page.text(), "csrf");
    let policy = POLICY
        .replace(' ', "+")
        .replace('\n', "%0A")
        .replace('=', "%3D")
        .replace('\'', "%27");
    let fields = [
        ("csrf", csrf.as_str()),
        ("language", "js"),
        ("policy", &policy),
        ("object", OBJECT),
        ("operation", "CREATE"),
        ("mode", "enforce"),
    ];
    let result = browser.post_form("/playground", &fields);
    assert_eq!(result.status, 200, "{}", result.text());
    assert!(result.text().contains("no web here"), "{}", result.text());
    // The second one who comes with it is told, and gets nothing.
    let again = stranger.get(playground.path());
    assert_eq!(again.status, 410);
    assert!(
        again.text().contains("<html") && again.text().contains("This link is not valid"),
        "{}",
        again.text()
    );
    assert!(!stranger.is_signed_in());
    assert_eq!(browser.get(playground.path()).status, 410);
    assert_eq!(
        playground.end(Signal::SIGINT),
        [""; 0],
        "its folder is removed"
    );
}

#[test]
fn a_code_that_is_wrong_is_rejected_and_does_not_use_up_the_link() {
    let playground = Playground::start(Folder::new(), &["--no-open"]);
    let mut browser = Browser::new(playground.port());
    for wrong in [
        "",
        "?code=",
        "?code=0",
        "?code=00000000000000000000000000000000",
    ] {
        assert_eq!(
            browser.get(&format!("/sign-in/link{wrong}")).status,
            410,
            "{wrong}"
        );
    }
    // Asking for its headers is not following it.
    let mut stream = TcpStream::connect(("127.0.0.1", playground.port())).unwrap();
    let path = playground.path();
    write!(
        stream,
        "HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 410 "), "{answer}");
    assert!(!browser.is_signed_in());
    let (mut browser, _) = signed_in(&playground);
    assert!(browser.is_signed_in());
    assert_eq!(playground.end(Signal::SIGTERM), [""; 0]);
}

#[test]
fn it_begins_with_policies_of_a_folder_or_of_a_configuration() {
    let folder = Folder::new();
    folder.write("policies/no-web.js", POLICY);
    let arguments = ["--no-open", "--policies", "policies", "--policy", "no-web"];
    let playground = Playground::start(folder, &arguments);
    let (mut browser, to) = signed_in(&playground);
    assert_eq!(to, "/playground?policy=no-web");
    assert!(browser.get(&to).text().contains("no web here"));
    assert_eq!(playground.end(Signal::SIGINT), [""; 0]);

    let folder = Folder::new();
    folder.write("mine/policies/no-web.js", POLICY);
    // Its listeners, store and tokens are not used, whether they work or not.
    let config = "listeners: [{name: x, tcp: '127.0.0.1:1', serves: [kubernetes]}]\n\
                  policyDirs: [policies]\npolicies: [{name: inline, code: 'return \"inlined\"'}]\n\
                  authenticators: [{name: a, driver: HS256, issuer: a, audience: a, secretFile: missing}]\n";
    folder.write("mine/portcullis.yaml", config);
    let playground = Playground::start(folder, &["--no-open", "-c", "mine/portcullis.yaml"]);
    let (mut browser, _) = signed_in(&playground);
    assert!(
        browser
            .get("/playground?policy=no-web")
            .text()
            .contains("no web here")
    );
    assert!(
        browser
            .get("/playground?policy=inline")
            .text()
            .contains("inlined")
    );
    assert_eq!(browser.get("/playground?policy=none").status, 404);
}

#[test]
fn a_browser_is_opened_on_a_desktop_unless_it_is_not_wanted() {
    let folder = Folder::new();
    folder.tool(
        "my-browser",
        "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > opened\n",
    );
    let browser = folder.text("bin/my-browser");
    let port = free_port().to_string();
    let mut command = program(folder.root());
    let file = |name: &str| File::create(folder.path(name)).unwrap();
    command
        .args(["playground", "--port", &port])
        .env("BROWSER", &browser);
    let mut child = command
        .stdout(file("out"))
        .stderr(file("err"))
        .spawn()
        .unwrap();
    let opened = eventually("a browser is opened", || {
        let text = std::fs::read_to_string(folder.path("opened")).ok()?;
        text.ends_with('\n').then_some(text)
    });
    kill(
        Pid::from_raw(child.id().try_into().unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    child.wait().unwrap();
    let told = std::fs::read_to_string(folder.path("err")).unwrap();
    let link = told
        .lines()
        .find(|line| line.starts_with("http://"))
        .unwrap();
    assert!(
        link.starts_with(&format!("http://127.0.0.1:{port}/sign-in/link?code=")),
        "{link}"
    );
    assert_eq!(opened, format!("1\n{link}\n"));
}

#[test]
fn what_it_can_not_start_with_is_told() {
    let folder = Folder::new();
    folder.write("policies/bad.js", "return (");
    let ran = run_in(
        &folder,
        &["playground", "--no-open", "--policies", "policies"],
    );
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    ran.says(&["error: ", "bad.js"]);
    let ran = run(&["playground", "--no-open", "-c", "missing.yaml"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port().to_string();
    let ran = run(&["playground", "--no-open", "--port", &port]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    ran.says(&["error: ", &port]);
}

#[test]
fn what_is_missing_is_told_before_anything_runs() {
    let folder = Folder::new();
    folder.write("policies/a.js", POLICY);
    for (arguments, code, told) in [
        (
            &["--policies", "nosuch"][..],
            3,
            "error: nosuch: no such folder\n",
        ),
        (
            &["--policies", "policies", "--policy", "nosuch"],
            2,
            "error: unknown policy `nosuch`: expected one of a\n",
        ),
        (
            &["--policy", "nosuch"],
            2,
            "error: unknown policy `nosuch`: there are no policies: give --policies DIR or --config FILE\n",
        ),
    ] {
        let all = [&["playground", "--no-open"], arguments].concat();
        let ran = run_in(&folder, &all);
        assert_eq!((ran.code, ran.err.as_str()), (Some(code), told));
    }
}
