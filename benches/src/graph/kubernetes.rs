//! Objects of a large Kubernetes cluster: nodes, pods, and what pods need.

use super::data::{Data, Number};
use super::random::{Random, Skew};

/// The kinds; the first is the target.
const NODE: u16 = 0;
const POD: u16 = 1;
const SECRET: u16 = 2;
const CONFIG_MAP: u16 = 3;
const CLAIM: u16 = 4;
const VOLUME: u16 = 5;
const SERVICE_ACCOUNT: u16 = 6;
const KINDS: u16 = 7;

/// How large it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) nodes: usize,
    pub(super) namespaces: usize,
    pub(super) pods: usize,
    /// How many pods share one ConfigMap, on all nodes but the last.
    pub(super) sharing: usize,
}

/// Half a million vertices.
pub(super) const LARGE: Size = Size {
    nodes: 500,
    namespaces: 200,
    pods: 100_000,
    sharing: 5_000,
};

/// Secrets that the pods of a namespace share.
const SHARED_SECRETS: usize = 10;

/// The objects, and the vertices that questions are about.
#[derive(Debug)]
pub(super) struct Kubernetes {
    pub(super) data: Data,
    pub(super) nodes: Vec<Number>,
    pub(super) pods: Vec<Pod>,
    pub(super) shared_secrets: Vec<Number>,
    pub(super) accounts: Vec<Number>,
    /// The ConfigMap that thousands of pods share.
    pub(super) shared_map: Number,
}

/// A pod, what is its own, and where it stands among the objects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pod {
    pub(super) secret: Number,
    pub(super) volume: Number,
    pub(super) object: usize,
}

/// What the pods of a namespace share.
struct Space {
    space: u32,
    account: Number,
    secrets: Vec<Number>,
}

/// Makes it.
pub(super) fn make(size: Size) -> Kubernetes {
    let mut data = Data::new(KINDS, NODE);
    let mut random = Random::new(11);
    let nodes: Vec<Number> = (0..size.nodes)
        .map(|node| data.vertex(NODE, 0, &format!("ip-10-250-{}-{}", node / 200, node % 200)))
        .collect();
    let spaces: Vec<Space> = (0..size.namespaces)
        .map(|number| {
            let space = data.namespace(&format!("team-{number:03}"));
            let secrets = 0..SHARED_SECRETS;
            let secrets = secrets
                .map(|secret| data.vertex(SECRET, space, &format!("shared-{secret}")))
                .collect();
            let account = data.vertex(SERVICE_ACCOUNT, space, "default");
            Space {
                space,
                account,
                secrets,
            }
        })
        .collect();
    // The pods that share it are all in one namespace.
    let busy = data.namespace("service-mesh");
    let shared_map = data.vertex(CONFIG_MAP, busy, "mesh-settings");
    let busy = Space {
        space: busy,
        account: data.vertex(SERVICE_ACCOUNT, busy, "default"),
        secrets: vec![data.vertex(SECRET, busy, "mesh-certificate")],
    };
    let skew = Skew::new(spaces.len(), 0.5);
    let mut pods = Vec::with_capacity(size.pods);
    for number in 0..size.pods {
        let shares = number < size.sharing;
        let space = match spaces.get(skew.pick(&mut random)) {
            Some(space) if !shares => space,
            _ => &busy,
        };
        let node = if shares {
            number % (size.nodes - 1)
        } else {
            random.below(size.nodes)
        };
        let (Some(node), Some(shared)) = (nodes.get(node), random.one_of(&space.secrets)) else {
            continue;
        };
        let name = format!("app-{:08x}-{number:05x}", random.next() & 0xffff_ffff);
        let pod = data.vertex(POD, space.space, &name);
        let secret = data.vertex(SECRET, space.space, &format!("{name}-token"));
        let map = data.vertex(CONFIG_MAP, space.space, &format!("{name}-env"));
        let claim = data.vertex(CLAIM, space.space, &format!("data-{name}"));
        let volume = data.vertex(
            VOLUME,
            0,
            &format!("pvc-{:016x}{number:08x}", random.next()),
        );
        let mut edges = vec![(pod, *node)];
        let into = [secret, shared, map, claim, space.account];
        edges.extend(into.map(|from| (from, pod)));
        if shares {
            edges.push((shared_map, pod));
        }
        pods.push(Pod {
            secret,
            volume,
            object: data.objects().len(),
        });
        data.object(pod, &edges);
        data.object(volume, &[(volume, claim)]);
    }
    let accounts = spaces.iter().map(|space| space.account).collect();
    let shared_secrets = spaces.into_iter().flat_map(|space| space.secrets).collect();
    Kubernetes {
        data,
        nodes,
        pods,
        shared_secrets,
        accounts,
        shared_map,
    }
}
