//! The record of a call of the API.
//!
//! The caller chooses path and parameters, and so also the names that lists show: nothing here is public
//! from the start, all of it is scrubbed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use portcullis_core::text::start;
use portcullis_core::{DoorContext, OpinionKind, pointer};
use serde::Serialize;
use serde_json::Value;

use super::http::Http;
use super::line::put;
use super::{LONGEST, Unmaskable, Written, shown, times, unmaskable};
use crate::action::{Action, ROLES};
use crate::input::ActionInput;
use crate::mask::{self, MASKED, Secret, credentials, names};
use crate::material::Material;
use crate::scrub::Scrubber;
use crate::summary::{Answer, Summary};
use crate::trace::{Miss, RolesTrace, TraceStep};

/// How many failed conditions, rules and roles are recorded.
const MOST: usize = 100;

/// What the action was made of, as it is written.
#[derive(Serialize)]
struct Input<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    masked: &'a [String],
    http: Http<'a>,
    received: String,
    action: ActionInput,
}

pub(super) fn write(material: &Material, action: &Action) -> Result<Written, Unmaskable> {
    let mut pointers = Vec::new();
    let context = DoorContext {
        method: shown(&action.method),
        uri: action.path.clone(),
        peer: action.peer.clone(),
        ..DoorContext::default()
    };
    let mut found = mask::http::find(&context);
    let http = Http::masked(&context, &mut found, &mut pointers);
    let mut secrets = std::mem::take(&mut found.secrets);
    let parameters = parameters(action, &mut secrets, &mut pointers);
    let clean = Clean(Scrubber::new(
        &secrets,
        &[&action.permission, action.kind()],
    ));

    let input = Input {
        masked: &pointers,
        http: http.with_path(|path| clean.text(path)),
        received: times::to_nanoseconds(material.received),
        action: ActionInput {
            tenant: clean.optional(action.tenant.as_deref()),
            parameters: parameters
                .iter()
                .map(|(name, value)| (clean.text(name), clean.text(value)))
                .collect(),
            issuer: clean.optional(action.issuer.as_deref()),
            status: action.status,
        },
    };
    let step = step(action, &clean);
    let summary = summary(material, action, &parameters, &step, &clean);

    let mut to = Vec::with_capacity(2048);
    put(&mut to, &summary)?;
    to.pop();
    to.extend_from_slice(b",\"patch\":[],\"trace\":");
    put(&mut to, &[step])?;
    to.extend_from_slice(b",\"input\":");
    put(&mut to, &input)?;
    to.push(b'}');
    let line = String::from_utf8(to).map_err(|_| unmaskable("not UTF-8"))?;
    Ok(Written {
        summary,
        line,
        is_truncated: false,
    })
}

/// Texts without secrets, as long as they may be.
struct Clean<'a>(Scrubber<'a>);

impl Clean<'_> {
    fn text(&self, text: &str) -> String {
        // A text that is cut first may end inside a secret.
        start(&self.0.scrub(text), LONGEST).to_owned()
    }

    fn optional(&self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    fn some(&self, texts: &[String]) -> Vec<String> {
        texts
            .iter()
            .take(MOST)
            .map(|text| self.text(text))
            .collect()
    }

    /// A text or a list of texts.
    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(list) => list.iter().take(MOST).map(|one| self.value(one)).collect(),
            other => {
                let mut other = other.clone();
                self.0.scrub_value(&mut other);
                other
            }
        }
    }
}

/// The parameters without those values that are secrets.
fn parameters<'a>(
    action: &'a Action,
    secrets: &mut Vec<Secret<'a>>,
    pointers: &mut Vec<String>,
) -> BTreeMap<&'a str, Cow<'a, str>> {
    let mut shown = BTreeMap::new();
    for (name, value) in &action.parameters {
        let is_secret = names::is_secret_header(name) || credentials::is_secret(value);
        if !is_secret || value.is_empty() {
            shown.insert(name.as_str(), Cow::Borrowed(value.as_str()));
            continue;
        }
        secrets.push(Secret::plain(value.as_str()));
        if let Some(token) = credentials::first_token(value) {
            secrets.push(Secret::plain(token));
        }
        let mut pointer = "/action/parameters".to_owned();
        pointer::push(&mut pointer, &credentials::without_secrets(name));
        pointers.push(pointer);
        shown.insert(name.as_str(), Cow::Borrowed(MASKED));
    }
    shown
}

fn step(action: &Action, clean: &Clean<'_>) -> TraceStep {
    let more = action.misses.len().saturating_sub(MOST);
    let misses = action.misses.iter().take(MOST).map(|miss| Miss {
        rule: clean.text(&miss.rule),
        role: clean.text(&miss.role),
        name: clean.text(&miss.name),
        wanted: clean.value(&miss.wanted),
        got: clean.optional(miss.got.as_deref()),
    });
    let opinion = match action.allowed {
        true => OpinionKind::Allow,
        false => OpinionKind::Deny,
    };
    TraceStep {
        detail: (more > 0).then(|| format!("{more} more conditions failed")),
        roles: Some(RolesTrace {
            rule: clean.optional(action.rule.as_deref()),
            role: clean.optional(action.role.as_deref()),
            misses: misses.collect(),
            rules: clean.some(&action.rules),
            roles: clean.some(&action.roles),
        }),
        duration_us: u64::try_from(action.duration.as_micros()).unwrap_or(u64::MAX),
        ..TraceStep::new(ROLES, opinion)
    }
}

fn summary(
    material: &Material,
    action: &Action,
    parameters: &BTreeMap<&str, Cow<'_, str>>,
    step: &TraceStep,
    clean: &Clean<'_>,
) -> Summary {
    let name = action.name().and_then(|(name, _)| parameters.get(name));
    let roles = step.roles.as_ref();
    Summary {
        id: action.id.to_string(),
        time: times::to_microseconds(action.id.time()),
        door: material.decided.door(),
        operation: clean.text(&action.permission),
        kind: action.kind().to_owned(),
        namespace: clean.optional(action.tenant.as_deref()).unwrap_or_default(),
        name: name.map(|name| clean.text(name)).unwrap_or_default(),
        user: clean.text(&action.user),
        verdict: match action.allowed {
            true => Answer::Allow,
            false => Answer::Deny,
        },
        mutated: false,
        message: clean.text(&action.message),
        plugin: Some(ROLES.to_owned()),
        policy: roles.and_then(|roles| roles.role.clone()),
        digest: None,
        gate: Some(material.gate.to_string()),
        duration_us: step.duration_us,
        warnings: Vec::new(),
        concerned: concerned(action, roles),
        traceparent: material.traceparent.clone(),
    }
}

/// What denied, and the roles that would have permitted something like it; each once.
fn concerned(action: &Action, roles: Option<&RolesTrace>) -> Vec<String> {
    if action.allowed {
        return Vec::new();
    }
    let mut names = vec![ROLES.to_owned()];
    for miss in roles.iter().flat_map(|roles| &roles.misses) {
        if !miss.role.is_empty() && !names.contains(&miss.role) {
            names.push(miss.role.clone());
        }
    }
    names
}
