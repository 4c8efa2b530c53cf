//! `AdmissionReview`, v1 and v1beta1.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_core::json::{self, Index, JsonFault, Scanned};
use portcullis_core::text::{one_line, shortened};
use portcullis_core::{
    Attributes, Denial, Document, Door, DoorContext, Kind, Operation, Resource, UserInfo, Verdict,
};
use serde::Serialize;

use super::member;
use crate::object::Object;

/// Longest warning API servers and clients show whole.
const WARNING_CHARACTERS: usize = 120;

/// Longest `uid`: those of Kubernetes have 36 characters, and the answer repeats it.
const UID_BYTES: usize = 1024;

/// A request for admission, and what its answer must repeat.
#[derive(Debug, Clone)]
pub struct AdmissionReview {
    /// `apiVersion` as sent.
    pub version: String,
    /// What is asked.
    pub attributes: Attributes,
    /// Where the lists and objects of the body are.
    pub index: Index,
}

/// What the answer repeats of the question, and what it may contain.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// `apiVersion` as sent.
    pub version: &'a str,
    /// What was asked.
    pub attributes: &'a Attributes,
    /// Whether the caller takes changes.
    pub may_patch: bool,
    /// In whose words.
    pub shape: Shape,
}

/// Whose answers an answer looks like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shape {
    /// As API servers want it: a status on a denial, with code and details.
    #[default]
    Kubernetes,
    /// As acjs gives it: always a status, no code but the policy's own.
    Acjs,
}

/// Reads a review.
///
/// # Errors
///
/// When the text is not strict JSON, not a review, or lacks what a review must have.
pub fn decode_admission(
    body: &[u8],
    context: DoorContext,
    received: Instant,
    deadline: Option<Instant>,
) -> Result<AdmissionReview, JsonFault> {
    let scanned = json::scan(body)?;
    let version = member::version(&scanned, "AdmissionReview", "admission.k8s.io")?;
    let request = member::object(&scanned, "request")?;
    let mut fields = Fields::default();
    for (key, text) in scanned.members_of("request") {
        fields.read(&scanned, key, text)?;
    }
    let missing = |key: &str| scanned.fault_at(request, &format!("request.{key} is missing"));
    let uid = fields
        .uid
        .filter(|uid| !uid.is_empty())
        .ok_or_else(|| missing("uid"))?;
    let operation = fields.operation.ok_or_else(|| missing("operation"))?;
    // API servers always send it, and what has none would be judged as if nothing were wrong with it.
    if fields.object.is_none() && matches!(operation, Operation::Create | Operation::Update) {
        return Err(missing("object"));
    }
    let context = DoorContext {
        request_kind: fields.request_kind,
        request_resource: fields.request_resource,
        request_subresource: fields.request_subresource,
        ..context
    };
    let attributes = Attributes {
        door: Door::Kubernetes,
        uid,
        operation,
        kind: fields.kind.ok_or_else(|| missing("kind"))?,
        resource: fields.resource.ok_or_else(|| missing("resource"))?,
        subresource: fields.subresource,
        name: fields.name,
        namespace: fields.namespace,
        user: fields.user,
        object: fields.object,
        old_object: fields.old_object,
        options: fields.options,
        dry_run: fields.dry_run,
        received,
        deadline,
        context: Arc::new(context),
    };
    Ok(AdmissionReview {
        version,
        attributes,
        index: scanned.index().clone(),
    })
}

/// The members of a request, as far as they have been read.
#[derive(Default)]
struct Fields {
    uid: Option<String>,
    operation: Option<Operation>,
    kind: Option<Kind>,
    resource: Option<Resource>,
    subresource: String,
    request_kind: Option<Kind>,
    request_resource: Option<Resource>,
    request_subresource: String,
    name: String,
    namespace: String,
    user: UserInfo,
    object: Option<Document>,
    old_object: Option<Document>,
    options: Option<Document>,
    dry_run: bool,
}

impl Fields {
    fn read(&mut self, scanned: &Scanned<'_>, key: &str, text: &str) -> Result<(), JsonFault> {
        macro_rules! read {
            () => {
                member::read(scanned, "request", key, text)?
            };
        }
        macro_rules! read_object {
            () => {{
                let object: Option<Object<_>> = read!();
                object.map(|Object(value)| value)
            }};
        }
        match key {
            "uid" => {
                self.uid = read!();
                if self.uid.as_ref().is_some_and(|uid| uid.len() > UID_BYTES) {
                    let message = format!("request.uid is longer than {UID_BYTES} bytes");
                    return Err(scanned.fault_at(text, &message));
                }
            }
            "operation" => {
                let name: Option<String> = read!();
                let known = name.as_deref().map(|name| name.parse().ok());
                self.operation = match known {
                    Some(None) => return Err(unknown_operation(scanned, text)),
                    known => known.flatten(),
                };
            }
            "kind" => self.kind = read_object!(),
            "resource" => self.resource = read_object!(),
            "subResource" => self.subresource = read!(),
            "requestKind" => self.request_kind = read_object!(),
            "requestResource" => self.request_resource = read_object!(),
            "requestSubResource" => self.request_subresource = read!(),
            "name" => self.name = read!(),
            "namespace" => self.namespace = read!(),
            "userInfo" => self.user = read_object!().unwrap_or_default(),
            "dryRun" => self.dry_run = read!(),
            "object" => self.object = document(scanned, key, text)?,
            "oldObject" => self.old_object = document(scanned, key, text)?,
            "options" => self.options = document(scanned, key, text)?,
            other => return written_otherwise(scanned, other, text),
        }
        Ok(())
    }
}

