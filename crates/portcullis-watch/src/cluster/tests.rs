//! The watches against a fake API server.

mod cache;
mod fake;
mod told;

use std::time::{Duration, Instant};

use kube::Config;
use portcullis_core::clock;
use serde_json::json;

use super::status::Phase;
use super::*;
use fake::Fake;
use told::Told;

const PODS: &str = "/api/v1/pods";
const NODES: &str = "/api/v1/nodes";
const SHOOTS: &str = "/apis/core.gardener.cloud/v1beta1/shoots";

struct World {
    fake: Arc<Fake>,
    told: Arc<Told>,
    cluster: Cluster,
    timing: Timing,
    watches: Option<Watches>,
}

impl World {
    async fn new() -> Self {
        let fake = Fake::start().await;
        install_cryptography();
        let config = Config::new(fake.address().parse().unwrap());
        let rest = (Duration::from_millis(1), Duration::from_millis(20));
        Self {
            fake,
            told: Arc::default(),
            cluster: Cluster::with(&config).unwrap(),
            timing: Timing {
                rest,
                page: 2,
                ..Timing::default()
            },
            watches: None,
        }
    }

    fn start(&mut self) {
        let told = Arc::clone(&self.told);
        let watches = self.cluster.feed("test", told, &self.timing).unwrap();
        self.watches = Some(watches);
    }

    fn status(&self, kind: &str) -> KindStatus {
        let all = self.watches.as_ref().unwrap().status();
        all.into_iter().find(|one| one.kind == kind).unwrap()
    }

    /// How many kinds have not been listed yet.
    fn behind(&self) -> usize {
        let all = self.watches.as_ref().unwrap().status();
        all.iter().filter(|kind| !kind.listed).count()
    }

    /// Waits until it is so, and fails if that takes for ever.
    async fn until(&self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let end = clock::monotonic() + Duration::from_secs(60);
        while !holds(self) {
            let left = end.checked_duration_since(clock::monotonic());
            assert!(left.is_some(), "{what}: {:?} {:?}", self.told, self.fake);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    async fn until_objects(&self, expected: &[&str]) {
        self.until(&format!("{expected:?}"), |w| w.told.objects() == expected)
            .await;
    }

    async fn until_watching(&self) {
        let watches = |w: &Self| {
            let all = w.watches.as_ref().unwrap().status();
            all.iter().all(|kind| kind.phase == Phase::Watching)
        };
        self.until("watching", watches).await;
    }
}

#[tokio::test]
async fn lists_come_in_pages_and_the_watch_goes_on_from_there() {
    let mut world = World::new().await;
    for name in ["a", "b", "c", "d", "e"] {
        world.fake.put(PODS, "n", name, "1");
    }
    world.fake.put(NODES, "", "x", "1");
    world.start();
    let all = [
        "Node:/x=1",
        "Pod:n/a=1",
        "Pod:n/b=1",
        "Pod:n/c=1",
        "Pod:n/d=1",
        "Pod:n/e=1",
    ];
    world.until_objects(&all).await;
    world.until_watching().await;
    assert!(world.told.is_caught_up());
    let pages = world.fake.requests(PODS, |query| query.contains("limit=2"));
    assert_eq!(pages.len(), 3, "{pages:?}");
    assert!(!pages[0].contains("continue") && pages[1].contains("continue"));
    world.fake.put(PODS, "n", "a", "2");
    world.fake.remove(PODS, "n", "b");
    world.fake.put(PODS, "n", "f", "1");
    let all = [
        "Node:/x=1",
        "Pod:n/a=2",
        "Pod:n/c=1",
        "Pod:n/d=1",
        "Pod:n/e=1",
        "Pod:n/f=1",
    ];
    world.until_objects(&all).await;
    assert_eq!(world.told.lists("Pod"), 1);
    let status = world.status("Pod");
    assert!(status.listed && status.error.is_none());
    assert_eq!((status.malformed, status.lag), (0, Duration::ZERO));
    // Nodes were listed and have not changed since.
    let listed = world.status("Node").last_event.unwrap();
    assert!(status.last_event.unwrap() >= listed);
}

#[tokio::test]
async fn a_watch_that_ends_goes_on_where_it_was() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    world.start();
    world.until_watching().await;
    for round in 0..3 {
        let name = format!("r{round}");
        world.fake.put(PODS, "n", &name, "1");
        world.until("change", |w| w.told.has("Pod", &name)).await;
        world.fake.disconnect();
        // Changed while no watch is open.
        world.fake.put(PODS, "n", &format!("s{round}"), "1");
        world.fake.remove(PODS, "n", &name);
        world.until("removal", |w| !w.told.has("Pod", &name)).await;
    }
    world
        .until_objects(&["Pod:n/a=1", "Pod:n/s0=1", "Pod:n/s1=1", "Pod:n/s2=1"])
        .await;
    assert_eq!(world.told.lists("Pod"), 1);
    assert_eq!(world.told.count("+Pod:n/s0"), 1, "nothing is told twice");
}

#[tokio::test]
async fn bookmarks_move_on_without_changes() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    world.start();
    world.until_watching().await;
    for _ in 0..10 {
        world.fake.put(NODES, "", "x", "1");
    }
    world.fake.bookmark();
    let version = world.fake.version();
    let told = |w: &World| w.fake.told(PODS) == version;
    world.until("the bookmark", told).await;
    world.fake.compact();
    world.fake.disconnect();
    let resumed = |w: &World| {
        let from = format!("resourceVersion={version}");
        !w.fake
            .requests(PODS, |query| query.ends_with(&from))
            .is_empty()
    };
    world.until("resuming from the bookmark", resumed).await;
    world.fake.put(PODS, "n", "b", "1");
    world
        .until_objects(&["Node:/x=1", "Pod:n/a=1", "Pod:n/b=1"])
        .await;
    assert_eq!(world.told.lists("Pod"), 1);
}

