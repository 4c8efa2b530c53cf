//! The user who sends a request.

use portcullis_core::UserInfo;
use portcullis_core::attributes::{AUTHENTICATED, service_account_groups};

/// A user with the groups an API server would add.
pub fn asker(user: &str, groups: &[String]) -> UserInfo {
    let mut groups = groups.to_vec();
    if let (true, Some(of_account)) = (groups.is_empty(), service_account_groups(user)) {
        groups.extend(of_account);
    }
    if user != "system:anonymous" && !groups.iter().any(|group| group == AUTHENTICATED) {
        groups.push(AUTHENTICATED.to_owned());
    }
    UserInfo {
        username: user.to_owned(),
        groups,
        ..UserInfo::default()
    }
}
