//! Whether a Service that webhooks call is there, with its port and with pods that are ready.

use portcullis_core::percent::encoded;
use portcullis_watch::Cluster;
use serde_json::Value;

use super::api_server::{TIME, refusal};
use super::finding::Finding;

const CHECK: &str = "service";

/// Checks a Service.
pub(super) async fn check(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
    port: u64,
) -> Vec<Finding> {
    let place = format!("{namespace}/{name}");
    let (in_namespace, encoded_name) = (encoded(namespace), encoded(name));
    let path = format!("/api/v1/namespaces/{in_namespace}/services/{encoded_name}");
    let service = match cluster.look(&path, TIME).await {
        Ok(answer) if answer.is_success() => answer.body,
        Ok(answer) if answer.status == 404 => {
            let message = "the Service that webhooks name does not exist";
            let fix = "create it, or register the webhooks with another one";
            return vec![Finding::problem(CHECK, place, message, fix)];
        }
        Ok(answer) => return vec![Finding::skipped(CHECK, place, refusal(&answer))],
        Err(why) => return vec![Finding::skipped(CHECK, place, why)],
    };
    let mut found = Vec::new();
    found.extend(without_port(&place, &service, port));
    let path = format!(
        "/apis/discovery.k8s.io/v1/namespaces/{in_namespace}/endpointslices?labelSelector={}",
        encoded(&format!("kubernetes.io/service-name={name}"))
    );
    found.push(match cluster.look(&path, TIME).await {
        Ok(answer) if answer.is_success() => endpoints(namespace, &place, &answer.body),
        Ok(answer) => Finding::skipped(CHECK, place, refusal(&answer)),
        Err(why) => Finding::skipped(CHECK, place, why),
    });
    found
}

fn without_port(place: &str, service: &Value, port: u64) -> Option<Finding> {
    let ports = service.pointer("/spec/ports").and_then(Value::as_array);
    let mut ports = ports.into_iter().flatten();
    if ports.any(|one| one.get("port").and_then(Value::as_u64) == Some(port)) {
        return None;
    }
    let message = format!("the Service has no port {port}, which webhooks name");
    let fix = "add the port to the Service, or register the webhooks with another one";
    Some(Finding::problem(CHECK, place, message, fix))
}

fn endpoints(namespace: &str, place: &str, slices: &Value) -> Finding {
    let slices = slices.get("items").and_then(Value::as_array);
    let all = slices
        .into_iter()
        .flatten()
        .filter_map(|slice| slice.get("endpoints")?.as_array());
    // What says nothing is ready, by the definition of the field.
    let is_ready =
        |endpoint: &&Value| endpoint.pointer("/conditions/ready") != Some(&Value::Bool(false));
    match all.flatten().filter(is_ready).count() {
        0 => {
            let message = "no pod behind the Service is ready, so webhooks can't be called";
            let fix = format!(
                "look at its pods and its selector: kubectl get endpointslices,pods -n {namespace}"
            );
            Finding::problem(CHECK, place, message, fix)
        }
        ready => Finding::ok(CHECK, place, format!("{ready} ready endpoints")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::finding::State;
    use super::*;

    #[test]
    fn endpoints_must_be_ready() {
        let slices = |ready: &[Value]| {
            let endpoints: Vec<Value> = ready
                .iter()
                .map(|ready| json!({"conditions": {"ready": ready}}))
                .collect();
            endpoints_state(&json!({"items": [{"endpoints": endpoints}]}))
        };
        assert_eq!(slices(&[]), State::Problem);
        assert_eq!(slices(&[json!(false)]), State::Problem);
        assert_eq!(slices(&[json!(false), json!(true)]), State::Ok);
        assert_eq!(slices(&[Value::Null]), State::Ok);
        assert_eq!(
            endpoints_state(&json!({"items": [{"endpoints": null}]})),
            State::Problem
        );
    }

    fn endpoints_state(slices: &Value) -> State {
        endpoints("gate", "gate/portcullis", slices).state
    }

    #[test]
    fn ports_must_exist() {
        let service = json!({"spec": {"ports": [{"port": 443}]}});
        assert!(without_port("x", &service, 443).is_none());
        assert!(without_port("x", &service, 8443).is_some());
        assert!(without_port("x", &json!({}), 443).is_some());
    }
}
