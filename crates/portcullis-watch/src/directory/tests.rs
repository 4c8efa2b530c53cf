//! What happens to the objects of files that are created, changed and deleted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::sync::mpsc;

use portcullis_graph::SourceId;
use tempfile::TempDir;

use super::*;

/// The known objects, and every event.
#[derive(Default)]
struct Told {
    objects: RefCell<BTreeMap<String, String>>,
    log: RefCell<Vec<String>>,
    looks: Cell<usize>,
}

const KINDS: [(&str, &str, bool); 3] = [
    ("v1", "Secret", true),
    ("v1", "Node", false),
    ("a.b/v1", "Bastion", true),
];

impl Sink for Told {
    fn source(&self, api_version: &str, kind: &str) -> Option<(SourceId, bool)> {
        let mut kinds = KINDS.iter().enumerate();
        let found = kinds.find(|(_, (version, name, _))| *version == api_version && *name == kind);
        found.map(|(id, (_, _, namespaced))| (SourceId(id), *namespaced))
    }

    fn apply(&self, source: SourceId, object: &Value) -> Applied {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or("");
        let name = format!(
            "{}:{}/{}",
            KINDS[source.0].1,
            text("/metadata/namespace"),
            text("/metadata/name")
        );
        let note = text("/note").to_owned();
        self.log.borrow_mut().push(format!("+{name}={note}"));
        self.objects.borrow_mut().insert(name, note.clone());
        let wrong = (note == "odd").then(|| "spec: is odd".to_owned());
        Applied::Followed(wrong.into_iter().collect())
    }

    fn delete(&self, source: SourceId, namespace: &str, name: &str) {
        let name = format!("{}:{namespace}/{name}", KINDS[source.0].1);
        self.log.borrow_mut().push(format!("-{name}"));
        self.objects.borrow_mut().remove(&name);
    }

    fn looked(&self) {
        self.looks.set(self.looks.get() + 1);
    }
}

struct World {
    dir: TempDir,
    told: Told,
    objects: ObjectsDirectory,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut objects = ObjectsDirectory::open(dir.path()).unwrap();
        objects.pause = Box::new(|| {});
        let told = Told::default();
        let world = Self { dir, told, objects };
        for (name, text) in files {
            world.write(name, text);
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn replace(&self, name: &str, text: &str) {
        self.write(".new", text);
        fs::rename(self.path(".new"), self.path(name)).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Looks; what is known then.
    fn look(&mut self) -> Vec<String> {
        self.report();
        let objects = self.told.objects.borrow();
        objects.iter().map(|(k, v)| format!("{k}={v}")).collect()
    }

    fn report(&mut self) -> Report {
        self.told.log.borrow_mut().clear();
        self.objects.sync(&self.told)
    }

    fn log(&self) -> Vec<String> {
        self.told.log.borrow().clone()
    }
}

fn secret(name: &str, note: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: ns}}\nnote: \"{note}\"\n---\n"
    )
}

const BAD: &str = "kind: Secret\n  metadata: [\n";

#[test]
fn a_directory_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let error = ObjectsDirectory::open(&missing).unwrap_err().to_string();
    assert!(error.contains("missing can't be read: no such file or directory"));
    fs::write(&missing, "").unwrap();
    let error = ObjectsDirectory::open(&missing).unwrap_err().to_string();
    assert!(error.contains("is not a directory"), "{error}");
}

#[test]
fn all_kinds_of_files_count_and_go() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: x, namespace: wrong}}\n";
    let mut world = World::new(&[
        ("a.yaml", &(secret("a", "1") + &secret("b", "2"))),
        ("sub/b.yml", list),
        (
            "c.json",
            r#"{"apiVersion":"a.b/v1","kind":"Bastion","metadata":{"name":"c"},"note":"json"}"#,
        ),
        ("d.txt", &secret("d", "")),
        (".e.yaml", &secret("e", "")),
        (
            "unwanted.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
        ),
    ]);
    let all = [
        "Bastion:default/c=json",
        "Node:/x=",
        "Secret:ns/a=1",
        "Secret:ns/b=2",
    ];
    assert_eq!(world.look(), all);
    assert_eq!(world.told.looks.get(), 1);
    // Changed so recently that it is read once more.
    assert_eq!(world.look(), all);
    let report = world.report();
    assert!(!report.changed && report.malformed.is_empty());
    assert_eq!((report.files, report.objects), (4, 4));
    assert!(world.log().is_empty());
    world.remove("a.yaml");
    fs::remove_dir_all(world.path("sub")).unwrap();
    assert_eq!(world.look(), ["Bastion:default/c=json"]);
    assert_eq!(world.log(), ["-Secret:ns/a", "-Secret:ns/b", "-Node:/x"]);
}

