//! A `match` as it could be written, for those who read it.

use serde_json::{Map, Value, json};

use super::resources::ResourcePattern;
use super::{KindPattern, MatchPolicy, Matcher};

impl Matcher {
    /// The keys of a `match` with the same meaning. Keys that don't matter are absent.
    pub fn described(&self) -> Value {
        let texts = |all: Vec<String>| Value::from(all);
        let mut keys = Map::new();
        let doors = self.doors.iter().map(|door| door.as_str().to_owned());
        keys.insert("doors".to_owned(), texts(doors.collect()));
        if let Some(all) = &self.operations {
            let all = all.iter().map(|one| one.as_str().to_owned());
            keys.insert("operations".to_owned(), texts(all.collect()));
        }
        if let Some(all) = &self.kinds {
            let all = all.iter().map(KindPattern::written);
            keys.insert("kinds".to_owned(), texts(all.collect()));
        }
        if let Some(all) = &self.resources {
            let all = all.iter().map(ResourcePattern::written);
            keys.insert("resources".to_owned(), texts(all.collect()));
        }
        if let Some(scope) = self.scope {
            keys.insert("scope".to_owned(), scope.written().into());
        }
        for (key, globs) in [("namespaces", &self.namespaces), ("paths", &self.paths)] {
            if let Some(all) = globs {
                let all = all.iter().map(|glob| glob.as_str().to_owned());
                keys.insert(key.to_owned(), texts(all.collect()));
            }
        }
        if let Some(labels) = &self.labels {
            let labels = labels
                .iter()
                .map(|(key, value)| (key.clone(), value.as_str().into()));
            keys.insert("labels".to_owned(), Value::Object(labels.collect()));
        }
        for (key, selector) in [
            ("objectSelector", &self.object_selector),
            ("namespaceSelector", &self.namespace_selector),
        ] {
            if let Some(selector) = selector {
                keys.insert(key.to_owned(), json!(selector.written));
            }
        }
        if self.match_policy != MatchPolicy::default() {
            keys.insert("matchPolicy".to_owned(), json!(self.match_policy));
        }
        Value::Object(keys)
    }
}

impl KindPattern {
    fn written(&self) -> String {
        let any = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
        let kind = any(&self.kind);
        match (&self.group, &self.version) {
            (None, None) => kind,
            (Some(group), Some(version)) if group.is_empty() => format!("{version}/{kind}"),
            (Some(group), None) => format!("{group}/{kind}"),
            (group, Some(version)) => format!("{}/{version}/{kind}", any(group)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::MatchSpec;

    #[test]
    fn what_is_described_means_the_same() {
        for written in [
            json!({"doors": ["kubernetes"]}),
            json!({"doors": ["ci"], "kinds": ["Pod", "v1/Pod", "apps/Deployment", "*/v1/Deployment", "apps/v1/*"]}),
            json!({"doors": ["kubernetes"], "operations": ["CREATE"], "namespaces": ["prod-*"],
                "paths": ["/mutate/**"], "labels": {"a": "b"}}),
            json!({"doors": ["kubernetes"], "scope": "Cluster", "resources": ["pods", "pods.", "pods.v1", "*.v1.*",
                "deployments.apps", "deployments.v1.apps/scale", "pods/*", "*/*", "*"]}),
            json!({"doors": ["kubernetes"], "matchPolicy": "Exact",
                "objectSelector": {"matchLabels": {"a": "b"}},
                "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"},
                    {"key": "b", "operator": "In", "values": ["c"]}]}}),
        ] {
            let spec: MatchSpec = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(Matcher::new(&spec).unwrap().described(), written);
        }
    }
}
