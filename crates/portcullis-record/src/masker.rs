//! From what a door decided to the line that is recorded.
//!
//! First all secrets are found: in the review, in the HTTP request, in patches and host calls. Then what
//! people see is put together, then every free text is scrubbed of them, then the line is written.
//! A decision whose secrets can't be found is not written at all.

mod access;
mod action;
mod admission;
mod http;
mod line;
mod patches;
mod times;
mod truncate;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use portcullis_core::text::start;
use portcullis_core::{Attributes, Document, json};
use portcullis_document::Fault;

use crate::mask::paths::Paths;
use crate::mask::review::{self, Subject};
use crate::mask::value::{self, Context};
use crate::mask::{self, Header, Secret, credentials};
use crate::material::{Decided, Material};
use crate::scrub::Scrubber;
use crate::shape::{Kept, MaskShape, kept};
use crate::summary::Summary;

/// The review of a denial may be so many times as large as another.
const REFUSED: usize = 4;

/// Longest text of a public field, in characters.
const LONGEST: usize = 1024;

/// Knows what is a secret, and writes records without them.
#[derive(Debug, Clone, Default)]
pub struct Masker {
    paths: Paths,
    /// Bytes of a review from which on its objects are left out; of a denied one four times as many.
    max_input: Option<usize>,
}

/// A record, ready to be kept.
#[derive(Debug, Clone)]
pub struct Written {
    /// What lists show.
    pub summary: Summary,
    /// The whole decision as one line of JSON, without an end of line.
    pub line: String,
    /// Whether something was left out because it is too large.
    pub is_truncated: bool,
}

/// A decision that can't be masked, and so must not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the record can't be masked: {reason}")]
pub struct Unmaskable {
    /// Why; nothing of the content.
    pub reason: &'static str,
}

const fn unmaskable(reason: &'static str) -> Unmaskable {
    Unmaskable { reason }
}

impl Masker {
    /// A masker that also masks what these `JSONPath` expressions find, starting at the object.
    ///
    /// # Errors
    ///
    /// Lists every invalid expression.
    pub fn new(paths: &[String]) -> Result<Self, Vec<Fault>> {
        Paths::new(paths).map(|paths| Self {
            paths,
            max_input: None,
        })
    }

    /// The same, which leaves out the objects of reviews that are larger than this, masked. A denial
    /// may be four times as large; one of a dry run, which costs nothing, may not.
    #[must_use]
    pub fn with_max_input(mut self, bytes: usize) -> Self {
        self.max_input = Some(bytes);
        self
    }

    /// How large a review may be.
    fn limit(&self, is_preferred: bool) -> usize {
        match (self.max_input, is_preferred) {
            (None, _) => usize::MAX,
            (Some(bytes), false) => bytes,
            (Some(bytes), true) => bytes.saturating_mul(REFUSED),
        }
    }

    /// Writes the record of a decision.
    ///
    /// # Errors
    ///
    /// When it can't be determined what in it is a secret. Then it must be dropped.
    pub fn write(&self, material: &Material) -> Result<Written, Unmaskable> {
        let write = || match (&material.decided, kept(material.decided.door())) {
            (Decided::Admission(decided), Kept::Body(shape)) => with_text(material, |body| {
                self.admission(material, shape, body, decided)
            }),
            (Decided::Authorization(decided), Kept::Body(shape)) => {
                with_text(material, |body| self.access(material, shape, body, decided))
            }
            (Decided::Action(decided), Kept::Action) => action::write(material, decided),
            _ => Err(unmaskable("its door keeps something else")),
        };
        catch_unwind(AssertUnwindSafe(write)).unwrap_or(Err(unmaskable("a panic")))
    }

    /// The text without the secrets of a request: for what policies print.
    pub fn scrub_for<'t>(&self, request: &Attributes, text: &'t str) -> Cow<'t, str> {
        self.with_scrubber(request, |scrubber| scrubber.scrub(text))
    }

    /// The same for several texts of one request: the secrets are looked up once.
    pub fn with_scrubber<T>(
        &self,
        request: &Attributes,
        act: impl FnOnce(&Scrubber<'_>) -> T,
    ) -> T {
        let find = || self.secrets_of(request);
        let found = catch_unwind(AssertUnwindSafe(find)).unwrap_or(None);
        let public = [
            request.namespace.as_str(),
            &request.name,
            &request.kind.kind,
            &request.user.username,
            request.operation.as_str(),
        ];
        match &found {
            Some(secrets) => act(&Scrubber::new(secrets, &public)),
            None => act(&Scrubber::blind()),
        }
    }

    /// All secrets of a request; none where they can't be determined.
    fn secrets_of<'a>(&self, request: &'a Attributes) -> Option<Vec<Secret<'a>>> {
        let mut secrets = mask::http::find(&request.context).secrets;
        let header = Header::of_kind(&request.kind);
        let documents = [
            (&request.object, header),
            (&request.old_object, header),
            (&request.options, Header::default()),
        ];
        for (document, header) in documents {
            if let Some(document) = document {
                self.add_secrets_of(document, header, &mut secrets)?;
            }
        }
        for (name, values) in &request.user.extra {
            let mut values = serde_json::Value::from(values.clone());
            let context = Context::of_object(Header::default()).member(name, None);
            value::mask(&mut values, context, None, &mut secrets);
        }
        Some(secrets)
    }

    fn add_secrets_of<'a>(
        &self,
        document: &'a Document,
        header: Header,
        secrets: &mut Vec<Secret<'a>>,
    ) -> Option<()> {
        let places = match self.paths.is_empty() {
            true => None,
            false => self.paths.in_value(document.original().ok()?),
        };
        let subject = Subject {
            text: document.original_text(),
            index: None,
            shape: &MaskShape::OBJECT,
            header,
            configured: places.as_ref(),
        };
        secrets.extend(review::find(subject, "")?.secrets);
        if document.is_changed() {
            let mut now = document.value().ok()?.clone();
            let places = self.paths.in_value(&now);
            value::mask(
                &mut now,
                Context::of_object(header),
                places.as_ref(),
                secrets,
            );
        }
        Some(())
    }
}

/// Writes with the text of the body, and where its lists and objects are.
fn with_text(
    material: &Material,
    write: impl FnOnce((&str, &json::Index)) -> Result<Written, Unmaskable>,
) -> Result<Written, Unmaskable> {
    let bytes = material.body.0.as_ref().as_ref();
    let text = std::str::from_utf8(bytes).map_err(|_| unmaskable("not UTF-8"))?;
    // One that is of another text would hide what an object says of itself.
    let fits = |index: &&json::Index| {
        let start = mask::text::blanks(bytes, 0);
        index.end_of(start) == Some(text.trim_end().len())
    };
    match material.index.as_ref().filter(fits) {
        Some(index) => write((text, index)),
        None => {
            let scanned = json::scan(bytes).map_err(|_| unmaskable("not strict JSON"))?;
            write((text, scanned.index()))
        }
    }
}

/// A public text, as long as it may be, without what looks like a token or key.
fn shown(text: &str) -> String {
    start(&credentials::without_secrets(text), LONGEST).to_owned()
}
