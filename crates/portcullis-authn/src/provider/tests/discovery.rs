//! Where the keys are, if the provider says so.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{fetched, keys};
use crate::authenticators::Authenticators;
use crate::error::Code;
use crate::testing::{By, NOW, Pair, Reply, Server, at, claims, provider, token};

const DESCRIPTION: &str = "/.well-known/openid-configuration";

/// A change to a description that is served at this address.
type Change = fn(&str, &mut Value);

/// A provider at `{url}{path}` whose description is changed so.
async fn described(path: &'static str, pair: &Pair, change: Change) -> (Server, String) {
    let (base, key) = (Arc::new(OnceLock::<String>::new()), pair.jwk("k"));
    let known = Arc::clone(&base);
    let server = Server::http(move |asked| {
        let base = known.get().unwrap();
        match asked.target().strip_prefix(path.trim_end_matches('/')) {
            Some(DESCRIPTION) => {
                let mut said = json!({ "issuer": format!("{base}{path}"), "jwks_uri": format!("{base}/keys") });
                change(base, &mut said);
                Reply::Body(said.to_string())
            }
            _ if asked.target() == "/keys" => keys(std::slice::from_ref(&key)),
            _ => Reply::Status(404, "", String::new()),
        }
    });
    base.set(server.url()).unwrap();
    let issuer = format!("{}{path}", server.url());
    (server, issuer)
}

fn made(issuer: &str) -> Authenticators {
    Authenticators::new(vec![provider(issuer, None)], None).unwrap()
}

#[tokio::test]
async fn keys_by_discovery() {
    let pair = Pair::ec();
    for path in ["", "/", "/realms/x", "/realms/x/"] {
        let (server, issuer) = described(path, &pair, |_, _| {}).await;
        let authenticators = made(&issuer);
        let said = claims(&issuer, &json!({ "exp": NOW + 9000 }));
        let token = token(&said, &By::Pair(&pair));
        authenticators.verify(&token, at(0)).await.unwrap();
        let place = format!("{}{DESCRIPTION}", path.trim_end_matches('/'));
        assert_eq!(
            (server.count(&place), server.count("/keys")),
            (1, 1),
            "{path}"
        );
        // The description is good for longer than the keys.
        authenticators.verify(&token, at(300)).await.unwrap();
        fetched(&authenticators).await;
        assert_eq!(
            (server.count(&place), server.count("/keys")),
            (1, 2),
            "{path}"
        );
        authenticators.verify(&token, at(3700)).await.unwrap();
        fetched(&authenticators).await;
        assert_eq!(
            (server.count(&place), server.count("/keys")),
            (2, 3),
            "{path}"
        );
    }
}

#[tokio::test]
async fn descriptions_that_are_not_believed() {
    let pair = Pair::ec();
    let changes: [(Change, &str); 6] = [
        (
            |_, said| said["issuer"] = json!("https://evil.example"),
            "another issuer",
        ),
        (
            |base, said| said["issuer"] = json!(format!("{base}/")),
            "another issuer",
        ),
        (|_, said| said["issuer"] = json!(null), "another issuer"),
        (
            |_, said| said["jwks_uri"] = json!("http://evil.example/keys"),
            "loopback",
        ),
        (|_, said| said["jwks_uri"] = json!(null), "`jwks_uri`"),
        (
            |_, said| said["token_endpoint"] = json!("http://evil.example/token"),
            "`token_endpoint`",
        ),
    ];
    for (change, word) in changes {
        let (server, issuer) = described("", &pair, change).await;
        let token = token(&claims(&issuer, &json!({})), &By::Pair(&pair));
        let error = made(&issuer).verify(&token, at(0)).await.unwrap_err();
        assert_eq!(error.code, Code::KeysUnavailable, "{error}");
        assert!(error.message.contains(word), "{word}: {error}");
        assert_eq!(server.count("/keys"), 0);
    }
}

#[tokio::test]
async fn keys_that_moved_are_found_again() {
    let pair = Pair::ec();
    let (server, issuer) = described("", &pair, |_, _| {}).await;
    let authenticators = made(&issuer);
    let said = claims(&issuer, &json!({ "exp": NOW + 9000 }));
    let token = token(&said, &By::Pair(&pair));
    authenticators.verify(&token, at(0)).await.unwrap();
    let (base, key) = (server.url(), pair.jwk("k"));
    server.answer(move |asked| match asked.target() {
        DESCRIPTION => {
            Reply::Body(json!({ "issuer": base, "jwks_uri": format!("{base}/new") }).to_string())
        }
        "/new" => keys(std::slice::from_ref(&key)),
        _ => Reply::Status(404, "", String::new()),
    });
    for delta in [300, 310] {
        authenticators.verify(&token, at(delta)).await.unwrap();
        fetched(&authenticators).await;
    }
    assert_eq!((server.count("/keys"), server.count("/new")), (2, 1));
}