#[test]
fn a_change_replaces_and_removes() {
    let mut world = World::new(&[("a.yaml", &(secret("a", "1") + &secret("b", "1")))]);
    world.look();
    world.replace("a.yaml", &(secret("b", "2") + &secret("c", "2")));
    assert_eq!(world.look(), ["Secret:ns/b=2", "Secret:ns/c=2"]);
    assert_eq!(
        world.log(),
        ["+Secret:ns/b=2", "+Secret:ns/c=2", "-Secret:ns/a"]
    );
    world.write("a.yaml", &secret("b", "3"));
    assert_eq!(world.look(), ["Secret:ns/b=3"]);
    // A list of nothing is a way to say so.
    world.write("a.yaml", "kind: List\nitems: []\n");
    assert!(world.look().is_empty());
}

#[test]
fn moving_a_file_deletes_nothing() {
    let mut world = World::new(&[
        ("a.yaml", &secret("a", "1")),
        ("z/b.yaml", &secret("b", "1")),
    ]);
    world.look();
    world.look();
    for (from, to) in [
        ("a.yaml", "b.yaml"),
        ("b.yaml", "a.yaml"),
        ("z", "0"),
        ("0", "z"),
    ] {
        fs::rename(world.path(from), world.path(to)).unwrap();
        assert_eq!(world.look(), ["Secret:ns/a=1", "Secret:ns/b=1"]);
        assert!(world.log().iter().all(|told| told.starts_with('+')));
    }
}

#[test]
fn a_file_that_is_away_for_a_moment_is_not_gone() {
    let mut world = World::new(&[("a.yaml", &secret("a", "1"))]);
    world.look();
    world.look();
    // As when a listing meets a rename half way: neither name is seen.
    let (here, away) = (world.path("a.yaml"), world.path("elsewhere"));
    fs::rename(&here, &away).unwrap();
    let mut pauses = 0;
    world.objects.pause = Box::new(move || {
        pauses += 1;
        if pauses == 1 {
            fs::rename(&away, here.with_file_name("b.yaml")).unwrap();
        }
    });
    assert_eq!(world.look(), ["Secret:ns/a=1"]);
    assert_eq!(world.log(), ["+Secret:ns/a=1"]);
}

#[test]
fn a_file_is_read_when_it_has_stopped_changing() {
    let mut world = World::new(&[("a.yaml", &secret("a", "1"))]);
    world.look();
    world.look();
    let path = world.path("a.yaml");
    let texts = [BAD.to_owned(), String::new(), secret("a", "2")];
    let mut texts = texts.into_iter();
    world.write("a.yaml", "apiVersion: v1\n");
    world.objects.pause = Box::new(move || {
        if let Some(text) = texts.next() {
            fs::write(&path, text).unwrap();
        }
    });
    let report = world.report();
    assert!(report.malformed.is_empty());
    assert_eq!(world.log(), ["+Secret:ns/a=2"]);
}

#[test]
fn a_file_that_never_stops_changing_counts_in_the_end() {
    let mut world = World::new(&[("a.yaml", &secret("a", "1")), ("b.yaml", &secret("b", "1"))]);
    world.look();
    world.look();
    let path = world.path("b.yaml");
    let mut length = 0;
    world.objects.pause = Box::new(move || {
        length += 1;
        fs::write(&path, secret("b", &"x".repeat(length))).unwrap();
    });
    // What else changes is not held up by it.
    world.replace("a.yaml", &secret("a", "2"));
    world.write("b.yaml", &secret("b", "longer than others"));
    assert_eq!(world.look(), ["Secret:ns/a=2", "Secret:ns/b=1"]);
    let mut looks = 0;
    while world.look().contains(&"Secret:ns/b=1".to_owned()) {
        world.write("b.yaml", &secret("b", "longer than others"));
        looks += 1;
        assert!(looks < 10);
    }
}

