//! Opening: creating tables, bringing them up to date, opening read-only.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use portcullis_store::{Filter, Location, Mode, Store, StoreError};

use crate::place::Place;
use crate::records::{append, ids, line, simple};

crate::on_both!(
    an_empty_place_is_made_and_opened_again,
    many_may_open_an_empty_place_at_once,
    a_newer_store_is_refused,
    a_changed_migration_is_refused,
    reading_alone_makes_nothing,
    reading_alone_sees_what_others_store,
    reading_alone_can_t_write,
    a_damaged_body_is_said_to_be_one,
);

fn an_empty_place_is_made_and_opened_again(place: &Place) {
    for expected in 0..3 {
        let mut store = place.open();
        assert_eq!(ids(&mut store, &Filter::default()).len(), expected as usize);
        append(&mut store, &simple(expected..expected + 1));
    }
}

fn many_may_open_an_empty_place_at_once(place: &Place) {
    std::thread::scope(|scope| {
        for start in 0..8 {
            scope.spawn(move || append(&mut place.open(), &simple(start..start + 1)));
        }
    });
    assert_eq!(ids(&mut place.open(), &Filter::default()).len(), 8);
}

fn a_newer_store_is_refused(place: &Place) {
    drop(place.open());
    place.meddle(
        "INSERT INTO portcullis_migrations (version, name, checksum, applied) \
         VALUES (7777, 'x', 'y', 0)",
    );
    for mode in [Mode::ReadWrite, Mode::ReadOnly] {
        let error = Store::open(&place.location, mode).unwrap_err();
        assert!(
            matches!(error, StoreError::Newer { found: 7777, .. }),
            "{error}"
        );
        assert!(!error.is_temporary());
        assert!(
            error.to_string().contains(&place.location.to_string()),
            "{error}"
        );
    }
}

fn a_changed_migration_is_refused(place: &Place) {
    drop(place.open());
    place.meddle("UPDATE portcullis_migrations SET checksum = 'other' WHERE version = 1");
    let error = Store::open(&place.location, Mode::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::Other { .. }), "{error}");
}

fn reading_alone_makes_nothing(place: &Place) {
    let error = place.read_only().unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
    if let Some(file) = place.file() {
        assert!(!file.exists());
        assert!(!file.parent().unwrap().exists());
    }
    // Again: nothing was left behind.
    assert!(matches!(place.read_only(), Err(StoreError::Missing { .. })));
}

fn reading_alone_sees_what_others_store(place: &Place) {
    let mut writer = place.open();
    append(&mut writer, &simple(0..3));
    let mut reader = place.read_only().unwrap();
    assert_eq!(ids(&mut reader, &Filter::default()).len(), 3);
    append(&mut writer, &simple(3..5));
    assert_eq!(ids(&mut reader, &Filter::default()).len(), 5);
    drop(writer);
    let summary = &simple(4..5)[0];
    assert_eq!(reader.get(&summary.id).unwrap(), Some(line(summary)));
    drop(reader);
    // When no other connection is open.
    assert_eq!(
        ids(&mut place.read_only().unwrap(), &Filter::default()).len(),
        5
    );
}

fn reading_alone_can_t_write(place: &Place) {
    drop(place.open());
    let mut reader = place.read_only().unwrap();
    let summaries = simple(0..1);
    let entry = portcullis_store::Entry {
        summary: &summaries[0],
        line: "{}",
    };
    reader.append(&[entry]).unwrap_err();
    assert_eq!(ids(&mut place.open(), &Filter::default()).len(), 0);
}

fn a_damaged_body_is_said_to_be_one(place: &Place) {
    let mut store = place.open();
    append(&mut store, &simple(0..3));
    place.meddle("UPDATE decision_batches SET raw_size = raw_size + 1");
    let error = store.get(&simple(0..1)[0].id).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    // Lists don't need it.
    assert_eq!(ids(&mut store, &Filter::default()).len(), 3);
}

#[test]
fn a_file_is_for_its_owner_alone() {
    let place = Place::sqlite();
    let mut store = place.open();
    append(&mut store, &simple(0..3));
    let file = place.file().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file), 0o600);
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    for end in ["-wal", "-shm"] {
        let beside = file.with_file_name(format!("portcullis.db{end}"));
        assert_eq!(mode(&beside), 0o600, "{end}");
    }
}

#[test]
fn what_is_no_database_is_refused() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "nothing of a database\n".repeat(1000)).unwrap();
    let location = Location::parse("sqlite:notes.txt", folder.path()).unwrap();
    for mode in [Mode::ReadWrite, Mode::ReadOnly] {
        let error = Store::open(&location, mode).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    }
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .starts_with("nothing")
    );
}

#[test]
fn an_empty_file_is_nothing_to_read() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("portcullis.db"), "").unwrap();
    let error = Store::open(&Location::in_directory(folder.path()), Mode::ReadOnly).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
}

#[test]
fn a_server_that_isn_t_there_is_unavailable_and_its_password_not_told() {
    let port = portcullis_testing::free_port();
    let url = format!("postgres://user:hunter2@127.0.0.1:{port}/db");
    let location = Location::parse(&url, Path::new("/")).unwrap();
    let error = Store::open(&location, Mode::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert!(error.is_temporary());
    let text = format!("{error} {error:?} {location:?}");
    assert!(!text.contains("hunter2"), "{text}");
    assert!(
        text.contains(&format!("postgres://user@127.0.0.1:{port}/db")),
        "{text}"
    );
}

#[test]
fn a_database_that_isn_t_there_is_missing() {
    let url = crate::server::shared().url("nothing_of_the_kind");
    let location = Location::parse(&url, Path::new("/")).unwrap();
    let error = Store::open(&location, Mode::ReadWrite).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
}

#[test]
fn a_server_is_reached_through_its_socket_too() {
    let server = crate::server::shared();
    let folder = server.folder().to_str().unwrap().replace('/', "%2F");
    let url = format!(
        "postgresql://portcullis@{folder}:{}/{}?sslmode=require",
        server.port(),
        server.database()
    );
    let location = Location::parse(&url, Path::new("/")).unwrap();
    Store::open(&location, Mode::ReadWrite)
        .unwrap()
        .check()
        .unwrap();
}
