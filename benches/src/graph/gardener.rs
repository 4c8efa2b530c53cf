//! Objects of a large Gardener: seeds, shoots, and what is around them.
//!
//! Some seeds have far more shoots than others, some projects too; a few hundred seeds are shoots themselves
//! and so lead to the seeds these are on. Some seeds are not registered yet.

use std::ops::Range;

use super::data::{Data, Number};
use super::random::{Random, Skew};

/// The kinds; the first is the target.
pub(super) const SEED: u16 = 0;
const SHOOT: u16 = 1;
const NAMESPACE: u16 = 2;
const PROJECT: u16 = 3;
const CLOUD_PROFILE: u16 = 4;
const SECRET_BINDING: u16 = 5;
const SECRET: u16 = 6;
const CONFIG_MAP: u16 = 7;
const SHOOT_STATE: u16 = 8;
const BACKUP_BUCKET: u16 = 9;
const BACKUP_ENTRY: u16 = 10;
const INSTALLATION: u16 = 11;
const REGISTRATION: u16 = 12;
const DEPLOYMENT: u16 = 13;
const MANAGED_SEED: u16 = 14;
const LEASE: u16 = 15;
const EXPOSURE_CLASS: u16 = 16;
const INTERNAL_SECRET: u16 = 17;
const KINDS: u16 = 18;

/// How large it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) seeds: usize,
    pub(super) shoots: usize,
    pub(super) projects: usize,
    /// Whether a shoot has all of the secrets and the like that it always has, or three of them.
    pub(super) whole_shoots: bool,
}

/// Half a million vertices and a million and a half of edges.
pub(super) const LARGE: Size = Size {
    seeds: 1_000,
    shoots: 100_000,
    projects: 5_000,
    whole_shoots: false,
};

/// Seeds that shoots are on, though they aren't registered.
const UNREGISTERED: usize = 5;
const INSTALLATIONS: usize = 30;
const PROFILES: usize = 20;

/// The objects, and the vertices that questions are about.
#[derive(Debug)]
pub(super) struct Gardener {
    pub(super) data: Data,
    pub(super) seeds: Vec<Number>,
    /// Those that exist as objects.
    pub(super) registered: Range<usize>,
    pub(super) shoots: Vec<Shoot>,
    pub(super) profiles: Vec<Number>,
    pub(super) projects: Vec<Number>,
    pub(super) bindings: Vec<Binding>,
    pub(super) cluster_identity: Number,
}

/// A shoot, what is its own, and where it stands among the objects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shoot {
    pub(super) secret: Number,
    pub(super) object: usize,
}

/// A binding and its secret.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding {
    pub(super) vertex: Number,
    pub(super) secret: Number,
}

/// Makes it.
pub(super) fn make(size: Size) -> Gardener {
    let mut data = Data::new(KINDS, SEED);
    let garden = data.namespace("garden");
    let system = data.namespace("kube-system");
    let lease_space = data.namespace("gardener-system-seed-lease");
    let cluster_identity = data.vertex(CONFIG_MAP, system, "cluster-identity");
    let seeds: Vec<Number> = (0..size.seeds)
        .map(|seed| data.vertex(SEED, 0, &format!("aws-eu-{seed:04}")))
        .collect();
    let mut maker = Maker {
        random: Random::new(7),
        size,
        garden,
        seeds,
        cluster_identity,
        lease_space,
        data,
    };
    let buckets = maker.seeds();
    maker.installations();
    let spaces = maker.projects();
    let profiles: Vec<Number> = (0..PROFILES)
        .map(|profile| {
            maker
                .data
                .vertex(CLOUD_PROFILE, 0, &format!("profile-{profile:02}"))
        })
        .collect();
    let shoots = maker.shoots(&spaces, &profiles, &buckets);
    maker.managed_seeds(&profiles);
    Gardener {
        registered: 0..size.seeds - UNREGISTERED,
        projects: spaces.iter().map(|space| space.project).collect(),
        bindings: spaces
            .into_iter()
            .flat_map(|space| space.bindings)
            .collect(),
        data: maker.data,
        seeds: maker.seeds,
        shoots,
        profiles,
        cluster_identity,
    }
}

