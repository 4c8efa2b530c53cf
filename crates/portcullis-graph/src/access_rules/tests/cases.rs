//! Requests and the answers that the shipped profiles give to them, for Gardener over the objects of
//! `fixture.yaml`. A line is `WHO VERB RESOURCE[/SUB] [NS/][NAME] [SELECTORS] ANSWER`, several with `;` between.

/// Today's profile, selectors forwarded.
pub(crate) const GARDENER: &str = "
G01 U1 get cloudprofiles cp1 A
G02 U2 get cloudprofiles cp1 N
G03 U1 list cloudprofiles N
G04 U1 list cloudprofiles cp1 A
G05 U1 get cloudprofiles/status cp1 N
G06 U1 get secrets garden-shared/infra1 A
G07 U2 get secrets garden-shared/infra1 N
G08 U2 create secrets garden-p1/ A
G09 U1 list secrets seed-s1/ A
G10 U1 list secrets garden/ N
G11 U1 get projects p1 A
G12 U1 get namespaces garden-p1/garden-p1 A
G13 U2 get namespaces seed-s1/seed-s1 N
G14 U2 get configmaps kube-system/cluster-identity A
G15 U3 get configmaps kube-system/cluster-identity N
G16 U3 get configmaps gardener-system-public/gardener-info A
G17 U2 get backupbuckets bb1 A
G18 U2 patch backupbuckets bb1 N
G19 U1 update backupbuckets/finalizers bb1 A
G20 U1 list shoots l:name.seed.gardener.cloud/s1=true A
G21 U1 list shoots N
G22 U1 watch bastions f:spec.seedName=s1 A; U1 watch bastions f:spec.seedName=s2 N
G23 U1 list gardenlets garden/s1 f:metadata.name=s1 A; U1 list gardenlets garden/s2 f:metadata.name=s2 N
G24 U1 get gardenlets garden-p1/s1 N
G25 U1 create events default/ A; U1 create events.events.k8s.io default/ A; U1 get events default/e N
G26 U1 update leases gardener-system-seed-lease/s1 A; U2 update leases gardener-system-seed-lease/s1 N
G27 X1 update leases seed-s1/foo A; X1 update leases seed-s2/foo N; X1 approve leases seed-s1/foo N; X1 get leases/any seed-s1/foo A
G28 X1 create certificatesigningrequests N; U1 create certificatesigningrequests A
G29 U1 get secrets garden/ps1 A; U2 get secrets garden/ps1 N
G30 U1 create workloadidentities/token garden-p1/wi1 A; U1 create workloadidentities/token garden-p1/ N
G31 U1 get secrets kube-system/bootstrap-token-3b7093 A; U2 get secrets kube-system/bootstrap-token-3b7093 N
G32 U3 delete secrets kube-system/bootstrap-token-3b7093 A; U2 delete secrets kube-system/bootstrap-token-3b7093 N; U3 delete secrets garden/bootstrap-token-3b7093 N
G33 U1 create serviceaccounts/token seed-s1/x A; X1 create serviceaccounts/token seed-s1/x N; U2 create serviceaccounts/token seed-s1/x N
G34 nogroup get cloudprofiles cp1 N; nogroup create events default/ N
G35 noname get cloudprofiles cp1 N; noname create events default/ N
G36 U1 get pods default/x N; U1 get !/healthz N
S01 U1 get cloudprofiles foo/cp1 N; U1 get seeds garden/s1 N; U1 get projects garden-p1/p1 N; U1 patch backupbuckets garden/bb1 N
S02 U1 get namespaces garden-p1 A; U1 get namespaces other/garden-p1 A; U1 get secrets infra1 N; U1 list cloudprofiles foo/cp1 N
S03 U1 get backupbuckets foo/bb1 A; U1 create seeds foo/ A; S1 get seeds foo/sh1 A
K03 alice get pods default/x N; alice delete nodes node0 N; U2 delete seeds s1 N; U1 get !/metrics N; noname get seeds s1 N
R01 U1 get seeds s1 A; U1 update seeds/status s1 A; U1 list seeds N; U1 list seeds l:name.seed.gardener.cloud/s1=true A; U1 create seeds A
R02 U1 delete configmaps default/nobody N; U1 delete secrets default/nobody N; U1 delete internalsecrets default/nobody N
R03 U1 delete clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-s1 A
R04 U1 delete clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:s1 N; U2 delete clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-s1 N
R05 X1 delete clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-s1 N; X1 create clusterrolebindings N
R06 U1 delete serviceaccounts garden/gardenlet-bootstrap-s1 A; U2 delete serviceaccounts garden/gardenlet-bootstrap-s1 N; X1 delete serviceaccounts garden/gardenlet-bootstrap-s1 N
R07 U1 get shoots garden/s1 A; U1 get shoots/any garden/s1 A; U2 get shoots garden/s1 N; U1 list shoots garden-p1/sh1 A; U2 list shoots garden-p1/sh1 N
R08 U1 get internalsecrets garden-p1/is1 A; X1 get internalsecrets garden-p1/is1 A; U2 get internalsecrets garden-p1/is1 N
R09 U1 get controllerinstallations ci1 A; U1 list controllerinstallations f:spec.seedRef.name=s1 A; U1 list controllerinstallations N; U2 get controllerinstallations ci1 N
R10 U1 list managedseeds l:name.seed.gardener.cloud/s1=true A; U1 get managedseeds garden/s3 A; U2 get managedseeds garden/s3 N
R11 U1 create certificatesigningrequests/seedclient A; U1 create certificatesigningrequests/shootclient N
R12 U1 get secrets garden-p2/sh3.monitoring A; U3 get secrets garden-p2/sh3.monitoring A; U2 get secrets garden-p2/sh3.monitoring N
R13 U1 get shootstates garden-p1/sh1 A; U1 delete shootstates garden-p1/sh1 A; U2 delete shootstates garden-p1/sh1 N
R14 U1 get controllerregistrations any A; U1 get exposureclasses ec1 A; U2 get exposureclasses ec1 N
R15 bare get cloudprofiles cp1 N; bare create events default/ N; X1 create events default/ A
K14 S1 get shoots garden-p1/sh1 A; S1 patch shoots garden-p1/sh1 A; S1 patch shoots/status garden-p1/sh1 A
K14 S2 get shoots garden-p1/sh1 N; S2 patch shoots garden-p1/sh1 N; S1 get shoots garden-p2/sh3 N
K14 S1 get configmaps garden-p1/ap1 A; S2 get configmaps garden-p1/ap1 N
K14 S1 get secrets garden-p1/sh1.monitoring A; S2 get secrets garden-p1/sh1.monitoring N
K14 S1 get internalsecrets garden-p1/is1 A; S2 get internalsecrets garden-p1/is1 N; S1 get projects p1 A; S2 get projects p1 N
K14 S1 get shootstates garden-p1/sh1 A; S1 update shootstates garden-p1/sh1 N; S1 delete shootstates garden-p1/sh1 N
K14 S1 list seeds A; S1 get seeds sh1 A; S1 get seeds s2 N; S1 create bastions garden-p1/ N; S1 get cloudprofiles cp1 N
K14 S1 create certificatesigningrequests A; S1 create certificatesigningrequests/shootclient A
K14 S1 create certificatesigningrequests/seedclient N; U1 create certificatesigningrequests/shootclient N
K14 S1 get configmaps garden/rc1 N; S1 get secrets seed-s1/x N
R20 S1 get shoots/finalizers garden-p1/sh1 N; S1 list shoots garden-p1/ N; S1 delete shoots garden-p1/sh1 N; S1 create seeds N; S1 patch seeds sh1 N
R21 S1 list backupbuckets N; S1 list backupbuckets f:spec.shootRef.name=sh1 N; S1 list backupbuckets f:spec.shootRef.name=sh1 f:spec.shootRef.namespace=garden-p1 A
R22 S1 list backupentries f:spec.shootRef.name=sh1 N; S1 list backupentries garden-p1/ f:spec.shootRef.name=sh1 A; S1 list backupentries garden-p2/ f:spec.shootRef.name=sh1 N
R23 S1 list bastions garden-p1/ f:spec.shootRef.name=sh1 A; S1 list bastions garden-p2/ f:spec.shootRef.name=sh1 N; S1 list bastions f:spec.shootRef.name=sh1 N
R24 S1 list gardenlets garden-p1/self-hosted-shoot-sh1 f:metadata.name=self-hosted-shoot-sh1 A; S1 create gardenlets garden-p1/ A; S1 create gardenlets garden/ N
R25 S1 list managedseeds garden-p1/ f:spec.shoot.name=sh1 A; S1 list managedseeds garden/ f:spec.shoot.name=sh1 N
R26 S1 list secrets garden/ l:gardener.cloud/role=shoot-service-account-issuer A; E1 list secrets garden/ l:gardener.cloud/role=shoot-service-account-issuer N; S1 list secrets garden/ N
R27 S1 list secrets garden-p1/ l:gardener.cloud/role=shoot-service-account-issuer N; S1 list secrets garden-p1/sh1.monitoring A
R28 S1 get secrets kube-system/bootstrap-token-a3e55d A; S2 get secrets kube-system/bootstrap-token-a3e55d N
R29 E1 get leases garden-p1/sh1--foo A; E1 get leases garden-p1/sh2--foo N; E1 get leases garden-p2/sh1--foo N; E1 create leases garden-p1/ A; E1 create leases garden/ N; E1 list leases garden-p1/ N
R30 S1 create serviceaccounts/token garden-p1/extension-shoot--sh1--x A; S1 create serviceaccounts/token garden-p1/extension-shoot--sh2--x N; S1 delete serviceaccounts garden-p1/extension-shoot--sh1--x A; E1 create serviceaccounts/token garden-p1/extension-shoot--sh1--x N
R31 E1 create certificatesigningrequests N; E1 get shoots garden-p1/sh1 A; E1 get configmaps garden-p1/ap1 A
R32 S1 get configmaps gardener-system-public/gardener-info N; S1 get exposureclasses ec1 N; S1 get secretbindings garden-p1/sb1 N; S1 get credentialsbindings garden-p1/cb1 N; S1 get clusterrolebindings x N
K15 D1 create configmaps garden-p1/ A; D1 create configmaps garden-p2/ N; D1 create secrets garden-p1/ A; D1 create secrets garden-p2/ N
K15 D1 create secretbindings garden-p1/ A; D1 create secretbindings garden-p2/ N; D1 create credentialsbindings garden-p1/ A; D1 create credentialsbindings garden-p2/ N
K15 D1 create workloadidentities garden-p1/ A; D1 create workloadidentities garden-p2/ N; D1 create shoots garden-p1/ A; D1 create shoots garden-p2/ N
K15 D1 get cloudprofiles any A; D1 get controllerdeployments any A; D1 get controllerregistrations any A
K15 D1 list cloudprofiles N; D1 create projects A; D1 patch shoots/status garden-p1/sh1 A
K15 D1 patch shoots garden-p1/sh1 A; D1 mark-self-hosted shoots garden-p1/sh1 A; D1 patch shoots garden-p2/sh3 N
K15 D1 delete shoots garden-p1/sh1 N; D1 get secrets garden-p1/sh1.monitoring N; D1 get seeds s1 N; D1 create bastions garden-p1/ N
R40 D1 create shoots/adminkubeconfig garden-p1/sh1 N; D1 create workloadidentities/token garden-p1/wi1 N; D1 patch shoots/status garden-p2/sh3 N
";

