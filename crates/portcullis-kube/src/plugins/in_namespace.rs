//! Makes sure that the namespace of a request is known before a plug-in that looks it up is asked.
//!
//! The watch of namespaces may lag behind: a pod may come before its namespace did. Judging it by the labels of
//! an unknown namespace, which has none, would let it pass. So what isn't known is read from the API server first.
//! Without a cluster a plug-in stays as it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{
    Attributes, Document, Finished, Notes, Operation, Outcome, Pending, Phase, Phases, Plugin,
    PluginError, Runs, clock,
};

use crate::namespaces::Namespaces;

use super::environment::PluginEnvironment;

/// How long reading may take, unless the chain says something else.
const DEFAULT_TIME: Duration = Duration::from_secs(2);

struct InNamespace<P> {
    plugin: Arc<P>,
    namespaces: Arc<dyn Namespaces>,
    /// Whether the plug-in looks up the namespace of this request.
    concerns: fn(&Attributes) -> bool,
}

/// The plug-in, asked about the requests that `concerns` names once their namespace is known.
pub(super) fn in_namespace<P: Plugin + 'static>(
    plugin: P,
    environment: &PluginEnvironment,
    concerns: fn(&Attributes) -> bool,
) -> Arc<dyn Plugin> {
    let plugin = Arc::new(plugin);
    if !environment.objects.is_connected() {
        return plugin;
    }
    Arc::new(InNamespace {
        plugin,
        namespaces: Arc::clone(&environment.namespaces),
        concerns,
    })
}

impl<P: Plugin + 'static> Plugin for InNamespace<P> {
    fn handles(&self, operation: Operation) -> bool {
        self.plugin.handles(operation)
    }

    fn phases(&self) -> Phases {
        self.plugin.phases()
    }

    fn runs(&self) -> Runs {
        Runs::Deferred
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        self.plugin.resources()
    }

    fn admit(&self, request: &mut Attributes, notes: &mut Notes) -> Result<Outcome, PluginError> {
        self.plugin.admit(request, notes)
    }

    fn validate(&self, request: &Attributes, notes: &mut Notes) -> Result<Outcome, PluginError> {
        self.plugin.validate(request, notes)
    }

    fn begin(&self, phase: Phase, request: &Attributes, deadline: Option<Instant>) -> Pending {
        let deadline = deadline.unwrap_or_else(|| clock::monotonic() + DEFAULT_TIME);
        let wanted = (self.concerns)(request) && !request.namespace.is_empty();
        let reading = match wanted {
            true => self.namespaces.prepare(&request.namespace, deadline),
            false => None,
        };
        let Some(reading) = reading else {
            return Box::pin(std::future::ready(ask(&*self.plugin, phase, request)));
        };
        let (plugin, request) = (Arc::clone(&self.plugin), request.clone());
        Box::pin(async move {
            match reading.await {
                Ok(()) => ask(&*plugin, phase, &request),
                Err(why) => Finished {
                    outcome: Err(PluginError::Failed(why)),
                    notes: Notes::default(),
                    object: None,
                },
            }
        })
    }
}

/// What one half of the plug-in says.
pub(super) fn ask(plugin: &dyn Plugin, phase: Phase, request: &Attributes) -> Finished {
    let mut notes = Notes::default();
    if phase == Phase::Validate {
        let outcome = plugin.validate(request, &mut notes);
        return Finished {
            outcome,
            notes,
            object: None,
        };
    }
    let revision = |request: &Attributes| request.object.as_ref().map(Document::revision);
    let mut request = request.clone();
    let before = revision(&request);
    let outcome = plugin.admit(&mut request, &mut notes);
    let object = match request.object {
        Some(object) if Some(object.revision()) != before => object.value().ok().cloned(),
        _ => None,
    };
    Finished {
        outcome,
        notes,
        object,
    }
}
