//! The explanation of a call of the API, which rules and roles decide.

use portcullis_record::{Answer, Decision, Miss, RolesTrace};
use serde_json::Value;

use crate::commands::text::plain::shortened;

/// How many failed conditions, rules and roles are shown.
const MOST: usize = 20;

/// What was made of rules and roles; nothing for a decision of another door.
fn roles(decision: &Decision) -> Option<&RolesTrace> {
    decision.trace.iter().find_map(|step| step.roles.as_ref())
}

/// `allowed` and ` by role fooenq (rule al)`.
pub(super) fn sentence(decision: &Decision) -> (&'static str, String) {
    let message = decision.summary.message.as_str();
    match decision.summary.verdict {
        Answer::Allow => {
            let by = by(decision).map(|by| format!(" by {by}"));
            let message = match message {
                "" => String::new(),
                message => format!(": {message}"),
            };
            ("allowed", by.unwrap_or_default() + &message)
        }
        Answer::Deny if message.is_empty() => {
            let permission = &decision.summary.operation;
            let on = match parameters(decision).first() {
                Some(first) => format!(" on {first}"),
                None => String::new(),
            };
            ("denied", format!(": no role permits {permission}{on}"))
        }
        Answer::Deny => ("denied", format!(": {message}")),
    }
}

/// Who decided.
pub(super) fn decider(decision: &Decision) -> String {
    match (decision.summary.verdict, by(decision)) {
        (Answer::Allow, Some(by)) => by,
        (Answer::Allow, None) => "no role was needed".to_owned(),
        (Answer::Deny, _) => "no role permits it".to_owned(),
    }
}

/// `role fooenq (rule al)`.
fn by(decision: &Decision) -> Option<String> {
    let roles = roles(decision)?;
    let role = roles.role.as_ref()?;
    Some(match &roles.rule {
        Some(rule) => format!("role {role} (rule {rule})"),
        None => format!("role {role}"),
    })
}

/// The caller, and who vouched for it.
pub(super) fn who(decision: &Decision) -> String {
    let user = &decision.summary.user;
    let action = decision.input.action.as_ref();
    match action.and_then(|action| action.issuer.as_ref()) {
        Some(issuer) => format!("{user}, authenticated by {issuer}"),
        None => user.clone(),
    }
}

/// `enqueue in tenant example, on project bar, pipeline gate`.
pub(super) fn what(decision: &Decision) -> String {
    let mut text = decision.summary.operation.clone();
    match decision.summary.namespace.as_str() {
        "" => text.push_str(" at the root of the API"),
        tenant => text.push_str(&format!(" in tenant {tenant}")),
    }
    let parameters = parameters(decision);
    if !parameters.is_empty() {
        text.push_str(&format!(", on {}", parameters.join(", ")));
    }
    text
}

/// `project bar`: what the call is about, the wider first.
fn parameters(decision: &Decision) -> Vec<String> {
    const ORDER: [&str; 3] = ["project", "controller", "pipeline"];
    let action = decision.input.action.as_ref();
    let mut all: Vec<(&String, &String)> = action
        .iter()
        .flat_map(|action| &action.parameters)
        .collect();
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    all.sort_by_key(|(name, _)| place(name).unwrap_or(ORDER.len()));
    let shown = all
        .into_iter()
        .map(|(name, value)| format!("{name} {}", shortened(value, 200)));
    shown.collect()
}

/// What the caller has: `rules al; roles fooenq, read`.
pub(super) fn has(roles: &RolesTrace) -> String {
    let some = |names: &[String], word: &str| {
        let shown: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
        let more = match names.len() - shown.len() {
            0 => "",
            _ => " ...",
        };
        match shown.as_slice() {
            [] => format!("no {word}"),
            [one] => format!("{word} {one}"),
            many => format!("{word}s {}{more}", many.join(", ")),
        }
    };
    let rules = some(&roles.rules, "rule");
    match roles.rules.is_empty() && roles.roles.is_empty() {
        true => "no rule matches the caller".to_owned(),
        false => format!("the caller has {}, by {rules}", some(&roles.roles, "role")),
    }
}

/// Roles that would have permitted something like it.
pub(super) fn near(decision: &Decision) -> Vec<String> {
    let permission = &decision.summary.operation;
    let Some(roles) = roles(decision) else {
        return Vec::new();
    };
    let misses = roles.misses.iter().take(MOST);
    let mut lines: Vec<String> = misses.map(|miss| of_miss(miss, permission)).collect();
    if roles.misses.len() > MOST {
        lines.push(format!("... {} more", roles.misses.len() - MOST));
    }
    lines
}

/// `role fooenq (rule al) permits enqueue if project is foo: it is bar`.
fn of_miss(miss: &Miss, permission: &str) -> String {
    let whose = match (miss.role.as_str(), miss.rule.as_str()) {
        ("", _) => "a role".to_owned(),
        (role, "") => format!("role {role}"),
        (role, rule) => format!("role {role} (rule {rule})"),
    };
    let got = match &miss.got {
        Some(got) => format!("it is {}", shortened(got, 200)),
        None => "the request has none".to_owned(),
    };
    let wanted = wanted(&miss.wanted);
    format!(
        "{whose} permits {permission} if {} is {wanted}: {got}",
        miss.name
    )
}

/// `foo`, `foo or glob:bar*`.
fn wanted(wanted: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let all = match wanted {
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(" or "),
        one => text(one),
    };
    shortened(&all, 300).into_owned()
}
