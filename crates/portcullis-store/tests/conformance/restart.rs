//! A database server that stops and starts again.

use std::path::Path;

use portcullis_store::{Entry, Filter, Location, Mode, Store, StoreError};

use crate::records::{append, ids, line, simple};
use crate::server::Server;

#[test]
fn a_store_goes_on_after_its_server_was_away() {
    let server = Server::start(&[]);
    let url = server.url(&server.database());
    let location = Location::parse(&url, Path::new("/")).unwrap();
    let mut store = Store::open(&location, Mode::ReadWrite).unwrap();
    let mut reader = Store::open(&location, Mode::ReadOnly).unwrap();
    append(&mut store, &simple(0..3));
    assert_eq!(ids(&mut reader, &Filter::default()).len(), 3);

    server.stop();
    let summaries = simple(3..5);
    let lines: Vec<String> = summaries.iter().map(line).collect();
    let entries: Vec<Entry<'_>> = summaries
        .iter()
        .zip(&lines)
        .map(|(summary, line)| Entry { summary, line })
        .collect();
    for _ in 0..3 {
        let error = store.append(&entries).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        assert!(store.check().unwrap_err().is_temporary());
    }

    assert!(server.begin());
    store.append(&entries).unwrap();
    // The one who reads finds out only now that its connection is gone.
    let first = reader.count(&Filter::default());
    if let Err(error) = first {
        assert!(error.is_temporary(), "{error}");
    }
    assert_eq!(reader.count(&Filter::default()).unwrap(), 5);

    // And once more, without having noticed in between.
    server.stop();
    assert!(server.begin());
    let again = simple(5..6);
    let line = line(&again[0]);
    let entry = Entry {
        summary: &again[0],
        line: &line,
    };
    if let Err(error) = store.append(&[entry]) {
        assert!(error.is_temporary(), "{error}");
        store.append(&[entry]).unwrap();
    }
    assert_eq!(store.count(&Filter::default()).unwrap(), 6);
    assert_eq!(store.get(&again[0].id).unwrap(), Some(line));
}
