//! Every step of a rule, every reason, several rules, static rules, on an invented graph.

use super::support::{Mode, Pretended, access, compile, opinion, user};
use crate::access_rules::{AccessRules, AgentIdentity, Compat, Selectors};
use portcullis_core::Opinion;

const PROFILE: &str = r#"
kind: RelationshipGraph
targets: [Site, Unit]
vertices:
  Site: {group: x.io, resource: sites}
  Unit: {group: x.io, resource: units, namespaced: true}
  Thing: {group: x.io, resource: things, namespaced: true}
  Secret: {resource: secrets, namespaced: true}
subjects:
  - id: keeper
    user: "keeper:{name}"
    groups: [keepers, "keepers:{name}"]
    withoutGroups: [banned]
    unnamed: a keeper has a name
    target: {kind: Site, name: "{name}"}
  - id: helper
    user: "helper-{name}:*"
    groups: [helpers]
    target: {kind: Site, name: "{name}"}
  - {id: unit, user: "unit:{namespace}:{name}", groups: [units], target: {kind: Unit, namespace: "{namespace}", name: "{name}"}}
  - {id: fixed, user: "fixed-{area}", groups: [], target: {kind: Unit, namespace: "ns-{area}", name: only}}
rules:
  - resources: [things.x.io]
    subjects: [keeper]
    shortcuts:
      - {verbs: [get], namespace: open, name: "info-{name}"}
      - {verbs: ["*"], namespace: "site-{name}"}
      - {verbs: [poke], namePrefix: "{name}--"}
    namespaces: [yard, "yard-{name}"]
    subresources: [status, scale]
    always: [create]
    path: [get, list, watch, update, delete]
    named: [{verbs: [patch], name: "{name}"}]
    selectors:
      - {field: spec.site, equals: "{name}"}
      - {label: "site/{name}", equals: "true"}
  - {resources: [sites.x.io], path: [get, list, watch], subjects: [keeper], selectors: [{field: metadata.name, equals: "{name}"}]}
  - {resources: [secrets], subjects: [keeper, helper], path: [get, delete], subresources: [data]}
  - {resources: [secrets], subjects: [keeper], namespaces: [den], always: [list], path: [delete], deleteUnknown: true}
  - {resources: [secrets/token], subjects: [helper], path: [create]}
  - {resources: [units.x.io], subjects: [helper], onMiss: Deny, namespaces: [a], namespaceReason: not here, always: [get], verbReason: "only [get]"}
  - {resources: [units.x.io], subjects: [unit, fixed], namespaces: ["{namespace}"], named: [{verbs: [get, list], name: "{name}"}]}
