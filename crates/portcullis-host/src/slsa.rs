//! `slsaVerify({SourceURI, BuilderID, ProvenancePath})`: every image of the object was built of this
//! source by this builder, as this provenance says.

use std::ffi::OsString;
use std::time::Instant;

use portcullis_js::HostRequest;
use serde_json::Value;

use crate::arguments::{argument, options, plain};
use crate::context::HostContext;
use crate::images::images;
use crate::reference::Reference;
use crate::tool::{Failure, ToolError, how};

/// What a provenance has to say.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) source: String,
    pub(crate) builder: String,
    pub(crate) provenance: OsString,
}

/// A call of `slsaVerify`.
#[derive(Debug)]
pub(crate) struct SlsaVerify {
    expected: Expected,
    images: Vec<Reference>,
}

impl SlsaVerify {
    /// Reads the arguments.
    pub(crate) fn prepare(request: &HostRequest<'_>) -> Result<Self, String> {
        let names = ["SourceURI", "BuilderID", "ProvenancePath"];
        let [source, builder, provenance] = options(argument(request, 0), names)?;
        let expected = Expected {
            source: plain(source, "SourceURI of slsaVerify")?.to_owned(),
            builder: plain(builder, "BuilderID of slsaVerify")?.to_owned(),
            provenance: plain(provenance, "ProvenancePath of slsaVerify")?.into(),
        };
        Ok(Self {
            expected,
            images: images(request.object)?,
        })
    }

    /// True, or what the verifier said.
    pub(crate) async fn run(
        self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Value, String> {
        for image in &self.images {
            verify(image, &self.expected, context, deadline).await?;
        }
        Ok(Value::Bool(true))
    }
}

/// Has one image verified.
pub(crate) async fn verify(
    image: &Reference,
    expected: &Expected,
    context: &HostContext,
    deadline: Instant,
) -> Result<(), String> {
    let arguments: [OsString; 9] = [
        "verify-image".into(),
        "--provenance-path".into(),
        expected.provenance.clone(),
        "--builder-id".into(),
        (&expected.builder).into(),
        "--source-uri".into(),
        (&expected.source).into(),
        "--".into(),
        image.as_str().into(),
    ];
    let program = &context.settings.slsa_verifier;
    let output = context.tools.run(program, &arguments, deadline).await;
    output.map(|_| ()).map_err(|error| words(&error, image))
}

fn words(error: &ToolError, image: &Reference) -> String {
    let image = image.as_str();
    match &error.failure {
        Failure::Ended(status, output) if !output.is_empty() => {
            let how = how(*status);
            format!(
                "invoking the slsa-verifier cli failed: {output} ({} {how} for {image})",
                error.tool
            )
        }
        _ => format!("invoking the slsa-verifier cli failed: {error} (for {image})"),
    }
}