#[test]
fn a_file_that_turns_bad_keeps_what_it_had() {
    let good = secret("a", "1") + &secret("b", "1");
    let mut world = World::new(&[("a.yaml", &good), ("b.yaml", &secret("c", "1"))]);
    world.look();
    world.look();
    for bad in [
        BAD.to_owned(),
        secret("a", "2") + BAD,
        String::new(),
        "# nothing\n".to_owned(),
        "kind: Secret\nmetadata: {name: a}\n".to_owned(),
    ] {
        world.replace("a.yaml", &bad);
        let report = world.report();
        assert_eq!(report.malformed.len(), 1, "{bad}");
        assert_eq!(report.malformed, report.news);
        assert_eq!(Path::new(&report.malformed[0].file), world.path("a.yaml"));
        assert!(report.malformed[0].message.contains("keeping"));
        assert!(world.log().is_empty());
        let again = world.report();
        assert!(again.news.is_empty() && !again.changed);
        assert_eq!(again.malformed, report.malformed);
        // Good again.
        world.replace("a.yaml", &good);
        let report = world.report();
        assert!(report.malformed.is_empty());
        assert_eq!(report.objects, 3);
    }
    fs::write(world.path("a.yaml"), b"a: \xff\n").unwrap();
    assert!(world.report().malformed[0].message.contains("not UTF-8"));
    world.remove("a.yaml");
    assert_eq!(world.look(), ["Secret:ns/c=1"]);
    assert!(world.report().malformed.is_empty());
}

#[test]
fn at_first_a_bad_document_is_left_out() {
    let text = secret("a", "1") + BAD + "---\n" + &secret("b", "1");
    let mut world = World::new(&[("a.yaml", &text), ("empty.yaml", "# nothing yet\n")]);
    let report = world.report();
    assert_eq!(report.malformed.len(), 1);
    assert!(report.malformed[0].position.is_some(), "{report:?}");
    assert_eq!(world.look(), ["Secret:ns/a=1", "Secret:ns/b=1"]);
    // The same for a file that comes later.
    world.write("c.yaml", &(BAD.to_owned() + "---\n" + &secret("c", "1")));
    assert_eq!(world.look().len(), 3);
    assert_eq!(world.report().malformed.len(), 2);
}

#[test]
fn what_is_odd_about_an_object_is_told() {
    let mut world = World::new(&[("a.yaml", &secret("a", "odd"))]);
    let report = world.report();
    assert_eq!(report.malformed[0].message, "Secret ns/a: spec: is odd");
    assert_eq!(world.look(), ["Secret:ns/a=odd"]);
}

#[test]
fn a_name_that_breaks_a_line_is_refused_and_told_on_one() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: \"a\\n2026 WARN forged\", namespace: ns}\n---\n";
    let space =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: b, namespace: \"n\\u202es\"}\n---\n";
    // Kinds that are not watched may have any name.
    let other = "apiVersion: v1\nkind: Other\nmetadata: {name: \"a\\nb\"}\n---\n";
    let all = text.to_owned() + space + other + &secret("c", "1");
    let mut world = World::new(&[("a.yaml", &all)]);
    let report = world.report();
    let told: Vec<_> = report.malformed.iter().map(ToString::to_string).collect();
    let file = world.path("a.yaml").display().to_string();
    assert_eq!(
        told,
        [
            format!(
                "{file}:1:1: Secret \"a\\n2026 WARN forged\": metadata.name: invalid name: `/`, `%` and control characters are not allowed"
            ),
            format!(
                "{file}:5:1: Secret \"b\": metadata.namespace: invalid namespace: `/`, `%`, `:` and control characters are not allowed"
            ),
        ]
    );
    assert_eq!(world.look(), ["Secret:ns/c=1"]);
}

#[test]
fn the_later_name_wins_and_the_earlier_counts_again() {
    let mut world = World::new(&[
        ("x1.yaml", &secret("a", "1")),
        ("x2.yaml", &secret("a", "2")),
    ]);
    assert_eq!(world.look(), ["Secret:ns/a=2"]);
    assert_eq!(world.log(), ["+Secret:ns/a=2"]);
    world.look();
    // A change of the earlier doesn't count, until it does.
    world.write("x1.yaml", &secret("a", "one"));
    assert_eq!(world.look(), ["Secret:ns/a=2"]);
    world.remove("x2.yaml");
    assert_eq!(world.look(), ["Secret:ns/a=one"]);
    assert_eq!(world.log(), ["+Secret:ns/a=one"]);
    // A still later one comes; then the earlier turns bad, then the later goes.
    world.write("x3.yaml", &secret("a", "3"));
    assert_eq!(world.look(), ["Secret:ns/a=3"]);
    world.write("x1.yaml", BAD);
    assert_eq!(world.look(), ["Secret:ns/a=3"]);
    world.remove("x3.yaml");
    assert_eq!(world.look(), ["Secret:ns/a=one"]);
    // The later still is there, but not with this object.
    world.write("x9.yaml", &secret("a", "9"));
    world.look();
    world.write("x1.yaml", &secret("a", "1"));
    world.replace("x9.yaml", &secret("b", "9"));
    assert_eq!(world.look(), ["Secret:ns/a=1", "Secret:ns/b=9"]);
    world.remove("x1.yaml");
    assert_eq!(world.look(), ["Secret:ns/b=9"]);
}

