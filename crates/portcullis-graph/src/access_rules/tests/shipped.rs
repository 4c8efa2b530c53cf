//! The rules of the built-in Gardener profiles, over edges that are listed here.

use std::collections::{HashMap, HashSet};

use portcullis_core::{Access, Opinion};

use super::cases::{GARDENER, GARDENER_2021, NOT_FORWARDED, UPSTREAM, WHO};
use super::support::{Mode, access, compile, opinion, user};
use crate::access_rules::Paths;
use crate::access_rules::{AccessRules, Compat, Selectors};
use crate::built_in;
use crate::engine::Reach;
use crate::vertex::VertexRef;

const EDGES: &str = "
Namespace:seed-s1 Seed:s1
Namespace:seed-s2 Seed:s2
ConfigMap:kube-system/cluster-identity Seed:s1
ConfigMap:kube-system/cluster-identity Seed:s2
Lease:gardener-system-seed-lease/s1 Seed:s1
Lease:gardener-system-seed-lease/s2 Seed:s2
Secret:garden/bk1 Seed:s1
ConfigMap:garden/rc1 Seed:s1
Project:p1 Namespace:garden-p1
Namespace:garden-p1 Shoot:garden-p1/sh1
Shoot:garden-p1/sh1 Seed:s1
CloudProfile:cp1 Shoot:garden-p1/sh1
SecretBinding:garden-p1/sb1 Shoot:garden-p1/sh1
CredentialsBinding:garden-p1/cb1 Shoot:garden-p1/sh1
ExposureClass:ec1 Shoot:garden-p1/sh1
ConfigMap:garden-p1/ap1 Shoot:garden-p1/sh1
Secret:garden-p1/pdns Shoot:garden-p1/sh1
Secret:garden-p1/sh1.monitoring Shoot:garden-p1/sh1
WorkloadIdentity:garden-p1/wi1 Shoot:garden-p1/sh1
ShootState:garden-p1/sh1 Shoot:garden-p1/sh1
Secret:garden-shared/infra1 SecretBinding:garden-p1/sb1
InternalSecret:garden-p1/is1 CredentialsBinding:garden-p1/cb1
Secret:garden/bk1 BackupBucket:bb1
BackupBucket:bb1 Seed:s1
BackupBucket:bb1 BackupEntry:garden-p1/be1
BackupEntry:garden-p1/be1 Seed:s1
BackupEntry:garden-p1/be1 Shoot:garden-p1/sh1
ControllerRegistration:cr1 ControllerInstallation:ci1
ControllerDeployment:cd1 ControllerInstallation:ci1
ControllerInstallation:ci1 Seed:s1
Secret:garden/ps1 ControllerDeployment:cd1
Bastion:garden-p1/ba1 Seed:s1
Shoot:garden/s3 Seed:s1
Seed:s3 ManagedSeed:garden/s3
ManagedSeed:garden/s3 Shoot:garden/s3
Secret:kube-system/bootstrap-token-3b7093 ManagedSeed:garden/s3
Shoot:garden-p2/sh3 Seed:s3
Secret:garden-p2/sh3.monitoring Shoot:garden-p2/sh3
";

/// A plain search.
struct Search<'a> {
    rules: &'a AccessRules,
    edges: HashMap<&'static str, Vec<&'static str>>,
}

impl<'a> Search<'a> {
    fn new(rules: &'a AccessRules) -> Self {
        let mut edges: HashMap<_, Vec<_>> = HashMap::new();
        for line in EDGES.trim().lines() {
            let (from, to) = line.split_once(' ').unwrap();
            edges.entry(from).or_default().push(to);
            edges.entry(to).or_default();
        }
        Self { rules, edges }
    }
}

impl Paths for Search<'_> {
    fn leads(&self, from: VertexRef<'_>, to: VertexRef<'_>) -> Reach {
        let [from, to] = [from, to].map(|v| self.rules.kinds.vertex(v).to_string());
        if !self.edges.contains_key(from.as_str()) {
            return Reach::Unknown;
        }
        let (mut open, mut seen) = (vec![from.as_str()], HashSet::new());
        while let Some(at) = open.pop() {
            if at == to {
                return Reach::Yes;
            }
            if seen.insert(at) {
                open.extend(self.edges[at].iter());
            }
        }
        Reach::No
    }
}

/// The API group of a resource.
pub(crate) fn group(rules: &AccessRules, resource: &str) -> String {
    let found = rules
        .kinds
        .iter()
        .find(|(_, kind)| kind.resource == resource);
    found.map_or_else(String::new, |(_, kind)| kind.group.clone())
}

