//! `cosignVerify(keyPath)`: every image of the object has a signature of this key.

use std::ffi::OsString;
use std::time::Instant;

use portcullis_js::HostRequest;
use serde_json::{Map, Value};

use crate::arguments::{argument, plain};
use crate::context::HostContext;
use crate::images::images;
use crate::reference::Reference;

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

    /// What cosign says about each image, by image.
    pub(crate) async fn run(
        self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Value, String> {
        let mut found = Map::new();
        for image in &self.images {
            let signatures = self.verify(image, context, deadline).await;
            let signatures = signatures.map_err(|e| {
                format!("invoking the cosign cli failed for {}: {e}", image.as_str())
            })?;
            found.insert(image.as_str().to_owned(), signatures);
        }
        Ok(Value::Object(found))
    }

    async fn verify(
        &self,
        image: &Reference,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Value, String> {
        let mut arguments: Vec<OsString> =
            vec!["verify".into(), "--key".into(), (&self.key).into()];
        arguments.extend(context.settings.cosign_arguments.iter().map(OsString::from));
        arguments.extend(["--".into(), image.as_str().into()]);
        let program = &context.settings.cosign;
        let output = context.tools.run(program, &arguments, deadline).await;
        let output = output.map_err(|error| error.to_string())?;
        match serde_json::from_slice(&output.stdout) {
            Ok(Value::Array(signatures)) if !signatures.is_empty() => Ok(Value::Array(signatures)),
            Ok(_) => Err("it printed no list of signatures".to_owned()),
            Err(_) => Err("what it printed is not JSON".to_owned()),
        }
    }
}