/// Today's profile, selectors not forwarded.
pub(crate) const NOT_FORWARDED: &str = "
K04 U1 list shoots A; U2 watch shoots A; U1 list seeds A; U1 list managedseeds A; U1 watch bastions A
K04 U1 list controllerinstallations A; U1 list gardenlets garden/ A; U1 list gardenlets garden-p1/ N
K04 U1 list cloudprofiles N; U1 list projects N; U1 list secrets garden/ N
K04 U1 list cloudprofiles cp1 A; U2 list cloudprofiles cp1 N
K04 U1 list shoots garden-p1/sh1 A; U2 list shoots garden-p1/sh1 N
R50 U1 list gardenlets garden/s1 A; U1 list gardenlets garden/s2 N
";

/// Today's profile with upstream's answers.
pub(crate) const UPSTREAM: &str = "
R60 U1 delete configmaps default/nobody A; U1 delete secrets default/nobody A; U2 delete backupbuckets bb1 N; U2 delete backupbuckets nobody A
R61 S1 list backupbuckets f:spec.shootRef.name=sh1 A; S1 list backupbuckets f:spec.shootRef.name=sh2 N
R62 U1 delete clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:s1 N
";

/// The profile of 2021, selectors forwarded.
pub(crate) const GARDENER_2021: &str = "
K13 U1 get leases gardener-system-seed-lease/s1 A; U1 watch leases gardener-system-seed-lease/s1 A; U1 update leases gardener-system-seed-lease/s1 A
K13 U1 delete leases gardener-system-seed-lease/s1 A; U1 create leases gardener-system-seed-lease/ A
K13 U1 patch leases gardener-system-seed-lease/s1 N; U1 list leases gardener-system-seed-lease/ N; U2 get leases gardener-system-seed-lease/s1 N
K13 U2 watch leases gardener-system-seed-lease/s1 N; U2 delete leases gardener-system-seed-lease/s1 N; U1 watch leases gardener-system-seed-lease/ N
K13 U1 get secrets garden-shared/infra1 A; U2 get secrets garden-shared/infra1 N
K13 U1 list secrets seed-s1/ N; U1 patch secrets garden-shared/infra1 N; U1 create secrets garden-p1/ N
K13 U1 get workloadidentities garden-p1/wi1 N; U1 create serviceaccounts garden/ N; U1 get namespacedcloudprofiles garden-p1/x N
K03 alice get pods default/x N; alice delete nodes node0 N; U2 delete seeds s1 N; U1 get !/metrics N; noname get seeds s1 N
Q01 U2 get backupbuckets bb1 A; U2 list backupbuckets A; U1 update backupbuckets bb1 A; U1 delete backupbuckets bb1 A; U2 delete backupbuckets bb1 N; U2 create backupbuckets A
Q02 U2 list backupentries A; U1 patch backupentries garden-p1/be1 A; U1 delete backupentries garden-p1/be1 N; U2 patch backupentries garden-p1/be1 N
Q03 U1 get cloudprofiles cp1 A; U1 list cloudprofiles cp1 N; U2 get cloudprofiles cp1 N
Q04 U1 get configmaps garden-p1/ap1 A; U1 list configmaps garden-p1/ap1 N; U2 get configmaps garden-p1/ap1 N; U2 get configmaps kube-system/cluster-identity A; U3 get configmaps kube-system/cluster-identity A
Q05 U2 list controllerregistrations A; U2 list controllerinstallations A; U1 patch controllerinstallations/status ci1 A; U2 patch controllerinstallations ci1 N
Q06 U1 create events default/ A; U1 patch events default/e N; U1 create events.events.k8s.io default/ N
Q07 U2 list managedseeds A; U1 update managedseeds garden/s3 A; U2 update managedseeds garden/s3 N
Q08 U1 get namespaces garden-p1/garden-p1 A; U2 get namespaces garden-p1 N; U1 get projects p1 A; U2 get projects p1 N; U1 get secretbindings garden-p1/sb1 A; U2 get secretbindings garden-p1/sb1 N
Q09 U2 list seeds A; U2 get seeds s1 A; U1 update seeds s1 A; U2 update seeds s1 N; U1 delete seeds s1 A; U1 create seeds A
Q10 U2 watch shoots A; U1 patch shoots/status garden-p1/sh1 A; U2 patch shoots garden-p1/sh1 N; U1 delete shoots garden-p1/sh1 N
Q11 U1 create shootstates garden-p1/ A; U1 get shootstates garden-p1/sh1 A; U1 list shootstates garden-p1/sh1 N; U2 update shootstates garden-p1/sh1 N
Q12 X1 create events default/ N; S1 get shoots garden-p1/sh1 N; U1 get bastions garden-p1/ba1 N
";

