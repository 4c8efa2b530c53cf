//! What is typed: the policy, the object and who asks.

use serde_json::{Map, Value};

use crate::form::lines;
use crate::request::Request;

const POLICY: &str = include_str!("../../../templates/playground/policy.js");
const POD: &str = include_str!("../../../templates/playground/pod.yaml");
const JOB: &str = include_str!("../../../templates/playground/job.yaml");

/// The operations, the default first.
const OPERATIONS: &[&str] = &["CREATE", "UPDATE", "DELETE", "CONNECT"];

/// A choice of a list.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
    pub(super) is_chosen: bool,
}

/// The fields of the form.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) policy: String,
    pub(super) language: String,
    pub(super) object: String,
    pub(super) old_object: String,
    pub(super) operation: String,
    pub(super) user: String,
    pub(super) groups: String,
    pub(super) namespace: String,
    pub(super) mode: String,
}

impl Draft {
    /// What one begins with: a policy that denies a pod.
    pub(super) fn example() -> Self {
        Self {
            policy: POLICY.to_owned(),
            object: POD.to_owned(),
            user: "alice".to_owned(),
            groups: "developers".to_owned(),
            ..Self::default()
        }
    }

    /// A policy of the configuration, with an object that fits its doors.
    pub(super) fn of_policy(text: &str, place: &str, doors: Option<&Value>) -> Self {
        let has = |door: &str| {
            let doors = doors.and_then(Value::as_array);
            doors.is_some_and(|doors| doors.iter().any(|one| one == door))
        };
        let is_typed = [".ts", ".mts"].iter().any(|end| place.ends_with(end));
        Self {
            policy: text.to_owned(),
            language: if is_typed { "ts" } else { "js" }.to_owned(),
            object: match has("ci") && !has("kubernetes") {
                true => JOB.to_owned(),
                false => POD.to_owned(),
            },
            ..Self::example()
        }
    }

    /// What was sent.
    pub(super) fn sent(request: &Request<'_>) -> Self {
        let field = |name| request.field(name).to_owned();
        Self {
            policy: lines(request.raw_field("policy")),
            language: field("language"),
            object: lines(request.raw_field("object")),
            old_object: lines(request.raw_field("old_object")),
            operation: field("operation"),
            user: field("user"),
            groups: field("groups"),
            namespace: field("namespace"),
            mode: field("mode"),
        }
    }

    /// The question for the API.
    pub(super) fn body(&self) -> Value {
        let mut body = Map::new();
        let texts = [
            ("language", &self.language),
            ("old_object", &self.old_object),
            ("operation", &self.operation),
            ("user", &self.user),
            ("namespace", &self.namespace),
            ("mode", &self.mode),
        ];
        let given = texts
            .into_iter()
            .filter(|(_, text)| !text.trim().is_empty());
        body.extend(given.map(|(name, text)| (name.to_owned(), text.as_str().into())));
        let groups = self.groups.split(',').map(str::trim);
        let groups: Vec<&str> = groups.filter(|group| !group.is_empty()).collect();
        body.insert("policy".to_owned(), self.policy.as_str().into());
        body.insert("object".to_owned(), self.object.as_str().into());
        body.insert("groups".to_owned(), groups.into());
        body.into()
    }

    pub(super) fn languages(&self) -> [Choice; 2] {
        let one = |value, label| self.choice(&self.language, (value, label));
        [one("js", "JavaScript"), one("ts", "TypeScript")]
    }

    pub(super) fn operations(&self) -> Vec<Choice> {
        let all = OPERATIONS.iter();
        all.map(|one| self.choice(&self.operation, (one, one)))
            .collect()
    }

    pub(super) fn modes(&self) -> [Choice; 4] {
        let one = |value, label| self.choice(&self.mode, (value, label));
        [
            one("", "as the policy says"),
            one("enforce", "enforce"),
            one("warn", "warn"),
            one("dry-run", "dry-run"),
        ]
    }

    fn choice(&self, chosen: &str, (value, label): (&'static str, &'static str)) -> Choice {
        Choice {
            value,
            label,
            is_chosen: chosen == value,
        }
    }
}
