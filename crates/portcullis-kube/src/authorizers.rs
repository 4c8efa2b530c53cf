//! The built-in authorizers that need nothing but the request.
//!
//! [`AlwaysAllow`] and [`AlwaysDeny`] give everyone the same answer; [`abac`] uses
//! Kubernetes' attribute file. Which of them are asked, and in which order,
//! is up to the configuration.

use portcullis_core::{Access, Authorizer, AuthorizerError, Opinion};

pub mod abac;

/// Everybody may do everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysAllow;

/// Denies everything. Unlike Kubernetes' authorizer of this name, which
/// has no opinion, this one denies: no other authorizer is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysDeny;

impl Authorizer for AlwaysAllow {
    fn authorize(&self, _: &Access) -> Result<Opinion, AuthorizerError> {
        Ok(Opinion::Allow("everything is allowed".to_owned()))
    }
}

impl Authorizer for AlwaysDeny {
    fn authorize(&self, _: &Access) -> Result<Opinion, AuthorizerError> {
        Ok(Opinion::Deny("Everything is forbidden.".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Target, UserInfo};

    use super::*;

    #[test]
    fn the_two_have_their_opinion_of_everything() {
        let access = Access {
            user: UserInfo::default(),
            verb: String::new(),
            target: Target::Path(String::new()),
            context: std::sync::Arc::default(),
        };
        assert!(matches!(
            AlwaysAllow.authorize(&access),
            Ok(Opinion::Allow(_))
        ));
        assert!(matches!(
            AlwaysDeny.authorize(&access),
            Ok(Opinion::Deny(_))
        ));
    }
}
