//! What Google's Container Analysis knows about how an image was built.

use std::time::Instant;

use portcullis_core::percent::encoded;
use portcullis_net::Address;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::HostContext;
use crate::http::{HttpCall, ask};
use crate::reference::Reference;
use crate::target;
use crate::text::excerpt;

/// The most bytes of one page.
const PAGE: usize = 4 << 20;

/// The most pages that are read.
const PAGES: usize = 10;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    #[serde(default)]
    occurrences: Vec<Value>,
    #[serde(default)]
    next_page_token: String,
}

/// An image of the Artifact Registry, by its digest.
struct Stored<'a> {
    name: &'a str,
    registry: &'a str,
    repository: &'a str,
    project: String,
    digest: &'a str,
}

impl<'a> Stored<'a> {
    fn of(image: &'a Reference) -> Result<Self, String> {
        let wrong = || {
            format!(
                "provenance is available only for images of docker.pkg.dev with a sha256 digest, not for {}",
                image.as_str()
            )
        };
        let name = image.name();
        let (registry, path) = name.split_once('/').ok_or_else(wrong)?;
        let digest = image
            .digest()
            .filter(|digest| digest.starts_with("sha256:"));
        let mut parts = path.split('/');
        let (first, second, third) = (parts.next(), parts.next(), parts.next());
        // A project of a domain has two parts: `example.com/project`.
        let (project, repository) = match (first, second, third) {
            (Some(domain), Some(project), Some(repository)) if domain.contains('.') => {
                (format!("{domain}:{project}"), repository)
            }
            (Some(project), Some(repository), _) => (project.to_owned(), repository),
            _ => return Err(wrong()),
        };
        Ok(Self {
            name,
            registry: Some(registry)
                .filter(|r| r.ends_with("-docker.pkg.dev"))
                .ok_or_else(wrong)?,
            repository,
            project,
            digest: digest.ok_or_else(wrong)?,
        })
    }

    fn address(&self) -> String {
        format!("https://{}@{}", self.name, self.digest)
    }

    /// The document the verifier takes, with one provenance in it.
    fn document(&self, occurrence: &Value) -> Value {
        json!({
            "image_summary": {
                "digest": self.digest,
                "fully_qualified_digest": format!("{}@{}", self.name, self.digest),
                "registry": self.registry,
                "repository": self.repository,
            },
            "provenance_summary": {"provenance": [occurrence]},
        })
    }
}

/// The newest provenance of an image, in the form in which the verifier takes it.
pub(crate) async fn newest(
    image: &Reference,
    context: &HostContext,
    deadline: Instant,
) -> Result<Value, String> {
    let stored = Stored::of(image)?;
    let mut best: Option<(Time, Value)> = None;
    let mut token = String::new();
    for _ in 0..PAGES {
        let page = read(&stored, &token, context, deadline).await?;
        for occurrence in page.occurrences {
            let Some(time) = fitting(&occurrence, &stored)? else {
                continue;
            };
            if best.as_ref().is_none_or(|(newest, _)| time > *newest) {
                best = Some((time, occurrence));
            }
        }
        token = page.next_page_token;
        if token.is_empty() {
            let (_, occurrence) =
                best.ok_or_else(|| format!("there is no provenance of {}", image.as_str()))?;
            return Ok(stored.document(&occurrence));
        }
    }
    Err(format!(
        "there is too much provenance of {}",
        image.as_str()
    ))
}

