//! What formats for code hosts have in common: places in files as references, fingerprints, and workflow commands.

use std::path::{Component, Path, PathBuf};

use portcullis_core::percent::encoded_path;

/// A file as a relative reference: below the working directory, if it is there.
pub(in crate::commands) fn uri(file: &str) -> String {
    let mut uri = encoded_path(relative(file).as_bytes());
    if uri.starts_with('/') {
        uri.insert_str(0, "file://");
    }
    uri
}

/// The path of a file below the working directory, if it is there; `stdin` for standard input.
pub(in crate::commands) fn relative(file: &str) -> String {
    if file == "-" {
        return "stdin".to_owned();
    }
    let path = Path::new(file);
    let here = std::env::current_dir().unwrap_or_default();
    let inner = path.strip_prefix(&here).unwrap_or(path);
    let parts = inner.components().filter(|c| *c != Component::CurDir);
    parts.collect::<PathBuf>().display().to_string()
}

/// FNV-1a of the parts, which is the same in every version of this program.
pub(in crate::commands) fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A workflow command of GitHub Actions that annotates a place.
pub(in crate::commands) fn workflow_command(
    level: &str,
    file: &str,
    (line, column): (u64, Option<u64>),
    title: &str,
    message: &str,
) -> String {
    let (file, title, message) = (property(&relative(file)), property(title), data(message));
    let column = column.map_or(String::new(), |column| format!(",col={column}"));
    format!("::{level} file={file},line={line}{column},title={title}::{message}\n")
}

/// The text of a command, which ends with its line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a command, which also ends with a comma or colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_relative_references() {
        let here = std::env::current_dir().unwrap();
        let inner = here.join("a/b.yaml");
        assert_eq!(uri(inner.to_str().unwrap()), "a/b.yaml");
        assert_eq!(uri("./a/./b c.yaml"), "a/b%20c.yaml");
        assert_eq!(uri("/nowhere/é.yaml"), "file:///nowhere/%C3%A9.yaml");
        assert_eq!(relative("./a/./b c.yaml"), "a/b c.yaml");
        assert_eq!(relative("-"), "stdin");
    }

    #[test]
    fn fingerprints_are_fixed_and_tell_parts_apart() {
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
        assert_ne!(fingerprint(&["a", "b"]), fingerprint(&["ab"]));
    }

    #[test]
    fn nothing_that_is_said_begins_another_command() {
        assert_eq!(
            workflow_command(
                "error",
                "a,b:c.js",
                (3, Some(4)),
                "x",
                "50%\n::warning::forged"
            ),
            "::error file=a%2Cb%3Ac.js,line=3,col=4,title=x::50%25%0A::warning::forged\n"
        );
        assert_eq!(
            workflow_command("notice", "a.js", (3, None), "x", "y"),
            "::notice file=a.js,line=3,title=x::y\n"
        );
    }
}
