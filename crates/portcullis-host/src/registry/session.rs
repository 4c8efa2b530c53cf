//! Reading one repository, for one call.

use std::time::Instant;

use bytes::Bytes;
use portcullis_core::percent;
use portcullis_net::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION};
use portcullis_net::{Deadline, HttpResponse, Limits, Request, Web};
use serde::Deserialize;

use super::access::{Access, is_same};
use super::challenge::Challenge;
use super::credentials::{Credential, Credentials};
use super::repository::Repository;
use super::{Descriptor, digest_of, is_digest};
use crate::answer::shown;
use crate::target;
use crate::text::excerpt;

/// The largest manifest.
const MANIFEST: usize = 4 << 20;

/// The largest answer of a token service.
const TOKEN: usize = 64 << 10;

/// How often a blob may be elsewhere.
const REDIRECTS: usize = 3;

/// What a tag or digest may stand for.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json";

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

/// Reads one repository.
pub(crate) struct Session<'a> {
    access: &'a Access,
    credentials: &'a Credentials,
    repository: Repository,
    deadline: Instant,
    /// What the registry asked for, once it did.
    authorization: Option<HeaderValue>,
}

#[derive(Deserialize)]
struct Issued {
    token: Option<String>,
    access_token: Option<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        access: &'a Access,
        credentials: &'a Credentials,
        repository: Repository,
        deadline: Instant,
    ) -> Self {
        Self {
            access,
            credentials,
            repository,
            deadline,
            authorization: None,
        }
    }

    /// The digest that a tag stands for now; without a tag, `latest`.
    pub(crate) async fn resolve(&mut self, tag: Option<&str>) -> Result<String, String> {
        let tag = tag.unwrap_or("latest");
        let found = self.manifest(tag).await?;
        let (_, digest) = found.ok_or_else(|| format!("image tag not found: {tag}"))?;
        Ok(digest)
    }

    /// A manifest by tag, with its digest; none if there is none.
    pub(crate) async fn manifest(&mut self, tag: &str) -> Result<Option<(Bytes, String)>, String> {
        let address = self.repository.address(&format!("manifests/{tag}"));
        let answer = self.get(&address, MANIFESTS, MANIFEST).await?;
        if answer.status.as_u16() == 404 {
            return Ok(None);
        }
        let place = address.origin();
        if answer.status.as_u16() != 200 {
            return Err(unexpected(&place, &answer));
        }
        let digest = digest_of(&answer.body);
        let said = answer.headers.get(&CONTENT_DIGEST);
        if said.is_some_and(|said| said.as_bytes() != digest.as_bytes()) {
            return Err(format!(
                "{place}: the manifest of `{tag}` has another digest than it says"
            ));
        }
        Ok(Some((answer.body, digest)))
    }

    /// What a descriptor is about.
    pub(crate) async fn blob(
        &mut self,
        descriptor: &Descriptor,
        most: usize,
    ) -> Result<Bytes, String> {
        let digest = &descriptor.digest;
        if !is_digest(digest) {
            let digest = excerpt(digest.as_bytes(), 80);
            return Err(format!("invalid digest `{digest}` in the manifest"));
        }
        let size = usize::try_from(descriptor.size).ok();
        let size = size.filter(|size| *size <= most);
        let size = size.ok_or_else(|| format!("the blob {digest} is larger than {most} bytes"))?;
        let mut address = self.repository.address(&format!("blobs/{digest}"));
        let mut answer = self.get(&address, "*/*", size).await?;
        for _ in 0..REDIRECTS {
            if !answer.status.is_redirection() {
                break;
            }
            address = elsewhere(&address, &answer.headers)?;
            // Credentials are for the registry alone.
            let headers = match is_same(&address, &self.repository.server) {
                true => self.headers("*/*"),
                false => vec![(ACCEPT, HeaderValue::from_static("*/*"))],
            };
            answer = self.exchange(&address, headers, size).await?;
        }
        let place = address.origin();
        if answer.status.as_u16() != 200 {
            return Err(unexpected(&place, &answer));
        }
        if answer.body.len() != size || digest_of(&answer.body) != *digest {
            return Err(format!(
                "{place}: the blob {digest} has another digest or size"
            ));
        }
        Ok(answer.body)
    }

    /// Asks the registry, and once more with credentials if it wants some.
    async fn get(
        &mut self,
        address: &Web,
        accept: &'static str,
        limit: usize,
    ) -> Result<HttpResponse, String> {
        let headers = self.headers(accept);
        // The answer that asks for credentials may be larger than what is asked for.
        let answer = self.exchange(address, headers, limit.max(TOKEN)).await?;
        if answer.status.as_u16() != 401 || self.authorization.is_some() {
            return Ok(answer);
        }
        let place = address.origin();
        let challenge = Challenge::of(&answer.headers)
            .ok_or_else(|| format!("{place}: status 401 without a challenge that is supported"))?;
        self.authorization = Some(self.authorize(challenge).await?);
        let headers = self.headers(accept);
        self.exchange(address, headers, limit.max(TOKEN)).await
    }

    async fn authorize(&self, challenge: Challenge) -> Result<HeaderValue, String> {
        let place = self.repository.server.origin();
        let credential = self.credentials.of(&self.repository.credentials);
        let (realm, service) = match (challenge, credential) {
            (Challenge::Basic, Some(Credential::Basic(pair))) => {
                return secret(&format!("Basic {pair}"));
            }
            (Challenge::Basic, _) => {
                return Err(format!("{place}: unauthorized, and no credentials for it"));
            }
            (Challenge::Bearer { realm, service }, _) => (realm, service),
        };
        let realm =
            target::web(&realm).map_err(|error| format!("{place}: token service: {error}"))?;
        let scope = format!("repository:{}:pull", self.repository.path);
        let mut query = match &realm.query {
            Some(query) => format!("{query}&scope={}", percent::encoded(&scope)),
            None => format!("scope={}", percent::encoded(&scope)),
        };
        if let Some(service) = &service {
            query = format!("{query}&service={}", percent::encoded(service));
        }
        let accept = (ACCEPT, HeaderValue::from_static("application/json"));
        let mut headers = vec![accept];
        let answer = match credential {
            // An OAuth 2 token service: the refresh token goes in the body.
            Some(Credential::Identity(token)) => {
                let body = format!(
                    "{query}&grant_type=refresh_token&client_id=portcullis&refresh_token={}",
                    percent::encoded(token)
                );
                let address = realm.with_path(realm.path.clone(), None);
                let request = Request::post("application/x-www-form-urlencoded", body);
                self.send(&address, request, headers, TOKEN).await?
            }
            credential => {
                if let Some(Credential::Basic(pair)) = credential {
                    headers.push((AUTHORIZATION, secret(&format!("Basic {pair}"))?));
                }
                let address = realm.with_path(realm.path.clone(), Some(query));
                self.exchange(&address, headers, TOKEN).await?
            }
        };
        let place = realm.origin();
        if answer.status.as_u16() != 200 {
            let status = answer.status.as_u16();
            return Err(format!("{place}: no token for {scope}: status {status}"));
        }
        let issued: Option<Issued> = serde_json::from_slice(&answer.body).ok();
        let token = issued.and_then(|issued| issued.token.or(issued.access_token));
        let token = token.filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| format!("{place}: the answer has no token"))?;
        secret(&format!("Bearer {token}"))
    }

    fn headers(&self, accept: &'static str) -> Vec<(HeaderName, HeaderValue)> {
        let accept = (ACCEPT, HeaderValue::from_static(accept));
        let own = self.authorization.clone().map(|own| (AUTHORIZATION, own));
        [Some(accept), own].into_iter().flatten().collect()
    }

    async fn exchange(
        &self,
        address: &Web,
        headers: Vec<(HeaderName, HeaderValue)>,
        limit: usize,
    ) -> Result<HttpResponse, String> {
        self.send(address, Request::get(), headers, limit).await
    }

    async fn send(
        &self,
        address: &Web,
        mut request: Request,
        headers: Vec<(HeaderName, HeaderValue)>,
        limit: usize,
    ) -> Result<HttpResponse, String> {
        for (name, value) in headers {
            request = request.with_header(name, value);
        }
        let client = self.access.client(address)?;
        let limits = Limits {
            deadline: Deadline::At(self.deadline),
            body: limit,
        };
        let answer = client.exchange(&request, limits).await;
        answer.map_err(|error| {
            let error = excerpt(error.to_string().as_bytes(), 400);
            format!("{}: {error}", address.origin())
        })
    }
}

/// A header that proves who we are.
fn secret(text: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(text)
        .map_err(|_| "credentials contain characters that are not allowed".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Where a redirect leads.
fn elsewhere(from: &Web, headers: &HeaderMap) -> Result<Web, String> {
    let place = from.origin();
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| format!("{place}: a redirect without Location"))?;
    let url = match location.starts_with('/') && !location.starts_with("//") {
        true => format!("{place}{location}"),
        false => location.to_owned(),
    };
    // The query may hold a signature, so it is not repeated.
    let web = Web::parse(&url).map_err(|error| format!("{place}: redirected: {error}"))?;
    match web.secure || !from.secure {
        true => Ok(web),
        false => Err(format!("{place}: redirected to http://")),
    }
}

fn unexpected(place: &str, answer: &HttpResponse) -> String {
    let status = answer.status.as_u16();
    format!("{place}: status {status}{}", shown(answer))
}
