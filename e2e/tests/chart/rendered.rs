//! The objects of a release.

use serde_json::Value;

use crate::suite::documents;

/// What `helm template` wrote.
pub(crate) struct Rendered(pub(crate) Vec<Value>);

impl Rendered {
    #[track_caller]
    pub(crate) fn of(text: &str) -> Self {
        Self(documents(text))
    }

    /// The objects of a kind.
    pub(crate) fn all(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|one| one["kind"] == kind).collect()
    }

    /// The only object of a kind, or the one whose name ends like this.
    #[track_caller]
    pub(crate) fn one(&self, kind: &str, ending: &str) -> &Value {
        let found: Vec<_> = self
            .all(kind)
            .into_iter()
            .filter(|one| name(one).ends_with(ending))
            .collect();
        assert_eq!(found.len(), 1, "{kind} {ending}: {found:#?}");
        found[0]
    }

    /// The only object of a kind.
    #[track_caller]
    pub(crate) fn only(&self, kind: &str) -> &Value {
        self.one(kind, "")
    }

    /// The specification of the pods.
    #[track_caller]
    pub(crate) fn pod(&self) -> &Value {
        &self.only("Deployment")["spec"]["template"]["spec"]
    }

    /// Both kinds of registrations.
    pub(crate) fn registrations(&self) -> Vec<&Value> {
        let mut all = self.all("ValidatingWebhookConfiguration");
        all.extend(self.all("MutatingWebhookConfiguration"));
        all
    }
}

/// The name of an object.
#[track_caller]
pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// The items of a list, which may be absent.
pub(crate) fn items(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}