struct Maker {
    data: Data,
    random: Random,
    size: Size,
    garden: u32,
    lease_space: u32,
    seeds: Vec<Number>,
    cluster_identity: Number,
}

/// The namespace of a project, and what its shoots share.
struct Space {
    space: u32,
    namespace: Number,
    project: Number,
    bindings: Vec<Binding>,
    /// Audit policy, authentication, DNS, and two resources.
    shared: [Number; 5],
}

impl Maker {
    /// Seeds with what is theirs; gives their buckets.
    fn seeds(&mut self) -> Vec<Number> {
        let mut buckets = Vec::new();
        for (number, seed) in self.seeds.clone().into_iter().enumerate() {
            let name = format!("aws-eu-{number:04}");
            let backup = self
                .data
                .vertex(SECRET, self.garden, &format!("backup-{name}"));
            let bucket = format!("{:032x}", self.random.next());
            let generated = format!("generated-bucket-{bucket}");
            let generated = self.data.vertex(SECRET, self.garden, &generated);
            let bucket = self.data.vertex(BACKUP_BUCKET, 0, &bucket);
            let edges = [(backup, bucket), (generated, bucket), (bucket, seed)];
            self.data.object(bucket, &edges);
            buckets.push(bucket);
            if number >= self.size.seeds - UNREGISTERED {
                continue;
            }
            let namespace = self.data.vertex(NAMESPACE, 0, &format!("seed-{name}"));
            let lease = self.data.vertex(LEASE, self.lease_space, &name);
            let edges = [namespace, lease, backup, self.cluster_identity].map(|from| (from, seed));
            self.data.object(seed, &edges);
        }
        buckets
    }

    fn installations(&mut self) {
        let kinds: Vec<(Number, Number)> = (0..INSTALLATIONS)
            .map(|number| {
                let name = format!("provider-{number:02}");
                let registration = self.data.vertex(REGISTRATION, 0, &name);
                (registration, self.data.vertex(DEPLOYMENT, 0, &name))
            })
            .collect();
        for (at, seed) in self.seeds.clone().into_iter().enumerate() {
            for (number, (registration, deployment)) in kinds.iter().enumerate() {
                let name = format!("provider-{number:02}-{at:05x}");
                let installation = self.data.vertex(INSTALLATION, 0, &name);
                let edges = [
                    (*registration, installation),
                    (*deployment, installation),
                    (installation, seed),
                ];
                self.data.object(installation, &edges);
            }
        }
    }

    fn projects(&mut self) -> Vec<Space> {
        (0..self.size.projects)
            .map(|number| {
                let name = format!("proj{number:04}");
                let space = self.data.namespace(&format!("garden-{name}"));
                let namespace = self.data.vertex(NAMESPACE, 0, &format!("garden-{name}"));
                let project = self.data.vertex(PROJECT, 0, &name);
                self.data.object(project, &[(project, namespace)]);
                let bindings = (0..1 + self.random.below(3)).map(|binding| {
                    let name = format!("infra-{binding}");
                    let secret = self.data.vertex(SECRET, space, &name);
                    let vertex = self.data.vertex(SECRET_BINDING, space, &name);
                    self.data.object(vertex, &[(secret, vertex)]);
                    Binding { vertex, secret }
                });
                let bindings = bindings.collect();
                let shared = [
                    (CONFIG_MAP, "audit-policy"),
                    (CONFIG_MAP, "authentication"),
                    (SECRET, "dns-provider"),
                    (SECRET, "registry-pull"),
                    (CONFIG_MAP, "extension-settings"),
                ];
                Space {
                    space,
                    namespace,
                    project,
                    bindings,
                    shared: shared.map(|(kind, name)| self.data.vertex(kind, space, name)),
                }
            })
            .collect()
    }

