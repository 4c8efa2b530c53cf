//! `portcullis generate webhooks`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use portcullis_config::{Listening, PendingMutation};
use portcullis_gate::registration::{
    Exclusion, MUTATING_PATH, Registration, Rule, VALIDATING_PATH, VITAL_NAMESPACES,
};
use serde_json::{Value, json};

use super::manifests::{self, Format, metadata};
use super::place::{Place, PlaceArguments, namespace};
use super::{authority, loaded};
use crate::arguments::Configuration;
use crate::commands::failure::{Failure, remark};
use crate::exit::Exit;

/// The label that every namespace has, with its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

#[derive(Debug, Args)]
pub(super) struct Webhooks {
    #[command(flatten)]
    configuration: Configuration,
    #[command(flatten)]
    place: PlaceArguments,
    /// CA certificates of Portcullis' listener, in PEM format [default: those in the listener's certificate file].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ca: Option<PathBuf>,
    /// The name of the registrations.
    #[arg(long, value_name = "NAME", default_value = "portcullis", value_parser = namespace)]
    name: String,
    /// Register this phase only; `auto`: those that the plug-ins need.
    #[arg(long, value_name = "PHASE", value_enum, default_value_t = PhaseChoice::Auto)]
    phase: PhaseChoice,
    /// Judge requests in this namespace only; may be repeated.
    #[arg(long = "namespace", short = 'n', value_name = "NAMESPACE", value_parser = namespace)]
    namespaces: Vec<String>,
    /// Exempt a further namespace; may be repeated. kube-system, kube-node-lease and the namespace of the Service always are.
    #[arg(long = "exempt", value_name = "NAMESPACE", value_parser = namespace)]
    exempt: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    output: Format,
}

/// Which phases are registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PhaseChoice {
    /// Those that are needed.
    Auto,
    /// The mutating one.
    Mutating,
    /// The validating one.
    Validating,
}

/// One of the two phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Mutating,
    Validating,
}

/// Prints the registrations.
pub(super) fn run(webhooks: &Webhooks) -> Result<Exit, Failure> {
    let listeners = match webhooks.ca.is_some() && webhooks.place.is_given() {
        true => Listening::Ignored,
        false => Listening::Optional,
    };
    let loaded = loaded(&webhooks.configuration, listeners)?;
    let place = webhooks.place.place(&loaded)?;
    let registration = Registration::of(&loaded).map_err(|faults| Failure::faults(&faults))?;
    if registration.rules.is_empty() {
        let message = "the configuration judges no requests: it has neither plug-ins nor policies for Kubernetes";
        return Err(Failure::new(Exit::Nothing, message));
    }
    let bundle = authority::bundle(webhooks.ca.as_deref(), &loaded)?;
    let phases = phases(webhooks.phase, &registration);
    if !phases.contains(&Phase::Mutating)
        && registration.may_change
        && loaded.pending_mutation == PendingMutation::Ignore
    {
        remark(
            "plug-ins or policies may change objects, which the validating phase can't return: their changes are ignored \
             unless `admission.pendingMutation: refuse` is set",
        );
    }
    registration.notes.iter().for_each(|note| remark(note));
    let made = phases.iter().map(|phase| {
        let webhook = webhook(*phase, webhooks, &registration, &place, bundle.as_deref());
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": match phase {
                Phase::Mutating => "MutatingWebhookConfiguration",
                Phase::Validating => "ValidatingWebhookConfiguration",
            },
            "metadata": metadata(&webhooks.name),
            "webhooks": [webhook],
        })
    });
    manifests::print(&made.collect::<Vec<_>>(), webhooks.output);
    Ok(Exit::Yes)
}

fn phases(choice: PhaseChoice, registration: &Registration) -> Vec<Phase> {
    match choice {
        PhaseChoice::Mutating => vec![Phase::Mutating],
        PhaseChoice::Validating => vec![Phase::Validating],
        PhaseChoice::Auto => {
            let needed = [
                (Phase::Mutating, registration.may_change),
                (Phase::Validating, registration.may_deny),
            ];
            let needed = needed.into_iter().filter(|(_, is_needed)| *is_needed);
            needed.map(|(phase, _)| phase).collect()
        }
    }
}

fn webhook(
    phase: Phase,
    webhooks: &Webhooks,
    registration: &Registration,
    place: &Place,
    bundle: Option<&str>,
) -> Value {
    let (name, path) = match phase {
        Phase::Mutating => ("mutate.portcullis.dev", MUTATING_PATH),
        Phase::Validating => ("validate.portcullis.dev", VALIDATING_PATH),
    };
    let mut client = place.client_config(path);
    if let (Some(bundle), Some(client)) = (bundle, client.as_object_mut()) {
        client.insert("caBundle".to_owned(), bundle.into());
    }
    let mut webhook = json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": client,
        "rules": registration.rules.iter().map(rule).collect::<Vec<_>>(),
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchExpressions": selector(webhooks, place)},
        "failurePolicy": if registration.fails_open { "Ignore" } else { "Fail" },
        "sideEffects": if registration.has_side_effects { "NoneOnDryRun" } else { "None" },
        "timeoutSeconds": registration.timeout_seconds,
    });
    if let (Phase::Mutating, Some(webhook)) = (phase, webhook.as_object_mut()) {
        webhook.insert("reinvocationPolicy".to_owned(), "IfNeeded".into());
    }
    let conditions: Vec<Value> = registration.exclusions().map(condition).collect();
    if let (false, Some(webhook)) = (conditions.is_empty(), webhook.as_object_mut()) {
        webhook.insert("matchConditions".to_owned(), conditions.into());
    }
    webhook
}

fn condition(exclusion: &Exclusion) -> Value {
    json!({"name": exclusion.name, "expression": exclusion.expression})
}

fn rule(rule: &Rule) -> Value {
    let operations: Vec<&str> = match rule.has_all_operations() {
        true => vec!["*"],
        false => rule.operations.iter().map(|one| one.as_str()).collect(),
    };
    json!({
        "apiGroups": [rule.group],
        "apiVersions": [rule.version],
        "resources": rule.resources,
        "operations": operations,
        "scope": rule.scope.as_str(),
    })
}

/// Namespaces without which a cluster could not start Portcullis again are never asked about.
fn selector(webhooks: &Webhooks, place: &Place) -> Vec<Value> {
    let mut exempt = BTreeSet::from(VITAL_NAMESPACES);
    exempt.extend(place.namespace());
    exempt.extend(webhooks.exempt.iter().map(String::as_str));
    let expression = |operator: &str, values: &BTreeSet<&str>| json!({"key": NAME_LABEL, "operator": operator, "values": values});
    let mut expressions = vec![expression("NotIn", &exempt)];
    if !webhooks.namespaces.is_empty() {
        let only = webhooks.namespaces.iter().map(String::as_str).collect();
        expressions.push(expression("In", &only));
    }
    expressions
}
