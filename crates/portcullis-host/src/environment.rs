//! The environment of programs that are run: what they need, and nothing of the server's own.

use std::ffi::OsString;

/// Variables that are passed on.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "DOCKER_CONFIG",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
];

/// Beginnings of variables that are passed on.
const PREFIXES: &[&str] = &["SIGSTORE_", "COSIGN_"];

/// The variables of our own environment that a program gets.
pub(crate) fn passed(
    ours: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    ours.filter(|(name, _)| {
        name.to_str().is_some_and(|name| {
            PASSED.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed() {
        let ours = [
            "PATH",
            "HOME",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "COSIGN_EXPERIMENTAL",
            "XCOSIGN_",
            "GITHUB_TOKEN",
            "SIGSTORE_ROOT_FILE",
        ];
        let ours = ours
            .iter()
            .map(|name| (OsString::from(name), OsString::from("v")));
        let names: Vec<_> = passed(ours).map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["PATH", "HOME", "COSIGN_EXPERIMENTAL", "SIGSTORE_ROOT_FILE"]
        );
    }
}
