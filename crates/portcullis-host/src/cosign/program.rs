//! Signatures verified by the program `cosign`.

use std::ffi::OsString;
use std::time::Instant;

use serde_json::Value;

use crate::context::HostContext;
use crate::reference::Reference;

/// What cosign says about an image.
pub(super) async fn verify(
    key: &str,
    image: &Reference,
    context: &HostContext,
    deadline: Instant,
) -> Result<Value, String> {
    let mut arguments: Vec<OsString> = vec!["verify".into(), "--key".into(), key.into()];
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
