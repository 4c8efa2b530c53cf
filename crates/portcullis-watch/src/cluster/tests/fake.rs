//! A small API server: objects in versions, lists in pages, watches, and whatever can go wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::channel::{Channel, Sender};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

#[derive(Debug)]
pub(super) struct Fake {
    address: String,
    world: Mutex<World>,
    /// Changes with everything that happens.
    happened: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct World {
    version: u64,
    compacted: u64,
    objects: BTreeMap<&'static str, BTreeMap<String, String>>,
    /// Version, resource, line.
    log: Vec<(u64, &'static str, String)>,
    requests: Vec<(String, String)>,
    not_served: BTreeSet<&'static str>,
    refused: BTreeMap<&'static str, (u16, String)>,
    /// Answers that are given once: resource, part of the query, code, body.
    once: Vec<(&'static str, String, u16, String)>,
    /// Nothing is answered meanwhile.
    held: bool,
    gone_in_answer: bool,
    connections: u64,
    /// The version of a resource that was last sent.
    told: BTreeMap<&'static str, u64>,
}

impl Fake {
    pub(super) async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Arc::new(Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            world: Mutex::default(),
            happened: watch::Sender::new(0),
        });
        fake.lock().version = 100;
        let serving = Arc::clone(&fake);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let fake = Arc::clone(&serving);
                let service = service_fn(move |request| {
                    let fake = Arc::clone(&fake);
                    async move { Ok::<_, Infallible>(fake.answer(request).await) }
                });
                let http = hyper::server::conn::http1::Builder::new();
                tokio::spawn(http.serve_connection(TokioIo::new(stream), service));
            }
        });
        fake
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn version(&self) -> u64 {
        self.lock().version
    }

    /// The version of a resource that watches last received.
    pub(super) fn told(&self, resource: &str) -> u64 {
        self.lock().told.get(resource).copied().unwrap_or_default()
    }

    /// The queries for a resource that were asked.
    pub(super) fn requests(&self, resource: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let world = self.lock();
        let all = world.requests.iter();
        let some = all.filter(|(path, query)| path == resource && wanted(query));
        some.map(|(_, query)| query.clone()).collect()
    }

    pub(super) fn put(&self, resource: &'static str, namespace: &str, name: &str, note: &str) {
        let version = self.version() + 1;
        let object = json!({"metadata": {"name": name, "namespace": namespace, "resourceVersion": version.to_string()}, "note": note});
        self.put_raw(resource, namespace, name, &object.to_string());
    }

    pub(super) fn put_raw(&self, resource: &'static str, namespace: &str, name: &str, text: &str) {
        let key = format!("{namespace}/{name}");
        self.change(|world| {
            world.version += 1;
            let objects = world.objects.entry(resource).or_default();
            let verb = match objects.insert(key, text.to_owned()) {
                None => "ADDED",
                Some(_) => "MODIFIED",
            };
            world.tell(resource, verb, text);
        });
    }

    pub(super) fn remove(&self, resource: &'static str, namespace: &str, name: &str) {
        let key = format!("{namespace}/{name}");
        self.change(|world| {
            world.version += 1;
            world.objects.get_mut(resource).unwrap().remove(&key).unwrap();
            let version = world.version.to_string();
            let object = json!({"metadata": {"name": name, "namespace": namespace, "resourceVersion": version}});
            world.tell(resource, "DELETED", &object.to_string());
        });
    }

    /// Tells watches of a resource anything.
    pub(super) fn say(&self, resource: &'static str, line: &str) {
        self.change(|world| {
            world.version += 1;
            world.log.push((world.version, resource, line.to_owned()));
        });
    }

    /// Tells all watches how far they are.
    pub(super) fn bookmark(&self) {
        self.change(|world| {
            world.version += 1;
            let object = json!({"metadata": {"resourceVersion": world.version.to_string()}});
            for resource in [super::PODS, super::NODES, super::SHOOTS] {
                world.tell(resource, "BOOKMARK", &object.to_string());
            }
        });
    }

    /// Forgets everything but the last version.
    pub(super) fn compact(&self) {
        self.change(|world| world.compacted = world.version);
    }

    /// Ends all watches.
    pub(super) fn disconnect(&self) {
        self.change(|world| world.connections += 1);
    }

    pub(super) fn gone_as_event(&self, as_event: bool) {
        self.change(|world| world.gone_in_answer = !as_event);
    }

    pub(super) fn hold(&self, held: bool) {
        self.change(|world| world.held = held);
    }

    pub(super) fn serve(&self, resource: &'static str, served: bool) {
        self.change(|world| {
            if served {
                world.not_served.remove(resource);
            } else {
                world.not_served.insert(resource);
                world.objects.remove(resource);
            }
        });
    }

    pub(super) fn refuse(&self, resource: &'static str, answer: Option<(u16, &str)>) {
        self.change(|world| match answer {
            Some((code, body)) => drop(world.refused.insert(resource, (code, body.to_owned()))),
            None => drop(world.refused.remove(resource)),
        });
    }

    /// Answers the next such request so.
    pub(super) fn fail(&self, resource: &'static str, query: &str, code: u16, body: &str) {
        let one = (resource, query.to_owned(), code, body.to_owned());
        self.change(|world| world.once.push(one));
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.lock());
        self.happened.send_modify(|count| *count += 1);
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        let query = request.uri().query().unwrap_or_default().to_owned();
        let mut happened = self.happened.subscribe();
        let once = {
            let mut world = self.lock();
            world.requests.push((path.clone(), query.clone()));
            let found = world
                .once
                .iter()
                .position(|one| one.0 == path && query.contains(&one.1));
            found.map(|index| world.once.remove(index))
        };
        if let Some((_, _, code, body)) = once {
            return text(code, body);
        }
        while self.lock().held {
            happened.changed().await.unwrap();
        }
        let resources = [super::PODS, super::NODES, super::SHOOTS];
        let Some(resource) = resources.into_iter().find(|resource| *resource == path) else {
            return self.single(&path);
        };
        let refused = self.lock().refused.get(resource).cloned();
        if let Some((code, body)) = refused {
            return text(code, body);
        }
        if self.lock().not_served.contains(resource) {
            return text(404, "404 page not found\n".to_owned());
        }
        let parameter = |name: &str| {
            let mut all = query.split('&').filter_map(|pair| pair.split_once('='));
            all.find(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
        };
        if parameter("watch").is_some() {
            let version = parameter("resourceVersion").unwrap().parse().unwrap();
            return self.watch(resource, version);
        }
        let limit = parameter("limit").unwrap().parse().unwrap();
        self.lock().page(resource, limit, parameter("continue"))
    }

    fn single(&self, path: &str) -> Answer {
        let world = self.lock();
        let parts: Vec<_> = path.split('/').collect();
        match parts[..] {
            ["", "api", "v1"] => return resources(&[("pods", "Pod"), ("nodes", "Node")]),
            ["", "apis", "core.gardener.cloud", "v1beta1"] => {
                return resources(&[
                    ("shoots", "Shoot"),
                    ("shoots/status", "Plant"),
                    ("shoots", "Plant"),
                ]);
            }
            ["", "api", "v1", "namespaces", namespace, "pods"] => {
                return world.of_namespace(namespace);
            }
            _ => {}
        }
        let ["", "api", "v1", "namespaces", namespace, "pods", name] = parts[..] else {
            return text(404, "404 page not found\n".to_owned());
        };
        if let Some((code, body)) = world.refused.get(super::PODS) {
            return text(*code, body.clone());
        }
        let pods = world.objects.get(super::PODS);
        match pods.and_then(|pods| pods.get(&format!("{namespace}/{name}"))) {
            Some(object) => text(200, object.clone()),
            None => text(404, r#"{"code":404,"reason":"NotFound"}"#.to_owned()),
        }
    }

    fn watch(self: Arc<Self>, resource: &'static str, after: u64) -> Answer {
        let gone = r#"{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}"#;
        let (compacted, in_answer) = {
            let world = self.lock();
            (world.compacted, world.gone_in_answer)
        };
        if after < compacted && in_answer {
            return text(410, gone.to_owned());
        }
        let (mut sender, body) = Channel::<Bytes, Infallible>::new(16);
        tokio::spawn(async move {
            if after < compacted {
                let line = format!(r#"{{"type":"ERROR","object":{gone}}}"#);
                send(&mut sender, &line).await;
                return;
            }
            let mut happened = self.happened.subscribe();
            let (mut told, connection) = (after, self.lock().connections);
            loop {
                let news: Vec<_> = {
                    let world = self.lock();
                    if world.connections != connection {
                        return;
                    }
                    let news = world
                        .log
                        .iter()
                        .filter(|(v, r, _)| *v > told && *r == resource);
                    news.cloned().collect()
                };
                for (version, _, line) in news {
                    told = version;
                    if !send(&mut sender, &line).await {
                        return;
                    }
                    self.lock().told.insert(resource, version);
                }
                tokio::select! {
                    _ = happened.changed() => {}
                    () = closed(&mut sender) => return,
                }
            }
        });
        Response::new(body.boxed_unsync())
    }
}

/// Whether a watch is still there is found out by sending nothing.
async fn closed(sender: &mut Sender<Bytes, Infallible>) {
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        if sender.send_data(Bytes::new()).await.is_err() {
            return;
        }
    }
}

