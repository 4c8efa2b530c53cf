//! The cache of objects against the fake API server.

use portcullis_kube::cluster_objects::{ClusterObjects, ObjectKind, Unknown};
use serde_json::{Value, json};

use super::*;
use crate::cluster::cache::ObjectCache;

const MUCH: usize = 1 << 20;
const PLENTY: Duration = Duration::from_secs(60);

fn kind(text: &str) -> ObjectKind {
    text.parse().unwrap()
}

async fn follow(world: &mut World, kinds: &[&str], limit: usize) -> Arc<ObjectCache> {
    let cache = Arc::new(ObjectCache::new(kinds.iter().map(|one| kind(one)), limit));
    let watches = world.cluster.watch_objects_with(&cache, &world.timing);
    world.watches = Some(watches.unwrap());
    cache
}

/// The names and notes of a list.
fn notes(cache: &ObjectCache, kind: &ObjectKind, namespace: Option<&str>) -> Vec<String> {
    let all = ClusterObjects::list(cache, kind, namespace).unwrap_or_default();
    let note = |object: &Arc<Value>| {
        let text = |at: &str| object.pointer(at).and_then(Value::as_str).unwrap_or("?");
        format!("{}={}", text("/metadata/name"), text("/note"))
    };
    all.iter().map(note).collect()
}

#[tokio::test]
async fn objects_are_known_once_all_were_listed_and_follow_changes() {
    let mut world = World::new().await;
    for (namespace, name) in [("b", "x"), ("a", "y"), ("a", "x")] {
        world.fake.put(PODS, namespace, name, "1");
    }
    let text = r#"{"metadata":{"name":"m","namespace":"a","managedFields":[{"manager":"kubectl"}]},"note":"1"}"#;
    world.fake.put_raw(PODS, "a", "m", text);
    world.fake.hold(true);
    let cache = follow(&mut world, &["v1/Pod", "v1/Node"], MUCH).await;
    let pod = ObjectKind::POD;
    assert_eq!(
        cache.get(&pod, "a", "x"),
        Err(Unknown::NotSynced(pod.clone()))
    );
    assert_eq!(
        ClusterObjects::list(&*cache, &pod, None),
        Err(Unknown::NotSynced(pod.clone()))
    );
    assert!(!cache.is_synced());
    world.fake.hold(false);
    world.until("sync", |_| cache.is_synced()).await;
    assert_eq!(notes(&cache, &pod, None), ["m=1", "x=1", "y=1", "x=1"]);
    assert_eq!(notes(&cache, &pod, Some("b")), ["x=1"]);
    assert_eq!(notes(&cache, &pod, Some("c")), Vec::<String>::new());
    assert_eq!(cache.get(&pod, "a", "z"), Ok(None));
    let found = cache.get(&pod, "a", "m").unwrap().unwrap();
    let expected = json!({"apiVersion": "v1", "kind": "Pod", "note": "1",
        "metadata": {"name": "m", "namespace": "a"}});
    assert_eq!(*found, expected);
    let node = kind("v1/Node");
    assert_eq!(ClusterObjects::list(&*cache, &node, None), Ok(Vec::new()));
    let secret = ObjectKind::SECRET;
    assert_eq!(
        cache.get(&secret, "a", "x"),
        Err(Unknown::NotWatched(secret))
    );
    world.until_watching().await;
    world.fake.put(PODS, "a", "x", "2");
    world.fake.remove(PODS, "a", "y");
    world.fake.put(NODES, "", "n", "1");
    world
        .until("changes", |_| {
            notes(&cache, &pod, Some("a")) == ["m=1", "x=2"]
                && notes(&cache, &node, None) == ["n=1"]
        })
        .await;
    assert!(cache.get(&node, "", "n").unwrap().is_some());
}

#[tokio::test]
async fn another_list_forgets_what_is_gone_and_nothing_else() {
    let mut world = World::new().await;
    for name in ["a", "b", "c"] {
        world.fake.put(PODS, "n", name, "1");
    }
    let cache = follow(&mut world, &["v1/Pod"], MUCH).await;
    world.until_watching().await;
    let used = |cache: &ObjectCache| cache.kinds()[0].bytes;
    let before = used(&cache);
    world.fake.hold(true);
    world.fake.disconnect();
    world.fake.remove(PODS, "n", "a");
    world.fake.put(PODS, "n", "b", "2");
    world.fake.compact();
    world.fake.hold(false);
    let pod = ObjectKind::POD;
    world
        .until("another list", |_| {
            notes(&cache, &pod, None) == ["b=2", "c=1"]
        })
        .await;
    assert!(used(&cache) < before && used(&cache) > 0);
    for name in ["b", "c"] {
        world.fake.remove(PODS, "n", name);
    }
    world.until("nothing left", |_| used(&cache) == 0).await;
}

