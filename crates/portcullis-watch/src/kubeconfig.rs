//! The server that a kubeconfig's current context names, for clients that aren't API clients: image policy backends
//! are configured this way.
//!
//! Programs that get credentials (`exec`, `auth-provider`), user names and passwords, proxies, and TLS without
//! verification are not supported: each is an error, none is passed over.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::config::{AuthInfo, Cluster, Kubeconfig};
use secrecy::ExposeSecret;

use crate::cluster::{ConnectError, read_kubeconfig};

/// The largest file with certificates or a key.
const LARGEST: u64 = 1 << 20;

/// A server, and who we are to it. Certificates and keys are PEM.
pub struct KubeconfigServer {
    /// Its URL.
    pub url: String,
    /// Authorities that vouch for it, in place of the system's.
    pub authorities: Option<Vec<u8>>,
    /// Our own certificate and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// A bearer token.
    pub token: Option<String>,
    /// The file with the bearer token; wins over `token`.
    pub token_file: Option<PathBuf>,
}

impl std::fmt::Debug for KubeconfigServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KubeconfigServer")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The cluster and the user of the current context.
struct Current {
    cluster: Cluster,
    user: AuthInfo,
}

impl KubeconfigServer {
    /// Reads a kubeconfig, and the files that its current context names.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or is not supported.
    pub fn read(path: &Path) -> Result<Self, ConnectError> {
        let wrong = |words: String| ConnectError::Kubeconfig {
            path: path.to_owned(),
            words,
        };
        let Current { cluster, user } = current(path)?;
        check(&cluster, &user).map_err(wrong)?;
        let url = cluster.server.unwrap_or_default();
        let (ca, ca_data) = (
            cluster.certificate_authority.as_deref(),
            cluster.certificate_authority_data.as_deref(),
        );
        let authorities = content("certificate-authority", ca, ca_data).map_err(wrong)?;
        let (file, data) = (
            user.client_certificate.as_deref(),
            user.client_certificate_data.as_deref(),
        );
        let certificate = content("client-certificate", file, data).map_err(wrong)?;
        let data = user
            .client_key_data
            .as_ref()
            .map(ExposeSecret::expose_secret);
        let key = content("client-key", user.client_key.as_deref(), data).map_err(wrong)?;
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => return Err(wrong("client-certificate without client-key".into())),
            (None, Some(_)) => return Err(wrong("client-key without client-certificate".into())),
        };
        let token = user.token.as_ref().map(ExposeSecret::expose_secret);
        Ok(Self {
            url,
            authorities,
            identity,
            token: token.filter(|token| !token.is_empty()).map(str::to_owned),
            token_file: user.token_file.map(PathBuf::from),
        })
    }

    /// The files that a kubeconfig names in its current context; none if it can't be read.
    pub fn files(path: &Path) -> Vec<PathBuf> {
        let Ok(Current { cluster, user }) = current(path) else {
            return Vec::new();
        };
        let named = [
            cluster.certificate_authority,
            user.client_certificate,
            user.client_key,
            user.token_file,
        ];
        named.into_iter().flatten().map(PathBuf::from).collect()
    }
}

fn current(path: &Path) -> Result<Current, ConnectError> {
    let wrong = |words: String| ConnectError::Kubeconfig {
        path: path.to_owned(),
        words,
    };
    let Kubeconfig {
        clusters,
        auth_infos,
        contexts,
        current_context,
        ..
    } = read_kubeconfig(path)?;
    let name = current_context.unwrap_or_default();
    let context = contexts.into_iter().find(|one| one.name == name);
    let context = context.and_then(|one| one.context);
    let context = context
        .ok_or_else(|| wrong("its current-context is not one of its contexts".to_owned()))?;
    let cluster = clusters.into_iter().find(|one| one.name == context.cluster);
    let cluster = cluster.and_then(|one| one.cluster);
    let cluster =
        cluster.ok_or_else(|| wrong("the cluster of its current-context is missing".to_owned()))?;
    let user = match context.user.filter(|name| !name.is_empty()) {
        None => AuthInfo::default(),
        Some(name) => {
            let user = auth_infos.into_iter().find(|one| one.name == name);
            let user =
                user.ok_or_else(|| wrong("the user of its current-context is missing".to_owned()))?;
            user.auth_info.unwrap_or_default()
        }
    };
    Ok(Current { cluster, user })
}

