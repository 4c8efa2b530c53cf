//! A configuration that decides, and the records of what it decided.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use portcullis_core::{Attributes, Chain, ChainEntry, DoorContext, Peer, UnixPeer, Verdict, clock};
use portcullis_js::GlobalContext;
use portcullis_kube::cluster_objects::StaticObjects;
use portcullis_kube::review;
use portcullis_record::{
    Admission, Body, Decided, Decision, Masker, Material, Webhook, WebhookName,
};
use serde_json::Value;

use crate::cluster::Lookups;
use crate::entries::{self, Surroundings};
use crate::graphs::Graphs;
use crate::pending_mutation;
use crate::policies;
use crate::replay::{Outcome, Replay};
use portcullis_config::{
    self as config, ConfigSource, Listening, LoadOptions, Loaded, PendingMutation,
};

/// What to load.
pub(super) fn options<'a>(
    source: ConfigSource<'a>,
    known_plugins: &'a [&'a str],
) -> LoadOptions<'a> {
    LoadOptions {
        source,
        admission_control: None,
        admission_control_config_file: None,
        known_plugins,
        listeners: Listening::Ignored,
        objects: None,
        coverage: false,
        env: &|_| None,
    }
}

/// A configuration in a folder of its own.
pub(super) struct Setup {
    folder: tempfile::TempDir,
}

impl Setup {
    /// With this configuration file.
    pub(super) fn new(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("portcullis.yaml"), configuration).unwrap();
        Self { folder }
    }

    /// With one more file.
    pub(super) fn with(self, name: &str, text: &str) -> Self {
        let file = self.folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        self
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("portcullis.yaml")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn gate(&self) -> TestGate {
        TestGate::load(&self.file())
    }
}

/// Decides as a server of a configuration would.
pub(super) struct TestGate {
    loaded: Loaded,
    objects: Option<StaticObjects>,
}

/// How a request comes.
#[derive(Clone)]
pub(super) struct Came {
    pub(super) webhook: WebhookName,
    pub(super) uri: String,
    pub(super) headers: Vec<(String, String)>,
    /// Answers of host calls: what is recorded of a call by these arguments.
    pub(super) answers: Vec<Value>,
}

impl Default for Came {
    fn default() -> Self {
        Self {
            webhook: WebhookName::Mutate,
            uri: "/mutate".to_owned(),
            headers: vec![("authorization".to_owned(), "Bearer s3cr3t".to_owned())],
            answers: Vec::new(),
        }
    }
}

impl TestGate {
    pub(super) fn load(file: &Path) -> Self {
        let registry = crate::registry();
        let known = registry.names();
        let loaded = config::load(&options(ConfigSource::File(file), &known));
        Self {
            loaded: loaded.unwrap(),
            objects: None,
        }
    }

    /// With these objects in its cluster.
    pub(super) fn knowing(self, objects: StaticObjects) -> Self {
        Self {
            objects: Some(objects),
            ..self
        }
    }

    /// Decides, and gives the record as a line.
    pub(super) fn line(&self, review: &Value, came: &Came) -> String {
        let mut faults = Vec::new();
        let context = GlobalContext::new(1 << 20);
        let surroundings = Surroundings {
            namespaces: &self.loaded.namespaces.iter().cloned().collect(),
            graphs: &Graphs::default(),
            lookups: &Lookups::offline(&self.loaded, self.objects.as_ref()),
        };
        let entries = entries::entries(&self.loaded, surroundings, &context, None, &mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        let entries: Vec<ChainEntry> = entries.into_iter().map(|(_, entry)| entry).collect();
        let mut request = self.request(review, came);
        let mut verdict = Chain::new(entries).decide(&mut request);
        if came.webhook == WebhookName::Validate
            && self.loaded.pending_mutation == PendingMutation::Refuse
        {
            pending_mutation::refuse_pending_mutation(&mut verdict);
        }
        record(review, &request, &verdict, came, self.refuses(came))
    }

    fn refuses(&self, came: &Came) -> bool {
        came.webhook == WebhookName::Validate
            && self.loaded.pending_mutation == PendingMutation::Refuse
    }

    fn request(&self, review: &Value, came: &Came) -> Attributes {
        let context = DoorContext {
            method: "POST".to_owned(),
            uri: came.uri.clone(),
            headers: came.headers.clone(),
            peer: Peer {
                unix: Some(UnixPeer {
                    uid: 0,
                    gid: 0,
                    pid: Some(7),
                }),
                ..Peer::default()
            },
            ..DoorContext::default()
        };
        let text = review.to_string();
        let review =
            review::decode_admission(text.as_bytes(), context, clock::monotonic(), None).unwrap();
        review.attributes
    }
}

/// The record of a decision as one line.
fn record(
    review: &Value,
    request: &Attributes,
    verdict: &Verdict,
    came: &Came,
    refuses_pending: bool,
) -> String {
    let mut verdict = verdict.clone();
    for step in &mut verdict.trace {
        for (call, answer) in step.host_calls.iter_mut().zip(&came.answers) {
            call.error = None;
            call.result = Some(answer.clone());
        }
    }
    let material = Material {
        body: Body(Arc::new(review.to_string())),
        index: None,
        received: SystemTime::UNIX_EPOCH + Duration::new(1_794_694_400, 123_456_789),
        gate: "".into(),
        traceparent: None,
        decided: Decided::Admission(Box::new(Admission {
            attributes: request.clone(),
            verdict,
            webhook: Some(Webhook {
                name: came.webhook.into(),
                may_patch: came.webhook != WebhookName::Validate,
                refuses_pending,
            }),
            digest: None,
        })),
    };
    Masker::default().write(&material).unwrap().line
}

/// Decides again by a whole configuration.
pub(super) fn by_config(file: &Path, line: &str) -> Outcome {
    again(ConfigSource::File(file), line)
}

/// Decides again by a folder of policies.
pub(super) fn by_policies(folder: &Path, line: &str) -> Outcome {
    again(ConfigSource::Policies(folder), line)
}

fn again(source: ConfigSource<'_>, line: &str) -> Outcome {
    let registry = crate::registry();
    let known = registry.names();
    let replay = Replay::load(&options(source, &known)).unwrap();
    let decision = Decision::from_line(line).unwrap();
    replay.worker().unwrap().decide(&decision)
}

/// Nothing changes.
#[track_caller]
pub(super) fn is_same(outcome: &Outcome) {
    assert!(
        matches!(outcome, Outcome::Same { by_another: false }),
        "{outcome:?}"
    );
}

/// Why the outcome is unknown.
#[track_caller]
pub(super) fn why(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Unknown(why) => why,
        other => panic!("{other:?}"),
    }
}

/// The name of the plug-in that asks policies.
pub(super) const POLICIES: &str = policies::NAME;
