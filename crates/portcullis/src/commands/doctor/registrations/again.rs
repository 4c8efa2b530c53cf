//! How webhooks are registered again: by a command that can be run as it is, or by Helm where they belong to a release.

use std::path::Path;

use portcullis_config::{Identity, Loaded};
use portcullis_gate::registration::ADMISSION_PATHS;

use super::super::registered::{Registered, Target};

/// The configuration that `generate` reads if none is named.
const USUAL: &str = "portcullis.yaml";
/// The name that `generate` gives, and the port that it takes for granted.
const NAME: &str = "portcullis";
const PORT: u64 = 443;

/// What the advice depends on.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands::doctor) struct Again<'a> {
    /// The configuration that is looked at.
    pub(in crate::commands::doctor) file: &'a Path,
    /// The same, if it is valid.
    pub(in crate::commands::doctor) loaded: Option<&'a Loaded>,
}

impl Again<'_> {
    /// What to do about a webhook.
    pub(super) fn of(self, one: &Registered) -> String {
        if let Some(release) = &one.release {
            return format!(
                "it belongs to the Helm release {release}: change its values (`webhooks`, `tls`) with `helm upgrade`"
            );
        }
        let place = match one.target() {
            Target::Service {
                namespace,
                name,
                port: PORT,
                ..
            } => format!("--service {namespace}/{name}"),
            Target::Service {
                namespace,
                name,
                port,
                ..
            } => format!("--service {namespace}/{name}:{port}"),
            Target::Url { .. } => match base(one.text("/clientConfig/url").unwrap_or_default()) {
                Some(base) => format!("--url {base}"),
                None => self.place(),
            },
            Target::Unknown => self.place(),
        };
        let name = match one.configuration.as_str() {
            NAME => String::new(),
            other => format!(" --name {other}"),
        };
        format!(
            "register it again: `{}{name} | kubectl apply -f -`",
            self.command(&place)
        )
    }

    /// What to do where a webhook is missing; the others say where it would be called.
    pub(super) fn beside(self, all: &[Registered]) -> String {
        match all.first() {
            Some(one) => self.of(one),
            None => format!(
                "register it: `{} | kubectl apply -f -`",
                self.command(&self.place())
            ),
        }
    }

    fn command(self, place: &str) -> String {
        let mut command = "portcullis generate webhooks".to_owned();
        if self.file != Path::new(USUAL) {
            command += &format!(" --config {}", self.file.display());
        }
        if !place.is_empty() {
            command += &format!(" {place}");
        }
        command
    }

    /// Where it is called, if no webhook says so: nothing need be said where the configuration names the Service.
    fn place(self) -> String {
        let listeners = self.loaded.into_iter().flat_map(|loaded| &loaded.listeners);
        let mut identities = listeners
            .filter_map(|one| one.tls.as_ref())
            .map(|tls| &tls.identity);
        let is_named = identities.any(
            |identity| matches!(identity, Identity::Managed(managed) if managed.service.is_some()),
        );
        match is_named {
            true => String::new(),
            false => "--service NAMESPACE/NAME".to_owned(),
        }
    }
}

/// The address without the path of a phase.
fn base(url: &str) -> Option<&str> {
    let ends =
        ADMISSION_PATHS.map(|path| url.rsplit_once(&format!("/{path}")).map(|(base, _)| base));
    ends.into_iter().flatten().next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::registered::Phase;
    use super::*;

    fn again(file: &str) -> Again<'_> {
        Again {
            file: Path::new(file),
            loaded: None,
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "shorter calls")]
    fn webhook(metadata: serde_json::Value, client: serde_json::Value) -> Registered {
        let list = json!({"items": [{"metadata": metadata, "webhooks": [{"name": "x", "clientConfig": client}]}]});
        Registered::of_list(Phase::Validating, &list).pop().unwrap()
    }

    #[test]
    fn commands_name_what_is_registered() {
        let service = json!({"service": {"namespace": "gate", "name": "hooks", "port": 8443}});
        let own = webhook(json!({"name": "portcullis"}), service.clone());
        assert_eq!(
            again(USUAL).of(&own),
            "register it again: `portcullis generate webhooks --service gate/hooks:8443 | kubectl apply -f -`"
        );
        let other = again("/etc/gate.yaml");
        let url = json!({"url": "https://gate.example:8443/base/validate"});
        let named = webhook(json!({"name": "portcullis-2"}), url);
        assert_eq!(
            other.of(&named),
            "register it again: `portcullis generate webhooks --config /etc/gate.yaml --url \
             https://gate.example:8443/base --name portcullis-2 | kubectl apply -f -`"
        );
        assert!(
            again(USUAL)
                .beside(&[])
                .contains("--service NAMESPACE/NAME")
        );
    }

    #[test]
    fn what_helm_made_is_left_to_helm() {
        let metadata = json!({
            "name": "portcullis",
            "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "annotations": {"meta.helm.sh/release-name": "gate", "meta.helm.sh/release-namespace": "security"},
        });
        let said = again(USUAL).of(&webhook(metadata, json!({"url": "https://a/validate"})));
        assert!(
            said.contains("release security/gate") && said.contains("helm upgrade"),
            "{said}"
        );
        assert!(!said.contains("kubectl apply"), "{said}");
    }
}
