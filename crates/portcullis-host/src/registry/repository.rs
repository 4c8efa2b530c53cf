//! A repository of images, and where it is.

use portcullis_net::Web;

use super::access::Access;
use crate::target;

/// Docker's own registry, as its credentials name it, and where it answers.
const DOCKER: (&str, &str) = ("https://index.docker.io/v1/", "index.docker.io");

/// A repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// The registry, without a path.
    pub(super) server: Web,
    /// What credentials for it are called.
    pub(super) credentials: String,
    /// Its name there.
    pub(super) path: String,
}

impl Repository {
    /// The repository of this name, which follows the grammar of references.
    pub(super) fn of(name: &str, access: &Access) -> Result<Self, String> {
        let (host, path) = match name.split_once('/') {
            Some((first, rest)) if crate::reference::is_domain(first) => (first, rest.to_owned()),
            _ => ("docker.io", name.to_owned()),
        };
        if matches!(host, "docker.io" | "index.docker.io") {
            let path = match path.contains('/') {
                true => path,
                false => format!("library/{path}"),
            };
            return Ok(Self {
                server: target::web(&format!("https://{}", DOCKER.1))?,
                credentials: DOCKER.0.to_owned(),
                path,
            });
        }
        let scheme = if access.is_plain(host) {
            "http"
        } else {
            "https"
        };
        Ok(Self {
            server: target::web(&format!("{scheme}://{host}"))?,
            credentials: host.to_owned(),
            path,
        })
    }

    /// The address of a part of it.
    pub(super) fn address(&self, part: &str) -> Web {
        let path = format!("/v2/{}/{part}", self.path);
        self.server.with_path(path, None)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_net::Trust;

    use super::*;

    #[test]
    fn names_and_their_registries() {
        let access = Access::new(&["http://127.0.0.1:5000".to_owned()], Trust::system());
        for (name, url) in [
            ("nginx", "https://index.docker.io/v2/library/nginx/x"),
            ("a/b", "https://index.docker.io/v2/a/b/x"),
            (
                "docker.io/nginx",
                "https://index.docker.io/v2/library/nginx/x",
            ),
            ("r.example/a/b", "https://r.example/v2/a/b/x"),
            ("localhost:5000/a", "https://localhost:5000/v2/a/x"),
            ("127.0.0.1:5000/a", "http://127.0.0.1:5000/v2/a/x"),
        ] {
            let repository = Repository::of(name, &access).unwrap();
            assert_eq!(repository.address("x").url(), url);
        }
    }
}
