//! A repository, and the images that its Cloud Build configuration builds.

use std::fmt;
use std::time::Instant;

use portcullis_net::{Address, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::context::HostContext;
use crate::http::{HttpCall, ask};
use crate::reference::{Reference, name_of};
use crate::target;
use crate::text::excerpt;

/// The most bytes a configuration may have.
const LONGEST: usize = 100 << 10;

/// The names a configuration may have.
const FILES: [&str; 2] = ["cloudbuild.yaml", "cloudbuild.yml"];

/// What stands for the name of the project in a configuration.
const PROJECT: [&str; 2] = ["${PROJECT_ID}", "$PROJECT_ID"];

/// A repository of GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    owner: String,
    name: String,
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "github.com/{}/{}", self.owner, self.name)
    }
}

#[derive(Debug, Deserialize)]
struct Configuration {
    #[serde(default)]
    images: Vec<String>,
}

/// The images that a repository builds.
#[derive(Debug)]
pub(crate) struct Builds<'a> {
    repository: &'a Repository,
    names: Vec<Name>,
}

impl Repository {
    /// Reads `github.com/owner/name`.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let text = value.as_str().unwrap_or_default();
        let mut parts = text.split('/');
        let (host, owner, name) = (parts.next(), parts.next(), parts.next());
        let part = |p: &str| {
            let inner = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            (1..=100).contains(&p.len()) && p.bytes().all(inner) && !p.starts_with(['.', '-'])
        };
        match (host, owner, name, parts.next()) {
            (Some("github.com"), Some(owner), Some(name), None) if part(owner) && part(name) => {
                Ok(Self {
                    owner: owner.to_owned(),
                    name: name.to_owned(),
                })
            }
            _ => Err(format!(
                "`{}` is not a repository of the form github.com/owner/name",
                excerpt(text.as_bytes(), 100)
            )),
        }
    }

    /// What its configuration builds.
    pub(crate) async fn builds(
        &self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<Builds<'_>, String> {
        let text = self.configuration(context, deadline).await?;
        let names = images(&text)
            .map_err(|fault| format!("the Cloud Build configuration of {self} {fault}"))?;
        Ok(Builds {
            repository: self,
            names,
        })
    }

    async fn configuration(
        &self,
        context: &HostContext,
        deadline: Instant,
    ) -> Result<String, String> {
        let base = target::web(&context.settings.github_raw)?;
        for file in FILES {
            let root = base.path.trim_end_matches('/');
            let path = format!("{root}/{}/{}/main/{file}", self.owner, self.name);
            let answer = ask(HttpCall {
                trust: &context.service_trust,
                address: Address::Web(base.with_path(path, None)),
                path: None,
                body: None,
                headers: Vec::new(),
                limit: LONGEST,
                deadline,
            })
            .await?;
            match answer.status {
                StatusCode::NOT_FOUND => {}
                StatusCode::OK => {
                    return String::from_utf8(answer.body.into())
                        .map_err(|_| format!("{file} of {self} is not text"));
                }
                other => {
                    return Err(format!(
                        "{base}: status {} for {file} of {self}",
                        other.as_u16()
                    ));
                }
            }
        }
        Err(format!(
            "{self} has no Cloud Build configuration on its branch main"
        ))
    }
}

fn images(text: &str) -> Result<Vec<Name>, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: 32 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 10_000 },
        with_snippet: false,
    };
    let read = serde_saphyr::from_str_with_options::<Configuration>(text, options);
    let configuration = read.map_err(|_| "can't be read".to_owned())?;
    if configuration.images.is_empty() {
        return Err("names no images".to_owned());
    }
    Ok(configuration
        .images
        .iter()
        .map(|image| Name::parse(image))
        .collect())
}

impl<'a> Builds<'a> {
    /// The repository they are of.
    pub(crate) fn repository(&self) -> &'a Repository {
        self.repository
    }

    /// Whether an image may be one of them.
    pub(crate) fn include(&self, image: &Reference) -> bool {
        self.names.iter().any(|name| name.fits(image.name()))
    }
}

/// The name of an image without tag, cut where the name of the project stands.
#[derive(Debug)]
struct Name {
    pieces: Vec<String>,
}

