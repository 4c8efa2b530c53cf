//! Where users go after signing in: only to a path of this server.

/// The path, if it is a local one; else the first page.
pub fn local(path: &str) -> &str {
    /// Longer ones would not fit the cookie.
    const LONGEST: usize = 1024;
    let single = path.starts_with('/') && !path.starts_with("//");
    let odd = |c: char| c == '\\' || c.is_control();
    if single && path.len() <= LONGEST && !path.contains(odd) {
        path
    } else {
        "/"
    }
}
