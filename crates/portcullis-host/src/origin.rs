//! `slsaEnsureComingFrom(repositories)`: every image of the object was built by Google Cloud Build of
//! one of these repositories.

mod provenance;
mod repository;

use std::io::Write;
use std::time::Instant;

use portcullis_js::HostRequest;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::arguments::argument;
use crate::context::HostContext;
use crate::images::images;
use crate::reference::Reference;
use crate::slsa::{Expected, verify};

use repository::{Builds, Repository};

/// The most repositories of one call.
const MOST: usize = 64;

/// The builder id of Cloud Build.
const BUILDER: &str = "https://cloudbuild.googleapis.com/GoogleHostedWorker";

/// A call of `slsaEnsureComingFrom`.
#[derive(Debug)]
pub(crate) struct ComingFrom {
    repositories: Vec<Repository>,
    images: Vec<Reference>,
}

impl ComingFrom {
    /// Reads the arguments.
    pub(crate) fn prepare(request: &HostRequest<'_>) -> Result<Self, String> {
        let Value::Array(given) = argument(request, 0) else {
            return Err("the repositories of slsaEnsureComingFrom must be a list".to_owned());
        };
        if given.is_empty() || given.len() > MOST {
            return Err(format!(
                "slsaEnsureComingFrom takes 1 to {MOST} repositories"
            ));
        }
        let repositories = given
            .iter()
            .map(Repository::parse)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            repositories,
            images: images(request.object)?,
        })
    }

    /// True if all images come from the repositories, false if one can't.
    pub(crate) async fn run(
        self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Value, String> {
        let mut all = Vec::new();
        for repository in &self.repositories {
            all.push(repository.builds(context, deadline).await?);
        }
        let mut claims = Vec::new();
        for image in &self.images {
            let matching: Vec<&Builds<'_>> = all.iter().filter(|b| b.include(image)).collect();
            if matching.is_empty() {
                return Ok(Value::Bool(false));
            }
            claims.push((image, matching));
        }
        for (image, matching) in claims {
            prove(image, &matching, context, deadline).await?;
        }
        Ok(Value::Bool(true))
    }
}

/// Has it verified that an image comes from one of the repositories that claim it.
async fn prove(
    image: &Reference,
    matching: &[&Builds<'_>],
    context: &HostContext,
    deadline: Instant,
) -> Result<(), String> {
    let document = provenance::newest(image, context, deadline).await?;
    let file = keep(&document)
        .map_err(|error| format!("the provenance can't be stored for the verifier: {error}"))?;
    let mut refusals = Vec::new();
    for builds in matching {
        let expected = Expected {
            source: builds.repository().to_string(),
            builder: BUILDER.to_owned(),
            provenance: file.path().into(),
        };
        match verify(image, &expected, context, deadline).await {
            Ok(()) => return Ok(()),
            Err(refusal) => refusals.push(refusal),
        }
    }
    Err(refusals.into_iter().next().unwrap_or_default())
}

/// A file that only we can read, and that is gone when it is dropped.
fn keep(document: &Value) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("provenance-")
        .suffix(".json")
        .tempfile()?;
    file.write_all(document.to_string().as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn nobody_else_reads_the_file_and_it_goes_away() {
        let file = keep(&Value::Bool(true)).unwrap();
        let path = file.path().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"true");
        drop(file);
        assert!(!path.exists());
    }
}