#[tokio::test]
async fn what_was_compacted_is_listed_again() {
    for as_event in [true, false] {
        let mut world = World::new().await;
        world.fake.gone_as_event(as_event);
        world.fake.put(PODS, "n", "a", "1");
        world.fake.put(PODS, "n", "b", "1");
        world.start();
        world.until_watching().await;
        world.fake.hold(true);
        world.fake.disconnect();
        world.fake.remove(PODS, "n", "a");
        world.fake.put(PODS, "n", "b", "2");
        world.fake.put(PODS, "n", "c", "1");
        world.fake.compact();
        world.fake.hold(false);
        world.until_objects(&["Pod:n/b=2", "Pod:n/c=1"]).await;
        assert_eq!(world.told.lists("Pod"), 2);
        assert_eq!(world.told.count("-Pod:n/b"), 0, "never away in between");
        world.until_watching().await;
        assert!(world.status("Pod").error.is_none());
    }
}

#[tokio::test]
async fn a_list_that_takes_too_long_begins_anew() {
    let mut world = World::new().await;
    for name in ["a", "b", "c"] {
        world.fake.put(PODS, "n", name, "1");
    }
    world.fake.fail(
        PODS,
        "continue=",
        410,
        r#"{"code":410,"reason":"Expired","message":"too old"}"#,
    );
    world.start();
    world
        .until_objects(&["Pod:n/a=1", "Pod:n/b=1", "Pod:n/c=1"])
        .await;
    let pages = world.fake.requests(PODS, |query| query.contains("limit="));
    assert!(
        pages.iter().any(|query| query.contains("limit=4")),
        "{pages:?}"
    );
}

#[tokio::test]
async fn versions_of_another_history_are_listed_again() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    world.start();
    world.until_watching().await;
    let told = json!({"code": 504, "reason": "Timeout", "message": "Too large resource version",
        "details": {"causes": [{"reason": "ResourceVersionTooLarge"}]}});
    world.fake.fail(PODS, "watch=1", 504, &told.to_string());
    world.fake.disconnect();
    world
        .until("another list", |w| w.told.lists("Pod") == 2)
        .await;
    world.until_watching().await;
}

#[tokio::test]
async fn failures_are_shown_and_tried_again() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    let forbidden = r#"{"code":403,"message":"pods is forbidden: User \"x\" cannot list"}"#;
    world.fake.refuse(PODS, Some((403, forbidden)));
    world.start();
    world
        .until("failure", |w| w.status("Pod").phase == Phase::Failing)
        .await;
    for other in ["Node", "Shoot"] {
        world.until("others", |w| w.status(other).listed).await;
    }
    let status = world.status("Pod");
    assert!(status.error.unwrap().contains("cannot list") && !status.listed);
    assert_eq!(world.behind(), 1);
    assert!(!world.told.is_caught_up());
    world.fake.refuse(PODS, None);
    world.until_watching().await;
    assert!(world.told.is_caught_up());
    assert_eq!(world.watches.as_ref().unwrap().lag(), Duration::ZERO);
    // A watch that fails later doesn't forget anything.
    world.fake.refuse(PODS, Some((500, "")));
    world.fake.disconnect();
    world
        .until("failure", |w| w.status("Pod").phase == Phase::Failing)
        .await;
    assert!(world.watches.as_ref().unwrap().lag() > Duration::ZERO);
    assert_eq!(world.told.objects(), ["Pod:n/a=1"]);
    world.fake.refuse(PODS, None);
    world.until_watching().await;
    assert_eq!(world.told.lists("Pod"), 1);
}

