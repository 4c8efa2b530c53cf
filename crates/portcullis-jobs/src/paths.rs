//! Paths of projects and groups: `group/subgroup/project`. They exist by being named.

/// The most bytes of a path.
const MOST_BYTES: usize = 512;

/// Checks the path of a project or group.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_path(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Err("a path can't be empty".to_owned());
    }
    if path.len() > MOST_BYTES {
        return Err(format!("a path has at most {MOST_BYTES} bytes"));
    }
    let is_good = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '~');
    for segment in path.split('/') {
        if segment.is_empty() {
            return Err("expected names separated by single slashes".to_owned());
        }
        if segment == "." || segment == ".." {
            return Err(format!("`{segment}` isn't a name"));
        }
        if let Some(bad) = segment.chars().find(|c| !is_good(*c)) {
            return Err(format!(
                "unexpected character {bad:?}: expected letters, digits, `_`, `-`, `.`, `+` or `~`"
            ));
        }
    }
    Ok(())
}

/// The groups of a path, from the innermost to the outermost.
pub fn groups_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(outer(path), |inner| outer(inner))
}

/// Whether a project is in a group, at any depth.
pub fn is_in_group(project: &str, group: &str) -> bool {
    groups_of(project).any(|outer| outer == group)
}

/// The last name of a path.
pub fn last_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

fn outer(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(outer, _)| outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_listed_from_the_inside() {
        assert_eq!(groups_of("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
        assert_eq!(groups_of("a").count(), 0);
        assert!(is_in_group("a/b/c", "a") && is_in_group("a/b/c", "a/b"));
        assert!(!is_in_group("ab/c", "a") && !is_in_group("a/b", "a/b"));
        assert_eq!(last_name("a/b"), "b");
    }

    #[test]
    fn paths_are_names_between_slashes() {
        for good in ["p", "g/p", "host.example/g/sub-group/p_1.x", "gruppe-ä/p"] {
            assert_eq!(check_path(good), Ok(()), "{good}");
        }
        for bad in [
            "", "/p", "p/", "a//b", "a/../b", ".", "a b", "a/*", "a\n", "a\\b",
        ] {
            assert!(check_path(bad).is_err(), "{bad}");
        }
        assert!(check_path(&"x".repeat(513)).is_err());
    }
}
