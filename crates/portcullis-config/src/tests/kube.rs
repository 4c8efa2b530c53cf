//! The key `kube`.

use std::os::unix::fs::PermissionsExt as _;

use portcullis_kube::cluster_objects::ObjectKind;
use portcullis_watch::Access;

use super::{Setup, with_head};

const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: x\n\
    clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n\
    users: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n";

fn with_kubeconfig(text: &str) -> Setup {
    let setup = with_head(text).file("clusters/kubeconfig", KUBECONFIG);
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(setup.path("clusters/kubeconfig"), private).unwrap();
    setup
}

#[test]
fn kinds_memory_and_the_way_to_the_cluster_are_read() {
    let text = "kube:\n  kubeconfig: clusters/kubeconfig\n  kinds: [v1/Namespace, apps/v1/Deployment]\n  memory: 1Mi\n";
    let setup = with_kubeconfig(text);
    let loaded = setup.loaded();
    let kube = loaded.kube.unwrap();
    let file = setup.path("clusters/kubeconfig");
    assert_eq!(kube.access, Access::Kubeconfig(file.clone()));
    let deployment = ObjectKind::new("apps", "v1", "Deployment");
    assert_eq!(kube.kinds, [ObjectKind::NAMESPACE, deployment]);
    assert_eq!(kube.memory, 1 << 20);
    assert!(loaded.files.contains(&file), "{:?}", loaded.files);
}

#[test]
fn by_default_it_is_the_cluster_of_the_pod_and_64_mebibytes() {
    let setup = with_head("kube: {}\n").env("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    let kube = setup.loaded().kube.unwrap();
    assert_eq!(kube.access, Access::InCluster);
    assert_eq!((kube.kinds.len(), kube.memory), (0, 64 << 20));
    assert!(with_head("").loaded().kube.is_none());
}

#[test]
fn what_can_not_be_is_rejected_with_its_place() {
    assert_eq!(
        with_head("kube: {}\n").fault(),
        "portcullis.yaml:3:7: kube: `kubeconfig` is missing, and this is not a pod: KUBERNETES_SERVICE_HOST is not set"
    );
    let of = |rest: &str| {
        with_kubeconfig(&format!(
            "kube:\n  kubeconfig: clusters/kubeconfig\n  {rest}\n"
        ))
        .faults()
    };
    assert_eq!(
        of("kinds: [Pod, v1/Pod, v1/Pod]"),
        [
            "portcullis.yaml:5:11: kube.kinds[0]: `Pod`: expected VERSION/KIND or GROUP/VERSION/KIND, with a kind and not a resource, like v1/ConfigMap or apps/v1/Deployment",
            "portcullis.yaml:5:24: kube.kinds[2]: the kind `v1/Pod` is given twice",
        ]
    );
    assert_eq!(
        of("memory: 1Ki"),
        ["portcullis.yaml:5:11: kube.memory: must be at least 64Ki"]
    );
    let missing = with_head("kube: {kubeconfig: nowhere}\n").fault();
    assert!(
        missing.starts_with("portcullis.yaml:3:20: kube.kubeconfig: cannot read `nowhere`"),
        "{missing}"
    );
    let unknown = of("kind: [v1/Pod]").concat();
    assert!(unknown.contains("did you mean `kinds`?"), "{unknown}");
}
