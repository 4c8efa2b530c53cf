//! The data directory.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where the data directory is if the command line does not say: what systemd made for the service,
/// or where users' programs keep their data.
///
/// # Errors
///
/// When the environment names no such place. A folder that everybody shares is never one.
pub(crate) fn standard() -> Result<PathBuf, String> {
    of_environment(|name| std::env::var_os(name))
}

fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
    // A relative path would be another place in every working directory.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let of_service = variable("STATE_DIRECTORY").and_then(|all| {
        // Several are separated by colons.
        let all = all.into_string().ok()?;
        let first = all.split(':').next().map(PathBuf::from);
        first.filter(|path| path.is_absolute())
    });
    let home = || absolute("HOME").map(|home| home.join(".local/share"));
    let shared = || absolute("XDG_DATA_HOME").or_else(home);
    of_service
        .or_else(|| shared().map(|folder| folder.join("portcullis")))
        .ok_or_else(|| {
            "no data directory: give --data-dir DIR (none of STATE_DIRECTORY, XDG_DATA_HOME and HOME is set \
             to an absolute path)"
                .to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<String> {
        let variable = |wanted: &str| {
            let mut all = variables.iter();
            all.find(|(name, _)| *name == wanted)
                .map(|(_, value)| OsString::from(value))
        };
        let found = of_environment(variable).ok()?;
        Some(found.display().to_string())
    }

    #[test]
    fn the_environment_names_the_place() {
        for (variables, expected) in [
            (
                &[("HOME", "/home/ann")][..],
                Some("/home/ann/.local/share/portcullis"),
            ),
            (
                &[("HOME", "/home/ann"), ("XDG_DATA_HOME", "/data")],
                Some("/data/portcullis"),
            ),
            (
                &[("HOME", "/home/ann"), ("XDG_DATA_HOME", "relative")],
                Some("/home/ann/.local/share/portcullis"),
            ),
            (
                &[("HOME", "/"), ("STATE_DIRECTORY", "/var/lib/portcullis")],
                Some("/var/lib/portcullis"),
            ),
            (
                &[("STATE_DIRECTORY", "/var/lib/a:/var/lib/b")],
                Some("/var/lib/a"),
            ),
            (&[], None),
            (&[("HOME", "")], None),
            (&[("HOME", "home")], None),
            (&[("TMPDIR", "/tmp"), ("STATE_DIRECTORY", "state")], None),
        ] {
            assert_eq!(found(variables).as_deref(), expected, "{variables:?}");
        }
    }
}
