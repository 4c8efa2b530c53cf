//! The Kubernetes `AdmissionConfiguration` file: plug-ins with their
//! configuration inline or in files of their own.

use std::{path::PathBuf, sync::Arc};

use portcullis_core::FailureMode;
use serde::{Deserialize, de::IgnoredAny};

use super::plugin_files;
use super::plugins::Configured;
use crate::{model::PluginEntry, notes::Notes};
use portcullis_document::{Document, Faults, Node, Origin, Source, Value, read, yaml};

const KIND: &str = "AdmissionConfiguration";
const API_VERSIONS: [&str; 2] = ["apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1"];

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AdmissionConfiguration {
    #[serde(rename = "apiVersion")]
    _api_version: IgnoredAny,
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    plugins: Option<Vec<PluginConfiguration>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PluginConfiguration {
    name: String,
    path: Option<PathBuf>,
    configuration: Option<Node>,
}

/// Reads the plug-ins of an `AdmissionConfiguration`.
pub(crate) fn read_plugins(source: &Arc<Source>, notes: &mut Notes) -> Vec<Configured> {
    let Some((document, plugins)) = notes.keep(parse(source)) else {
        return Vec::new();
    };
    let plugins = plugins.into_iter().enumerate();
    plugins
        .filter_map(|(index, plugin)| configured(&document, index, plugin, notes))
        .collect()
}

fn parse(source: &Arc<Source>) -> Result<(Document, Vec<PluginConfiguration>), Faults> {
    let document = yaml::parse_map(source)?;
    check_kind(&document)?;
    let configuration: AdmissionConfiguration = read::typed(source, &document.root)?;
    Ok((document, configuration.plugins.unwrap_or_default()))
}

/// Comes first: in a file of another kind, no other fault matters.
fn check_kind(document: &Document) -> Result<(), Faults> {
    let text = |key: &str| match document.root.get(key).map(|node| &node.value) {
        Some(Value::Str(text)) => Some(text.as_str()),
        _ => None,
    };
    match text("kind") {
        Some(KIND) => {}
        Some(other) => {
            let message = format!("expected the kind `{KIND}`, found `{other}`");
            return Err(document.fault("kind", message).into());
        }
        None => {
            let message = format!("expected the kind `{KIND}`");
            return Err(document.fault("kind", message).into());
        }
    }
    match text("apiVersion") {
        Some(version) if API_VERSIONS.contains(&version) => Ok(()),
        Some(version) => {
            let fault = document.fault("apiVersion", format!("unknown version `{version}`"));
            Err(fault
                .with_known("known versions", version, API_VERSIONS)
                .into())
        }
        None => {
            let message = format!("expected `{}`", API_VERSIONS.join("` or `"));
            Err(document.fault("apiVersion", message).into())
        }
    }
}

fn configured(
    document: &Document,
    index: usize,
    plugin: PluginConfiguration,
    notes: &mut Notes,
) -> Option<Configured> {
    let at = format!("plugins[{index}]");
    let path = plugin.path.filter(|path| !path.as_os_str().is_empty());
    let (configuration, origin) = match (path, plugin.configuration) {
        (Some(_), Some(_)) => {
            notes.fault(document.fault(
                &format!("{at}.configuration"),
                format!(
                    "the plug-in `{}` has both `path` and `configuration`: use one",
                    plugin.name
                ),
            ));
            return None;
        }
        (Some(path), None) => {
            let source = notes.read_named(document, &format!("{at}.path"), &path)?;
            let document = notes.keep(yaml::parse_map(&source))?;
            let mut configuration = document.root.to_json();
            plugin_files::resolve(&document, "", &mut configuration, notes);
            (Some(configuration), Origin::of(&document, ""))
        }
        (None, Some(node)) => {
            let at = format!("{at}.configuration");
            let mut configuration = node.to_json();
            plugin_files::resolve(document, &at, &mut configuration, notes);
            (Some(configuration), Origin::of(document, &at))
        }
        (None, None) => (None, Origin::of(document, &at)),
    };
    Some(Configured {
        named: Origin::of(document, &format!("{at}.name")),
        entry: PluginEntry {
            name: plugin.name,
            failure: FailureMode::Closed,
            timeout: None,
            configuration,
            origin,
        },
    })
}
