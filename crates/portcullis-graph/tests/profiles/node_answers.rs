//! Kubernetes' nodes: what kubelets may do, from objects to answers.

use std::sync::Arc;

use portcullis_core::access::{Access, Requirement, ResourceTarget, Target};
use portcullis_core::{Authorizer, Opinion, UserInfo};
use portcullis_graph::{Compat, GraphAuthorizer, Selectors, State};

use super::edges::{World, shipped};

const OBJECTS: &str = "
    apiVersion: v1
    kind: Pod
    metadata: {name: pod0, namespace: ns0}
    spec:
      nodeName: node0
      serviceAccountName: sa0
      resourceClaims: [{name: r, resourceClaimName: claim0}]
      volumes:
      - {name: a, configMap: {name: cm0}}
      - {name: b, secret: {secretName: sec0}}
      - {name: c, persistentVolumeClaim: {claimName: pvc0}}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: pod1, namespace: ns0}
    spec: {nodeName: node1, serviceAccountName: sa1, volumes: [{name: a, configMap: {name: cm1}}]}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: mirror, namespace: ns0, annotations: {kubernetes.io/config.mirror: x}}
    spec: {nodeName: node0, volumes: [{name: b, secret: {secretName: msec}}]}
    ---
    apiVersion: v1
    kind: PersistentVolume
    metadata: {name: pv0}
    spec:
      claimRef: {namespace: ns0, name: pvc0}
      csi: {driver: d, nodePublishSecretRef: {name: pvsec, namespace: kube-system}}
    ---
    apiVersion: storage.k8s.io/v1
    kind: VolumeAttachment
    metadata: {name: va0}
    spec: {nodeName: node0}
    ---
    apiVersion: resource.k8s.io/v1
    kind: ResourceSlice
    metadata: {name: slice0}
    spec: {nodeName: node0}
    ---
    apiVersion: certificates.k8s.io/v1
    kind: PodCertificateRequest
    metadata: {name: pcr0, namespace: ns0}
    spec: {nodeName: node0}";

fn authorizer() -> GraphAuthorizer {
    let state = State::new(shipped("node"), None);
    let world = World { state };
    world.put(OBJECTS);
    world.state.set_caught_up();
    GraphAuthorizer::new(Arc::new(world.state), Compat::Strict, Selectors::Forwarded)
}

/// A request `USER VERB [GROUP:]RESOURCE[/SUBRESOURCE] [NAMESPACE/NAME | NAMESPACE/ | NAME] [FIELD=VALUE]`.
fn access(line: &str) -> Access {
    let mut words = line.split_whitespace();
    let node = words.next().unwrap();
    let user = UserInfo {
        username: format!("system:node:{node}"),
        groups: vec!["system:nodes".to_owned(), "system:authenticated".to_owned()],
        ..UserInfo::default()
    };
    let verb = words.next().unwrap().to_owned();
    let what = words.next().unwrap();
    if what.starts_with('!') {
        return Access {
            user,
            verb,
            target: Target::Path(what.trim_start_matches('!').to_owned()),
            context: Arc::default(),
        };
    }
    let (group, resource) = what.split_once(':').unwrap_or(("", what));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let mut target = ResourceTarget {
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        ..ResourceTarget::default()
    };
    for word in words {
        if let Some((key, value)) = word.split_once('=') {
            target.field_selector.push(Requirement {
                key: key.to_owned(),
                operator: "In".to_owned(),
                values: vec![value.to_owned()],
            });
        } else {
            let (namespace, name) = word.rsplit_once('/').unwrap_or(("", word));
            target.namespace = namespace.to_owned();
            target.name = name.to_owned();
        }
    }
    Access {
        user,
        verb,
        target: Target::Resource(target),
        context: Arc::default(),
    }
}

