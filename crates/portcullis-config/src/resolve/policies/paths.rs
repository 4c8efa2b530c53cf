//! Names of policy files and of what they import.

use std::path::{Component, Path, PathBuf};

use portcullis_script::Language;

/// The language of a file, by its name.
pub(super) fn language(file: &Path) -> Option<Language> {
    Language::of_ending(file.extension()?.to_str()?)
}

/// The path that an import names.
pub(super) fn wanted(folder: &Path, from: &Path, specifier: &str) -> Result<PathBuf, String> {
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return Err(format!(
            "cannot import `{specifier}`: only files of the policy folder can be imported, like `./lib/images.js`"
        ));
    }
    Ok(normal(&from.parent().unwrap_or(folder).join(specifier)))
}

/// The file that an import means. It must lie in the folder of policies, links followed.
pub(super) fn find(folder: &Path, from: &Path, specifier: &str) -> Result<PathBuf, String> {
    let wanted = wanted(folder, from, specifier)?;
    let found = candidates(&wanted).into_iter().find(|file| file.is_file());
    let Some(file) = found else {
        return Err(format!(
            "cannot import `{specifier}`: `{}` not found",
            wanted.display()
        ));
    };
    let real = |path: &Path| path.canonicalize().map_err(|e| e.to_string());
    if !real(&file)?.starts_with(real(folder)?) {
        return Err(format!(
            "cannot import `{specifier}`: it is outside the policy folder"
        ));
    }
    Ok(file)
}

/// As written; with an extension; the TypeScript file that a `.js` import stands for.
pub(super) fn candidates(wanted: &Path) -> Vec<PathBuf> {
    let mut all = vec![wanted.to_owned()];
    let with = |end: &str| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    all.extend([".ts", ".js", ".mts", ".mjs"].map(with));
    match wanted.extension().and_then(|e| e.to_str()) {
        Some("js") => all.push(wanted.with_extension("ts")),
        Some("mjs") => all.push(wanted.with_extension("mts")),
        _ => {}
    }
    all
}

/// A path without `.` and `..`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(made.components().next_back(), Some(Component::Normal(_))) =>
            {
                made.pop();
            }
            other => made.push(other),
        }
    }
    made
}

/// The name of a module in messages: relative to the folder.
pub(super) fn display_name(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder)
        .unwrap_or(file)
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_dots() {
        for (written, wanted) in [
            ("a/./b/../c.js", "a/c.js"),
            ("../a/b.js", "../a/b.js"),
            ("/a/../b.js", "/b.js"),
            ("a/../../b.js", "../b.js"),
        ] {
            assert_eq!(normal(Path::new(written)), Path::new(wanted), "{written}");
        }
    }
}