async fn read(
    stored: &Stored<'_>,
    token: &str,
    context: &HostContext,
    deadline: Instant,
) -> Result<Page, String> {
    let base = target::web(&context.settings.container_analysis)?;
    let filter = format!("kind=\"BUILD\" AND resourceUrl=\"{}\"", stored.address());
    let mut query = format!("filter={}&pageSize=1000", encoded(&filter));
    if !token.is_empty() {
        query.push_str("&pageToken=");
        query.push_str(&encoded(token));
    }
    let root = base.path.trim_end_matches('/');
    let path = format!("{root}/v1/projects/{}/occurrences", stored.project);
    let answer = ask(HttpCall {
        trust: &context.service_trust,
        address: Address::Web(base.with_path(path, Some(query))),
        path: None,
        body: None,
        headers: vec![context.tokens.header(deadline).await?],
        limit: PAGE,
        deadline,
    })
    .await?;
    if !answer.status.is_success() {
        let (status, text) = (answer.status.as_u16(), excerpt(&answer.body, 200));
        return Err(format!("{base}: status {status}: {text}"));
    }
    serde_json::from_slice(&answer.body)
        .map_err(|_| format!("{base}: the answer is not a list of occurrences"))
}

/// When an occurrence was made, if it is a signed provenance of this very image.
fn fitting(occurrence: &Value, stored: &Stored<'_>) -> Result<Option<Time>, String> {
    let text = |key: &str| {
        occurrence
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let signed = occurrence.get("envelope").is_some_and(Value::is_object);
    if text("kind") != "BUILD" || text("resourceUri") != stored.address() || !signed {
        return Ok(None);
    }
    let time = Time::parse(text("createTime"));
    time.map(Some)
        .ok_or_else(|| "a provenance has no time of creation".to_owned())
}

/// A time in the form `2023-03-23T10:47:47.123456Z`, which sorts once the fraction is filled up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Time(String);

impl Time {
    fn parse(text: &str) -> Option<Self> {
        let (seconds, fraction) = match text.strip_suffix('Z')?.split_once('.') {
            Some((seconds, fraction)) => (seconds, fraction),
            None => (text.strip_suffix('Z')?, ""),
        };
        let shape: String = seconds
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect();
        let digits = fraction.len() <= 9 && fraction.bytes().all(|b| b.is_ascii_digit());
        (shape == "0000-00-00T00:00:00" && digits)
            .then(|| Self(format!("{seconds}.{fraction:0<9}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> String {
        format!("sha256:{}", "0a".repeat(32))
    }

    #[test]
    fn times_sort() {
        let time = |t: &str| Time::parse(t).unwrap();
        assert!(time("2023-03-23T10:47:47.5Z") > time("2023-03-23T10:47:47Z"));
        assert!(time("2023-03-23T10:47:47.5Z") > time("2023-03-23T10:47:47.45Z"));
        assert!(time("2023-03-23T10:47:48Z") > time("2023-03-23T10:47:47.999999999Z"));
        assert!(time("2024-01-01T00:00:00Z") > time("2023-12-31T23:59:59Z"));
        for bad in [
            "",
            "Z",
            "2023-03-23",
            "2023-03-23T10:47:47+01:00",
            "2023-03-23T10:47:47.xZ",
        ] {
            assert!(Time::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn images_of_the_registry() {
        let image =
            Reference::parse(&format!("us-docker.pkg.dev/p/repo/img:v1@{}", digest())).unwrap();
        let stored = Stored::of(&image).unwrap();
        assert_eq!((stored.project.as_str(), stored.repository), ("p", "repo"));
        assert_eq!(
            stored.address(),
            format!("https://us-docker.pkg.dev/p/repo/img@{}", digest())
        );
        let image = Reference::parse(&format!(
            "us-docker.pkg.dev/d.example/p/repo/img@{}",
            digest()
        ))
        .unwrap();
        assert_eq!(Stored::of(&image).unwrap().project, "d.example:p");
        for bad in [
            "us-docker.pkg.dev/p/repo/img:v1",
            "img",
            "gcr.io/p/img",
            "evil-docker.pkg.dev.example/p/r/i",
        ] {
            let with = format!("{bad}@{}", digest());
            for image in [bad, &with] {
                let image = Reference::parse(image).unwrap();
                let fine = bad.starts_with("us-docker") && image.digest().is_some();
                assert_eq!(Stored::of(&image).is_ok(), fine, "{image:?}");
            }
        }
    }

    #[test]
    fn queries() {
        assert_eq!(encoded("a=\"b c\"&é"), "a%3D%22b%20c%22%26%C3%A9");
    }
}
