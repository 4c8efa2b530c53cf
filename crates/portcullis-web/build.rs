//! Lists the scripts of pages that `scripts/build-web` has built, so that they become part of the program. Builds nothing
//! itself; without scripts the list is empty.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where they are, below the folder of this crate.
const BUILT: &str = "assets/built";

/// What their names end with.
const END: &str = ".gz";

#[allow(clippy::print_stdout, reason = "cargo reads it")]
fn main() -> io::Result<()> {
    // The folder above, because a folder that isn't there counts as changed each time.
    println!("cargo::rerun-if-changed=assets");
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .ok_or(io::ErrorKind::NotFound)
    };
    let folder = variable("CARGO_MANIFEST_DIR")?.join(BUILT);
    fs::write(variable("OUT_DIR")?.join("built.rs"), list(&folder)?)
}

/// A Rust list of the names and contents of what is in a folder.
fn list(folder: &Path) -> io::Result<String> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        entries => Some(entries?),
    };
    for entry in entries.into_iter().flatten() {
        let path = entry?.path();
        let file = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = file.and_then(|name| name.strip_suffix(END)) {
            found.push((name.to_owned(), path));
        }
    }
    found.sort();
    let mut text = String::from("static BUILT: &[(&str, &[u8])] = &[");
    for (name, path) in found {
        let path = path.display().to_string();
        // Writing to a string does not fail.
        let _ = write!(text, "({name:?}, include_bytes!({path:?})),");
    }
    text.push_str("];\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_or_empty_has_no_scripts() {
        let none = "static BUILT: &[(&str, &[u8])] = &[];\n";
        let folder = env::temp_dir().join(format!("portcullis-build-{}", std::process::id()));
        assert_eq!(list(&folder).unwrap(), none);
        fs::create_dir(&folder).unwrap();
        assert_eq!(list(&folder).unwrap(), none);
        fs::write(folder.join(".made-of"), "x").unwrap();
        assert_eq!(list(&folder).unwrap(), none);
        fs::write(folder.join("b.js.gz"), "x").unwrap();
        fs::write(folder.join("a.js.gz"), "x").unwrap();
        let text = list(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let place =
            |text: &str, name: &str| text.find(&format!("({name:?}, include_bytes!(")).unwrap();
        assert!(place(&text, "a.js") < place(&text, "b.js"), "{text}");
    }
}
