//! What measurements have in common: the stores, the webhook, and servers on them.

use std::path::{Path, PathBuf};

use super::case::{Admission, Database, DecisionLog};
use super::gate::{Gate, Setting};
use super::hook::Hook;
use super::postgres::Postgres;
use super::usage::Measured;
use crate::failure::{Context, Result};

/// Where servers are started.
pub(super) struct Stand {
    /// Holds everything the servers write.
    dir: tempfile::TempDir,
    pub(super) hook: Hook,
    postgres: Option<Postgres>,
    stores: u32,
}

/// A store that jobs are kept in.
pub(super) struct Place {
    dir: PathBuf,
    /// The name of its database on PostgreSQL.
    database: Option<String>,
}

/// What a server is started for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Purpose {
    pub(super) admission: Admission,
    pub(super) log: DecisionLog,
    /// Connections to it.
    pub(super) connections: usize,
}

impl Stand {
    /// A stand with these databases.
    pub(super) fn build(databases: &[Database]) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("portcullis-bench-")
            .tempdir();
        let has_postgres = databases.contains(&Database::Postgres);
        Ok(Self {
            dir: dir.context("no directory for this run")?,
            hook: Hook::start()?,
            postgres: has_postgres.then(Postgres::start).transpose()?,
            stores: 0,
        })
    }

    /// A new, empty store.
    pub(super) fn place(&mut self, database: Database) -> Result<Place> {
        self.stores += 1;
        let dir = self.dir.path().join(self.stores.to_string());
        std::fs::create_dir_all(&dir).context(dir.display())?;
        let database = match database {
            Database::Sqlite => None,
            Database::Postgres => {
                let postgres = self.postgres.as_mut();
                Some(postgres.context("PostgreSQL is not started")?.create()?)
            }
        };
        Ok(Place { dir, database })
    }

    /// Removes a store.
    pub(super) fn remove(&self, place: &Place) -> Result<()> {
        if let Some((postgres, database)) = self.postgres_of(place) {
            postgres.drop_database(database)?;
        }
        std::fs::remove_dir_all(&place.dir).context(place.dir.display())
    }

    /// Starts a server on a store. What the database has still to write of earlier work is written before.
    pub(super) fn start(
        &self,
        program: &Path,
        purpose: Purpose,
        place: &Place,
    ) -> Result<(Gate, Measured)> {
        let postgres = self.postgres_of(place);
        let url = postgres.map(|(postgres, database)| postgres.url(database));
        let gate = Gate::start(&Setting {
            program,
            dir: &place.dir,
            store: url.as_deref(),
            admission: purpose.admission,
            log: purpose.log,
            hook: &self.hook,
            connections: purpose.connections,
        })?;
        if let Some((postgres, _)) = postgres {
            postgres.checkpoint()?;
        }
        let measured = Measured {
            server: gate.pid(),
            database: postgres.map(|(postgres, _)| postgres.pid()).transpose()?,
        };
        Ok((gate, measured))
    }

    /// Lets the database gather its statistics on a store that was just filled.
    pub(super) fn analyze(&self, place: &Place) -> Result<()> {
        let postgres = self.postgres_of(place);
        postgres.map_or(Ok(()), |(postgres, database)| postgres.analyze(database))
    }

    fn postgres_of<'a>(&'a self, place: &'a Place) -> Option<(&'a Postgres, &'a str)> {
        self.postgres.as_ref().zip(place.database.as_deref())
    }
}
