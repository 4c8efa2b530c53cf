//! The files a kube-apiserver is started with.
//!
//! They are written as JSON, which Kubernetes reads wherever it reads YAML.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{ADMINISTRATOR, AuthorizationWebhook, ClusterConfig, User};
use crate::Authority;

const ADMINISTRATORS: User = User {
    name: ADMINISTRATOR,
    groups: &["system:masters"],
};

/// The two plug-ins that call admission webhooks.
const CALLERS: [&str; 2] = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];

/// Writes all of them into `directory`.
pub(super) fn write(
    directory: &Path,
    port: u16,
    authority: &Authority,
    config: &ClusterConfig<'_>,
) {
    let put = |name: &str, text: &str| {
        let path = directory.join(name);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    let put_json = |name: &str, value: &Value| put(name, &value.to_string());
    let users: Vec<User> = [&[ADMINISTRATORS], config.users].concat();

    put("ca.crt", &authority.certificate());
    for (name, identity) in [
        ("server", authority.server("kube-apiserver")),
        ("client", authority.client("kube-apiserver")),
        // The API server takes the public key from the certificate.
        ("service-account", authority.client("service-account")),
    ] {
        let file = |extension| directory.join(name).with_extension(extension);
        identity.write(&file("crt"), &file("key"));
    }
    put(
        "tokens.csv",
        &users.iter().map(token_line).collect::<String>(),
    );
    put_json("audit-policy.json", &audit_policy());
    put_json("webhook-client.json", &webhook_client(directory));
    put_json("admission.json", &admission(directory, config));
    put_json("authorization.json", &authorization(directory, config));
    for webhook in config.authorizers {
        put_json(
            &kubeconfig_of(webhook),
            &authorization_client(directory, webhook),
        );
    }
    put_json("kubeconfig.json", &kubeconfig(directory, port, &users));
}

/// A user's token is made from the name: nothing here is worth protecting.
pub(super) fn token(user: &str) -> String {
    format!("{user}-token")
}

fn token_line(user: &User) -> String {
    format!(
        "{},{},{},\"{}\"\n",
        token(user.name),
        user.name,
        user.name,
        user.groups.join(",")
    )
}

fn audit_policy() -> Value {
    json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {"level": "None", "verbs": ["get", "list", "watch"]},
            {"level": "Metadata"},
        ],
    })
}

fn admission(directory: &Path, config: &ClusterConfig<'_>) -> Value {
    let callers = CALLERS.iter().map(|name| {
        json!({"name": name, "configuration": {
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration",
            "kubeConfigFile": directory.join("webhook-client.json"),
        }})
    });
    let own = config
        .plugin_configurations
        .iter()
        .map(|(name, configuration)| json!({"name": name, "configuration": configuration}));
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration",
        "plugins": callers.chain(own).collect::<Vec<_>>(),
    })
}

/// The client certificate for every admission webhook that asks for one.
fn webhook_client(directory: &Path) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config",
        "users": [{"name": "*", "user": {
            "client-certificate": directory.join("client.crt"),
            "client-key": directory.join("client.key"),
        }}],
    })
}

fn authorization(directory: &Path, config: &ClusterConfig<'_>) -> Value {
    let mut authorizers: Vec<Value> = config
        .authorizers
        .iter()
        .map(|webhook| {
            json!({"type": "Webhook", "name": webhook.name, "webhook": {
                "timeout": "3s",
                "cacheAuthorizedRequests": false,
                "cacheUnauthorizedRequests": false,
                "subjectAccessReviewVersion": webhook.version,
                "matchConditionSubjectAccessReviewVersion": "v1",
                "failurePolicy": webhook.failure_policy,
                "connectionInfo": {
                    "type": "KubeConfigFile",
                    "kubeConfigFile": directory.join(kubeconfig_of(webhook)),
                },
                "matchConditions": [{"expression": format!("request.user == '{}'", webhook.user)}],
            }})
        })
        .collect();
    authorizers.push(if config.only_nodes {
        json!({"type": "Node", "name": "node"})
    } else {
        json!({"type": "RBAC", "name": "rbac"})
    });
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration",
        "authorizers": authorizers,
    })
}

fn kubeconfig_of(webhook: &AuthorizationWebhook) -> String {
    format!("authorization-{}.json", webhook.name)
}

fn authorization_client(directory: &Path, webhook: &AuthorizationWebhook) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "webhook",
        "clusters": [{"name": "webhook", "cluster": {
            "server": webhook.url,
            "certificate-authority": directory.join("ca.crt"),
        }}],
        "users": [{"name": "webhook", "user": {
            "client-certificate": directory.join("client.crt"),
            "client-key": directory.join("client.key"),
        }}],
        "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "webhook"}}],
    })
}

fn kubeconfig(directory: &Path, port: u16, users: &[User]) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
        "clusters": [{"name": "e2e", "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "certificate-authority": directory.join("ca.crt"),
        }}],
        "users": users.iter()
            .map(|user| json!({"name": user.name, "user": {"token": token(user.name)}}))
            .collect::<Vec<_>>(),
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": ADMINISTRATOR}}],
    })
}
