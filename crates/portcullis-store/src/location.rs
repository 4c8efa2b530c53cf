//! The location of a store.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::database::postgres::{Address, Postgres};
use crate::database::sqlite::Sqlite;
use crate::database::{Database, Mode};
use crate::error::{Failure, LocationError};

/// The file of the embedded store, in the data directory.
const FILE: &str = "portcullis.db";

/// Where a store is: a file, or a PostgreSQL server. Shown without passwords.
#[derive(Clone)]
pub struct Location {
    place: Backend,
    /// What it was made of: two of the same are the same.
    written: String,
}

impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Location {}

#[derive(Clone)]
enum Backend {
    Sqlite(PathBuf),
    Postgres(Box<Address>),
}

impl Location {
    /// Reads `sqlite:PATH` or `sqlite://PATH`, with the path relative to `base`, or
    /// `postgres://…` or `postgresql://…`.
    ///
    /// # Errors
    ///
    /// When it has none of these forms, or an unsupported setting. The text holds nothing that
    /// may be a part of a password.
    pub fn parse(url: &str, base: &Path) -> Result<Self, LocationError> {
        let (scheme, rest) = url.split_once(':').ok_or_else(unknown)?;
        match scheme {
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() {
                    return Err(LocationError(
                        "`sqlite:` must be followed by a path".to_owned(),
                    ));
                }
                if path.contains('\0') {
                    return Err(LocationError(
                        "invalid path: NUL characters are not allowed".to_owned(),
                    ));
                }
                Ok(Self::sqlite(&base.join(path)))
            }
            "postgres" | "postgresql" => {
                let address = Address::parse(url, base)?;
                Ok(Self {
                    place: Backend::Postgres(Box::new(address)),
                    written: url.to_owned(),
                })
            }
            _ => Err(unknown()),
        }
    }

    /// The embedded store of a data directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self::sqlite(&directory.join(FILE))
    }

    /// The file of an embedded store.
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            Backend::Sqlite(path) => Some(path),
            Backend::Postgres(_) => None,
        }
    }

    fn sqlite(path: &Path) -> Self {
        Self {
            place: Backend::Sqlite(path.to_owned()),
            written: path.display().to_string(),
        }
    }

    pub(crate) fn connect(&self, mode: Mode) -> Result<Box<dyn Database>, Failure> {
        Ok(match (&self.place, mode) {
            (Backend::Sqlite(path), Mode::ReadWrite) => Box::new(Sqlite::open(path)?),
            (Backend::Sqlite(path), Mode::ReadOnly) => Box::new(Sqlite::open_read_only(path)?),
            (Backend::Postgres(address), mode) => {
                Box::new(Postgres::open(address, mode == Mode::ReadOnly)?)
            }
        })
    }
}

fn unknown() -> LocationError {
    LocationError(
        "invalid store: expected `sqlite:PATH` or `postgres://USER@HOST/DATABASE`".to_owned(),
    )
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Backend::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Backend::Postgres(address) => address.fmt(f),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> Result<String, String> {
        let location = Location::parse(url, Path::new("/base"));
        location
            .map(|location| location.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_relative_to_their_base() {
        for (url, expected) in [
            ("sqlite:a.db", "sqlite:/base/a.db"),
            ("sqlite:x/a b.db", "sqlite:/base/x/a b.db"),
            ("sqlite:/abs/a.db", "sqlite:/abs/a.db"),
            ("sqlite://a.db", "sqlite:/base/a.db"),
            ("sqlite:///abs/a.db", "sqlite:/abs/a.db"),
        ] {
            assert_eq!(shown(url).unwrap(), expected);
        }
        let embedded = Location::in_directory(Path::new("/data"));
        assert_eq!(embedded.to_string(), "sqlite:/data/portcullis.db");
    }

    #[test]
    fn servers_are_shown_without_password_and_options() {
        for (url, expected) in [
            ("postgres://u:secret@h/d", "postgres://u@h:5432/d"),
            (
                "postgresql://u:secret@h:1/d?sslmode=require",
                "postgres://u@h:1/d",
            ),
            ("postgres://u@h/d?password=secret", "postgres://u@h:5432/d"),
            ("postgres://u:secr%40et%2F@h/d", "postgres://u@h:5432/d"),
            ("postgres://u:sec/ret?x=y@h/d", "postgres://u@h:5432/d"),
            ("postgres://h1:1,h2:2/d", "postgres://h1:1,h2:2/d"),
            ("postgres://u@[::1]:7/d", "postgres://u@[::1]:7/d"),
            ("postgres://u@%2Frun%2Fpg/d", "postgres://u@/run/pg:5432/d"),
        ] {
            assert_eq!(shown(url).as_deref(), Ok(expected), "{url}");
            let location = Location::parse(url, Path::new("/base")).unwrap();
            assert!(!format!("{location:?}").contains("sec"), "{location:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (url, part) in [
            ("", "`sqlite:PATH`"),
            ("portcullis.db", "`sqlite:PATH`"),
            ("mysql://u:secret@h/d", "`sqlite:PATH`"),
            ("sqlite:", "followed by a path"),
            ("sqlite://", "followed by a path"),
            ("postgres:secret", "`//`"),
            ("postgres:///d", "no host"),
            ("postgres://u:sec@ret@h/d", "%40"),
            ("postgres://u:secret@h:port/d", "port"),
            ("postgres://u:secret", "port"),
            ("postgres://u:x@h/d?secret=1", "unknown option"),
            ("postgres://u:x@h/d?secret", "no value"),
            ("postgres://u:secret@h/d?sslmode=allow", "sslmode"),
            (
                "postgres://u:secret@h/d?sslcert=x",
                "`sslcert` is not supported",
            ),
            (
                "postgres://u:secret@h/d?sslmode=verify-ca&sslrootcert=%2",
                "two digits",
            ),
        ] {
            let error = shown(url).unwrap_err();
            assert!(error.contains(part), "{url}: {error}");
            assert!(!error.contains("secret"), "{url}: {error}");
        }
    }
}
