//! Loading: files, flags and environment to one [`Loaded`].
//!
//! Precedence: flag, environment, file, default.

use std::{collections::HashSet, path::Path, sync::Arc};

use super::{
    admission,
    document::{Document, Node, Value},
    fault::{Fault, Faults},
    log_filter,
    model::{AdmissionSpec, Configuration, LogFormat, Namespace},
    notes::Notes,
    oddities::{warn_of_empty_chain, warn_of_pending_changes, warn_of_unasked_graphs},
    options::{ConfigSource, Listening, LoadOptions},
    read,
    resolve::{self, Order, Strictness},
    resolved::{Loaded, PluginEntry},
    source::Source,
    warning::Warning,
    yaml,
};

const ORDER_FLAG: &str = "--admission-control";
const FILE_FLAG: &str = "--admission-control-config-file";
const ORDER_VARIABLE: &str = "PORTCULLIS_ADMISSION_CONTROL";
const FORMAT_VARIABLE: &str = "PORTCULLIS_LOG_FORMAT";
const FILTER_VARIABLE: &str = "PORTCULLIS_LOG";

/// Reads and checks a configuration; starts nothing and writes nothing.
///
/// # Errors
///
/// Everything that is wrong with it: all faults of form, or else all faults of
/// meaning.
pub fn load(options: &LoadOptions<'_>) -> Result<Loaded, Faults> {
    load_noting(options).map_err(|(faults, _)| faults)
}

/// The same; what is odd is told together with what is wrong.
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
    let policies = resolve::policies(&document, &spec, strictness, options.coverage, notes);
    // An acjs file without policies still has a default action.
    let has_policies = !policies.list.is_empty() || strictness == Strictness::Acjs;
    let plugins = chain(&document, &spec.admission, has_policies, options, notes);
    let decisions = resolve::decisions(&document, &spec, notes);
    let access = resolve::access(&document, &spec, notes);
    let graphs = resolve::graph(&document, &spec.graph, options, notes);
    let (authorizers, chains) =
        resolve::authorization(&document, &spec.authorization, &graphs, notes);
    check_namespaces(&document, &spec.namespaces, notes);
    for key in spec.limits.zeros() {
        notes.fault(document.fault(&format!("limits.{key}"), "must be more than zero"));
    }
    for (key, message) in spec.limits.out_of_bounds() {
        notes.fault(document.fault(&format!("limits.{key}"), message));
    }
    warn_of_empty_chain(&plugins, &listeners, notes);
    if options.listeners == Listening::Needed {
        warn_of_pending_changes(&document, &plugins, &listeners, notes);
    }
    warn_of_unasked_graphs(&plugins, &graphs, &chains, notes);
    let mut log = spec.log;
    log.format = log_format(options, notes).unwrap_or(log.format);
    match options.variable(FILTER_VARIABLE) {
        Some(filter) => {
            if let Err(message) = log_filter::check(&filter) {
                notes.fault(Source::named(FILTER_VARIABLE).fault(None, "", message));
            }
            log.filter = filter;
        }
        None => {
            if let Err(message) = log_filter::check(&log.filter) {
                notes.fault(document.fault("log.filter", message));
            }
        }
    }
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
            limits: spec.limits,
            authorizers,
            graphs,
            chains,
            access,
            decisions,
            log,
            shutdown: spec.shutdown,
            files: std::mem::take(&mut notes.files),
            warnings: std::mem::take(&mut notes.warnings),
            exposed: std::mem::take(&mut notes.exposed),
        }),
    }
}