/// Whether everything in it is supported.
fn check(cluster: &Cluster, user: &AuthInfo) -> Result<(), String> {
    if cluster.server.as_deref().unwrap_or_default().is_empty() {
        return Err("its cluster has no server".to_owned());
    }
    let has = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    let found = [
        (
            "insecure-skip-tls-verify",
            cluster.insecure_skip_tls_verify == Some(true),
        ),
        ("proxy-url", has(&cluster.proxy_url)),
        ("tls-server-name", has(&cluster.tls_server_name)),
        ("exec", user.exec.is_some()),
        ("auth-provider", user.auth_provider.is_some()),
        ("username", has(&user.username)),
        ("password", user.password.is_some()),
        ("as", has(&user.impersonate)),
    ];
    match found.iter().find(|(_, is_there)| *is_there) {
        Some((key, _)) => Err(format!("{key} is not supported here")),
        None => Ok(()),
    }
}

/// What a pair of keys says: text in base64 wins over a file, as in `kubectl`.
fn content(key: &str, file: Option<&str>, data: Option<&str>) -> Result<Option<Vec<u8>>, String> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let decoded = STANDARD.decode(data);
        return decoded
            .map(Some)
            .map_err(|_| format!("{key}-data is not base64"));
    }
    let Some(file) = file.filter(|file| !file.is_empty()) else {
        return Ok(None);
    };
    let read = portcullis_files::read(Path::new(file), LARGEST);
    read.map(Some)
        .map_err(|reason| format!("{key}: cannot read `{file}`: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cluster: &str, user: &str) -> Result<KubeconfigServer, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(folder.path().join("ca.crt"), "CA").unwrap();
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters: [{{name: k, cluster: {cluster}}}]\n\
             users: [{{name: u, user: {user}}}]\n\
             contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n"
        );
        std::fs::write(&path, text).unwrap();
        KubeconfigServer::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_relative_and_data_wins() {
        let server = read(
            "{server: 'https://h/p', certificate-authority: ca.crt}",
            "{token: t, client-certificate-data: YQ==, client-key-data: Yg==}",
        );
        let server = server.unwrap();
        assert_eq!(server.url, "https://h/p");
        assert_eq!(server.authorities.as_deref(), Some(b"CA".as_slice()));
        assert_eq!(server.identity, Some((b"a".to_vec(), b"b".to_vec())));
        assert_eq!(server.token.as_deref(), Some("t"));
        assert!(!format!("{server:?}").contains("token"));
    }

    #[test]
    fn what_is_not_supported_is_an_error() {
        for (cluster, user, words) in [
            ("{server: ''}", "{}", "no server"),
            (
                "{server: s, insecure-skip-tls-verify: true}",
                "{}",
                "insecure-skip-tls-verify",
            ),
            ("{server: s, proxy-url: 'http://p'}", "{}", "proxy-url"),
            ("{server: s, tls-server-name: n}", "{}", "tls-server-name"),
            ("{server: s}", "{exec: {command: id}}", "exec"),
            ("{server: s}", "{username: a, password: b}", "username"),
            (
                "{server: s}",
                "{client-key-data: Yg==}",
                "without client-certificate",
            ),
            (
                "{server: s}",
                "{client-certificate-data: '%'}",
                "not base64",
            ),
            (
                "{server: s, certificate-authority: missing}",
                "{}",
                "cannot read",
            ),
        ] {
            let error = read(cluster, user).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