/// A request as `cases.rs` writes it.
pub(crate) fn asked(line: &str, group: impl Fn(&str) -> String) -> Access {
    let (who, line) = line.split_once(' ').unwrap();
    let (_, name, groups) = WHO.iter().find(|(id, ..)| *id == who).unwrap();
    let (verb, what) = line.split_once(' ').unwrap();
    let end = what.find(['/', ' ', '.']).unwrap_or(what.len());
    let (resource, rest) = what.split_at(end);
    let line = match group(resource) {
        group if group.is_empty() || rest.starts_with('.') || what.starts_with('!') => {
            line.to_owned()
        }
        group => format!("{verb} {resource}.{group}{rest}"),
    };
    access(user(name, groups), &line)
}

/// Asks every line of a table; names every wrong answer.
pub(crate) fn check(table: &str, ask: impl Fn(&str) -> Opinion) {
    let mut wrong = Vec::new();
    for line in table.trim().lines() {
        let (number, requests) = line.split_once(' ').unwrap();
        for request in requests.split(';').map(str::trim) {
            let (request, wanted) = request.rsplit_once(' ').unwrap();
            let said = ask(request);
            let letter = match said {
                Opinion::Allow(_) => "A",
                Opinion::NoOpinion(_) => "N",
                Opinion::Deny(_) => "D",
            };
            if letter != wanted {
                wrong.push(format!("{number} {request}: {said:?}, wanted {wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn expect(profile: &str, table: &str, mode: Mode) {
    let text = built_in::find(profile).unwrap();
    let rules = compile(text).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let search = Search::new(&rules);
    check(table, |line| {
        let access = asked(line, |resource| group(&rules, resource));
        opinion(&rules, &access, mode, &search)
    });
}

#[test]
fn today() {
    expect("gardener", GARDENER, Mode::default());
}

#[test]
fn today_without_selectors() {
    let mode = Mode {
        selectors: Selectors::NotForwarded,
        ..Mode::default()
    };
    expect("gardener", NOT_FORWARDED, mode);
}

#[test]
fn today_as_upstream_has_it() {
    let mode = Mode {
        compat: Compat::Upstream,
        ..Mode::default()
    };
    expect("gardener", UPSTREAM, mode);
}

#[test]
fn in_2021() {
    expect("gardener-2021", GARDENER_2021, Mode::default());
}

#[test]
fn the_rules_of_node_compile() {
    compile(built_in::find("node").unwrap()).unwrap_or_else(|faults| panic!("{faults:#?}"));
}

#[test]
fn reasons() {
    let rules = compile(built_in::find("gardener").unwrap()).unwrap();
    let search = Search::new(&rules);
    for (line, wanted) in [
        (
            "U2 get cloudprofiles cp1",
            "no relationship found: CloudProfile:cp1 does not lead to Seed:s2",
        ),
        (
            "U2 get secrets garden-p1/x",
            "no relationship found: Secret:garden-p1/x is unknown, so it does not lead to Seed:s2",
        ),
        (
            "S2 get secrets garden-p1/sh1.monitoring",
            "no relationship found: Secret:garden-p1/sh1.monitoring does not lead to Shoot:garden-p2/sh3",
        ),
        (
            "U1 list cloudprofiles",
            "must specify field or label selector for name s1: no selector allows this list, name one object",
        ),
        (
            "U1 list shoots",
            "must specify field or label selector for name s1: label name.seed.gardener.cloud/s1=true",
        ),
        (
            "S1 list backupbuckets",
            "must specify field or label selector for name sh1: field spec.shootRef.name=sh1,spec.shootRef.namespace=garden-p1",
        ),
        (
            "U1 get cloudprofiles foo/cp1",
            "no relationship found: cloudprofiles are cluster-scoped, but the request has the namespace `foo`",
        ),
        (
            "U1 get secrets infra1",
            "no relationship found: secrets are namespaced, but the request has no namespace",
        ),
        (
            "U1 create workloadidentities/token garden-p1/",
            "No Object name found",
        ),
        (
            "U1 get cloudprofiles/status cp1",
            "only the following subresources are allowed for this resource type: []",
        ),
        (
            "U1 get shoots/binding garden-p1/sh1",
            "only the following subresources are allowed for this resource type: [finalizers status]",
        ),
        (
            "U1 list secrets garden/",
            "only the following verbs are allowed for this resource type: [create delete get patch update]",
        ),
        (
            "U1 get gardenlets garden-p1/s1",
            "only the following namespaces are allowed for this resource type: [garden]",
        ),
        (
            "X1 get leases seed-s2/x",
            "lease object is not in seed namespace",
        ),
        (
            "X1 approve leases seed-s1/x",
            "only the following verbs are allowed for this resource type: [create get list watch update patch delete deletecollection]",
        ),
        ("U1 get pods default/x", ""),
        ("U1 get !/healthz", ""),
    ] {
        let access = asked(line, |resource| group(&rules, resource));
        let said = opinion(&rules, &access, Mode::default(), &search);
        assert_eq!(said, Opinion::NoOpinion(wanted.to_owned()), "{line}");
    }
}