/// A file with a `listener` is one of acjs, which takes keys it doesn't know.
fn read_spec(
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

/// acjs takes numbers for text where text is wanted: `params: 0660`, `name: 404`.
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

fn open(source: ConfigSource<'_>) -> Result<Document, Faults> {
    let source = match source {
        ConfigSource::File(path) => {
            Source::read(path).map_err(|reason| unreadable(path, &reason))?
        }
        ConfigSource::Policies(folder) => of_folder(folder)?,
        ConfigSource::BuiltIn(text) => Source::text_named("built-in configuration", text),
    };
    yaml::parse_map(&source)
}

/// The configuration of a folder of policies.
fn of_folder(folder: &Path) -> Result<Arc<Source>, Faults> {
    let label = folder.display().to_string();
    let fault = |message: String| Faults::from(Source::named(&label).fault(None, "", message));
    std::fs::read_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fault("there is no such folder of policies".to_owned()),
        _ => fault(format!("cannot read the folder of policies: {error}")),
    })?;
    let Some(path) = folder.to_str() else {
        return Err(fault("the name of the folder is not UTF-8".to_owned()));
    };
    let spec = serde_json::json!({"policyDirs": [path], "defaultAction": "allow"});
    Ok(Source::text_named(label, spec.to_string()))
}

fn unreadable(path: &Path, reason: &str) -> Fault {
    Source::named(path.display().to_string()).fault(
        None,
        "",
        format!("cannot read the file: {reason}"),
    )
}

/// The plug-ins that run: those of the file and of the `AdmissionConfiguration`, in the order that wins.
fn chain(
    document: &Document,
    spec: &AdmissionSpec,
    has_policies: bool,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Vec<PluginEntry> {
    let mut configured = resolve::of_file(document, &spec.plugins, notes);
    if let Some(source) = admission_file(document, spec, options, notes) {
        configured.extend(admission::read_plugins(&source, notes));
    }
    let split = |text: String| text.split(',').map(|name| name.trim().to_owned()).collect();
    let order = if let Some(names) = &options.admission_control {
        let names = names.iter().map(|name| name.trim().to_owned()).collect();
        Order::Named {
            label: ORDER_FLAG,
            names,
        }
    } else if let Some(text) = options.variable(ORDER_VARIABLE) {
        Order::Named {
            label: ORDER_VARIABLE,
            names: split(text),
        }
    } else if let Some(names) = &spec.order {
        Order::File(names.clone())
    } else {
        Order::AsConfigured { has_policies }
    };
    let plugins = resolve::plugins(document, configured, order, options.known_plugins, notes);
    if has_policies && !plugins.iter().any(|p| p.name == crate::POLICIES) {
        notes.warn(format!(
            "there are policies, but `{}` is not in the order: they are not evaluated",
            crate::POLICIES
        ));
    }
    plugins
}

fn admission_file(
    document: &Document,
    spec: &AdmissionSpec,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Option<Arc<Source>> {
    if let Some(path) = &options.admission_control_config_file {
        notes.watch(path);
        return Source::read(path)
            .map_err(|reason| {
                notes.fault(unreadable(path, &reason).with_help(format!("named by {FILE_FLAG}")))
            })
            .ok();
    }
    notes.read_named(document, "admission.configFile", spec.config_file.as_ref()?)
}

fn log_format(options: &LoadOptions<'_>, notes: &mut Notes) -> Option<LogFormat> {
    let text = options.variable(FORMAT_VARIABLE)?;
    let found = LogFormat::ALL.iter().find(|(name, _)| *name == text);
    if found.is_none() {
        let message = format!("unknown value `{text}`");
        let fault = Source::named(FORMAT_VARIABLE).fault(None, "", message);
        let known = LogFormat::ALL.iter().map(|(name, _)| *name);
        notes.fault(fault.with_known("known values", &text, known));
    }
    found.map(|(_, format)| *format)
}

fn check_namespaces(document: &Document, namespaces: &[Namespace], notes: &mut Notes) {
    let mut seen = HashSet::new();
    for (index, namespace) in namespaces.iter().enumerate() {
        let at = format!("namespaces[{index}].name");
        if namespace.name.is_empty() {
            notes.fault(document.fault(&at, "the name is empty"));
        } else if !seen.insert(namespace.name.as_str()) {
            notes.fault(document.fault(
                &at,
                format!("the namespace `{}` is given twice", namespace.name),
            ));
        }
    }
}
