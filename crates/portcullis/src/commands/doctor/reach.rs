//! Whether the API server can call a webhook: it is given an object to create on trial, in a dry run.

use portcullis_core::Operation;
use portcullis_core::percent::encoded;
use portcullis_gate::registration::Rule;
use portcullis_watch::{Cluster, ServerAnswer};
use serde_json::{Value, json};

use super::api_server::{TIME, refusal};
use super::finding::Finding;
use super::registered::Registered;
use super::selector::{is_empty, labels, selects};

const CHECK: &str = "reachability";
/// What objects on trial are called.
const NAME: &str = "portcullis-doctor";

/// Tries it.
pub(super) async fn check(cluster: &Cluster, one: &Registered) -> Finding {
    let place = one.place();
    let conditions = one.webhook.get("matchConditions");
    let takes_all =
        is_empty(one.webhook.get("objectSelector")) && conditions.is_none_or(is_nothing);
    if !takes_all {
        let why = "not tried: it chooses objects or requests by objectSelector or matchConditions";
        return Finding::skipped(CHECK, place, why);
    }
    let Some(trial) = trial(&one.rules()) else {
        let why =
            "not tried: its rules are about none of ConfigMaps, pods, services and deployments";
        return Finding::skipped(CHECK, place, why);
    };
    let namespace = match namespace(cluster, one).await {
        Ok(namespace) => namespace,
        Err(why) => return Finding::skipped(CHECK, place, why),
    };
    let path = format!(
        "{}/namespaces/{}/{}",
        trial.root,
        encoded(&namespace),
        trial.resource
    );
    match cluster
        .try_create(&path, &trial.object(&namespace), TIME)
        .await
    {
        Ok(answer) => understood(one, trial.resource, &namespace, &answer),
        Err(why) => Finding::skipped(CHECK, place, why),
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// A namespace whose requests are sent to it.
async fn namespace(cluster: &Cluster, one: &Registered) -> Result<String, String> {
    let answer = cluster.look("/api/v1/namespaces?limit=500", TIME).await?;
    if !answer.is_success() {
        return Err(format!("not tried: {}", refusal(&answer)));
    }
    let items = answer.body.get("items").and_then(Value::as_array);
    let selector = one.webhook.get("namespaceSelector");
    let is_alive = |item: &&Value| item.pointer("/metadata/deletionTimestamp").is_none();
    let mut names: Vec<&str> = items
        .into_iter()
        .flatten()
        .filter(is_alive)
        .filter(|item| selects(selector, &labels(item)))
        .filter_map(|item| item.pointer("/metadata/name")?.as_str())
        .collect();
    // The one that every cluster has comes first.
    names.sort_by_key(|name| *name != "default");
    let first = names.first().map(|name| (*name).to_owned());
    first.ok_or_else(|| "not tried: its namespaceSelector selects no namespace".to_owned())
}

/// An object that could be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Trial {
    root: &'static str,
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    resource: &'static str,
}

const TRIALS: [Trial; 4] = [
    Trial::of("/api/v1", "", "v1", "ConfigMap", "configmaps"),
    Trial::of("/api/v1", "", "v1", "Pod", "pods"),
    Trial::of("/api/v1", "", "v1", "Service", "services"),
    Trial::of(
        "/apis/apps/v1",
        "apps",
        "apps/v1",
        "Deployment",
        "deployments",
    ),
];

impl Trial {
    const fn of(
        root: &'static str,
        group: &'static str,
        version: &'static str,
        kind: &'static str,
        resource: &'static str,
    ) -> Self {
        Self {
            root,
            group,
            version,
            kind,
            resource,
        }
    }

    fn object(self, namespace: &str) -> Value {
        let pod = json!({"containers": [{"name": "none", "image": "registry.invalid/none:1"}]});
        let labels = json!({"app.kubernetes.io/name": NAME});
        let mut object = json!({
            "apiVersion": self.version,
            "kind": self.kind,
            "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
        });
        let spec = match self.kind {
            "Pod" => pod,
            "Service" => json!({"ports": [{"port": 80}]}),
            "Deployment" => json!({
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            }),
            _ => return object,
        };
        if let Some(object) = object.as_object_mut() {
            object.insert("spec".to_owned(), spec);
        }
        object
    }
}

fn trial(rules: &[Rule]) -> Option<Trial> {
    TRIALS.into_iter().find(|trial| {
        let wanted = Rule {
            group: trial.group.to_owned(),
            version: "*".to_owned(),
            resources: vec![trial.resource.to_owned()],
            scope: portcullis_gate::registration::RuleScope::Namespaced,
            operations: vec![Operation::Create],
        };
        wanted.missing_in(rules).is_empty()
    })
}

/// What follows from the answer to a trial.
fn understood(one: &Registered, resource: &str, namespace: &str, answer: &ServerAnswer) -> Finding {
    let (place, name) = (one.place(), one.name());
    let message = answer.message();
    if message.contains(&format!("admission webhook \"{name}\" denied")) {
        let message =
            format!("the API server called it: it denied {resource} in {namespace} (dry run)");
        return Finding::ok(CHECK, place, message);
    }
    if message.contains(&format!("failed calling webhook \"{name}\"")) {
        let cause = message
            .rsplit("failed to call webhook: ")
            .next()
            .unwrap_or(message);
        let fix = "check that the address is reachable from the API server (network policies, firewalls, ports), and \
                   that a server runs there";
        let message = format!("the API server can't call it: {cause}");
        return Finding::problem(CHECK, place, message, fix);
    }
    if message.contains("does not support dry run") {
        let fix = "set sideEffects to None or NoneOnDryRun";
        return Finding::warning(
            CHECK,
            place,
            format!("dry runs are rejected: {message}"),
            fix,
        );
    }
    if !answer.is_success() {
        return Finding::skipped(CHECK, place, format!("not tried: {}", refusal(answer)));
    }
    match one.fails_closed() {
        true => {
            let message =
                format!("the API server called it: it allowed {resource} in {namespace} (dry run)");
            Finding::ok(CHECK, place, message)
        }
        // It would be the same if the call had failed.
        false => Finding::skipped(
            CHECK,
            place,
            "unknown: failurePolicy is Ignore, so failed calls are not seen",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::super::registered::Phase;
    use super::super::registered::tests::registered;
    use super::*;

    fn one(more: &Value) -> Registered {
        let mut webhook = json!({"name": "validate.portcullis.dev", "rules": [
            {"apiGroups": ["apps"], "resources": ["*"], "operations": ["CREATE"]},
        ]});
        for (key, value) in more.as_object().unwrap() {
            webhook[key] = value.clone();
        }
        registered(Phase::Validating, webhook)
    }

    fn answer(status: u16, message: &str) -> ServerAnswer {
        ServerAnswer {
            status,
            body: json!({"message": message}),
            time: None,
        }
    }

    #[test]
    fn the_object_on_trial_is_one_that_the_rules_are_about() {
        assert_eq!(
            trial(&one(&json!({})).rules()).map(|trial| trial.kind),
            Some("Deployment")
        );
        let none = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "operations": ["DELETE"]}]});
        assert_eq!(trial(&one(&none).rules()), None);
        let all =
            json!({"rules": [{"apiGroups": ["*"], "resources": ["*/*"], "operations": ["*"]}]});
        assert_eq!(
            trial(&one(&all).rules()).map(|trial| trial.kind),
            Some("ConfigMap")
        );
    }

    #[test]
    fn answers_are_understood() {
        let failed = "Internal error occurred: failed calling webhook \"validate.portcullis.dev\": failed to call \
                      webhook: Post \"https://x\": dial tcp: connection refused";
        for (more, status, message, expected) in [
            (json!({}), 201, "", State::Ok),
            (json!({"failurePolicy": "Ignore"}), 201, "", State::Skipped),
            (
                json!({}),
                403,
                "admission webhook \"validate.portcullis.dev\" denied the request: no",
                State::Ok,
            ),
            (json!({}), 500, failed, State::Problem),
            (
                json!({}),
                403,
                "deployments.apps is forbidden: User \"u\" cannot create",
                State::Skipped,
            ),
            (
                json!({}),
                400,
                "admission webhook \"x\" does not support dry run",
                State::Warning,
            ),
        ] {
            let found = understood(
                &one(&more),
                "deployments",
                "default",
                &answer(status, message),
            );
            assert_eq!(found.state, expected, "{found:?}");
        }
        let found = understood(&one(&json!({})), "x", "default", &answer(500, failed));
        assert!(found.message.ends_with("connection refused"), "{found:?}");
    }
}