/// The members of a request that count.
const MEMBERS: [&str; 15] = [
    "uid",
    "operation",
    "kind",
    "resource",
    "subResource",
    "requestKind",
    "requestResource",
    "requestSubResource",
    "name",
    "namespace",
    "userInfo",
    "dryRun",
    "object",
    "oldObject",
    "options",
];

/// Members that newer API servers add are passed over; one that is written in another case is a fault,
/// since other programs may take it for the real one.
fn written_otherwise(scanned: &Scanned<'_>, key: &str, text: &str) -> Result<(), JsonFault> {
    // Go takes these two letters for `k` and `s`.
    let folded = |letter: char| match letter {
        '\u{212a}' => 'k',
        '\u{17f}' => 's',
        letter => letter.to_ascii_lowercase(),
    };
    let is_meant = |known: &&&str| {
        let known = known.chars().map(|letter| letter.to_ascii_lowercase());
        key.chars().map(folded).eq(known)
    };
    match MEMBERS.iter().find(is_meant) {
        None => Ok(()),
        Some(known) => {
            let message = format!("request.{key}: unknown member, did you mean `{known}`?");
            Err(scanned.fault_at(text, &message))
        }
    }
}

fn unknown_operation(scanned: &Scanned<'_>, text: &str) -> JsonFault {
    let message = "request.operation: expected CREATE, UPDATE, DELETE or CONNECT";
    scanned.fault_at(text, message)
}

fn document(scanned: &Scanned<'_>, key: &str, text: &str) -> Result<Option<Document>, JsonFault> {
    match text {
        "null" => Ok(None),
        text if text.starts_with('{') => Ok(Some(Document::from_scanned(scanned, text))),
        text => Err(scanned.fault_at(text, &format!("request.{key}: expected an object"))),
    }
}

/// Writes the answer to a review.
pub fn encode_admission(answer: Answer<'_>, verdict: &Verdict) -> Vec<u8> {
    let patch = (answer.may_patch && !verdict.patch.is_empty())
        .then(|| STANDARD.encode(serde_json::to_vec(&verdict.patch).unwrap_or_default()));
    let review = Review {
        api_version: answer.version,
        kind: "AdmissionReview",
        response: Response {
            uid: &answer.attributes.uid,
            allowed: verdict.is_allowed(),
            status: match answer.shape {
                Shape::Kubernetes => verdict
                    .denial()
                    .map(|denial| status(answer.attributes, denial)),
                Shape::Acjs => Some(acjs_status(verdict)),
            },
            patch_type: patch.as_ref().map(|_| "JSONPatch"),
            patch,
            audit_annotations: annotations(verdict),
            warnings: verdict.warnings.iter().map(|w| cut(w)).collect(),
        },
    };
    serde_json::to_vec(&review).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'a str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    audit_annotations: BTreeMap<&'a str, Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Status<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<NoMetadata>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
}

#[derive(Serialize)]
struct NoMetadata {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    causes: &'a [portcullis_core::Cause],
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u32>,
}

fn status<'a>(attributes: &'a Attributes, denial: &'a Denial) -> Status<'a> {
    Status {
        metadata: None,
        status: "Failure",
        message: Some(&denial.message),
        reason: Some(&denial.reason),
        details: Some(Details {
            name: &attributes.name,
            group: &attributes.resource.group,
            kind: &attributes.resource.resource,
            causes: &denial.causes,
            retry_after_seconds: denial.retry_after_seconds,
        }),
        code: Some(denial.code),
    }
}

/// A denial carries a code only if it is an unusual one, chosen by a policy.
fn acjs_status(verdict: &Verdict) -> Status<'_> {
    let denial = verdict.denial();
    let is_usual = |code: u16| code == 403 || code == 500;
    Status {
        metadata: Some(NoMetadata {}),
        status: if denial.is_some() {
            "Failure"
        } else {
            "Success"
        },
        message: denial.map(|d| d.message.as_str()),
        reason: denial.map(|d| d.reason.as_ref()),
        details: None,
        code: denial.map(|d| d.code).filter(|code| !is_usual(*code)),
    }
}

/// What the auditor gets: who decided, under which name, and everything cut short elsewhere.
fn annotations(verdict: &Verdict) -> BTreeMap<&str, Cow<'_, str>> {
    let own = verdict
        .annotations
        .iter()
        .map(|(k, v)| (k.as_str(), Cow::Borrowed(v.as_str())));
    let mut all: BTreeMap<_, _> = own.collect();
    all.insert("decision-id", verdict.id.to_string().into());
    if let Some(plugin) = &verdict.plugin {
        all.insert("plugin", Cow::Borrowed(plugin.as_ref()));
    }
    if let Some(policy) = &verdict.policy {
        all.insert("policy", Cow::Borrowed(policy));
    }
    if !verdict.warnings.is_empty() {
        all.insert("warnings", verdict.warnings.join("\n").into());
    }
    all
}

/// One line of at most [`WARNING_CHARACTERS`] characters.
fn cut(warning: &str) -> Cow<'_, str> {
    match shortened(warning, WARNING_CHARACTERS) {
        Cow::Borrowed(whole) => one_line(whole),
        Cow::Owned(short) => one_line(&short).into_owned().into(),
    }
}

#[cfg(test)]
mod tests;