async fn send(sender: &mut Sender<Bytes, Infallible>, line: &str) -> bool {
    // In two pieces, as networks do it.
    let (one, two) = line.split_at_checked(line.len() / 2).unwrap_or((line, ""));
    let first = sender.send_data(Bytes::from(one.to_owned())).await;
    let second = sender.send_data(Bytes::from(format!("{two}\n"))).await;
    first.is_ok() && second.is_ok()
}

/// What a group has.
fn resources(all: &[(&str, &str)]) -> Answer {
    let resource = |(name, kind): &(&str, &str)| json!({"name": name, "kind": kind, "namespaced": *kind != "Node"});
    let all: Vec<_> = all.iter().map(resource).collect();
    text(
        200,
        json!({"kind": "APIResourceList", "resources": all}).to_string(),
    )
}

impl World {
    fn of_namespace(&self, namespace: &str) -> Answer {
        let pods = self.objects.get(super::PODS).into_iter().flatten();
        let prefix = format!("{namespace}/");
        let some = pods.filter(|(key, _)| key.starts_with(&prefix));
        let items: Vec<_> = some.map(|(_, object)| object.clone()).collect();
        let items = items.join(",");
        text(
            200,
            format!(
                r#"{{"kind":"PodList","metadata":{{"resourceVersion":"1"}},"items":[{items}]}}"#
            ),
        )
    }

    fn tell(&mut self, resource: &'static str, verb: &str, object: &str) {
        let line = format!(r#"{{"type":"{verb}","object":{object}}}"#);
        self.log.push((self.version, resource, line));
    }

    fn page(&self, resource: &str, limit: usize, next: Option<String>) -> Answer {
        let empty = BTreeMap::new();
        let objects = self.objects.get(resource).unwrap_or(&empty);
        let skipped = next.map_or(0, |next| next.parse().unwrap());
        let items: Vec<_> = objects
            .values()
            .skip(skipped)
            .take(limit)
            .cloned()
            .collect();
        let done = skipped + items.len();
        let next = if done < objects.len() {
            done.to_string()
        } else {
            String::new()
        };
        let version = self.version;
        let items = items.join(",");
        text(
            200,
            format!(
                r#"{{"kind":"List","metadata":{{"resourceVersion":"{version}","continue":"{next}"}},"items":[{items}]}}"#
            ),
        )
    }
}

fn text(code: u16, body: String) -> Answer {
    let body = Full::new(Bytes::from(body)).boxed_unsync();
    Response::builder().status(code).body(body).unwrap()
}