/// The profile of nodes, selectors forwarded, over the objects of `node.yaml`.
pub(crate) const NODE: &str = "
N01 n0 get configmaps ns0/cm0 A; n1 get configmaps ns0/cm0 N
N02 n0 list secrets ns0/ N; n0 list secrets ns0/sec0 A
N03 n0 list secrets sec0 N
N04 n0 get persistentvolumes pv0 A; n0 get secrets kube-system/pvsec A; n1 get persistentvolumes pv0 N; n1 get secrets kube-system/pvsec N
S04 n0 get persistentvolumes default/pv0 N; n0 get persistentvolumeclaims pvc0 N; n0 get configmaps cm0 N
S05 n0 get nodes default/node0 A; n0 list services default/ A; n0 create tokenreviews.authentication.k8s.io default/ A
N05 n0 create serviceaccounts/token ns0/sa0 A; n0 create serviceaccounts ns0/sa0 N; n1 create serviceaccounts/token ns0/sa0 N
N06 n0 list pods f:spec.nodeName=node0 A; n0 list pods N; n0 list pods f:spec.nodeName=node1 N
N07 n0 delete pods ns0/pod1 A; n0 get pods ns0/pod1 N; n0 get pods ns0/pod0 A; n0 list pods ns0/pod0 f:metadata.name=pod0 A; n0 list pods ns0/pod1 f:metadata.name=pod1 N
N08 n9 get nodes node9 A; n9 get nodes node0 N
N09 n0 create leases.coordination.k8s.io kube-node-lease/ A; n0 create leases.coordination.k8s.io default/ N; n0 update leases.coordination.k8s.io kube-node-lease/node0 A; n0 update leases.coordination.k8s.io kube-node-lease/node1 N
N10 n0 get secrets ns0/msec N; n0 get pods ns0/mirror A
K03 alice get pods default/x N; alice delete nodes node0 N; n1 delete nodes node0 N; n0 get !/metrics N; nonode get nodes node0 N
M01 n0 list services A; n0 get endpoints default/x A; n0 list endpoints N; n0 create events default/ A; n0 create subjectaccessreviews.authorization.k8s.io A; n0 update nodes/status node1 A; n0 create pods/eviction ns0/pod1 A
";

