//! Artifacts of jobs: their runners upload them, and those of later jobs download them.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use portcullis_ci::{ArtifactDownload, NewArtifact};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use super::{BAD_JOB_TOKEN, JOB_TOKEN, multipart, not_running, token_in_header, unknown_job};
use crate::api::access::{Access, Credential};
use crate::api::answer;
use crate::api::call::{Answering, Call};
use crate::api::ci::{Object, created};
use crate::api::endpoint::{Endpoint, Success, Tag, Verb, get, text};
use crate::api::query::Query;
use crate::http::Response;
use crate::http::answer::Answer;
use crate::http::error::HttpError;

/// Bytes that are read and sent at once.
const PIECE: usize = 64 << 10;
/// Pieces that wait for the client.
const PIECES: usize = 4;

/// What runners do with artifacts.
pub(in crate::api::ci) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        method: Verb::Post,
        upload: Some("multipart/form-data"),
        query: &[
            text(
                "artifact_type",
                "What it is; by default `archive`.",
                "archive",
            ),
            text("artifact_format", "Ignored.", "zip"),
            text("expire_in", "How long it is kept.", "1 week"),
        ],
        refusals: &[
            BAD_JOB_TOKEN,
            (409, "The job has too many artifacts."),
            (415, "The body is not `multipart/form-data`."),
            (422, "The type is invalid."),
            (429, "The job uploads too much at once."),
        ],
        ..get(
            ("/api/v4/jobs/{id}/artifacts", "uploadArtifact"),
            Tag::Runners,
            Access::Credential(Credential::Job),
            (
                "Upload an artifact of a job",
                "A form with a `file`. It takes the place of an earlier one of its type.",
            ),
            created::<Object>("It is stored."),
            upload,
        )
    }
    .with_ci(),
    Endpoint {
        query: &[text("direct_download", "Ignored.", "false")],
        refusals: &[BAD_JOB_TOKEN],
        ..get(
            ("/api/v4/jobs/{id}/artifacts", "downloadArtifact"),
            Tag::Runners,
            Access::Credential(Credential::Job),
            (
                "Download the archive of a job",
                "With the token of the job, or the one that jobs which depend on it are given.",
            ),
            Success::Other {
                description: "The archive.",
                content_type: "application/octet-stream",
            },
            download,
        )
    }
    .with_ci(),
];

/// `POST /api/v4/jobs/{id}/artifacts`
fn upload(mut call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let id = call.number(unknown_job)?;
        let jobs = call.jobs().await?;
        let token = token_in_header(&call, JOB_TOKEN).ok_or_else(unknown_job)?;
        let mut upload = match jobs.begin_artifact(id, &token).await {
            Ok(upload) => upload,
            Err(error) => return not_running(error),
        };
        let mut query = Query::of(call.head);
        let declared = NewArtifact {
            kind: query
                .take("artifact_type")?
                .unwrap_or_else(|| "archive".to_owned()),
            name: "artifacts.zip".to_owned(),
            expire_in: query.take("expire_in")?,
        };
        let boundary = multipart::boundary(&call)?;
        let new = multipart::read(&mut call, boundary, &mut upload, declared).await?;
        let (kind, name) = (new.kind.clone(), new.name.clone());
        match jobs.finish_artifact(upload, new).await {
            Ok(size) => {
                answer::created(&json!({"artifact_type": kind, "name": name, "size": size}))
            }
            Err(error) => not_running(error),
        }
    })
}

/// `GET /api/v4/jobs/{id}/artifacts`
fn download(call: Call<'_>) -> Answering<'_> {
    Box::pin(async move {
        let id = call.number(unknown_job)?;
        let jobs = call.jobs().await?;
        let token = token_in_header(&call, JOB_TOKEN).ok_or_else(unknown_job)?;
        match jobs.open_artifact(id, &token).await {
            Ok(found) => sent(found),
            Err(error) => not_running(error),
        }
    })
}

/// The content of a file, as the client takes it.
fn sent(found: ArtifactDownload) -> Result<Response, HttpError> {
    let ArtifactDownload {
        name,
        size,
        mut file,
        ..
    } = found;
    let (sender, pieces) = mpsc::channel::<Bytes>(PIECES);
    tokio::spawn(async move {
        let mut buffer = vec![0; PIECE];
        // A client that is gone, or a file that can't be read, ends it: then the length is wrong.
        while let Ok(count @ 1..) = file.read(&mut buffer).await {
            let piece = Bytes::copy_from_slice(buffer.get(..count).unwrap_or_default());
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    });
    let mut response = Response::new(Answer::stream(pieces));
    *response.status_mut() = StatusCode::OK;
    let wrong = |_| HttpError::internal();
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    let kind = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, kind);
    let disposition = format!("attachment; filename=\"{}\"", plain(&name));
    let disposition = HeaderValue::try_from(disposition).map_err(wrong)?;
    headers.insert(CONTENT_DISPOSITION, disposition);
    Ok(response)
}

/// A name that means nothing to headers and shells.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    name.take(100).collect()
}
