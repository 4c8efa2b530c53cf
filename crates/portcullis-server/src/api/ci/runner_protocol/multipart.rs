//! A form with one file, which goes to disk as it comes.

use std::time::Duration;

use http_body_util::BodyDataStream;
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_TYPE;
use multer::{Constraints, Field, Multipart, SizeLimit};
use portcullis_ci::{ArtifactUpload, NewArtifact};

use crate::api::call::Call;
use crate::http::body;
use crate::http::error::HttpError;

/// What a form may have beside its file.
const MOST_BESIDE: u64 = 64 << 10;
/// Fields, at most.
const MOST_FIELDS: usize = 32;
/// Bytes of a field that is text.
const MOST_TEXT: u64 = 4096;

/// The boundary of the form; 415 if it is none.
pub(super) fn boundary(call: &Call<'_>) -> Result<String, HttpError> {
    let header = call.head.headers.get(CONTENT_TYPE);
    let text = header.and_then(|value| value.to_str().ok());
    let boundary = text.and_then(|text| multer::parse_boundary(text).ok());
    let wrong = || HttpError::unsupported_media_type("expected content type multipart/form-data");
    boundary.ok_or_else(wrong)
}

/// Reads the form, and writes its file. `declared` is what the query says of it.
pub(super) async fn read(
    call: &mut Call<'_>,
    boundary: String,
    upload: &mut ArtifactUpload,
    declared: NewArtifact,
) -> Result<NewArtifact, HttpError> {
    let most = upload.most();
    let limit = most.saturating_add(MOST_BESIDE);
    let declared_size = call
        .body
        .as_ref()
        .map_or(0, |body| body.size_hint().lower());
    // Left unread: the one who answers passes over it.
    if declared_size > limit {
        return Err(HttpError::body_too_large(most));
    }
    let Some(mut incoming) = call.body.take() else {
        return Err(HttpError::internal());
    };
    let time: Duration = call.gate.limits.body_timeout.into();
    let mut reading = Reading { time, most, upload };
    let outcome = reading.read(&mut incoming, boundary, declared).await;
    if outcome.is_err() {
        body::drain(incoming);
    }
    outcome
}

struct Reading<'a> {
    /// How long each part may take to come.
    time: Duration,
    most: u64,
    upload: &'a mut ArtifactUpload,
}

impl Reading<'_> {
    async fn read(
        &mut self,
        incoming: &mut Incoming,
        boundary: String,
        mut new: NewArtifact,
    ) -> Result<NewArtifact, HttpError> {
        let sizes = SizeLimit::new()
            .whole_stream(self.most.saturating_add(MOST_BESIDE))
            .per_field(MOST_TEXT)
            .for_field("file", self.most);
        let constraints = Constraints::new().size_limit(sizes);
        let stream = BodyDataStream::new(incoming);
        let mut form = Multipart::with_constraints(stream, boundary, constraints);
        let mut has_file = false;
        for _ in 0..MOST_FIELDS {
            let Some(mut field) = self.in_time(form.next_field()).await? else {
                return match has_file {
                    true => Ok(new),
                    false => Err(HttpError::bad_request("the form has no `file`")),
                };
            };
            match field.name().unwrap_or_default() {
                "file" if !has_file => {
                    has_file = true;
                    if let Some(name) = field.file_name() {
                        name.clone_into(&mut new.name);
                    }
                    self.write(&mut field).await?;
                }
                "file" => return Err(HttpError::bad_request("the form has two files")),
                "artifact_type" => new.kind = self.in_time(field.text()).await?,
                "expire_in" => new.expire_in = Some(self.in_time(field.text()).await?),
                _ => {
                    self.in_time(field.bytes()).await?;
                }
            }
        }
        Err(HttpError::bad_request("the form has too many fields"))
    }

    async fn write(&mut self, field: &mut Field<'_>) -> Result<(), HttpError> {
        while let Some(bytes) = self.in_time(field.chunk()).await? {
            self.upload.write(&bytes).await?;
        }
        Ok(())
    }

    async fn in_time<T>(
        &self,
        part: impl Future<Output = multer::Result<T>>,
    ) -> Result<T, HttpError> {
        match tokio::time::timeout(self.time, part).await {
            Err(_) => Err(HttpError::too_slow("the body did not arrive in time")),
            Ok(Err(
                multer::Error::FieldSizeExceeded { .. } | multer::Error::StreamSizeExceeded { .. },
            )) => Err(HttpError::body_too_large(self.most)),
            Ok(Err(_)) => Err(HttpError::bad_request("the body is not a form")),
            Ok(Ok(part)) => Ok(part),
        }
    }
}
