//! The connection to an API server: a kubeconfig file, or the service account of a pod.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::ConfigExt;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use rustls::crypto::CryptoProvider;
use tower::{BoxError, ServiceBuilder};

use super::failure;

const CONNECT: Duration = Duration::from_secs(10);
/// Dead connections are noticed, also while no changes are sent.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// How to reach an API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// As this kubeconfig file says, with its current context.
    Kubeconfig(PathBuf),
    /// As a pod does: with its service account.
    InCluster,
}

/// Why an API server can't be reached.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig can't be used.
    #[error("the kubeconfig {} can't be used: {words}", path.display())]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        words: String,
    },
    /// This is not a pod, or one without a service account.
    #[error("no service account found, this may not be a pod: {0}")]
    InCluster(String),
    /// What is configured can't be used.
    #[error("cannot connect to the API server: {0}")]
    Unusable(String),
}

/// An API server.
#[derive(Clone)]
pub struct Cluster {
    pub(super) client: Client,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

impl Access {
    /// Whether a kubeconfig can be understood, and has a current context. Nothing else that it names is read.
    ///
    /// # Errors
    ///
    /// When it can't.
    pub fn check(&self) -> Result<(), ConnectError> {
        let Self::Kubeconfig(path) = self else {
            return Ok(());
        };
        let wrong = |words: String| ConnectError::Kubeconfig {
            path: path.clone(),
            words,
        };
        let kubeconfig = read_kubeconfig(path)?;
        let current = kubeconfig.current_context.unwrap_or_default();
        if !kubeconfig.contexts.iter().any(|one| one.name == current) {
            return Err(wrong(
                "its current-context is not one of its contexts".to_owned(),
            ));
        }
        Ok(())
    }
}

impl Cluster {
    /// Finds the way to an API server, without going it yet. Reads files; needs a tokio runtime.
    ///
    /// # Errors
    ///
    /// When it is not configured, or wrongly.
    pub async fn connect(access: &Access) -> Result<Self, ConnectError> {
        let config = match access {
            Access::Kubeconfig(path) => {
                let wrong = |error: KubeconfigError| ConnectError::Kubeconfig {
                    path: path.clone(),
                    words: kubeconfig_words(&error),
                };
                let kubeconfig = read_kubeconfig(path)?;
                let options = KubeConfigOptions::default();
                Config::from_custom_kubeconfig(kubeconfig, &options)
                    .await
                    .map_err(wrong)?
            }
            Access::InCluster => Config::incluster()
                .map_err(|error| ConnectError::InCluster(failure::words(&error)))?,
        };
        Self::with(&config)
    }

    pub(super) fn with(config: &Config) -> Result<Self, ConnectError> {
        let unusable = |error: kube::Error| ConnectError::Unusable(failure::words(&error));
        if config.proxy_url.is_some() {
            let words = "proxies are not supported".to_owned();
            return Err(ConnectError::Unusable(words));
        }
        // `kube` takes the one of the process, which is the program's to choose.
        if CryptoProvider::get_default().is_none() {
            let words = "no cryptography provider is installed".to_owned();
            return Err(ConnectError::Unusable(words));
        }
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_keepalive(Some(KEEP_ALIVE));
        connector.set_keepalive_interval(Some(KEEP_ALIVE / 3));
        connector.set_keepalive_retries(Some(3));
        connector.set_nodelay(true);
        let connector = config.rustls_https_connector_with_connector(connector);
        let http = HttpClient::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(connector.map_err(unusable)?);
        let service = ServiceBuilder::new()
            .layer(config.base_uri_layer())
            .option_layer(config.auth_layer().map_err(unusable)?)
            .layer(config.extra_headers_layer().map_err(unusable)?)
            .map_err(BoxError::from)
            .service(http);
        let client = Client::new(service, config.default_namespace.clone());
        Ok(Self { client })
    }
}

/// Reads a kubeconfig file. Relative paths in it become absolute.
pub(crate) fn read_kubeconfig(path: &Path) -> Result<Kubeconfig, ConnectError> {
    read(path).map_err(|error| ConnectError::Kubeconfig {
        path: path.to_owned(),
        words: kubeconfig_words(&error),
    })
}

fn read(path: &Path) -> Result<Kubeconfig, KubeconfigError> {
    Kubeconfig::read_from(path)
}

/// What is wrong with a kubeconfig, without quoting it: it holds credentials.
fn kubeconfig_words(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(error, _) => match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            _ => error.to_string(),
        },
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!("not a valid kubeconfig at line {}", at.line()),
            None => "not a kubeconfig file".to_owned(),
        },
        other => other.to_string(),
    }
}
