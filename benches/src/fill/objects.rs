//! Objects of a cluster: nodes, pods, what the pods need.

use std::path::Path;

use serde_json::{Value, json};

use crate::failure::{Context, Result};

/// Pods on a node.
const PODS: u32 = 50;
/// Namespaces, each with settings that all its pods need.
const NAMESPACES: u32 = 20;

/// Writes a file for each node, with its pods. Every pod has a secret of its own.
pub(super) fn write(dir: &Path, vertices: u32) -> Result<()> {
    std::fs::create_dir_all(dir).context(dir.display())?;
    // Settings of namespaces become vertices as pods name them.
    let mut left = vertices;
    let (mut node, mut pod) = (0, 0);
    while left > 0 {
        let name = format!("node-{node}");
        let mut items = vec![object("Node", "", &name, &json!({}))];
        left -= 1;
        for _ in 0..PODS {
            let takes = if pod < NAMESPACES { 3 } else { 2 };
            if left < takes {
                // Nodes alone make up for what no pod fits in.
                break;
            }
            items.push(pod_on(&name, pod));
            left -= takes;
            pod += 1;
        }
        let file = dir.join(format!("{name}.json"));
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        std::fs::write(&file, list.to_string()).context(file.display())?;
        node += 1;
    }
    Ok(())
}

fn pod_on(node: &str, number: u32) -> Value {
    let namespace = format!("team-{}", number % NAMESPACES);
    let secret = json!({"secret": {"secretName": format!("secret-{number}")}, "name": "key"});
    let settings = json!({"configMap": {"name": "settings"}, "name": "settings"});
    let spec = json!({
        "nodeName": node,
        "containers": [{"name": "app", "image": "registry.example/shop/web:1.4.2"}],
        "volumes": [secret, settings],
    });
    object("Pod", &namespace, &format!("pod-{number}"), &spec)
}

fn object(kind: &str, namespace: &str, name: &str, spec: &Value) -> Value {
    let mut metadata = json!({"name": name});
    if !namespace.is_empty() {
        metadata = json!({"name": name, "namespace": namespace});
    }
    json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_as_many_vertices_as_asked_for() {
        for vertices in [3, 100, 1234] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), vertices).unwrap();
            let mut found = BTreeSet::new();
            for file in dir.path().read_dir().unwrap() {
                let text = std::fs::read(file.unwrap().path()).unwrap();
                let list: Value = serde_json::from_slice(&text).unwrap();
                for item in list["items"].as_array().unwrap() {
                    let at = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let namespace = at(&item["metadata"]["namespace"]);
                    let kind = at(&item["kind"]);
                    found.insert((kind, namespace.clone(), at(&item["metadata"]["name"])));
                    if let Some([key, settings]) =
                        item["spec"]["volumes"].as_array().map(Vec::as_slice)
                    {
                        let secret = at(&key["secret"]["secretName"]);
                        found.insert(("Secret".to_owned(), namespace.clone(), secret));
                        let map = at(&settings["configMap"]["name"]);
                        found.insert(("ConfigMap".to_owned(), namespace.clone(), map));
                    }
                }
            }
            assert_eq!(found.len(), vertices as usize);
        }
    }
}