static:
  - {verbs: [get, list], resources: [pods, pods/log]}
  - {verbs: [update], resources: [secrets/*], subjects: [helper], namespaces: ["{name}"]}
  - {verbs: ["*"], paths: [/healthz, "/version/*"], subjects: [keeper]}
"#;

fn rules() -> AccessRules {
    compile(PROFILE).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

fn ask(rules: &AccessRules, line: &str, mode: Mode) -> Opinion {
    let (who, line) = line.split_once(' ').unwrap();
    let who = match who {
        "K" => user("keeper:s1", "keepers,keepers:s1"),
        "H" => user("helper-s1:x", "helpers"),
        "U" => user("unit:a:u1", "units"),
        "F" => user("fixed-a", ""),
        other => user(other, "keepers,helpers,units"),
    };
    let paths = Pretended {
        kinds: &rules.kinds,
        lead: &["Thing:yard/t1", "Site:s1", "Secret:den/mine"],
        known: &["Thing:yard/t2", "Site:s2", "Secret:den/theirs"],
    };
    opinion(rules, &access(who, line), mode, &paths)
}

/// Lines of `REQUEST -> A`, `REQUEST -> N REASON`, `REQUEST -> D REASON`.
fn expect(table: &str, mode: Mode) {
    let rules = rules();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (request, wanted) = line.split_once("->").unwrap();
        let said = ask(&rules, request.trim(), mode);
        let said = match &said {
            Opinion::Allow(_) => "A".to_owned(),
            Opinion::NoOpinion(reason) => format!("N {reason}"),
            Opinion::Deny(reason) => format!("D {reason}"),
        };
        assert_eq!(said.trim(), wanted.trim(), "{request}");
    }
}

#[test]
fn steps_and_reasons() {
    expect(
        "
        K get things.x.io open/info-s1 -> A
        K get things.x.io/exec open/info-s1 -> A
        K get things.x.io open/info-s2 -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K list things.x.io open/info-s1 -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K anything things.x.io/exec site-s1/ -> A
        K get things.x.io site-s2/x -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K poke things.x.io far/s1--x -> A
        K poke things.x.io yard/s1-x -> N only the following verbs are allowed for this resource type: [create delete get list patch update watch]
        K poke things.x.io far/ -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K get things.x.io/exec yard/t1 -> N only the following subresources are allowed for this resource type: [scale status]
        K get things.x.io/exec far/t1 -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K create things.x.io yard/ -> A
        K create things.x.io/scale yard-s1/ -> A
        K create things.x.io -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K patch things.x.io yard/s1 -> A
        K patch things.x.io yard/t1 -> N only the following names are allowed for this resource type: [s1]
        K patch things.x.io yard/ -> N No Object name found
        K deletecollection things.x.io yard/ -> N only the following verbs are allowed for this resource type: [create delete get list patch update watch]
        K list things.x.io yard/ -> N must specify field or label selector for name s1: field spec.site=s1, or label site/s1=true
        K list things.x.io yard/ f:spec.site=s1 -> A
        K watch things.x.io yard/ f:x=y l:site/s1=true -> A
        K watch things.x.io yard/ l:site/s2=true f:spec.site=s2 -> N must specify field or label selector for name s1: field spec.site=s1, or label site/s1=true
        K list things.x.io yard/t1 -> A
        K list things.x.io yard/t2 f:spec.site=s1 -> N no relationship found: Thing:yard/t2 does not lead to Site:s1
        K get things.x.io yard/ -> N No Object name found
        K get things.x.io yard/t1 -> A
        K update things.x.io/status yard/t1 -> A
        K get things.x.io yard/t2 -> N no relationship found: Thing:yard/t2 does not lead to Site:s1
        K get things.x.io yard/t3 -> N no relationship found: Thing:yard/t3 is unknown, so it does not lead to Site:s1
        K delete things.x.io yard/t3 -> N no relationship found: Thing:yard/t3 is unknown, so it does not lead to Site:s1
        ",
        Mode::default(),
    );
}

#[test]
fn names_as_selectors_and_namespaces_of_kinds_without() {
    expect(
        "
        K get sites.x.io s1 -> A
        K get sites.x.io anything/s1 -> N no relationship found: sites are cluster-scoped, but the request has the namespace `anything`
        K get sites.x.io s2 -> N no relationship found: Site:s2 does not lead to Site:s1
        K list sites.x.io s1 -> N must specify field or label selector for name s1: field metadata.name=s1
        K list sites.x.io s1 f:metadata.name=s1 -> A
        K list sites.x.io s2 f:metadata.name=s2 -> N must specify field or label selector for name s1: field metadata.name=s1
        K get secrets mine -> N no relationship found: secrets are namespaced, but the request has no namespace
        ",
        Mode::default(),
    );
}

#[test]
fn several_rules_and_static_ones() {
    expect(
        "
        K get secrets den/mine -> A
        K list secrets den/ -> A
        K list secrets far/ -> N only the following verbs are allowed for this resource type: [delete get]
        K delete secrets den/theirs -> N no relationship found: Secret:den/theirs does not lead to Site:s1
        K delete secrets den/none -> A
        K delete secrets far/none -> N no relationship found: Secret:far/none is unknown, so it does not lead to Site:s1
        H list secrets den/ -> N only the following verbs are allowed for this resource type: [delete get]
        H create secrets/token den/mine -> A
        K create secrets/token den/mine -> N only the following subresources are allowed for this resource type: [data]
        H create secrets/data den/mine -> N only the following verbs are allowed for this resource type: [delete get]
        H get units.x.io a/u -> A
        H list units.x.io a/ -> D only [get]
        H get units.x.io b/u -> D not here
        U get units.x.io a/u1 -> A
        U get units.x.io b/u1 -> N only the following namespaces are allowed for this resource type: [a]
        U list units.x.io a/ -> N No Object name found
        F list units.x.io ns-a/only -> A
        F get units.x.io a/only -> N only the following namespaces are allowed for this resource type: [ns-a]
        K get units.x.io a/u1 -> N
        U list pods -> A
        U get pods/log far/p -> A
        U get pods/exec far/p -> N
        U watch pods -> N
        H update secrets/any s1/x -> A
        H update secrets/any s2/x -> N only the following subresources are allowed for this resource type: [data]
        U get nothing.y.io x -> N
        K get things.y.io yard/t1 -> N
        K get things yard/t1 -> N
        K get !/healthz -> A
        K post !/version/x/y -> A
        K get !/healthz/x -> N
        K get !/versions -> N
        H get !/healthz -> N
        ",
        Mode::default(),
    );
}

#[test]
fn compat_upstream() {
    let mode = Mode {
        compat: Compat::Upstream,
        ..Mode::default()
    };
    expect(
        "
        K delete things.x.io yard/t3 -> A
        K delete secrets far/none -> A
        K delete secrets none -> A
        K delete things.x.io yard/t2 -> N no relationship found: Thing:yard/t2 does not lead to Site:s1
        K get things.x.io yard/t3 -> N no relationship found: Thing:yard/t3 is unknown, so it does not lead to Site:s1
        K delete things.x.io far/t3 -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        ",
        mode,
    );
}

#[test]
fn selectors_that_are_not_forwarded() {
    let mode = Mode {
        selectors: Selectors::NotForwarded,
        ..Mode::default()
    };
    let both = "
        K list things.x.io yard/ -> A
        K watch things.x.io yard-s1/ -> A
        K list things.x.io far/ -> N only the following namespaces are allowed for this resource type: [yard yard-s1]
        K list things.x.io yard/t1 -> A
        K list things.x.io yard/t2 -> N no relationship found: Thing:yard/t2 does not lead to Site:s1
        K list sites.x.io -> A
        K list sites.x.io s1 -> A
        H list secrets den/ -> N only the following verbs are allowed for this resource type: [delete get]
        K patch things.x.io yard/ -> N No Object name found
        ";
    expect(both, mode);
    expect(
        "K list sites.x.io s2 -> N no relationship found: Site:s2 does not lead to Site:s1",
        mode,
    );
    let upstream = Mode {
        compat: Compat::Upstream,
        ..mode
    };
    expect(both, upstream);
    expect("K list sites.x.io s2 -> A", upstream);
}

#[test]
fn who_is_an_agent() {
    let rules = rules();
    let known = |name: &str, groups: &str| match rules.identify(&user(name, groups)) {
        AgentIdentity::Agent(subject) => Some(format!(
            "{} {}/{}",
            subject.id, subject.namespace, subject.name
        )),
        AgentIdentity::Unclear(_) | AgentIdentity::Other => None,
    };
    for (name, groups, wanted) in [
        ("keeper:s1", "keepers,keepers:s1,more", Some("keeper /s1")),
        ("keeper:s1", "keepers", None),
        ("keeper:s1", "keepers,keepers:s2", None),
        ("keeper:s1", "keepers:s1", None),
        ("keeper:s1", "keepers,keepers:s1,banned", None),
        ("keeper:", "keepers,keepers:", None),
        ("keeper:a:b", "keepers,keepers:a", None),
        ("helper-s1:x", "helpers", Some("helper /s1")),
        ("helper-s1:", "helpers", None),
        ("unit:a:u1", "units", Some("unit a/u1")),
        ("fixed-a", "", Some("fixed ns-a/only")),
        ("alice", "keepers,helpers,units", None),
        ("", "", None),
    ] {
        assert_eq!(known(name, groups).as_deref(), wanted, "{name} {groups}");
    }
    let said = |name: &str, groups: &str| {
        let paths = Pretended {
            kinds: &rules.kinds,
            lead: &[],
            known: &[],
        };
        opinion(
            &rules,
            &access(user(name, groups), "get pods"),
            Mode::default(),
            &paths,
        )
    };
    let nothing = |reason: &str| Opinion::NoOpinion(reason.to_owned());
    assert_eq!(
        said("keeper:", "keepers,keepers:"),
        nothing("a keeper has a name")
    );
    assert_eq!(said("keeper:", "keepers:"), nothing("nobody"));
    assert_eq!(
        said("helper-:x", "helpers"),
        nothing("could not determine the Site from user \"helper-:x\"")
    );
}

#[test]
fn long_names_are_cut_in_reasons() {
    let rules = rules();
    for letter in ["n", "é"] {
        let name = letter.repeat(100_000);
        let said = ask(
            &rules,
            &format!("K get things.x.io yard/{name}"),
            Mode::default(),
        );
        assert!(said.reason().len() < 400, "{}", said.reason().len());
    }
}

#[test]
fn a_profile_may_deny_what_no_rule_allows() {
    let profile = format!("{PROFILE}\nonMiss: Deny\n");
    let rules = compile(&profile).unwrap();
    for (line, wanted) in [
        (
            "K get things.x.io yard/t1",
            Opinion::Allow(
                "rule \"things.x.io: get by path\" (rules[0].path): Thing:yard/t1 leads to Site:s1".into(),
            ),
        ),
        (
            "K get nothing x",
            Opinion::Deny("no rule covers `nothing`".into()),
        ),
        (
            "K list things.x.io yard/",
            Opinion::Deny(
                "must specify field or label selector for name s1: field spec.site=s1, or label site/s1=true".into(),
            ),
        ),
        ("K get !/metrics", Opinion::NoOpinion(String::new())),
        ("alice get nothing x", Opinion::NoOpinion("nobody".into())),
    ] {
        assert_eq!(ask(&rules, line, Mode::default()), wanted, "{line}");
    }
}