#[test]
fn in_one_file_the_later_document_wins() {
    let text = secret("a", "1") + &secret("a", "2");
    let mut world = World::new(&[("a.yaml", &text)]);
    assert_eq!(world.look(), ["Secret:ns/a=2"]);
}

#[test]
fn a_swapped_link_is_one_change() {
    let mut world = World::new(&[
        ("..v1/a.yaml", &secret("a", "1")),
        ("..v2/a.yaml", &secret("a", "2")),
    ]);
    symlink("..v1", world.path("..data")).unwrap();
    symlink("..data/a.yaml", world.path("a.yaml")).unwrap();
    assert_eq!(world.look(), ["Secret:ns/a=1"]);
    world.look();
    symlink("..v2", world.path("..tmp")).unwrap();
    fs::rename(world.path("..tmp"), world.path("..data")).unwrap();
    assert_eq!(world.look(), ["Secret:ns/a=2"]);
    assert_eq!(world.log(), ["+Secret:ns/a=2"]);
}

#[test]
fn a_directory_that_is_away_keeps_everything() {
    let mut world = World::new(&[("d/a.yaml", &secret("a", "1"))]);
    let root = world.path("d");
    world.objects = ObjectsDirectory::open(&root).unwrap();
    world.objects.pause = Box::new(|| {});
    world.look();
    fs::rename(&root, world.path("e")).unwrap();
    assert_eq!(world.look(), ["Secret:ns/a=1"]);
    assert_eq!(world.report().malformed[0].file, root);
    fs::rename(world.path("e"), &root).unwrap();
    assert!(world.report().malformed.is_empty());
}

#[test]
fn files_beyond_the_limit_are_told_and_nothing_is_lost() {
    let mut world = World::new(&[("a.yaml", &secret("a", "1"))]);
    world.look();
    world.objects.max_entries = 1;
    world.write("b.yaml", &secret("b", "1"));
    let report = world.report();
    assert!(report.malformed[0].message.contains("more than"));
    assert!(world.look().contains(&"Secret:ns/a=1".to_owned()));
}

#[test]
fn a_follower_tells_every_look_until_it_is_dropped() {
    struct Nothing;
    impl Sink for Nothing {
        fn source(&self, _: &str, _: &str) -> Option<(SourceId, bool)> {
            Some((SourceId(0), true))
        }
        fn apply(&self, _: SourceId, _: &Value) -> Applied {
            Applied::Followed(Vec::new())
        }
        fn delete(&self, _: SourceId, _: &str, _: &str) {}
        fn looked(&self) {}
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.yaml"), secret("a", "1")).unwrap();
    let objects = ObjectsDirectory::open(dir.path()).unwrap();
    let (tell, told) = mpsc::channel();
    let follower = Follower::start(objects, Arc::new(Nothing), move |report| {
        tell.send(report.objects).ok();
    });
    assert_eq!(told.recv(), Ok(1));
    fs::write(dir.path().join("b.yaml"), secret("b", "1")).unwrap();
    while told.recv().unwrap() != 2 {}
    drop(follower);
    while told.try_recv().is_ok() {}
    assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Disconnected));
}

#[test]
fn a_graph_follows_a_directory() {
    let state = crate::testing::state();
    let leads = |name, node| crate::testing::leads(&state, "Pod", name, node);
    let pod = |name: &str, node: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: \"n\"}}, note: {node}}}"
        )
    };
    let mut world = World::new(&[("a.yaml", &pod("a", "here")), ("b.yaml", &pod("b", "here"))]);
    assert!(!state.is_caught_up());
    world.objects.sync(&*state);
    assert!(state.is_caught_up());
    assert!(leads("a", "here") && leads("b", "here") && !leads("a", "there"));
    world.replace("a.yaml", &pod("a", "there"));
    world.replace("c.yaml", &pod("b", "there"));
    world.objects.sync(&*state);
    assert!(leads("a", "there") && !leads("a", "here"));
    assert!(leads("b", "there") && !leads("b", "here"));
    world.remove("c.yaml");
    world.remove("a.yaml");
    world.objects.sync(&*state);
    assert!(leads("b", "here") && !leads("b", "there") && !leads("a", "there"));
}
