//! What judges in a folder, for commands that work on a folder of policies: its `portcullis.yaml`, or else its
//! `policies/`, or else the folder itself.

use std::path::{Component, Path, PathBuf};

use portcullis_config::ConfigSource;

/// Names of a configuration in a folder.
const CONFIGURATIONS: [&str; 2] = ["portcullis.yaml", "portcullis.yml"];
/// The folder of policies where there is no configuration.
const POLICIES: &str = "policies";

/// What judges in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judging {
    /// A configuration.
    File(PathBuf),
    /// A folder of policies.
    Policies(PathBuf),
}

impl Judging {
    /// What judges in this folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let inside = folder.strip_prefix(".").unwrap_or(folder);
        let named = CONFIGURATIONS.map(|name| inside.join(name));
        if let Some(file) = named.into_iter().find(|file| file.is_file()) {
            return Self::File(file);
        }
        let policies = inside.join(POLICIES);
        match policies.is_dir() {
            true => Self::Policies(policies),
            false => Self::Policies(folder.to_owned()),
        }
    }

    /// What is loaded.
    pub(crate) fn source(&self) -> ConfigSource<'_> {
        match self {
            Self::File(file) => ConfigSource::File(file),
            Self::Policies(folder) => ConfigSource::Policies(folder),
        }
    }

    /// The file or the folder.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Policies(path) => path,
        }
    }
}

/// Where what judges is looked for: a folder that says it or has policies, or else the nearest folder above that says it.
/// Of a file, the nearest one above it.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    let says = |folder: &Path| {
        let mut files = CONFIGURATIONS.iter().map(|name| folder.join(name));
        files.any(|file| file.is_file()) || folder.join(POLICIES).is_dir()
    };
    let is_folder = path.is_dir();
    if is_folder && (says(path) || portcullis_config::holds_policies(path)) {
        return path.to_owned();
    }
    let own = match is_folder {
        true => path,
        false => path.parent().unwrap_or(Path::new("")),
    };
    let nearest = std::env::current_dir().ok().and_then(|here| {
        let whole = plain(&here.join(own));
        let nearest = whole.ancestors().find(|folder| says(folder))?;
        Some(seen_from(&here, nearest, own))
    });
    let nearest = nearest.unwrap_or_else(|| own.to_owned());
    match nearest.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => nearest,
    }
}

/// A path without `.` and `..`, as far as its text goes.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A folder as people write it: relative where the path is that it was found from.
fn seen_from(here: &Path, folder: &Path, given: &Path) -> PathBuf {
    if given.is_absolute() {
        return folder.to_owned();
    }
    if let Ok(below) = folder.strip_prefix(here) {
        return below.to_owned();
    }
    let mut shared = here.ancestors().enumerate();
    let up = shared.find_map(|(up, above)| Some((up, folder.strip_prefix(above).ok()?)));
    match up {
        Some((up, below)) => std::iter::repeat_n("..", up)
            .collect::<PathBuf>()
            .join(below),
        None => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_as_they_are_seen() {
        let here = Path::new("/home/ann/demo/tests");
        for (folder, given, wanted) in [
            ("/home/ann/demo", "", ".."),
            ("/home/ann/demo/tests", "", ""),
            ("/home/ann/demo/tests/pods", "pods", "pods"),
            ("/home/ann/other", "../../other", "../../other"),
            ("/home/ann/demo", "/home/ann/demo/tests", "/home/ann/demo"),
        ] {
            let seen = seen_from(here, Path::new(folder), Path::new(given));
            assert_eq!(seen, Path::new(wanted), "{folder}");
        }
        assert_eq!(plain(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
