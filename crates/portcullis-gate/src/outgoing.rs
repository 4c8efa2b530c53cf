//! Plug-ins that ask other servers: `Webhook` another admission webhook, `ImagePolicyWebhook` a backend of image
//! policies.
//!
//! What they ask and hear is recorded like the host calls of policies, and answers from the record when decisions are
//! made again. How servers are reached and which answers count is in `portcullis-host`.

mod calls;
mod image_policy;
mod settings;
#[cfg(test)]
mod testing;
mod webhook;

use std::sync::Arc;

use portcullis_kube::Descriptor;

use crate::observer::Observer;
use calls::Outgoing;

/// The plug-ins, making their calls so; an observer may have the answers.
pub(crate) fn descriptors(observer: Option<Arc<dyn Observer>>) -> [Descriptor; 2] {
    let outgoing = Arc::new(Outgoing::new(observer));
    [
        webhook::descriptor(&outgoing),
        image_policy::descriptor(&outgoing),
    ]
}