#[tokio::test]
async fn a_kind_that_is_not_served_is_empty_until_it_is() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    world.fake.serve(SHOOTS, false);
    world.start();
    world.until("caught up", |w| w.told.is_caught_up()).await;
    world
        .until("not served", |w| {
            w.status("Shoot").phase == Phase::NotServed
        })
        .await;
    assert_eq!(world.watches.as_ref().unwrap().lag(), Duration::ZERO);
    assert!(world.status("Shoot").listed);
    world.fake.serve(SHOOTS, true);
    world.fake.put(SHOOTS, "n", "s", "1");
    world.until_objects(&["Pod:n/a=1", "Shoot:n/s=1"]).await;
    // And away again, with all objects.
    world.fake.serve(SHOOTS, false);
    world.fake.disconnect();
    world.until_objects(&["Pod:n/a=1"]).await;
}

#[tokio::test]
async fn one_missing_answer_does_not_empty_a_kind() {
    let mut world = World::new().await;
    world.fake.put(SHOOTS, "n", "s", "1");
    world.start();
    world.until_watching().await;
    world
        .fake
        .fail(SHOOTS, "watch=1", 404, "404 page not found");
    world.fake.fail(SHOOTS, "limit=", 404, "404 page not found");
    world.fake.disconnect();
    world
        .until("another list", |w| w.told.lists("Shoot") == 2)
        .await;
    world.until_watching().await;
    assert_eq!(world.told.count("-Shoot:n/s"), 0);
}

#[tokio::test]
async fn malformed_objects_are_counted_and_stop_nobody() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let deep = format!(r#"{{"metadata":{{"name":"deep","namespace":"n"}},"spec":{deep}}}"#);
    world.fake.put_raw(PODS, "n", "deep", &deep);
    world.fake.put_raw(PODS, "n", "none", "7");
    world.fake.put(PODS, "n", "z", "1");
    world.start();
    world.until_objects(&["Pod:n/a=1", "Pod:n/z=1"]).await;
    world.until_watching().await;
    assert_eq!(world.status("Pod").malformed, 2);
    for line in [
        "{",
        "[]",
        r#"{"type":"NEW","object":{}}"#,
        r#"{"type":"DELETED","object":{}}"#,
        "",
        "\u{1}",
    ] {
        world.fake.say(PODS, line);
    }
    world.fake.put_raw(PODS, "n", "deep", &deep);
    world.fake.put(PODS, "n", "b", "1");
    world
        .until_objects(&["Pod:n/a=1", "Pod:n/b=1", "Pod:n/z=1"])
        .await;
    world
        .until("count", |w| w.status("Pod").malformed == 2 + 6)
        .await;
    assert_eq!(world.told.lists("Pod"), 1);
}

#[tokio::test]
async fn answers_that_are_no_lists_are_failures() {
    for text in [
        "",
        "7",
        "{}",
        r#"{"items":[]}"#,
        r#"{"metadata":{"resourceVersion":"1"},"items":7}"#,
    ] {
        let mut world = World::new().await;
        world.fake.fail(PODS, "limit=", 200, text);
        world.fake.hold(true);
        world.start();
        world
            .until("failure", |w| w.status("Pod").error.is_some())
            .await;
        assert!(!world.told.is_caught_up());
        world.fake.hold(false);
        world.until("caught up", |w| w.told.is_caught_up()).await;
    }
}

#[tokio::test]
async fn a_slow_api_server_is_not_waited_for_for_ever() {
    let mut world = World::new().await;
    world.timing.answer = Duration::from_millis(50);
    world.fake.put(PODS, "n", "a", "1");
    world.fake.hold(true);
    world.start();
    world
        .until("failure", |w| w.status("Pod").error.is_some())
        .await;
    let error = world.status("Pod").error.unwrap();
    assert_eq!(error, "the API server did not answer in time");
    world.fake.hold(false);
    world.timing.answer = Duration::from_secs(60);
    world.start();
    world.until("caught up", |w| w.told.is_caught_up()).await;
}

#[tokio::test]
async fn a_watch_that_is_not_ended_is_dead() {
    let mut world = World::new().await;
    (world.timing.watch, world.timing.grace) = (Duration::ZERO, Duration::from_millis(50));
    world.fake.put(PODS, "n", "a", "1");
    world.start();
    let again = |w: &World| {
        w.fake
            .requests(PODS, |query| query.contains("watch=1"))
            .len()
            > 2
    };
    world.until("watched again", again).await;
    assert_eq!(world.told.lists("Pod"), 1);
}