#[tokio::test]
async fn a_kind_that_takes_too_much_memory_is_unknown_and_the_others_stay() {
    let mut world = World::new().await;
    world.fake.put(NODES, "", "n", "1");
    let large = "x".repeat(1000);
    for name in ["a", "b", "c"] {
        world.fake.put(PODS, "n", name, &large);
    }
    let cache = follow(&mut world, &["v1/Pod", "v1/Node"], 3000).await;
    let (pod, node) = (ObjectKind::POD, kind("v1/Node"));
    world.until("sync", |_| cache.is_synced()).await;
    let too_large = Unknown::TooLarge(pod.clone());
    assert_eq!(cache.get(&pod, "n", "a"), Err(too_large.clone()));
    assert_eq!(
        ClusterObjects::list(&*cache, &pod, None),
        Err(too_large.clone())
    );
    assert_eq!(notes(&cache, &node, None), ["n=1"]);
    let of = |cache: &ObjectCache, kind: &ObjectKind| {
        let all = cache.kinds();
        all.into_iter().find(|one| one.kind == *kind).unwrap()
    };
    let state = of(&cache, &pod);
    assert!(state.is_too_large && !state.is_known);
    assert_eq!((state.objects, state.bytes), (0, 0));
    assert!(of(&cache, &node).is_known);
    // Changes don't make a part of it known.
    world.until_watching().await;
    world.fake.put(PODS, "n", "d", "1");
    world.fake.put(NODES, "", "m", "1");
    world
        .until("a change", |_| notes(&cache, &node, None).len() == 2)
        .await;
    assert_eq!(cache.get(&pod, "n", "d"), Err(too_large));
    // A list that fits makes all of it known again.
    for name in ["a", "b"] {
        world.fake.remove(PODS, "n", name);
    }
    world.fake.hold(true);
    world.fake.disconnect();
    world.fake.put(PODS, "n", "e", "1");
    world.fake.compact();
    world.fake.hold(false);
    world
        .until("another list", |_| notes(&cache, &pod, None).len() == 3)
        .await;
    assert!(of(&cache, &pod).is_known);
}

#[tokio::test]
async fn the_api_server_says_what_the_resource_of_a_kind_is() {
    let mut world = World::new().await;
    world.fake.put(SHOOTS, "n", "s", "1");
    // Its resource is not its plural, and there is a kind that isn't served.
    let kinds = [
        "core.gardener.cloud/v1beta1/Plant",
        "core.gardener.cloud/v1beta1/Weed",
    ];
    let cache = follow(&mut world, &kinds, MUCH).await;
    world.until("sync", |_| cache.is_synced()).await;
    assert_eq!(notes(&cache, &kind(kinds[0]), None), ["s=1"]);
    assert_eq!(
        ClusterObjects::list(&*cache, &kind(kinds[1]), None),
        Ok(Vec::new())
    );
}

#[tokio::test]
async fn what_is_there_now_can_be_read() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    let unconnected = ObjectCache::new([ObjectKind::POD], MUCH);
    let deadline = clock::monotonic() + PLENTY;
    let failed = unconnected.read(&ObjectKind::POD, "n", "a", deadline).await;
    assert_eq!(failed.unwrap_err(), "not connected to the API server yet");
    let cache = follow(&mut world, &["v1/Node"], MUCH).await;
    let found = cache.read(&ObjectKind::POD, "n", "a", deadline).await;
    assert_eq!(found.unwrap().unwrap()["kind"], "Pod");
    let none = cache.read(&ObjectKind::POD, "n", "b", deadline).await;
    assert_eq!(none, Ok(None));
    let listed = cache.list_now(&ObjectKind::POD, "n", deadline).await;
    let listed = listed.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["apiVersion"], "v1");
    for namespace in ["..", ""] {
        let none = cache.list_now(&ObjectKind::POD, namespace, deadline).await;
        assert_eq!(none, Ok(Vec::new()), "{namespace}");
    }
    world.fake.refuse(PODS, Some((403, r#"{"message":"no"}"#)));
    let failed = cache.read(&ObjectKind::POD, "n", "a", deadline).await;
    assert_eq!(failed.unwrap_err(), "the API server answered 403: no");
}
