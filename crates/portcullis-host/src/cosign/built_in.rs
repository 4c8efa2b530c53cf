//! Signatures verified here: those of a key, beside the image in its registry as cosign keeps them, at the tag
//! `sha256-….sig`.
//!
//! Never accepted is what `cosign verify --key` with the same arguments would refuse, but for what it looks up besides:
//! see `docs/policies.md`. Signatures with a certificate, keys that are not in files, bundles and the transparency log
//! are not supported.

use std::path::Path;
use std::time::Instant;

use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_authn::PublicKey;
use portcullis_core::clock;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::payload;
use crate::context::HostContext;
use crate::reference::Reference;
use crate::registry::{Descriptor, Session, digest_of};

/// The largest key file.
const KEY: u64 = 64 << 10;

/// The most signatures of an image.
const MOST: usize = 64;

/// The largest text that is signed.
const PAYLOAD: usize = 256 << 10;

const PAYLOAD_TYPE: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
const CERTIFICATE: &str = "dev.sigstore.cosign/certificate";

/// The variable by which cosign is told that signatures are elsewhere.
const ELSEWHERE: &str = "COSIGN_REPOSITORY";

#[derive(Deserialize)]
struct SignatureManifest {
    #[serde(default)]
    layers: Vec<Descriptor>,
}

/// The signatures of an image by this key, at least one.
pub(super) async fn verify(
    key: &str,
    image: &Reference,
    context: &HostContext,
    deadline: Instant,
) -> Result<Value, String> {
    let about = |error: String| format!("{}: {error}", image.as_str());
    let arguments = Arguments::read(&context.settings.cosign_arguments)?;
    arguments.check()?;
    if std::env::var_os(ELSEWHERE).is_some_and(|set| !set.is_empty()) {
        return Err(format!(
            "the built-in verification does not support {ELSEWHERE}"
        ));
    }
    let text = read_key(key)?;
    let key = PublicKey::from_pem(&text).map_err(|error| format!("the key `{key}`: {error}"))?;
    let mut session = context.registries.session(image, deadline).map_err(about)?;
    let digest = match image.digest() {
        Some(digest) => digest.to_owned(),
        None => session.resolve(image.tag()).await.map_err(about)?,
    };
    let question = question(&text, image, &digest, &arguments);
    if let Some(found) = context.verified.get(&question, clock::monotonic()) {
        return Ok(found);
    }
    let found = signatures(&key, &digest, &arguments, &mut session).await;
    let found = Value::Array(found.map_err(about)?);
    context.verified.put(question, &found, clock::monotonic());
    Ok(found)
}

async fn signatures(
    key: &PublicKey,
    digest: &str,
    arguments: &Arguments,
    session: &mut Session<'_>,
) -> Result<Vec<Value>, String> {
    let tag = format!("{}.sig", digest.replace(':', "-"));
    let none = || "no signatures found".to_owned();
    let (manifest, _) = session.manifest(&tag).await?.ok_or_else(none)?;
    let manifest: SignatureManifest = serde_json::from_slice(&manifest)
        .map_err(|_| format!("the manifest of `{tag}` can't be read"))?;
    let layers = manifest.layers;
    if layers.is_empty() {
        return Err(none());
    }
    if layers.len() > MOST {
        return Err(format!("more than {MOST} signatures"));
    }
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for layer in &layers {
        match signature(key, digest, arguments, session, layer).await {
            Ok(payload) => found.push(payload),
            Err(Failed::Signature(why)) => reasons.push(why),
            Err(Failed::Registry(why)) => return Err(why),
        }
    }
    match found.is_empty() {
        false => Ok(found),
        true => {
            reasons.dedup();
            Err(format!("no matching signatures: {}", reasons.join("; ")))
        }
    }
}

/// Why a signature does not count.
enum Failed {
    /// It is not one of this key for this image.
    Signature(String),
    /// The registry does not give it.
    Registry(String),
}

async fn signature(
    key: &PublicKey,
    digest: &str,
    arguments: &Arguments,
    session: &mut Session<'_>,
    layer: &Descriptor,
) -> Result<Value, Failed> {
    let failed = |why: &str| Failed::Signature(why.to_owned());
    let annotation = |key: &str| layer.annotations.as_ref().and_then(|all| all.get(key));
    if layer.media_type != PAYLOAD_TYPE {
        return Err(failed("not a simple signing payload"));
    }
    if annotation(CERTIFICATE).is_some_and(|text| !text.is_empty()) {
        return Err(failed("signatures with a certificate are not supported"));
    }
    let signature = annotation(SIGNATURE).ok_or_else(|| failed("a signature is missing"))?;
    let signature = STANDARD.decode(signature);
    let signature = signature.map_err(|_| failed("a signature is not base64"))?;
    let payload = session
        .blob(layer, PAYLOAD)
        .await
        .map_err(Failed::Registry)?;
    if !key.verify(&payload, &signature) {
        return Err(failed("invalid signature when validating with the key"));
    }
    payload::check(&payload, digest, &arguments.annotations).map_err(Failed::Signature)
}

fn read_key(key: &str) -> Result<Vec<u8>, String> {
    if key.contains("://") {
        return Err(format!(
            "the built-in verification needs a key file, `{key}` is something else: install cosign"
        ));
    }
    portcullis_files::read(Path::new(key), KEY)
        .map_err(|reason| format!("cannot read the key `{key}`: {reason}"))
}

/// The digest of everything that a success depends on.
fn question(key: &[u8], image: &Reference, digest: &str, arguments: &Arguments) -> [u8; 32] {
    let annotations: Map<String, Value> = arguments
        .annotations
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().into()))
        .collect();
    let mut context = Context::new(&SHA256);
    let annotations = Value::from(annotations).to_string();
    for part in [
        digest_of(key).as_bytes(),
        image.name().as_bytes(),
        digest.as_bytes(),
        annotations.as_bytes(),
    ] {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let mut question = [0; 32];
    for (byte, from) in question.iter_mut().zip(context.finish().as_ref()) {
        *byte = *from;
    }
    question
}