#[tokio::test]
async fn caught_up_means_that_everything_was_applied() {
    let mut world = World::new().await;
    for n in 0..50 {
        world.fake.put(PODS, "n", &format!("p{n:02}"), "1");
        world.fake.put(SHOOTS, "n", &format!("s{n:02}"), "1");
    }
    world.timing.page = 7;
    world.start();
    world.until("caught up", |w| w.told.is_caught_up()).await;
    assert_eq!(world.told.when_caught_up(), 100);
    assert_eq!(world.behind(), 0);
}

#[tokio::test]
async fn dropped_watches_tell_nothing_any_more() {
    let mut world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    world.start();
    world.until_watching().await;
    let thread = Arc::downgrade(&world.told);
    world.watches = None;
    // The thread had the other one.
    world.until("end", |_| thread.strong_count() == 1).await;
    assert_eq!(world.told.objects(), ["Pod:n/a=1"]);
}

#[tokio::test]
async fn single_objects_are_read_live() {
    let world = World::new().await;
    world.fake.put(PODS, "n", "a", "1");
    let kinds = world.told.kinds();
    let (_, pod) = kinds.iter().find(|(_, kind)| kind.name == "Pod").unwrap();
    let deadline = clock::monotonic() + Duration::from_secs(60);
    let found = world.cluster.read(pod, "n", "a", deadline).await.unwrap();
    assert_eq!(found.unwrap()["metadata"]["name"], "a");
    for name in ["b", "..", "a/b", ""] {
        let found = world.cluster.read(pod, "n", name, deadline).await;
        assert_eq!(found, Ok(None), "{name}");
    }
    world.fake.refuse(PODS, Some((403, r#"{"message":"no"}"#)));
    let failed = world.cluster.read(pod, "n", "a", deadline).await;
    assert_eq!(failed.unwrap_err(), "the API server answered 403: no");
    world.fake.refuse(PODS, None);
    world.fake.hold(true);
    let failed = world.cluster.read(pod, "n", "a", past()).await;
    assert_eq!(failed.unwrap_err(), "the API server did not answer in time");
    world.fake.hold(false);
}

#[tokio::test]
async fn a_graph_follows_an_api_server() {
    let mut world = World::new().await;
    let state = crate::testing::state();
    let leads = |name: &str, node| crate::testing::leads(&state, "Pod", name, node);
    for name in ["a", "b", "c"] {
        world.fake.put(PODS, "n", name, "x");
    }
    world.watches = Some(
        world
            .cluster
            .feed("test", Arc::clone(&state), &world.timing)
            .unwrap(),
    );
    world.until("caught up", |_| state.is_caught_up()).await;
    assert!(leads("a", "x") && leads("b", "x") && leads("c", "x"));
    world.fake.put(PODS, "n", "a", "y");
    world.fake.remove(PODS, "n", "b");
    world
        .until("changes", |_| {
            leads("a", "y") && !leads("a", "x") && !leads("b", "x")
        })
        .await;
    world.fake.hold(true);
    world.fake.disconnect();
    world.fake.remove(PODS, "n", "a");
    world.fake.put(PODS, "n", "d", "x");
    world.fake.compact();
    world.fake.hold(false);
    world
        .until("a new list", |_| {
            leads("d", "x") && !leads("a", "y") && leads("c", "x")
        })
        .await;
}

fn past() -> Instant {
    clock::monotonic()
}

/// As the program does it.
fn install_cryptography() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

#[tokio::test]
async fn a_kubeconfig_is_read_without_telling_its_secrets() {
    install_cryptography();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kubeconfig");
    let access = Access::Kubeconfig(path.clone());
    let error = Cluster::connect(&access).await.unwrap_err().to_string();
    assert!(error.ends_with("can't be used: no such file"), "{error}");
    let good = "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n\
        users: [{name: u, user: {token: s3cret}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n";
    for bad in [
        "users: [{name: u, user: {token: s3cret\n",
        "users: {name: s3cret}\n",
        good,
        &format!("{good}current-context: other\n"),
    ] {
        std::fs::write(&path, bad).unwrap();
        let error = Cluster::connect(&access).await.unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }
    std::fs::write(&path, format!("{good}current-context: x\n")).unwrap();
    let cluster = Cluster::connect(&access).await.unwrap();
    assert!(!format!("{cluster:?}").contains("s3cret"));
    // Nothing listens there.
    let told: Arc<Told> = Arc::default();
    let watches = cluster
        .feed("test", Arc::clone(&told), &Timing::default())
        .unwrap();
    while watches.status()[0].error.is_none() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let error = watches.status()[0].error.clone().unwrap();
    assert!(error.contains("refused"), "{error}");
}
