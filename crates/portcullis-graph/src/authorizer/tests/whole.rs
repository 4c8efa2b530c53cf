//! The built-in profiles from objects to answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use portcullis_core::{Access, Authorizer, Opinion};
use serde_json::{Value, json};

use crate::access_rules::tests::cases::{GARDENER, GARDENER_2021, NODE, NOT_FORWARDED, UPSTREAM};
use crate::access_rules::tests::shipped::{asked, check};
use crate::access_rules::tests::support::spec;
use crate::{
    Applied, Compat, GraphAuthorizer, KindId, Observer, Profile, Selectors, State, Update, built_in,
};

fn objects(profile: &str) -> Vec<Value> {
    let text = match profile {
        "node" => include_str!("node.yaml"),
        _ => include_str!("fixture.yaml"),
    };
    serde_saphyr::from_str(text).unwrap()
}

fn state(name: &str, observer: Option<Arc<dyn Observer>>) -> Arc<State> {
    let spec = spec(built_in::find(name).unwrap());
    let profile = Profile::compile(&spec).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let state = State::new(Arc::new(profile), observer);
    for object in objects(name) {
        match state.apply(&object) {
            Applied::Followed(malformed) => assert_eq!(malformed, [""; 0], "{object}"),
            Applied::Ignored => {}
            Applied::Unusable(why) => panic!("{why}: {object}"),
        }
    }
    Arc::new(state)
}

pub(super) fn followed(profile: &str) -> Arc<State> {
    let state = state(profile, None);
    state.set_caught_up();
    state
}

fn request(state: &State, line: &str) -> Access {
    let kinds = &state.profile().kinds;
    asked(line, |resource| {
        let found = kinds.iter().find(|(_, kind)| kind.resource == resource);
        found.map_or_else(String::new, |(_, kind)| kind.group.clone())
    })
}

fn expect(state: &Arc<State>, table: &str, compat: Compat, selectors: Selectors) {
    let authorizer = GraphAuthorizer::new(Arc::clone(state), compat, selectors);
    check(table, |line| {
        let access = request(state, line);
        let opinion = authorizer.authorize(&access).unwrap();
        let explained = authorizer.explain(&access).unwrap();
        assert_eq!(explained.opinion, opinion, "{line}");
        opinion
    });
}

fn strict(state: &Arc<State>, table: &str) {
    expect(state, table, Compat::Strict, Selectors::Forwarded);
}

#[test]
fn today() {
    let state = followed("gardener");
    strict(&state, GARDENER);
    expect(
        &state,
        NOT_FORWARDED,
        Compat::Strict,
        Selectors::NotForwarded,
    );
    expect(&state, UPSTREAM, Compat::Upstream, Selectors::Forwarded);
}

#[test]
fn in_2021() {
    strict(&followed("gardener-2021"), GARDENER_2021);
}

#[test]
fn nodes() {
    strict(&followed("node"), NODE);
}

#[test]
fn a_token_is_for_bootstrapping_only() {
    let state = followed("gardener");
    strict(
        &state,
        "G31 U1 get secrets kube-system/bootstrap-token-3b7093 A",
    );
    state.apply(&json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": "s3"},
        "spec": {"dns": {}}, "status": {"clientCertificateExpirationTimestamp": "2999-01-01T00:00:00Z"}}));
    strict(
        &state,
        "G31 U1 get secrets kube-system/bootstrap-token-3b7093 N",
    );
}

#[test]
fn a_shoot_that_moves_belongs_to_both_seeds() {
    let state = followed("gardener");
    strict(
        &state,
        "G37 U1 patch shoots/status garden-p1/sh1 A; U2 patch shoots/status garden-p1/sh1 N",
    );
    state.apply(
        &json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
        "metadata": {"name": "sh1", "namespace": "garden-p1", "uid": "u"},
        "spec": {"seedName": "s2"}, "status": {"seedName": "s1"}}),
    );
    strict(
        &state,
        "G37 U1 patch shoots/status garden-p1/sh1 A; U2 patch shoots/status garden-p1/sh1 A",
    );
}

#[test]
fn nothing_is_said_before_the_graph_has_caught_up() {
    let state = state("gardener", None);
    let authorizer = GraphAuthorizer::new(Arc::clone(&state), Compat::Strict, Selectors::Forwarded);
    let ask = |line| authorizer.authorize(&request(&state, line));
    let error = ask("U1 get cloudprofiles cp1").unwrap_err().to_string();
    assert_eq!(error, "the graph has not caught up with its objects yet");
    assert!(
        authorizer
            .explain(&request(&state, "U1 create events default/"))
            .is_err()
    );
    let nothing = Opinion::NoOpinion(String::new());
    assert_eq!(ask("alice get cloudprofiles cp1").unwrap(), nothing);
    state.set_caught_up();
    assert_eq!(
        ask("U1 get cloudprofiles cp1").unwrap(),
        Opinion::Allow(
            "rule \"cloudprofiles.core.gardener.cloud: get by path\" (rules[5].path): \
             CloudProfile:cp1 -> Shoot:garden-p1/sh1 -> Seed:s1"
                .to_owned()
        )
    );
}

