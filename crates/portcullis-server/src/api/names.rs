//! Names that callers give: of projects, jobs, pipelines, references and changes.
//!
//! They are compared, stored and shown later, so they must be printable.

use portcullis_core::text::start;
use portcullis_roles::{Project, Tenant};

use crate::http::error::HttpError;

/// Longer names are invalid.
const MOST_CHARACTERS: usize = 1024;
/// What of a name is repeated in a message.
const SHOWN_CHARACTERS: usize = 200;

/// The project that a path names, and whether the tenant holds it. One that it doesn't hold keeps the name
/// that was given.
pub(super) fn project(tenant: &Tenant, named: &str) -> Result<(Project, bool), HttpError> {
    check("project", named)?;
    if named.split('/').any(|part| matches!(part, "" | "." | "..")) {
        let message = "invalid project name: empty parts, `.` and `..` are not allowed";
        return Err(HttpError::bad_request(message));
    }
    Ok(match tenant.project(named) {
        Some(project) => (project, true),
        None => {
            let name = named.to_owned();
            let canonical = None;
            (Project { name, canonical }, false)
        }
    })
}

/// What is said of a project that a tenant doesn't hold.
pub(super) fn unknown_project(project: &Project) -> HttpError {
    HttpError::not_found(format!(
        "there is no project `{}` in this tenant",
        short(&project.name)
    ))
}

/// Rejects an invalid name.
pub(super) fn check(what: &str, name: &str) -> Result<(), HttpError> {
    if name.chars().any(char::is_control) {
        return Err(HttpError::bad_request(format!(
            "invalid `{what}`: control characters are not allowed"
        )));
    }
    if name.chars().count() > MOST_CHARACTERS {
        let message = format!("`{what}` is longer than {MOST_CHARACTERS} characters");
        return Err(HttpError::bad_request(message));
    }
    Ok(())
}

/// A name in a message.
pub(super) fn short(text: &str) -> &str {
    start(text, SHOWN_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use portcullis_roles::Roles;

    use super::*;

    #[test]
    fn what_can_not_be_shown_is_no_name() {
        assert!(check("job", "unit \u{e9}").is_ok());
        assert!(check("job", &"x".repeat(1024)).is_ok());
        for wrong in ["a\nb", "\u{1b}[31m", "a\0", &"x".repeat(1025)] {
            assert!(check("job", wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_project_is_no_way_through_a_tree() {
        let roles = Roles::without_document();
        let tenant = roles.tenant("default").unwrap();
        assert!(project(tenant, "org/p.q/..x").is_ok());
        for wrong in ["..", "org/../p", "./p", "org//p", "org/", "/p"] {
            assert!(project(tenant, wrong).is_err(), "{wrong}");
        }
    }
}
