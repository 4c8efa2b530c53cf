//! Every folder in `examples/` is a valid configuration, starts and answers.

mod ci;
mod samples;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{
    Connection, Folder, Gate, Pki, Review, Verdict, access, free_port, pod, program, repository,
    run_in, tls,
};

fn copied(from: &Path, folder: &Folder, to: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{to}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), folder, &format!("{name}/"));
        } else {
            folder.write(&name, std::fs::read(entry.path()).unwrap());
        }
    }
}

fn all() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("examples")).unwrap();
    let mut folders: Vec<PathBuf> = entries
        .map(|e| e.unwrap().path())
        // Policies beside those of others: `coming_from` runs them.
        .filter(|p| p.is_dir() && !p.ends_with("coming-from"))
        .collect();
    folders.sort();
    folders
}

/// The values of a key in the lines of a file, wherever it stands.
fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let wanted = format!("{key}:");
    let lines = text.lines().map(|line| line.split(" #").next().unwrap());
    let found = lines
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| {
            let starts: Vec<usize> = line
                .match_indices(&wanted)
                .map(|(at, _)| at + wanted.len())
                .collect();
            starts.into_iter().map(|at| &line[at..])
        });
    found
        .map(|rest| {
            rest.trim_start()
                .split([',', '}', ' '])
                .next()
                .unwrap()
                .trim_matches('"')
        })
        .collect()
}

/// A listener as far as a client must know it.
#[derive(Debug)]
struct Listener {
    port: u16,
    is_tls: bool,
    serves: String,
}

/// Puts every listener on a free port, and says which.
fn moved(text: &str) -> (String, Vec<Listener>) {
    let (mut text, mut ports) = (text.to_owned(), Vec::new());
    let addresses: Vec<String> = values(&text, "tcp")
        .into_iter()
        .map(str::to_owned)
        .collect();
    for address in addresses {
        let port = free_port();
        let entry: String = {
            let (_, after) = text.split_once(&address).unwrap();
            after.split("\n- ").next().unwrap().to_owned()
        };
        let (_, serves) = entry.split_once("serves:").unwrap();
        let serves = serves.split(']').next().unwrap().to_owned();
        ports.push(Listener {
            port,
            is_tls: entry.contains("tls:"),
            serves,
        });
        text = text.replace(&address, &format!("127.0.0.1:{port}"));
    }
    (text, ports)
}

/// Files that an example names and leaves to its users.
fn certificates(folder: &Folder, text: &str, pki: &Pki) {
    for (key, content) in [
        ("certificate", &pki.server.certificate_pem),
        ("key", &pki.server.key_pem),
        ("clientCA", &pki.authority.certificate_pem),
    ] {
        for name in values(text, key) {
            assert!(
                !name.starts_with('/'),
                "an example names a file outside: {name}"
            );
            if !folder.path(name).exists() {
                folder.write(name, content);
            }
        }
    }
}

fn connect(listener: &Listener, pki: &Pki, needs_client: bool) -> Connection {
    let client = if needs_client {
        pki.client(Some(&pki.client))
    } else {
        tls::careless()
    };
    let connection = if listener.is_tls {
        Connection::tls(listener.port, &client)
    } else {
        Connection::tcp(listener.port)
    };
    connection.unwrap()
}

/// Whether the configuration in a folder is an acjs file.
fn is_acjs(example: &Path) -> bool {
    let text = std::fs::read_to_string(example.join("portcullis.yaml")).unwrap_or_default();
    text.lines().any(|line| line == "listener:")
}

#[test]
fn every_example_is_accepted_starts_and_answers() {
    assert!(!all().is_empty());
    for example in all().into_iter().filter(|example| !is_acjs(example)) {
        let (folder, pki) = (Folder::new(), Pki::new());
        copied(&example, &folder, "");
        let file = folder.path("portcullis.yaml");
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", example.display()));
        certificates(&folder, &text, &pki);
        let ran = run_in(&folder, &["check", "--config", "portcullis.yaml"]);
        assert_eq!(ran.code, Some(0), "{}: {}", example.display(), ran.err);
        let (text, listeners) = moved(&text);
        folder.write("portcullis.yaml", &text);
        let ops = listeners
            .iter()
            .find(|l| !l.is_tls && l.serves.contains("health"));
        let ops =
            ops.unwrap_or_else(|| panic!("{} has no plain listener for health", example.display()));
        let mut command = program(folder.root());
        command.args(["serve", "--config", "portcullis.yaml", "--data-dir", "data"]);
        let gate = Gate::spawn(folder, ops.port, command);
        let needs_client = text.contains("clientCA");
        let mut asked = 0;
        for listener in listeners.iter().filter(|l| l.serves.contains("kubernetes")) {
            let mut connection = connect(listener, &pki, needs_client);
            let review = Review::create(&pod());
            Verdict::of(
                &connection.post("/validate", &review.value()).unwrap(),
                &review,
            );
            if text.contains("default: [") {
                let review = access("v1", "alice", &[], &json!({}));
                assert_eq!(connection.post("/authorize", &review).unwrap().status, 200);
            }
            asked += 1;
        }
        for path in values(&text, "path")
            .into_iter()
            .filter(|path| path.ends_with(".sock"))
        {
            let review = Review::create(&pod());
            let mut connection = Connection::unix(&gate.folder.path(path)).unwrap();
            Verdict::of(
                &connection.post("/validate", &review.value()).unwrap(),
                &review,
            );
            asked += 1;
        }
        assert!(asked > 0, "{} answers no reviews", example.display());
    }
}

#[test]
fn the_demonstration_is_an_example() {
    assert!(all().iter().any(|path| path.ends_with("demonstration")));
}