#[test]
fn answers_are_explained() {
    let state = followed("gardener");
    let authorizer = GraphAuthorizer::new(Arc::clone(&state), Compat::Strict, Selectors::Forwarded);
    let explain = |line| authorizer.explain(&request(&state, line)).unwrap();
    let texts =
        |all: &[crate::Vertex]| -> Vec<String> { all.iter().map(ToString::to_string).collect() };

    let yes = explain("U1 get projects p1");
    let (id, stands_for) = yes.subject.unwrap();
    assert_eq!(
        (id.as_str(), stands_for.to_string().as_str()),
        ("gardenlet", "Seed:s1")
    );
    assert_eq!(
        texts(&yes.path),
        [
            "Project:p1",
            "Namespace:garden-p1",
            "Shoot:garden-p1/sh1",
            "Seed:s1"
        ]
    );
    let (rule, words) = yes.rule.unwrap();
    assert!(
        rule.starts_with("rules[") && rule.ends_with("].path"),
        "{rule}"
    );
    assert_eq!(words, "`get` needs a path, and there is one");
    assert_eq!((yes.is_known, yes.leads_to.len()), (Some(true), 0));

    let no = explain("U2 get projects p1");
    assert_eq!(
        (texts(&no.leads_to), no.path.len(), no.is_known),
        (vec!["Seed:s1".to_owned()], 0, Some(true))
    );
    assert_eq!(no.rule.unwrap().1, "`get` needs a path, and there is none");

    let unknown = explain("U1 get projects p9");
    assert_eq!((unknown.is_known, unknown.leads_to.len()), (Some(false), 0));
    let always = explain("U2 get backupbuckets bb1");
    assert!(always.rule.unwrap().0.ends_with("].always") && always.path.is_empty());
    let shortcut = explain("U1 list secrets seed-s1/");
    assert!(shortcut.rule.unwrap().0.ends_with("].shortcuts[0]"));
    assert!(no.lacks_path && unknown.lacks_path && !always.lacks_path);
    let nobody = explain("alice get projects p1");
    assert_eq!(
        (nobody.subject, nobody.rule, nobody.is_known),
        (None, None, None)
    );
    let elsewhere = explain("U1 get projects foo/p1");
    assert_eq!((elsewhere.object, elsewhere.is_known), (None, None));
    let pods = followed("node");
    let node = GraphAuthorizer::new(Arc::clone(&pods), Compat::Strict, Selectors::Forwarded);
    let pods = node.explain(&request(&pods, "n0 list pods")).unwrap();
    assert_eq!(
        pods.opinion.reason(),
        "must specify field or label selector for name node0: field spec.nodeName=node0"
    );
    let list = explain("U1 list bastions").rule.unwrap().1;
    assert_eq!(
        list,
        "`list` of many objects needs a selector: --field-selector spec.seedName=s1"
    );
    let no_rule = explain("U1 get pods default/x");
    assert!(no_rule.subject.is_some() && no_rule.rule.is_none());
}

#[derive(Debug, Default)]
struct Checks(Mutex<Vec<(KindId, KindId)>>);

impl Observer for Checks {
    fn updated(&self, _: KindId, _: Update, _: Duration) {}
    fn checked(&self, from: KindId, to: KindId, _: Duration) {
        self.0.lock().unwrap().push((from, to));
    }
    fn malformed(&self, _: KindId, _: &str) {}
}

#[test]
fn path_checks_are_observed() {
    let checks = Arc::new(Checks::default());
    let state = state("gardener", Some(Arc::clone(&checks) as Arc<dyn Observer>));
    state.set_caught_up();
    let authorizer = GraphAuthorizer::new(Arc::clone(&state), Compat::Strict, Selectors::Forwarded);
    for line in [
        "U1 get projects p1",
        "U1 create events default/",
        "S1 get secrets garden-p1/x",
        "alice get projects p1",
    ] {
        authorizer.authorize(&request(&state, line)).unwrap();
    }
    let kinds = &state.profile().kinds;
    let seen = checks.0.lock().unwrap();
    let seen: Vec<_> = seen
        .iter()
        .map(|(from, to)| (kinds.name(*from), kinds.name(*to)))
        .collect();
    assert_eq!(seen, [("Project", "Seed"), ("Secret", "Shoot")]);
}