/// The users: short name, user, groups.
pub(crate) const WHO: &[(&str, &str, &str)] = &[
    (
        "U1",
        "gardener.cloud:system:seed:s1",
        "gardener.cloud:system:seeds,system:authenticated",
    ),
    (
        "U2",
        "gardener.cloud:system:seed:s2",
        "gardener.cloud:system:seeds,system:authenticated",
    ),
    (
        "U3",
        "gardener.cloud:system:seed:s3",
        "gardener.cloud:system:seeds,system:authenticated",
    ),
    (
        "X1",
        "system:serviceaccount:seed-s1:extension-foo",
        "system:serviceaccounts,system:serviceaccounts:seed-s1",
    ),
    (
        "S1",
        "gardener.cloud:system:shoot:garden-p1:sh1",
        "gardener.cloud:system:shoots",
    ),
    (
        "S2",
        "gardener.cloud:system:shoot:garden-p2:sh3",
        "gardener.cloud:system:shoots",
    ),
    (
        "D1",
        "gardener.cloud:gardenadm:shoot:garden-p1:sh1",
        "gardener.cloud:system:shoots",
    ),
    (
        "E1",
        "system:serviceaccount:garden-p1:extension-shoot--sh1--ci1",
        "system:serviceaccounts,system:serviceaccounts:garden-p1",
    ),
    (
        "nogroup",
        "gardener.cloud:system:seed:s1",
        "system:authenticated",
    ),
    (
        "noname",
        "gardener.cloud:system:seed:",
        "gardener.cloud:system:seeds",
    ),
    (
        "bare",
        "extension-foo",
        "system:serviceaccounts,system:serviceaccounts:seed-s1",
    ),
    ("n0", "system:node:node0", "system:nodes"),
    ("n1", "system:node:node1", "system:nodes"),
    ("n9", "system:node:node9", "system:nodes"),
    ("nonode", "system:node:", "system:nodes"),
    ("alice", "alice", "system:authenticated"),
];
