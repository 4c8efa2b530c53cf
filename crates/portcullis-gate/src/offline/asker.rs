//! Who asks.

use portcullis_core::UserInfo;

/// A user with the groups an API server would add.
pub fn asker(user: &str, groups: &[String]) -> UserInfo {
    let mut groups = groups.to_vec();
    let account = user.strip_prefix("system:serviceaccount:");
    if let (Some((namespace, _)), true) =
        (account.and_then(|a| a.split_once(':')), groups.is_empty())
    {
        groups.push("system:serviceaccounts".to_owned());
        groups.push(format!("system:serviceaccounts:{namespace}"));
    }
    let everybody = "system:authenticated".to_owned();
    if user != "system:anonymous" && !groups.contains(&everybody) {
        groups.push(everybody);
    }
    UserInfo {
        username: user.to_owned(),
        groups,
        ..UserInfo::default()
    }
}
