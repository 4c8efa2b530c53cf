//! The examples, in the order they are sent: reviews of a cluster, questions about access, calls of the API, jobs of CI systems.

use serde_json::{Value, json};

use super::objects;
use crate::client::ApiRequest;

/// Where an example goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ExampleDoor {
    Admission,
    Authorization,
    Api,
    Job,
    Pipeline,
}

impl ExampleDoor {
    /// As it is called in the table.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Admission => "admission",
            Self::Authorization => "authorization",
            Self::Api => "API calls",
            Self::Job => "jobs",
            Self::Pipeline => "pipelines",
        }
    }

    /// Whether it takes a token.
    fn needs_token(self) -> bool {
        matches!(self, Self::Api | Self::Job | Self::Pipeline)
    }
}

/// A request to be sent.
#[derive(Debug, Clone)]
pub(super) struct Example {
    pub(super) door: ExampleDoor,
    /// What it asks for, on a line.
    pub(super) about: String,
    pub(super) request: ApiRequest,
}

/// Examples without end: rounds of the same requests about other objects.
#[derive(Debug)]
pub(super) struct Examples {
    has_token: bool,
    round: u64,
    left: std::vec::IntoIter<Example>,
}

impl Examples {
    /// Those that can be sent with a token, or without.
    pub(super) fn new(has_token: bool) -> Self {
        Self {
            has_token,
            round: 0,
            left: Vec::new().into_iter(),
        }
    }
}

impl Iterator for Examples {
    type Item = Example;

    fn next(&mut self) -> Option<Example> {
        loop {
            let next = self.left.next();
            match next {
                Some(example) if example.door.needs_token() && !self.has_token => {}
                Some(example) => return Some(example),
                None => {
                    self.left = round(self.round).into_iter();
                    self.round += 1;
                }
            }
        }
    }
}

/// One round. Names differ from round to round, so that lists look like those of a cluster.
fn round(number: u64) -> Vec<Example> {
    let named = |name: &str| format!("{name}-{number}");
    let deployer = "system:serviceaccount:pay:deployer";
    let review =
        |path, operation, user, object: &Value| review(number, path, operation, user, object);
    let web = objects::careful_pod("shop", &named("web"));
    vec![
        review("mutate", "CREATE", "alice", &web),
        review("validate", "CREATE", "alice", &web),
        review(
            "validate",
            "CREATE",
            "bob",
            &objects::hasty_pod("default", &named("nginx")),
        ),
        review(
            "validate",
            "CREATE",
            "mallory",
            &objects::privileged_pod("default", &named("debug")),
        ),
        access("alice", "get", "pods", "shop"),
        job(&["shop/web", "build", "main", "alice"], true, &["linux"]),
        review(
            "mutate",
            "CREATE",
            deployer,
            &objects::deployment("pay", &named("api"), 2),
        ),
        review(
            "validate",
            "CREATE",
            deployer,
            &objects::deployment("pay", &named("batch"), 1),
        ),
        read("/api/v1/policies"),
        review(
            "validate",
            "UPDATE",
            deployer,
            &objects::deployment("pay", &named("api"), 3),
        ),
        job(&["pay/api", "deploy", "try-it", "bob"], false, &["linux"]),
        review(
            "validate",
            "CREATE",
            "carol",
            &objects::mounting_pod("shop", &named("agent")),
        ),
        review(
            "validate",
            "CREATE",
            "bob",
            &objects::service("default", &named("nginx")),
        ),
        pipeline("data/etl", "carol"),
        review(
            "validate",
            "DELETE",
            "carol",
            &objects::config_map("data", &named("settings")),
        ),
        access("mallory", "create", "secrets", "pay"),
        review(
            "mutate",
            "CREATE",
            "system:node:worker-1",
            &objects::careful_pod("data", &named("etl")),
        ),
        job(
            &["pay/api", "test", "main", "alice"],
            true,
            &["linux", "amd64"],
        ),
        review("validate", "UPDATE", "alice", &web),
        read("/api/v1/decisions?verdict=deny&limit=10"),
    ]
}

