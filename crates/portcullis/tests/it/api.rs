//! The guarded REST API, by real requests to a running server.

#![expect(
    clippy::needless_pass_by_value,
    reason = "values are made where they are handed over"
)]

mod answers;
mod cases;
mod holds;
mod identities;
mod records;
mod reloads;
mod schema;
mod sessions;
mod streams;
mod tokens;
mod walk;

use serde_json::{Value, json};

use crate::harness::{Answer, Connection, Gate, Setup, free_port, request};
use tokens::{claims, token};

/// A server whose API is at `port`.
pub(crate) struct Api {
    pub(crate) gate: Gate,
    pub(crate) port: u16,
}

/// Issuers that the tests sign for. The name is also the issuer, and its secret is made of it.
const ISSUERS: &[(&str, &str)] = &[
    ("corp", r#"{"realm": "R1", "default": true}"#),
    ("op", r#"{"realm": "R2", "allowAuthzOverride": true}"#),
    ("short", r#"{"realm": "R1", "maxValidityTime": 60}"#),
    ("mail", r#"{"realm": "R1", "uidClaim": "email"}"#),
];

/// A configuration with everybody in [`ISSUERS`], and its files.
pub(crate) fn setup(tenants: Option<&Value>) -> (Setup, u16) {
    let port = free_port();
    let mut authenticators = Vec::new();
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
        one["secretFile"] = json!(format!("{name}.key"));
        authenticators.push(one);
    }
    let address = format!("127.0.0.1:{port}");
    let mut config = json!({
        "listeners": [{"name": "api", "tcp": address, "serves": ["api", "web"]}],
        "authenticators": authenticators,
    });
    if tenants.is_some() {
        config["tenants"] = json!({"file": "tenants.yaml"});
    }
    let mut setup = Setup::new(config);
    for (name, _) in ISSUERS {
        setup = setup.file(&format!("{name}.key"), tokens::secret(name) + "\n");
    }
    if let Some(tenants) = tenants {
        setup = setup.file("tenants.yaml", tenants.to_string());
    }
    (setup, port)
}

impl Api {
    #[track_caller]
    fn start(tenants: &Value) -> Self {
        let (setup, port) = setup(Some(tenants));
        let gate = setup.start();
        Self { gate, port }
    }

    /// Asks with a token, or as nobody.
    #[track_caller]
    pub(crate) fn call(
        &self,
        who: Option<&str>,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut headers = vec![("content-type", "application/json".to_owned())];
        if let Some(token) = who {
            headers.push(("authorization", format!("Bearer {token}")));
        }
        let mut connection = Connection::tcp(self.port).unwrap();
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let bytes = request(method, path, &headers, body.as_bytes());
        connection.send(&bytes).unwrap();
        connection.answer(method != "HEAD").expect("no answer")
    }

    #[track_caller]
    pub(crate) fn get(&self, who: Option<&str>, path: &str) -> Answer {
        self.call(who, "GET", path, None)
    }

    #[track_caller]
    fn post(&self, who: Option<&str>, path: &str, body: &Value) -> Answer {
        self.call(who, "POST", path, Some(body))
    }

    /// Changes the tenants file, and asks for a reload.
    fn change(&self, tenants: &str) {
        self.gate.folder.write("tenants.yaml", tenants);
        self.gate.hang_up();
    }
}

/// A token of `corp` for somebody.
pub(crate) fn of(user: &str) -> String {
    token("corp", &claims("corp", user))
}

/// A token of `op` that is admin of everything.
pub(crate) fn admin() -> String {
    let mut claims = claims("op", "oscar");
    claims["zuul"] = json!({"admin": ["*"]});
    token("op", &claims)
}
