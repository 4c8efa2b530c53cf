//! A server whose REST API trusts issuers that tests sign for, and a client of it.

use serde_json::{Value, json};

use crate::{Answer, Client, request, tokens};

/// Issuers that the tests sign for. The name is also the issuer, and its secret is made of it.
const ISSUERS: &[(&str, &str)] = &[
    ("corp", r#"{"realm": "R1", "default": true}"#),
    ("op", r#"{"realm": "R2", "allowAuthzOverride": true}"#),
    ("short", r#"{"realm": "R1", "maxValidityTime": 60}"#),
    ("mail", r#"{"realm": "R1", "uidClaim": "email"}"#),
];

/// A configuration with the API at this address, and the files that it names.
#[must_use]
pub fn api_files(address: &str, tenants: Option<&Value>) -> (Value, Vec<(String, String)>) {
    let (mut authenticators, mut files) = (Vec::new(), Vec::new());
    for (name, more) in ISSUERS {
        let mut one: Value = serde_json::from_str(more).unwrap();
        for (key, value) in [
            ("name", *name),
            ("driver", "HS256"),
            ("issuer", *name),
            ("audience", "portal"),
        ] {
            one[key] = json!(value);
        }
        let file = format!("{name}.key");
        one["secretFile"] = json!(file);
        files.push((file, tokens::secret(name) + "\n"));
        authenticators.push(one);
    }
    let mut config = json!({
        "listeners": [{"name": "api", "tcp": address, "serves": ["api", "web"]}],
        "authenticators": authenticators,
    });
    if let Some(tenants) = tenants {
        config["tenants"] = json!({"file": "tenants.yaml"});
        files.push(("tenants.yaml".to_owned(), tenants.to_string()));
    }
    (config, files)
}

/// A client of the REST API.
#[derive(Debug)]
pub struct ApiClient(Client);

impl ApiClient {
    /// One that asks over these connections.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self(client)
    }

    /// Sends a request with a token, or anonymously.
    #[track_caller]
    pub fn call(
        &self,
        who: Option<&str>,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let bearer = who.map(|token| format!("Bearer {token}"));
        let length = body.len().to_string();
        let mut headers = vec![("content-type", "application/json")];
        if method != "POST" && !body.is_empty() {
            headers.push(("content-length", length.as_str()));
        }
        headers.extend(
            bearer
                .iter()
                .map(|bearer| ("authorization", bearer.as_str())),
        );
        let mut connection = self.0.connect();
        let bytes = request(method, path, &headers, body.as_bytes());
        connection.send(&bytes).unwrap();
        connection.answer(method != "HEAD").expect("no answer")
    }

    /// Reads with a token, or anonymously.
    #[track_caller]
    pub fn get(&self, who: Option<&str>, path: &str) -> Answer {
        self.call(who, "GET", path, None)
    }

    /// Posts with a token, or anonymously.
    #[track_caller]
    pub fn post(&self, who: Option<&str>, path: &str, body: &Value) -> Answer {
        self.call(who, "POST", path, Some(body))
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        self.0.raw(bytes).expect("the connection was dropped")
    }
}
