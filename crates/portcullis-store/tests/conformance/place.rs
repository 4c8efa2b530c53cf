//! An empty store for one test.

use std::path::{Path, PathBuf};

use portcullis_store::{Location, Mode, Store, StoreError};
use tempfile::TempDir;

use crate::server;

/// A place for a store, with nothing in it yet.
pub(crate) struct Place {
    pub(crate) location: Location,
    file: Option<(TempDir, PathBuf)>,
    url: Option<String>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("data/portcullis.db");
        let location = Location::in_directory(&folder.path().join("data"));
        Self {
            location,
            file: Some((folder, file)),
            url: None,
        }
    }

    pub(crate) fn postgres() -> Self {
        let server = server::shared();
        let url = server.url(&server.database());
        Self {
            location: Location::parse(&url, Path::new("/")).unwrap(),
            file: None,
            url: Some(url),
        }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.location, Mode::ReadWrite).unwrap()
    }

    pub(crate) fn read_only(&self) -> Result<Store, StoreError> {
        Store::open(&self.location, Mode::ReadOnly)
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_ref().map(|(_, file)| file.as_path())
    }

    /// What [`Location::parse`] makes this place of.
    pub(crate) fn url(&self) -> String {
        match (self.file(), &self.url) {
            (Some(file), _) => format!("sqlite:{}", file.display()),
            (_, Some(url)) => url.clone(),
            _ => unreachable!(),
        }
    }

    /// The number that a query gives, behind the store's back.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        match (self.file(), &self.url) {
            (Some(file), _) => rusqlite::Connection::open(file)
                .unwrap()
                .query_row(sql, [], |row| row.get(0))
                .unwrap(),
            (_, Some(url)) => postgres::Client::connect(url, postgres::NoTls)
                .unwrap()
                .query_one(sql, &[])
                .unwrap()
                .get(0),
            _ => unreachable!(),
        }
    }

    /// How the database would run a query.
    pub(crate) fn plan(&self, sql: &str) -> String {
        match (self.file(), &self.url) {
            (Some(file), _) => {
                let connection = rusqlite::Connection::open(file).unwrap();
                let mut statement = connection
                    .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                    .unwrap();
                let lines = statement.query_map([], |row| row.get::<_, String>(3));
                let lines: Vec<String> = lines.unwrap().map(Result::unwrap).collect();
                lines.join("\n")
            }
            (_, Some(url)) => {
                let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
                let rows = client.query(&format!("EXPLAIN {sql}"), &[]).unwrap();
                let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
                lines.join("\n")
            }
            _ => unreachable!(),
        }
    }

    /// Runs SQL behind the store's back.
    pub(crate) fn meddle(&self, sql: &str) {
        match (self.file(), &self.url) {
            (Some(file), _) => rusqlite::Connection::open(file)
                .unwrap()
                .execute_batch(sql)
                .unwrap(),
            (_, Some(url)) => postgres::Client::connect(url, postgres::NoTls)
                .unwrap()
                .batch_execute(sql)
                .unwrap(),
            _ => unreachable!(),
        }
    }
}
