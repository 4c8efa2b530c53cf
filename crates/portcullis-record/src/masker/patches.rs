//! Patches and host calls: trees that policies made.

use portcullis_core::patch::PatchOperation;
use portcullis_core::{Attributes, HostCallStep, HostFunction, pointer};
use serde_json::Value;

use crate::mask::paths::{Paths, Places, Target};
use crate::mask::value::{self, Context};
use crate::mask::{Header, Secret};

/// What is known of the object that patches change.
pub(super) struct Patched<'a> {
    paths: &'a Paths,
    /// Places of the configuration's that the object has or had.
    known: Places,
    header: Header,
    /// The object as it is after all changes.
    object: Option<&'a Value>,
}

impl<'a> Patched<'a> {
    /// Of this request.
    pub(super) fn new(paths: &'a Paths, request: &'a Attributes) -> Self {
        Self {
            paths,
            known: paths.in_patches(request),
            header: Header::of_kind(&request.kind),
            object: request.object.as_ref().and_then(|o| o.value().ok()),
        }
    }

    /// Masks what a patch puts into the object.
    pub(super) fn mask(&self, patch: &mut [PatchOperation], secrets: &mut Vec<Secret<'_>>) {
        for operation in patch {
            if let PatchOperation::Add { path, value } | PatchOperation::Replace { path, value } =
                operation
            {
                self.mask_value(path, value, secrets);
            }
        }
    }

    /// Masks the patch in what another server answered to a plug-in.
    pub(super) fn mask_result(&self, call: &mut HostCallStep, secrets: &mut Vec<Secret<'_>>) {
        let result = call.result.as_mut().and_then(Value::as_object_mut);
        let (HostFunction::Webhook, Some(result)) = (call.function, result) else {
            return;
        };
        let Some(written) = result.remove("patch") else {
            return;
        };
        // What can't be masked is not recorded.
        if let Ok(mut patch) = serde_json::from_value::<Vec<PatchOperation>>(written) {
            self.mask(&mut patch, secrets);
            if let Ok(written) = serde_json::to_value(patch) {
                result.insert("patch".to_owned(), written);
            }
        }
    }

    fn mask_value(&self, path: &str, value: &mut Value, secrets: &mut Vec<Secret<'_>>) {
        let mut context = Context::of_object(self.header);
        let mut here = self.object;
        let mut tokens = Vec::new();
        for token in pointer::keys(path) {
            let index = token.parse::<usize>().ok();
            let is_index = match here {
                Some(Value::Array(_)) => true,
                Some(Value::Object(_)) => false,
                _ => index.is_some() || token == "-",
            };
            if is_index {
                context = context.element();
                here = here.and_then(|list| list.get(index?));
            } else {
                context = context.member(&token, here.and_then(Value::as_object));
                here = here.and_then(|object| object.get(token.as_ref()));
            }
            tokens.push((token.into_owned(), is_index));
        }
        let target = Target {
            tokens: &tokens,
            value,
        };
        let places = self.paths.in_target(&target, &self.known);
        value::mask(value, context, places.as_ref(), secrets);
    }
}

/// Masks the arguments and the result of a host call.
pub(super) fn mask_host_call(call: &mut HostCallStep, secrets: &mut Vec<Secret<'_>>) {
    let context = Context::of_object(Header::default());
    for value in call.arguments.iter_mut().chain(call.result.as_mut()) {
        value::mask(value, context, None, secrets);
    }
}