impl Name {
    fn parse(image: &str) -> Self {
        let [long, short] = PROJECT;
        let name = name_of(image.trim()).replace(long, short);
        Self {
            pieces: name.split(short).map(str::to_owned).collect(),
        }
    }

    /// Whether a name is these pieces with something between them.
    fn fits(&self, name: &str) -> bool {
        let Some((first, others)) = self.pieces.split_first() else {
            return false;
        };
        let Some(mut rest) = name.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty();
        };
        for piece in middle {
            let Some((_, after)) = something_then(rest, piece) else {
                return false;
            };
            rest = after;
        }
        // The last piece ends the name, and the project before it has a name.
        rest.strip_suffix(last.as_str())
            .is_some_and(|project| !project.is_empty())
    }
}

/// The text split at the first piece that has something before it.
fn something_then<'a>(text: &'a str, piece: &str) -> Option<(&'a str, &'a str)> {
    let (start, _) = text
        .char_indices()
        .nth(1)
        .or_else(|| (!text.is_empty()).then_some((text.len(), ' ')))?;
    let at = start + text.get(start..)?.find(piece)?;
    Some((text.get(..at)?, text.get(at + piece.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fits(entry: &str, image: &str) -> bool {
        let image = Reference::parse(image).unwrap();
        Name::parse(entry).fits(image.name())
    }

    #[test]
    fn repositories() {
        let repository = Repository::parse(&json!("github.com/irsl/gcb-tests")).unwrap();
        assert_eq!(repository.to_string(), "github.com/irsl/gcb-tests");
        for bad in [
            json!(null),
            json!(""),
            json!("gitlab.com/a/b"),
            json!("github.com/a"),
            json!("github.com/a/b/c"),
            json!("github.com/../b"),
            json!("github.com/a/.."),
            json!("github.com/-a/b"),
            json!("github.com/a/b?x"),
            json!("github.com/a/b%2f"),
            json!("https://github.com/a/b"),
            json!("github.com//b"),
            json!("evilgithub.com/a/b"),
        ] {
            assert!(Repository::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_with_a_project() {
        let entry = "us-docker.pkg.dev/$PROJECT_ID/repo/img:$SHORT_SHA";
        assert!(fits(entry, "us-docker.pkg.dev/p/repo/img:v1"));
        assert!(fits(entry, "us-docker.pkg.dev/p/repo/img"));
        assert!(fits(
            "us-docker.pkg.dev/${PROJECT_ID}/repo/img",
            "us-docker.pkg.dev/p/repo/img"
        ));
        assert!(!fits(entry, "us-docker.pkg.dev/p/repo/img2"));
        assert!(!fits(
            entry,
            "us-docker.pkg.dev//repo/img".replace("//", "/").as_str()
        ));
        assert!(!fits(entry, "xus-docker.pkg.dev/p/repo/img"));
        assert!(!fits(entry, "us-docker.pkg.dev/p/repo/img/more"));
        let twice = "h.example/$PROJECT_ID/$PROJECT_ID/img";
        assert!(fits(twice, "h.example/p/p/img"));
        assert!(!fits(twice, "h.example/p/img"));
    }

    #[test]
    fn other_characters_stand_for_themselves() {
        assert!(fits("h.example/a.b/img", "h.example/a.b/img"));
        assert!(!fits("h.example/a.b/img", "h.example/axb/img"));
        assert!(!fits("h.example/.*", "h.example/img"));
        assert!(!fits("", "img"));
    }

    #[test]
    fn configurations() {
        let names =
            images("steps:\n- name: x\n  args: [1, {a: b}]\nimages:\n- a/$PROJECT_ID/b\n- 'c'\n");
        assert_eq!(names.unwrap().len(), 2);
        assert_eq!(images("steps: []\n").unwrap_err(), "names no images");
        for bad in ["404: Not Found", "images: x", "images: [[a]]", "[", "- a"] {
            assert!(images(bad).is_err(), "{bad}");
        }
        let bomb = format!(
            "a: &a [{}]\nimages: [x]\nb: [{}]\n",
            "x,".repeat(1000),
            "*a,".repeat(20_000)
        );
        assert!(images(&bomb).is_err());
        assert!(images(&"[".repeat(LONGEST)).is_err());
        assert!(images(&"{a: ".repeat(LONGEST / 4)).is_err());
    }
}
