//! Talking to providers: which addresses they may have, and one exchange at a time.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use portcullis_net::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use portcullis_net::{
    Address, Client, Deadline, HttpResponse, Limits, Protocol, Request, StatusCode, Trust, Web,
};

/// How long a provider may take, and how many bytes it may answer.
const LIMITS: Limits = Limits {
    deadline: Deadline::After(Duration::from_secs(5)),
    body: 256 << 10,
};

/// A form to post.
#[derive(Debug, Default)]
pub(crate) struct Form {
    /// Its fields, encoded.
    pub(crate) body: String,
    /// Name and password, encoded.
    pub(crate) client: Option<(String, String)>,
}

/// Reads the address of a provider: `https`, or `http` on this machine.
pub(crate) fn address(text: &str) -> Result<Web, String> {
    let web = Web::parse(text).map_err(|error| error.to_string())?;
    web.check_confidential()
        .map_err(|error| error.to_string())?;
    Ok(web)
}

/// Reads what is there; only a plain success is one.
pub(crate) async fn get(address: &Web, trust: &Trust) -> Result<Bytes, String> {
    let answer = ask(address, trust, Request::get()).await?;
    let status = answer.status.as_u16();
    match answer.status {
        StatusCode::OK => Ok(answer.body),
        other if other.is_redirection() => Err(format!(
            "{address}: status {status}; redirects are not followed"
        )),
        _ => Err(format!("{address}: status {status}")),
    }
}

/// Posts a form; the answer may be anything.
pub(crate) async fn post(address: &Web, trust: &Trust, form: Form) -> Result<HttpResponse, String> {
    let mut request = Request::post("application/x-www-form-urlencoded", form.body);
    if let Some((name, password)) = &form.client {
        let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
        let basic = HeaderValue::try_from(basic);
        let mut basic = basic.map_err(|_| format!("{address}: invalid client id or secret"))?;
        basic.set_sensitive(true);
        request = request.with_header(AUTHORIZATION, basic);
    }
    ask(address, trust, request).await
}

async fn ask(address: &Web, trust: &Trust, request: Request) -> Result<HttpResponse, String> {
    let request = request.with_header(ACCEPT, HeaderValue::from_static("application/json"));
    let problem = |error: portcullis_net::Error| format!("{address}: {error}");
    let client = Client::new(Address::Web(address.clone()), Protocol::Http1, trust);
    let client = client.map_err(|error| problem(error.into()))?;
    client.exchange(&request, LIMITS).await.map_err(problem)
}
