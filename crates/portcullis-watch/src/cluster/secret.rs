//! A Secret that the server keeps.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use portcullis_graph::{check_name, check_namespace};
use serde_json::{Map, Value, json};

use super::Cluster;
use super::exchange::Sent;
use super::request::segment;
use super::single_objects::{Answered, ObjectError};

/// The annotation of a Secret that the server made, and may change. Not a label that tools like Helm set, too.
const MANAGED: &str = "portcullis.dev/managed";

/// The namespace and the name of an object, written `NAMESPACE/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamespacedName {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl FromStr for NamespacedName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (namespace, name) = text
            .split_once('/')
            .ok_or_else(|| format!("expected NAMESPACE/NAME, found `{text}`"))?;
        check_namespace(namespace)?;
        check_name(name)?;
        for part in [namespace, name] {
            segment(part).ok_or_else(|| format!("invalid name `{part}`"))?;
        }
        Ok(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl NamespacedName {
    fn folder(&self) -> String {
        let namespace = segment(&self.namespace).unwrap_or_default();
        format!("/api/v1/namespaces/{namespace}/secrets")
    }

    fn path(&self) -> String {
        let name = segment(&self.name).unwrap_or_default();
        format!("{}/{name}", self.folder())
    }
}

/// A Secret as it was read. Its entries are not shown by `Debug`.
#[derive(Clone)]
pub struct Secret {
    /// The whole object: what is not ours is written back as it was.
    object: Value,
    /// The entries, decoded.
    pub data: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<_> = self.data.keys().collect();
        f.debug_struct("Secret")
            .field("entries", &entries)
            .finish_non_exhaustive()
    }
}

impl Secret {
    fn of(object: Value) -> Result<Self, ObjectError> {
        let mut data = BTreeMap::new();
        let entries = object.get("data").and_then(Value::as_object);
        for (name, value) in entries.into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            let bytes = BASE64_STANDARD.decode(text).map_err(|_| {
                ObjectError::Failed("the API server's answer is not a Secret".to_owned())
            })?;
            data.insert(name.clone(), bytes);
        }
        Ok(Self { object, data })
    }

    /// Whether it says that it was made by the server.
    pub fn is_own(&self) -> bool {
        let annotations = self.object.pointer("/metadata/annotations");
        annotations
            .and_then(|all| all.get(MANAGED))
            .and_then(Value::as_str)
            == Some("true")
    }
}

impl Cluster {
    /// Reads a Secret; nothing if it doesn't exist. The time is that of the API server when it answered.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub async fn secret(
        &self,
        name: &NamespacedName,
        time: Duration,
    ) -> Result<(Option<Secret>, Option<SystemTime>), ObjectError> {
        let answered = self
            .ask(Method::GET, &name.path(), Sent::Nothing, time)
            .await;
        match answered {
            Ok(Answered { object, date }) => Ok((Some(Secret::of(object)?), date)),
            Err(ObjectError::Missing { date, .. }) => Ok((None, date)),
            Err(error) => Err(error),
        }
    }

    /// Creates a Secret of the type `kubernetes.io/tls`.
    ///
    /// # Errors
    ///
    /// When it exists already, or can't be created.
    pub async fn create_secret(
        &self,
        name: &NamespacedName,
        data: &BTreeMap<String, Vec<u8>>,
        time: Duration,
    ) -> Result<(), ObjectError> {
        let object = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/tls",
            "metadata": {
                "name": name.name,
                "namespace": name.namespace,
                "labels": {"app.kubernetes.io/managed-by": "portcullis"},
                "annotations": {MANAGED: "true"},
            },
            "data": encoded(data),
        });
        let sent = Sent::Object(&object);
        let created = self.ask(Method::POST, &name.folder(), sent, time).await;
        created.map(|_| ())
    }

    /// Replaces the entries of a Secret, if it is still as it was read.
    ///
    /// # Errors
    ///
    /// When it was changed or deleted since, or can't be written.
    pub async fn replace_secret(
        &self,
        name: &NamespacedName,
        read: &Secret,
        data: &BTreeMap<String, Vec<u8>>,
        time: Duration,
    ) -> Result<(), ObjectError> {
        let not_an_object = || ObjectError::Failed("the Secret is not an object".to_owned());
        // The version that it has goes along with it: the API server compares.
        let mut object = read.object.clone();
        let fields = object.as_object_mut().ok_or_else(not_an_object)?;
        fields.insert("data".to_owned(), encoded(data));
        let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut);
        let metadata = metadata.ok_or_else(not_an_object)?;
        metadata.remove("managedFields");
        let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(MANAGED.to_owned(), "true".into());
        }
        let sent = Sent::Object(&object);
        let replaced = self.ask(Method::PUT, &name.path(), sent, time).await;
        replaced.map(|_| ())
    }
}

fn encoded(data: &BTreeMap<String, Vec<u8>>) -> Value {
    let entries = data.iter();
    let entries = entries.map(|(name, value)| (name.clone(), BASE64_STANDARD.encode(value).into()));
    Value::Object(entries.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_namespace_and_a_name() {
        let name: NamespacedName = "portcullis/portcullis-tls".parse().unwrap();
        assert_eq!(
            name.path(),
            "/api/v1/namespaces/portcullis/secrets/portcullis-tls"
        );
        assert_eq!(name.to_string(), "portcullis/portcullis-tls");
        for text in [
            "", "a", "/", "a/", "/b", "a/b/c", "a/..", "../b", "a/b%2f", "a/b\n",
        ] {
            assert!(text.parse::<NamespacedName>().is_err(), "{text:?}");
        }
        let error = "tls".parse::<NamespacedName>().unwrap_err();
        assert_eq!(error, "expected NAMESPACE/NAME, found `tls`");
    }

    #[test]
    fn entries_are_never_shown() {
        let object = json!({"metadata": {"annotations": {MANAGED: "true"}}, "data": {"tls.key": "czNjcmV0"}});
        let secret = Secret::of(object).unwrap();
        assert!(secret.is_own() && secret.data["tls.key"] == b"s3cret");
        let shown = format!("{secret:?}");
        assert!(
            shown.contains("tls.key") && !shown.contains("s3cret"),
            "{shown}"
        );
        let object = json!({"metadata": {}, "data": {"tls.key": "s3cret!"}});
        let error = Secret::of(object).unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
        let object =
            json!({"metadata": {"labels": {"app.kubernetes.io/managed-by": "portcullis"}}});
        assert!(!Secret::of(object).unwrap().is_own());
    }
}