fn post(door: ExampleDoor, about: String, path: &str, body: &Value) -> Example {
    Example {
        door,
        about,
        request: ApiRequest::post(path, body),
    }
}

/// An AdmissionReview about this object.
fn review(round: u64, path: &str, operation: &str, user: &str, object: &Value) -> Example {
    let part = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, version) = (part(&object["kind"]), part(&object["apiVersion"]));
    let metadata = &object["metadata"];
    let (name, namespace) = (part(&metadata["name"]), part(&metadata["namespace"]));
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let resource = format!("{}s", kind.to_ascii_lowercase());
    let object_if = |is_there: bool| is_there.then_some(object);
    let request = json!({
        "uid": format!("example-{round}-{path}-{name}"),
        "operation": operation,
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": resource},
        "name": name,
        "namespace": namespace,
        "userInfo": {"username": user, "groups": ["system:authenticated"]},
        "object": object_if(operation != "DELETE"),
        "oldObject": object_if(operation != "CREATE"),
    });
    let body =
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    let about = format!("{path} {operation} {kind} {namespace}/{name} as {user}");
    post(ExampleDoor::Admission, about, &format!("/{path}"), &body)
}

/// A SubjectAccessReview.
fn access(user: &str, verb: &str, resource: &str, namespace: &str) -> Example {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": user,
            "groups": ["system:authenticated"],
            "resourceAttributes": {"verb": verb, "version": "v1", "resource": resource, "namespace": namespace},
        },
    });
    let about = format!("authorize {verb} {resource} in {namespace} as {user}");
    post(ExampleDoor::Authorization, about, "/authorize", &body)
}

/// A call of the API that only reads.
fn read(path: &str) -> Example {
    Example {
        door: ExampleDoor::Api,
        about: format!("GET {path}"),
        request: ApiRequest::get(path),
    }
}

/// A CI job on its own.
fn job([project, name, git_ref, user]: &[&str; 4], protected: bool, tags: &[&str]) -> Example {
    let body = json!({
        "project": project,
        "name": name,
        "ref": git_ref,
        "ref_protected": protected,
        "user": {"id": 1, "username": user},
        "tags": tags,
        "script": [format!("make {name}")],
    });
    let about = format!("job {name} of {project} at {git_ref} as {user}");
    post(ExampleDoor::Job, about, "/api/v1/jobs", &body)
}

/// A pipeline of three stages.
fn pipeline(project: &str, user: &str) -> Example {
    let job = |name, stage| json!({"name": name, "stage": stage, "tags": ["linux"], "script": [format!("make {name}")]});
    let body = json!({
        "project": project,
        "ref": "main",
        "ref_protected": true,
        "source": "push",
        "user": {"id": 1, "username": user},
        "stages": ["build", "test", "deploy"],
        "jobs": [
            job("compile", "build"),
            job("lint", "build"),
            job("unit", "test"),
            job("deploy", "deploy"),
        ],
    });
    let about = format!("pipeline of {project} at main as {user}");
    post(ExampleDoor::Pipeline, about, "/api/v1/pipelines", &body)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_rounds_show_every_door_several_users_and_different_objects() {
        let all: Vec<Example> = Examples::new(true).take(40).collect();
        let doors: BTreeSet<ExampleDoor> = all.iter().map(|one| one.door).collect();
        assert_eq!(doors.len(), 5);
        let users: BTreeSet<&str> = all
            .iter()
            .filter_map(|one| one.about.split(" as ").nth(1))
            .collect();
        assert!(users.len() >= 5, "{users:?}");
        let reviews: Vec<&str> = all
            .iter()
            .filter(|one| one.door == ExampleDoor::Admission)
            .map(|one| one.about.as_str())
            .collect();
        let different: BTreeSet<&str> = reviews.iter().copied().collect();
        assert_eq!(different.len(), reviews.len(), "{reviews:?}");
    }

    #[test]
    fn without_a_token_only_webhooks_are_called() {
        let all: Vec<Example> = Examples::new(false).take(40).collect();
        assert_eq!(all.len(), 40);
        assert!(all.iter().all(|one| !one.door.needs_token()));
    }
}
