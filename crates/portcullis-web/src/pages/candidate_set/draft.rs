//! What is chosen and typed of a candidate set.

use serde_json::{Map, Value, json};

use super::Policy;
use crate::form::lines;
use crate::pages::candidate_report::Since;
use crate::request::Request;

/// Policies that can be added in the form.
const MOST_NEW: usize = 20;

/// What a form is sent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// To see the sources of the policies that are to be changed.
    Sources,
    /// To have fields for one more policy.
    Add,
    /// To replay.
    Replay,
}

/// What becomes of a policy in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    Keep,
    Change,
    Remove,
}

/// A choice of a list.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
    pub(super) is_chosen: bool,
}

const PLANS: [(Plan, &str, &str); 3] = [
    (Plan::Keep, "keep", "source in force"),
    (Plan::Change, "change", "another source"),
    (Plan::Remove, "remove", "removed"),
];

const LANGUAGES: [(&str, &str); 2] = [("js", "JavaScript"), ("ts", "TypeScript")];
const MODES: [&str; 3] = ["enforce", "warn", "dry-run"];

/// A policy in force in the set.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// The mode in force.
    pub(super) mode: String,
    plan: Plan,
    /// Another mode; empty for the one in force.
    other_mode: String,
    /// Another source, once it is asked for.
    pub(super) text: Option<String>,
}

/// A policy that is added.
#[derive(Debug, Default)]
pub(super) struct Added {
    pub(super) name: String,
    mode: String,
    language: String,
    pub(super) text: String,
}

/// The fields of the form.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) step: Step,
    pub(super) rows: Vec<Row>,
    pub(super) added: Vec<Added>,
    pub(super) since: Since,
}

impl Draft {
    /// The policies in force as they are.
    pub(super) fn of(in_force: &[Policy]) -> Self {
        let row = |policy: &Policy| Row {
            name: policy.name.clone(),
            mode: policy.mode.clone(),
            plan: Plan::Keep,
            other_mode: String::new(),
            text: None,
        };
        Self {
            step: Step::Sources,
            rows: in_force.iter().map(row).collect(),
            added: Vec::new(),
            since: Since::default(),
        }
    }

    /// What was sent. Policies that are no longer in force are left out.
    pub(super) fn sent(request: &Request<'_>, in_force: &[Policy]) -> Self {
        let has = |name: &str| request.form.iter().any(|(own, _)| own == name);
        let mut draft = Self::of(in_force);
        draft.step = match request.field("do") {
            "sources" => Step::Sources,
            "add" => Step::Add,
            // So do the keys of the editor, without a button.
            _ => Step::Replay,
        };
        for row in &mut draft.rows {
            let plan = request.field(&row.field("plan"));
            let plan = PLANS.iter().find(|(_, value, _)| *value == plan);
            row.plan = plan.map_or(Plan::Keep, |(plan, ..)| *plan);
            row.other_mode = request.field(&row.field("mode")).to_owned();
            let text = row.field("text");
            row.text = has(&text).then(|| lines(request.raw_field(&text)));
        }
        let added = (0..MOST_NEW).map(|place| Added {
            name: request.field(&format!("new-name:{place}")).to_owned(),
            mode: request.field(&format!("new-mode:{place}")).to_owned(),
            language: request.field(&format!("new-language:{place}")).to_owned(),
            text: lines(request.raw_field(&format!("new-text:{place}"))),
        });
        draft.added = added.filter(|one| !one.is_empty()).collect();
        draft.since = Since::sent(request);
        draft
    }

    /// This policy is to have another source; false if it is not in force.
    pub(super) fn choose(&mut self, name: &str) -> bool {
        let row = self.rows.iter_mut().find(|row| row.name == name);
        row.map(|row| row.plan = Plan::Change).is_some()
    }

    /// One more policy is to be added.
    pub(super) fn add(&mut self) {
        if self.may_add() {
            self.added.push(Added::default());
        }
    }

    pub(super) fn may_add(&self) -> bool {
        self.added.len() < MOST_NEW
    }

    /// Those whose source is asked for, and not known yet.
    pub(super) fn without_text(&mut self) -> impl Iterator<Item = &mut Row> {
        let rows = self.rows.iter_mut();
        rows.filter(|row| row.plan == Plan::Change && row.text.is_none())
    }

    /// Whether there is something to type.
    pub(super) fn has_texts(&self) -> bool {
        !self.added.is_empty() || self.rows.iter().any(Row::is_changed)
    }

    /// The set for the API.
    pub(super) fn body(&self) -> Value {
        let changed = self.rows.iter().filter_map(Row::change);
        let added = self.added.iter().map(Added::change);
        let removed = self.rows.iter().filter(|row| row.plan == Plan::Remove);
        let removed: Vec<&str> = removed.map(|row| row.name.as_str()).collect();
        json!({
            "policies": changed.chain(added).collect::<Vec<_>>(),
            "remove": removed,
            "since": self.since.value(),
        })
    }
}

impl Row {
    /// The name of one of its fields.
    pub(super) fn field(&self, of: &str) -> String {
        format!("{of}:{}", self.name)
    }

    /// Whether its source can be typed.
    pub(super) fn is_changed(&self) -> bool {
        self.plan == Plan::Change
    }

    /// The source that is typed.
    pub(super) fn source(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    pub(super) fn plans(&self) -> [Choice; 3] {
        PLANS.map(|(plan, value, label)| Choice {
            value,
            label,
            is_chosen: plan == self.plan,
        })
    }

    pub(super) fn modes(&self) -> Vec<Choice> {
        modes("mode in force", &self.other_mode)
    }

    /// What is different, if anything is.
    fn change(&self) -> Option<Value> {
        let mut change = Map::new();
        if let (Plan::Change, Some(text)) = (self.plan, &self.text) {
            change.insert("text".to_owned(), text.as_str().into());
        }
        if self.plan != Plan::Remove && !self.other_mode.is_empty() {
            change.insert("mode".to_owned(), self.other_mode.as_str().into());
        }
        if change.is_empty() {
            return None;
        }
        change.insert("name".to_owned(), self.name.as_str().into());
        Some(change.into())
    }
}

impl Added {
    fn is_empty(&self) -> bool {
        self.name.is_empty() && self.text.trim().is_empty()
    }

    pub(super) fn modes(&self) -> Vec<Choice> {
        modes("as the source says", &self.mode)
    }

    pub(super) fn languages(&self) -> [Choice; 2] {
        LANGUAGES.map(|(value, label)| Choice {
            value,
            label,
            is_chosen: value == self.language,
        })
    }

    fn change(&self) -> Value {
        let mut change = Map::new();
        let given = [
            ("name", &self.name),
            ("mode", &self.mode),
            ("language", &self.language),
        ];
        let given = given
            .into_iter()
            .filter(|(key, value)| *key == "name" || !value.is_empty());
        change.extend(given.map(|(key, value)| (key.to_owned(), value.as_str().into())));
        change.insert("text".to_owned(), self.text.as_str().into());
        change.into()
    }
}

/// The modes, and what stands for none of them.
fn modes(none: &'static str, chosen: &str) -> Vec<Choice> {
    let all = MODES.map(|mode| (mode, mode));
    let all = std::iter::once(("", none)).chain(all);
    all.map(|(value, label)| Choice {
        value,
        label,
        is_chosen: value == chosen,
    })
    .collect()
}
