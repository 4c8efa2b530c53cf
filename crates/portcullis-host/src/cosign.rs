//! `cosignVerify(keyPath)`: every image of the object has a signature of this key.
//!
//! The program `cosign` verifies, or what is built in where it is not installed; the configuration may choose one.

mod arguments;
mod built_in;
mod payload;
mod program;

use std::time::Instant;

use portcullis_js::HostRequest;
use serde_json::{Map, Value};

use crate::arguments::{argument, plain};
use crate::context::HostContext;
use crate::images::images;
use crate::program::find;
use crate::reference::Reference;
use crate::settings::SignatureVerifier;

/// A call of `cosignVerify`.
#[derive(Debug)]
pub(crate) struct CosignVerify {
    key: String,
    images: Vec<Reference>,
}

impl CosignVerify {
    /// Reads the arguments.
    pub(crate) fn prepare(request: &HostRequest<'_>) -> Result<Self, String> {
        Ok(Self {
            key: plain(argument(request, 0), "the key of cosignVerify")?.to_owned(),
            images: images(request.object)?,
        })
    }

    /// The signatures of each image, by image.
    pub(crate) async fn run(
        self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Value, String> {
        let mut found = Map::new();
        let is_built_in = is_built_in(context);
        for image in &self.images {
            let signatures = match is_built_in {
                true => built_in::verify(&self.key, image, context, deadline).await,
                false => {
                    let signatures = program::verify(&self.key, image, context, deadline).await;
                    signatures.map_err(|error| {
                        let image = image.as_str();
                        format!("invoking the cosign cli failed for {image}: {error}")
                    })
                }
            }?;
            found.insert(image.as_str().to_owned(), signatures);
        }
        Ok(Value::Object(found))
    }
}

/// Whether no program is run.
fn is_built_in(context: &HostContext) -> bool {
    match context.settings.signature_verifier {
        SignatureVerifier::Program => false,
        SignatureVerifier::BuiltIn => true,
        SignatureVerifier::Installed => {
            find(&context.settings.cosign, std::env::var_os("PATH")).is_err()
        }
    }
}
