//! The chain of admission plug-ins: what determines which plug-ins run, and in which order.

use std::sync::Arc;

use super::admission_file;
use super::plugins::{Order, of_file, plugins};
use crate::{
    POLICIES,
    model::{AdmissionSpec, PluginEntry},
    notes::{Notes, unreadable},
    options::LoadOptions,
};
use portcullis_document::{Document, Source};

const ORDER_FLAG: &str = "--admission-control";
const FILE_FLAG: &str = "--admission-control-config-file";
const ORDER_VARIABLE: &str = "PORTCULLIS_ADMISSION_CONTROL";

/// The plug-ins that run: those of the file and of the `AdmissionConfiguration`, in the order that wins.
pub(crate) fn chain(
    document: &Document,
    spec: &AdmissionSpec,
    has_policies: bool,
    options: &LoadOptions<'_>,
    notes: &mut Notes,
) -> Vec<PluginEntry> {
    let mut configured = of_file(document, &spec.plugins, notes);
    if let Some(source) = admission_file(document, spec, options, notes) {
        configured.extend(admission_file::read_plugins(&source, notes));
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
    let plugins = plugins(document, configured, order, options.known_plugins, notes);
    if has_policies && !plugins.iter().any(|p| p.name == POLICIES) {
        notes.warn(format!(
            "there are policies, but `{}` is not in the order: they are not evaluated",
            POLICIES
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
        return crate::read_source(path)
            .map_err(|reason| {
                notes.fault(unreadable(path, &reason).with_help(format!("named by {FILE_FLAG}")))
            })
            .ok();
    }
    notes.read_named(document, "admission.configFile", spec.config_file.as_ref()?)
}