    fn shoots(&mut self, spaces: &[Space], profiles: &[Number], buckets: &[Number]) -> Vec<Shoot> {
        let classes = ["default", "private", "internet"];
        let classes = classes.map(|name| self.data.vertex(EXPOSURE_CLASS, 0, name));
        let registered = self.size.seeds - UNREGISTERED;
        let of_seed = Skew::new(registered, 0.6);
        let of_space = Skew::new(spaces.len(), 0.7);
        let of_profile = Skew::new(profiles.len() - 1, 1.0);
        let mut shoots = Vec::with_capacity(self.size.shoots);
        for number in 0..self.size.shoots {
            // The first ones are on the seeds that aren't registered, with a profile of their own.
            let (at, profile) = if number < UNREGISTERED {
                (registered + number, profiles.len() - 1)
            } else {
                let at = of_seed.pick(&mut self.random);
                (at, of_profile.pick(&mut self.random))
            };
            let picked = of_space.pick(&mut self.random);
            let ends = (
                self.seeds.get(at).copied(),
                profiles.get(profile),
                spaces.get(picked),
            );
            let (Some(seed), Some(profile), Some(space)) = ends else {
                continue;
            };
            let binding = self.random.one_of(&space.bindings);
            let class = self.random.one_of(&classes);
            let name = format!("sh-{number:06x}");
            let vertex = self.data.vertex(SHOOT, space.space, &name);
            let own = self.own(space.space, &name);
            let mut edges = vec![
                (vertex, seed),
                (space.namespace, vertex),
                (*profile, vertex),
            ];
            let into = own.iter().chain(&space.shared).chain(&class);
            edges.extend(into.map(|from| (*from, vertex)));
            edges.extend(binding.map(|binding| (binding.vertex, vertex)));
            let object = self.data.objects().len();
            self.data.object(vertex, &edges);
            if number % 2 == 0
                && let Some(bucket) = buckets.get(at)
            {
                let entry = format!("{name}--{:08x}", self.random.next() & 0xffff_ffff);
                let entry = self.data.vertex(BACKUP_ENTRY, space.space, &entry);
                let edges = [(*bucket, entry), (entry, seed), (entry, vertex)];
                self.data.object(entry, &edges);
            }
            shoots.extend(own.first().map(|secret| Shoot {
                secret: *secret,
                object,
            }));
        }
        shoots
    }

    /// What a shoot always has.
    fn own(&mut self, space: u32, name: &str) -> Vec<Number> {
        let all = [
            (SECRET, ".ca-cluster"),
            (SECRET, ".ssh-keypair"),
            (SHOOT_STATE, ""),
            (SECRET, ".ssh-keypair.old"),
            (SECRET, ".monitoring"),
            (INTERNAL_SECRET, ".ca-client"),
            (CONFIG_MAP, ".ca-cluster"),
            (CONFIG_MAP, ".ca-kubelet"),
        ];
        let wanted = if self.size.whole_shoots { all.len() } else { 3 };
        let wanted = all.into_iter().take(wanted);
        wanted
            .map(|(kind, suffix)| self.data.vertex(kind, space, &format!("{name}{suffix}")))
            .collect()
    }

    /// Three in ten seeds are shoots in the garden, each on one of the ten largest.
    fn managed_seeds(&mut self, profiles: &[Number]) {
        let roots = self.size.seeds.div_ceil(100);
        for at in (roots..self.size.seeds).filter(|at| at % 10 < 3) {
            let root = self.seeds.get(at % roots).copied();
            let ends = (self.seeds.get(at).copied(), root, profiles.first());
            let (Some(seed), Some(root), Some(profile)) = ends else {
                continue;
            };
            let name = format!("aws-eu-{at:04}");
            let shoot = self.data.vertex(SHOOT, self.garden, &name);
            self.data.object(shoot, &[(shoot, root), (*profile, shoot)]);
            let managed = self.data.vertex(MANAGED_SEED, self.garden, &name);
            let edges = [(seed, managed), (managed, shoot), (managed, seed)];
            self.data.object(managed, &edges);
        }
    }
}