/// Asks everything in a table: requests, several in a line, each with `A` (allowed) or `N` (no opinion).
#[track_caller]
fn check(table: &str) {
    let mut wrong = Vec::new();
    let authorizer = authorizer();
    for request in table
        .split([';', '\n'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (line, wanted) = request.rsplit_once(' ').unwrap();
        let got = match authorizer.authorize(&access(line)).unwrap() {
            Opinion::Allow(_) => "A",
            Opinion::NoOpinion(_) => "N",
            Opinion::Deny(_) => "D",
        };
        if got != wanted {
            wrong.push(format!("{request}, but {got}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_reached_from_pods() {
    check(
        "node0 get configmaps ns0/cm0 A; node1 get configmaps ns0/cm0 N; node0 get configmaps ns0/cm1 N
        node0 list configmaps ns0/cm0 A; node0 watch configmaps ns0/cm0 A; node1 watch configmaps ns0/cm0 N
        node0 list secrets ns0/ N; node0 list secrets sec0 N; node0 watch secrets N; node0 get secrets sec0 N
        node0 get secrets ns0/sec0 A; node0 list secrets ns0/sec0 A; node0 update secrets ns0/sec0 N
        node0 create secrets ns0/ N; node0 delete secrets ns0/sec0 N; node0 delete secrets ns0/unknown N
        node0 get secrets/status ns0/sec0 N; node0 get secrets ns0/unknown N; node0 get secrets ns0/msec N
        node0 get persistentvolumes pv0 A; node0 get secrets kube-system/pvsec A
        node1 get persistentvolumes pv0 N; node1 get secrets kube-system/pvsec N
        node0 list persistentvolumes pv0 N; node0 get persistentvolumes/status pv0 N; node0 update persistentvolumes pv0 N
        node0 get persistentvolumeclaims ns0/pvc0 A; node1 get persistentvolumeclaims ns0/pvc0 N
        node0 list persistentvolumeclaims ns0/pvc0 N; node0 get persistentvolumeclaims/status ns0/pvc0 N
        node0 update persistentvolumeclaims ns0/pvc0 N; node0 update persistentvolumeclaims/status ns0/pvc0 A
        node0 patch persistentvolumeclaims/status ns0/pvc0 A; node1 patch persistentvolumeclaims/status ns0/pvc0 N
        node0 get resource.k8s.io:resourceclaims ns0/claim0 A; node1 get resource.k8s.io:resourceclaims ns0/claim0 N
        node0 list resource.k8s.io:resourceclaims ns0/claim0 N; node0 get resource.k8s.io:resourceclaims/status ns0/claim0 N
        node0 get storage.k8s.io:volumeattachments va0 A; node1 get storage.k8s.io:volumeattachments va0 N
        node0 list storage.k8s.io:volumeattachments N; node0 get storage.k8s.io:volumeattachments/status va0 N
        node9 get configmaps ns0/cm0 N",
    );
}

#[test]
fn service_accounts() {
    check(
        "node0 get serviceaccounts ns0/sa0 A; node1 get serviceaccounts ns0/sa0 N; node0 list serviceaccounts ns0/sa0 N
        node0 create serviceaccounts/token ns0/sa0 A; node1 create serviceaccounts/token ns0/sa0 N
        node0 create serviceaccounts ns0/sa0 N; node0 create serviceaccounts/token ns0/ N
        node0 get serviceaccounts/token ns0/sa0 N; node0 create serviceaccounts/x ns0/sa0 N",
    );
}

#[test]
fn leases_and_csi_nodes() {
    check(
        "node0 create coordination.k8s.io:leases kube-node-lease/ A; node0 create coordination.k8s.io:leases kube-node-lease/node1 A
        node0 create coordination.k8s.io:leases default/ N; node0 get coordination.k8s.io:leases kube-node-lease/node0 A
        node0 update coordination.k8s.io:leases kube-node-lease/node0 A; node0 patch coordination.k8s.io:leases kube-node-lease/node0 A
        node0 delete coordination.k8s.io:leases kube-node-lease/node0 A; node0 get coordination.k8s.io:leases kube-node-lease/node1 N
        node0 delete coordination.k8s.io:leases kube-node-lease/node1 N; node0 list coordination.k8s.io:leases kube-node-lease/node0 N
        node0 get coordination.k8s.io:leases/status kube-node-lease/node0 A; node0 get coordination.k8s.io:leases default/node0 N
        node0 create storage.k8s.io:csinodes A; node0 create storage.k8s.io:csinodes node1 A
        node0 get storage.k8s.io:csinodes node0 A; node0 update storage.k8s.io:csinodes node0 A
        node0 patch storage.k8s.io:csinodes node0 A; node0 delete storage.k8s.io:csinodes node0 A
        node0 get storage.k8s.io:csinodes node1 N; node0 list storage.k8s.io:csinodes N; node0 list storage.k8s.io:csinodes node0 N
        node0 get storage.k8s.io:csinodes/status node0 N; node0 update storage.k8s.io:csinodes/status node0 N",
    );
}

#[test]
fn nodes() {
    check(
        "node0 get nodes node0 A; node9 get nodes node9 A; node0 get nodes node1 N; node0 list nodes N; node0 watch nodes N
        node0 list nodes node0 A; node0 watch nodes node0 A; node0 watch nodes node1 N; node0 list nodes metadata.name=node0 N
        node0 create nodes A; node0 update nodes node1 A; node0 patch nodes node1 A; node0 delete nodes node0 N
        node0 update nodes/status node1 A; node0 patch nodes/status node0 A; node0 get nodes/status node0 N
        node0 get nodes/proxy node0 N; node0 create nodes/proxy node0 N",
    );
}

#[test]
fn pods() {
    check(
        "node0 get pods ns0/pod0 A; node0 get pods ns0/mirror A; node0 get pods ns0/pod1 N; node0 get pods ns0/unknown N
        node0 list pods spec.nodeName=node0 A; node0 watch pods spec.nodeName=node0 A; node0 list pods ns0/ spec.nodeName=node0 A
        node0 list pods N; node0 list pods spec.nodeName=node1 N; node0 list pods ns0/ N
        node0 list pods ns0/pod0 A; node0 watch pods ns0/pod0 A; node0 list pods ns0/pod1 N
        node0 list pods ns0/pod1 spec.nodeName=node0 A; node0 list pods ns0/unknown spec.nodeName=node0 A
        node0 create pods ns0/ A; node0 delete pods ns0/pod1 A; node0 delete pods ns0/unknown A; node0 update pods ns0/pod0 N
        node0 deletecollection pods ns0/ spec.nodeName=node0 N
        node0 update pods/status ns0/pod1 A; node0 patch pods/status ns0/pod0 A; node0 get pods/status ns0/pod0 N
        node0 create pods/eviction ns0/pod1 A; node0 get pods/eviction ns0/pod0 N; node0 create pods/exec ns0/pod0 N
        node0 update pods/ephemeralcontainers ns0/pod0 N; node0 get pods/log ns0/pod0 N; node0 create pods/binding ns0/pod0 N",
    );
}

#[test]
fn slices_and_certificate_requests() {
    check(
        "node0 create resource.k8s.io:resourceslices A; node0 get resource.k8s.io:resourceslices slice0 A
        node0 update resource.k8s.io:resourceslices slice0 A; node0 patch resource.k8s.io:resourceslices slice0 A
        node0 delete resource.k8s.io:resourceslices slice0 A; node1 delete resource.k8s.io:resourceslices slice0 N
        node1 get resource.k8s.io:resourceslices slice0 N; node0 get resource.k8s.io:resourceslices/status slice0 N
        node0 list resource.k8s.io:resourceslices spec.nodeName=node0 A; node0 watch resource.k8s.io:resourceslices spec.nodeName=node0 A
        node0 deletecollection resource.k8s.io:resourceslices spec.nodeName=node0 A
        node0 list resource.k8s.io:resourceslices N; node0 list resource.k8s.io:resourceslices spec.nodeName=node1 N
        node0 deletecollection resource.k8s.io:resourceslices N; node0 list resource.k8s.io:resourceslices slice0 N
        node0 create certificates.k8s.io:podcertificaterequests ns0/ A; node0 get certificates.k8s.io:podcertificaterequests ns0/pcr0 A
        node1 get certificates.k8s.io:podcertificaterequests ns0/pcr0 N
        node0 list certificates.k8s.io:podcertificaterequests spec.nodeName=node0 A
        node0 watch certificates.k8s.io:podcertificaterequests spec.nodeName=node0 A
        node0 list certificates.k8s.io:podcertificaterequests N; node0 list certificates.k8s.io:podcertificaterequests ns0/pcr0 N
        node0 update certificates.k8s.io:podcertificaterequests ns0/pcr0 N
        node0 get certificates.k8s.io:podcertificaterequests/status ns0/pcr0 N",
    );
}

#[test]
fn the_static_list() {
    check(
        "node0 create authentication.k8s.io:tokenreviews A; node0 create authorization.k8s.io:subjectaccessreviews A
        node0 create authorization.k8s.io:localsubjectaccessreviews ns0/ A; node0 get authentication.k8s.io:tokenreviews N
        node0 get services ns0/x A; node0 list services A; node0 watch services A; node0 update services ns0/x N; node0 get services/status ns0/x N
        node0 get storage.k8s.io:csidrivers x A; node0 list storage.k8s.io:csidrivers A; node0 watch node.k8s.io:runtimeclasses A
        node0 list certificates.k8s.io:clustertrustbundles A; node0 get endpoints ns0/x A; node0 list endpoints N
        node0 create events ns0/ A; node0 patch events ns0/e A; node0 update events.k8s.io:events ns0/e A; node0 get events ns0/e N
        node0 create certificates.k8s.io:certificatesigningrequests A; node0 get certificates.k8s.io:certificatesigningrequests c A
        node0 list certificates.k8s.io:certificatesigningrequests A; node0 watch certificates.k8s.io:certificatesigningrequests A
        node0 update certificates.k8s.io:certificatesigningrequests/approval c N; node0 delete certificates.k8s.io:certificatesigningrequests c N
        node0 get apps:deployments ns0/x N; node0 get namespaces ns0 N; node0 get !/healthz N; node0 get !/version N",
    );
}

#[test]
fn a_kubelet_without_a_name_or_group_is_nobody() {
    let authorizer = authorizer();
    let mut unnamed = access("node0 create events ns0/");
    unnamed.user.username = "system:node:".to_owned();
    let said = authorizer.authorize(&unnamed).unwrap();
    assert_eq!(
        said,
        Opinion::NoOpinion("unknown node for user \"system:node:\"".to_owned())
    );
    let mut foreign = access("node0 create events ns0/");
    foreign.user.groups = vec!["system:authenticated".to_owned()];
    assert_eq!(
        authorizer.authorize(&foreign).unwrap(),
        Opinion::NoOpinion(String::new())
    );
}
