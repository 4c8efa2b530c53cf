//! Loading: files, flags and environment to one [`Loaded`].
//!
//! Precedence: flag, environment, file, default.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use portcullis_kube::Namespace;

use super::{
    model::{
        AccessSettings, Authorizer, Configuration, Decisions, GraphProfile, Kube, Limits, Listener,
        Log, PendingMutation, PluginEntry, Policies, Shutdown, Web,
    },
    notes::{Notes, unreadable},
    oddities::{warn_of_empty_chain, warn_of_pending_changes, warn_of_unasked_graphs},
    options::{ConfigSource, Listening, LoadOptions},
    resolve::{self, Strictness},
};
use portcullis_document::{Document, Faults, Node, Source, Value, Warning, read, yaml};

/// A whole configuration.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration file; nothing for the built-in one.
    pub file: Option<PathBuf>,
    /// Where the server listens; at least one, or none when loaded for use without a server.
    pub listeners: Vec<Listener>,
    /// An acjs file that listens at a unix socket, so that policies know which user calls.
    pub by_socket: bool,
    /// The plug-ins that run, in their order.
    pub plugins: Vec<PluginEntry>,
    /// What the validating path does when the chain would still change the object.
    pub pending_mutation: PendingMutation,
    /// The policies in JavaScript.
    pub policies: Policies,
    /// Namespaces that plug-ins know without a cluster.
    pub namespaces: Vec<Namespace>,
    /// Limits.
    pub limits: Limits,
    /// Every authorizer that is declared or that a chain names.
    pub authorizers: Vec<Authorizer>,
    /// Profiles of the graph, in the order of the configuration.
    pub graphs: Vec<GraphProfile>,
    /// The cluster whose objects plug-ins and policies may look up.
    pub kube: Option<Kube>,
    /// Names of authorizers by name of the chain; each name is in `authorizers`.
    pub chains: BTreeMap<String, Vec<String>>,
    /// Authenticators, sessions and the tenants file.
    pub access: AccessSettings,
    /// What is kept of decisions.
    pub decisions: Decisions,
    /// How CI jobs are handled.
    pub ci: portcullis_ci::Settings,
    /// The web pages.
    pub web: Web,
    /// What is logged, and how.
    pub log: Log,
    /// How the server shuts down.
    pub shutdown: Shutdown,
    /// Every file that was read or named, absolute: what a watcher watches.
    pub files: Vec<PathBuf>,
    /// What is odd but not wrong.
    pub warnings: Vec<Warning>,
    /// Key files that others can read here. That matters where the server runs, not where its
    /// configuration is checked.
    pub exposed: Vec<Warning>,
}

/// Reads and checks a configuration; starts nothing and writes nothing.
///
/// # Errors
///
/// Everything that is wrong with it: all faults of form, or else all faults of
/// meaning.
pub fn load(options: &LoadOptions<'_>) -> Result<Loaded, Faults> {
    load_noting(options).map_err(|(faults, _)| faults)
}

/// The same; warnings are returned together with faults.
pub fn load_noting(options: &LoadOptions<'_>) -> Result<Loaded, (Faults, Vec<Warning>)> {
    let mut notes = Notes::default();
    load_with(options, &mut notes).map_err(|faults| (faults, notes.warnings))
}

fn load_with(options: &LoadOptions<'_>, notes: &mut Notes) -> Result<Loaded, Faults> {
    let document = open(options.source)?;
    let (spec, strictness) = read_spec(&document, notes)?;
    if let Some(file) = document.source.path() {
        notes.watch(file);
    }
    let listeners = match &spec.listener {
        _ if options.listeners == Listening::Ignored => Vec::new(),
        None if options.listeners == Listening::Optional
            && document.root.get("listeners").is_none() =>
        {
            notes.warn("no listener is configured: `portcullis serve` needs one");
            Vec::new()
        }
        Some(listener) => resolve::acjs_listener(&document, listener, notes),
        None => resolve::listeners(&document, &spec.listeners, notes),
    };
    let other = match options.source {
        ConfigSource::PoliciesOf { file, .. } => Some(read_policies(file, notes)?),
        _ => None,
    };
    let (of_policies, policy_spec, strictness) = match &other {
        Some((document, spec, strictness)) => (document, spec, *strictness),
        None => (&document, &spec, strictness),
    };
    let policies = resolve::policies(
        of_policies,
        policy_spec,
        strictness,
        options.coverage,
        notes,
    );
    for (key, message) in policy_spec.limits.faults() {
        notes.fault(of_policies.fault(&format!("limits.{key}"), message));
    }
    let limits = policy_spec.limits.clone();
    // An acjs file without policies still has a default action.
    let has_policies = !policies.list.is_empty() || strictness == Strictness::Acjs;
    let plugins = resolve::chain(&document, &spec.admission, has_policies, options, notes);
    let decisions = resolve::decisions(&document, &spec, options, notes);
    let access = resolve::access(&document, &spec, notes);
    let graphs = resolve::graph(&document, &spec.graph, options, notes);
    let kube = spec.kube.as_ref();
    let kube = kube.map(|spec| resolve::kube(&document, spec, options, notes));
    let (authorizers, chains) =
        resolve::authorization(&document, &spec.authorization, &graphs, notes);
    resolve::check_namespaces(&document, &spec.namespaces, notes);
    for fault in spec.ci.check() {
        let path = match fault.path.as_str() {
            "" => "ci".to_owned(),
            path => format!("ci.{path}"),
        };
        notes.fault(document.fault(&path, fault.message));
    }
    warn_of_empty_chain(&plugins, &listeners, notes);
    if options.listeners == Listening::Needed {
        warn_of_pending_changes(&document, &plugins, &listeners, notes);
    }
    warn_of_unasked_graphs(&plugins, &graphs, &chains, notes);
    let log = resolve::log(&document, spec.log, options, notes);
    match Faults::from_list(std::mem::take(&mut notes.faults)) {
        Some(faults) => Err(faults),
        None => Ok(Loaded {
            file: document.source.path().map(Path::to_owned),
            by_socket: spec.listener.as_ref().is_some_and(|one| one.path.is_some()),
            listeners,
            plugins,
            pending_mutation: spec.admission.pending_mutation,
            policies,
            namespaces: spec.namespaces,
            limits,
            authorizers,
            graphs,
            kube,
            chains,
            access,
            decisions,
            ci: spec.ci,
            web: spec.web,
            log,
            shutdown: spec.shutdown,
            files: std::mem::take(&mut notes.files),
            warnings: std::mem::take(&mut notes.warnings),
            exposed: std::mem::take(&mut notes.exposed),
        }),
    }
}

