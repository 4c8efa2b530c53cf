//! How much decisions take.

use std::path::Path;

use serde::{Serialize, Serializer};

use crate::failure::{Context, Result};

/// The default store in a data directory: the database, and what was not yet put into it.
const FILES: [&str; 2] = ["portcullis.db", "portcullis.db-wal"];
/// What sizes are given for.
const UNIT: f64 = 10_000.0;

/// What some decisions take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// How many.
    pub(crate) decisions: u64,
    /// The database without any of them, in bytes; 0 where that makes no difference.
    pub(crate) empty_bytes: u64,
    /// The database with them after a clean stop, in bytes.
    pub(crate) database_bytes: u64,
    /// The same decisions as lines of JSON, in bytes.
    pub(crate) line_bytes: u64,
}

impl Size {
    /// The database of ten thousand, in bytes.
    pub(crate) fn database_per_10000(&self) -> f64 {
        let own = self.database_bytes.saturating_sub(self.empty_bytes);
        own as f64 / self.decisions as f64 * UNIT
    }

    /// The lines of ten thousand, in bytes.
    pub(crate) fn lines_per_10000(&self) -> f64 {
        self.line_bytes as f64 / self.decisions as f64 * UNIT
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serde_json::json!({
            "decisions": self.decisions,
            "empty_bytes": self.empty_bytes,
            "database_bytes": self.database_bytes,
            "line_bytes": self.line_bytes,
            "database_bytes_per_10000": self.database_per_10000(),
            "line_bytes_per_10000": self.lines_per_10000(),
        })
        .serialize(serializer)
    }
}

/// Bytes of the database in this data directory.
pub(super) fn database(data: &Path) -> Result<u64> {
    let [main, wal] = FILES.map(|name| data.join(name));
    let main_bytes = std::fs::metadata(&main).context(main.display())?.len();
    // What is not there after a clean stop takes nothing.
    Ok(main_bytes + std::fs::metadata(wal).map_or(0, |file| file.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_its_file_and_its_log() {
        let dir = tempfile::tempdir().unwrap();
        assert!(database(dir.path()).is_err(), "nothing was kept");
        std::fs::write(dir.path().join("portcullis.db"), [0; 100]).unwrap();
        assert_eq!(database(dir.path()), Ok(100));
        std::fs::write(dir.path().join("portcullis.db-wal"), [0; 20]).unwrap();
        std::fs::write(dir.path().join("portcullis.db-shm"), [0; 3]).unwrap();
        assert_eq!(database(dir.path()), Ok(120));
    }

    #[test]
    fn what_an_empty_database_takes_is_not_charged_to_decisions() {
        let size = Size {
            decisions: 100,
            empty_bytes: 40_960,
            database_bytes: 140_960,
            line_bytes: 900_000,
        };
        assert!((size.database_per_10000() - 1e7).abs() < 1e-6);
        assert!((size.lines_per_10000() - 9e7).abs() < 1e-6);
        let json = serde_json::to_value(size).unwrap();
        assert_eq!(json["database_bytes_per_10000"], 1e7);
    }
}
