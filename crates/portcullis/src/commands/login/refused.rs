//! How a sign-in that failed ends the program.

use portcullis_authn::LoginError;

use crate::commands::failure::Failure;
use crate::exit::Exit;

/// Why sign-in failed, and what the program ends with.
pub(super) fn failed(error: &LoginError) -> Failure {
    let exit = match error {
        LoginError::Unavailable(_) | LoginError::Failed => Exit::Failed,
        LoginError::NoLogin | LoginError::UnknownRealm => Exit::Invalid,
        _ => Exit::NotSignedIn,
    };
    Failure::new(exit, error)
}