/// The file whose policies are taken.
fn read_policies(
    file: &Path,
    notes: &mut Notes,
) -> Result<(Document, Configuration, Strictness), Faults> {
    let document = open(ConfigSource::File(file))?;
    let (spec, strictness) = read_spec(&document, notes)?;
    if let Some(file) = document.source.path() {
        notes.watch(file);
    }
    Ok((document, spec, strictness))
}

/// A file with a `listener` is one of acjs, which takes keys it doesn't know.
pub(crate) fn read_spec(
    document: &Document,
    notes: &mut Notes,
) -> Result<(Configuration, Strictness), Faults> {
    if document.root.get("listener").is_none() {
        let spec = read::typed(&document.source, &document.root)?;
        return Ok((spec, Strictness::Strict));
    }
    let root = words_as_text(document);
    let (spec, unknown) = read::generous::<Configuration>(&document.source, &root)?;
    for fault in unknown {
        notes.warn(fault);
    }
    if !spec.listeners.is_empty() {
        let message = "a file with `listener` can't have `listeners` too";
        notes.fault(document.fault("listeners", message));
    }
    if spec.listener.is_none() {
        let message = "the listener is empty: give it one of `path`, `tls` and `mtls`";
        notes.fault(document.fault("listener", message));
    }
    Ok((spec, Strictness::Acjs))
}

/// acjs accepts numbers where strings are expected: `params: 0660`, `name: 404`.
fn words_as_text(document: &Document) -> Node {
    let as_text = |node: &mut Node| {
        if let Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::Float(_) = node.value
            && let Some(word) = document.source.word_at(node.position)
        {
            node.value = Value::Str(word.to_owned());
        }
    };
    let mut root = document.root.clone();
    if let Some(params) = root
        .get_mut("listener")
        .and_then(|listener| listener.get_mut("path"))
        .and_then(|path| path.get_mut("params"))
    {
        as_text(params);
    }
    if let Some(Node {
        value: Value::Seq(policies),
        ..
    }) = root.get_mut("policies")
    {
        for policy in policies {
            policy.get_mut("name").into_iter().for_each(as_text);
        }
    }
    root
}

pub(crate) fn open(source: ConfigSource<'_>) -> Result<Document, Faults> {
    let source = match source {
        ConfigSource::File(path) => {
            crate::read_source(path).map_err(|reason| unreadable(path, &reason))?
        }
        ConfigSource::Policies(folder) => of_folder(folder)?,
        ConfigSource::BuiltIn(text) | ConfigSource::PoliciesOf { rest: text, .. } => {
            Source::text_named("built-in configuration", text)
        }
    };
    yaml::parse_map(&source)
}

/// The configuration of a folder or file of policies.
fn of_folder(folder: &Path) -> Result<Arc<Source>, Faults> {
    let label = folder.display().to_string();
    let fault = |message: String| Faults::from(Source::named(&label).fault(None, "", message));
    if !folder.is_file() {
        std::fs::read_dir(folder).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => fault("no such file or folder of policies".to_owned()),
            _ => fault(format!("cannot read the folder of policies: {error}")),
        })?;
    }
    let Some(path) = folder.to_str() else {
        return Err(fault("the name of the folder is not UTF-8".to_owned()));
    };
    let spec = serde_json::json!({"policyDirs": [path], "defaultAction": "allow"});
    Ok(Source::text_named(label, spec.to_string()))
}
