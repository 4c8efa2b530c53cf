//! Answers in words.

use portcullis_roles::{AccessDecision, Basis, Condition, Explanation, Grant, Miss, Permission};
use serde_json::Value;

use super::caller::Caller;

/// The answer on one line.
pub(in crate::commands) fn answer(
    explanation: &Explanation,
    action: Permission,
    caller: &Caller,
) -> String {
    match &explanation.answer {
        AccessDecision::Allowed(Basis::Anonymous) => {
            "yes: anyone may read here without signing in".to_owned()
        }
        AccessDecision::Allowed(Basis::Override) => {
            "yes: these claims make their bearer an admin here, without any rule".to_owned()
        }
        AccessDecision::Allowed(Basis::Grant { rule, role }) => {
            let considered = explanation.considered.iter();
            let holds = |(grant, misses): &&(Grant, Vec<Miss>)| {
                grant.rule == *rule && grant.role == *role && misses.is_empty()
            };
            let mut found = considered.filter(holds).map(|(grant, _)| grant);
            let conditions = found.next().map_or(&[][..], |grant| &grant.conditions);
            format!(
                "yes: rule {rule}, role {role} permits {action}{}",
                if_any(" when ", &when(conditions))
            )
        }
        AccessDecision::Refused(_) => format!("no: {}", refusal(explanation, action, caller)),
    }
}

fn refusal(explanation: &Explanation, action: Permission, caller: &Caller) -> String {
    match caller {
        Caller::Refused(why) => return format!("a token with these claims is rejected: {why}"),
        Caller::Nobody if action == Permission::Read => {
            return "reading requires signing in here".to_owned();
        }
        Caller::Nobody => return format!("{action} requires signing in"),
        Caller::Known(_) => {}
    }
    let mut considered = explanation.considered.iter();
    if let Some((grant, misses)) = considered.next() {
        let missed: Vec<String> = misses.iter().map(missed).collect();
        let more = match considered.count() {
            0 => String::new(),
            count => format!("; {count} other grants don't apply either"),
        };
        return format!(
            "rule {}, role {} permits {action} only when {}, but {}{more}",
            grant.rule,
            grant.role,
            when(&grant.conditions),
            missed.join(" and ")
        );
    }
    let matching: Vec<&str> = explanation
        .rules
        .iter()
        .filter(|rule| rule.matches)
        .map(|rule| rule.rule.as_str())
        .collect();
    match matching.is_empty() {
        true => "no rule here matches these claims".to_owned(),
        false => {
            let mut roles: Vec<&str> = Vec::new();
            for role in explanation.rules.iter().filter(|rule| rule.matches) {
                for name in role.roles.iter().map(String::as_str) {
                    if !roles.contains(&name) {
                        roles.push(name);
                    }
                }
            }
            format!(
                "no role of these claims permits {action}; they have {} by {}",
                roles.join(", "),
                matching.join(", ")
            )
        }
    }
}

/// `project is foo and ref is a or b`.
pub(in crate::commands) fn when(conditions: &[(Condition, Value)]) -> String {
    let one = |(condition, wanted): &(Condition, Value)| format!("{condition} is {}", any(wanted));
    let all: Vec<String> = conditions.iter().map(one).collect();
    all.join(" and ")
}

/// `pipeline is check`, `no pipeline is given`.
fn missed(miss: &Miss) -> String {
    match &miss.got {
        Some(got) => format!("{} is {got}", miss.condition),
        None => format!("no {} is given", miss.condition),
    }
}

/// The expected value: a string, or any of several.
pub(in crate::commands) fn any(wanted: &Value) -> String {
    match wanted {
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let all: Vec<String> = list.iter().map(any).collect();
            all.join(" or ")
        }
        other => other.to_string(),
    }
}

/// The text with a prefix, unless it is empty.
pub(in crate::commands) fn if_any(before: &str, text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("{before}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_yes_names_rule_role_and_conditions() {
        let alice = sample::alice();
        assert_eq!(
            answer(&sample::allowed(), Permission::Enqueue, &alice),
            "yes: rule alice, role enqueue-post permits enqueue when project is foo and pipeline is \
             post or gate"
        );
        let mut anybody = sample::refused();
        anybody.answer = AccessDecision::Allowed(Basis::Anonymous);
        assert_eq!(
            answer(&anybody, Permission::Read, &Caller::Nobody),
            "yes: anyone may read here without signing in"
        );
        anybody.answer = AccessDecision::Allowed(Basis::Override);
        let text = answer(&anybody, Permission::Read, &alice);
        assert!(text.starts_with("yes: these claims make"), "{text}");
    }

    #[test]
    fn a_no_names_what_failed() {
        let alice = sample::alice();
        assert_eq!(
            answer(&sample::refused(), Permission::Enqueue, &alice),
            "no: rule alice, role enqueue-post permits enqueue only when project is foo and pipeline \
             is post or gate, but project is bar and no pipeline is given"
        );
        let mut without = sample::refused();
        without.considered.clear();
        assert_eq!(
            answer(&without, Permission::Promote, &alice),
            "no: no role of these claims permits promote; they have read, autohold, enqueue-post by \
             everyone, alice"
        );
        without.rules.clear();
        assert_eq!(
            answer(&without, Permission::Promote, &alice),
            "no: no rule here matches these claims"
        );
    }

    #[test]
    fn a_no_to_nobody_says_so() {
        let refused = sample::refused();
        assert_eq!(
            answer(&refused, Permission::Enqueue, &Caller::Nobody),
            "no: enqueue requires signing in"
        );
        let unknown = Caller::Refused("nobody knows `elsewhere`".to_owned());
        assert_eq!(
            answer(&refused, Permission::Read, &unknown),
            "no: a token with these claims is rejected: nobody knows `elsewhere`"
        );
    }
}
