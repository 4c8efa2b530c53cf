//! Names of objects and namespaces: what can't be one.
//!
//! Letters are not limited to those of DNS: names of roles and requests may have `:`. What could make two
//! names look like one, or break a line, is refused.

/// How long a name may be.
const MAX_NAME: usize = 253;
/// How long the name of a namespace may be.
const MAX_NAMESPACE: usize = 63;

/// Whether this can be the name of an object.
///
/// # Errors
///
/// Why not.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("a name is empty".to_owned());
    }
    if name.len() > MAX_NAME {
        return Err(format!("a name is longer than {MAX_NAME} bytes"));
    }
    if name.contains(['/', '%']) || name.chars().any(char::is_control) {
        return Err("a name has letters that no name has".to_owned());
    }
    if matches!(name, "." | "..") {
        return Err("a name is `.` or `..`".to_owned());
    }
    Ok(())
}

/// Whether this can be the name of a namespace.
///
/// # Errors
///
/// Why not.
pub(super) fn check_namespace(namespace: &str) -> Result<(), String> {
    if namespace.is_empty() {
        return Err("a namespace is missing".to_owned());
    }
    if namespace.len() > MAX_NAMESPACE {
        return Err(format!("a namespace is longer than {MAX_NAMESPACE} bytes"));
    }
    let odd = |letter: char| letter.is_control() || matches!(letter, '/' | '%' | ':');
    if namespace.chars().any(odd) || matches!(namespace, "." | "..") {
        return Err("a namespace has letters that no namespace has".to_owned());
    }
    Ok(())
}
