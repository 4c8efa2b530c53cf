//! Signing in at a terminal with a provider that does what the test says.

use std::collections::HashMap;

use serde_json::json;

use super::*;
use crate::testing::{By, Pair, Reply, Server, at, claims, token};

const BACK: &str = "http://127.0.0.1:4711/callback";

struct Play {
    server: Server,
    login: TerminalLogin,
    pair: Pair,
}

impl Play {
    fn new() -> Self {
        let server = Server::http(|_| Reply::Hang);
        let login = TerminalLogin::new(TerminalSettings {
            issuer: server.url(),
            client_id: "cli".to_owned(),
            scopes: vec!["email".to_owned()],
            ca: None,
        });
        let play = Self {
            login: login.unwrap(),
            pair: Pair::ec(),
            server,
        };
        play.answer(&json!({}), 500, json!({}));
        play
    }

    /// What the provider says of itself besides, and what it answers where tokens and devices are.
    fn answer(&self, more: &Value, status: u16, answer: Value) {
        let (base, key, more) = (self.server.url(), self.pair.jwk("k"), more.clone());
        self.server.answer(move |asked| match asked.target() {
            "/.well-known/openid-configuration" => {
                let mut said = json!({
                    "issuer": base,
                    "jwks_uri": format!("{base}/keys"),
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "device_authorization_endpoint": format!("{base}/device"),
                    "revocation_endpoint": format!("{base}/revoke"),
                });
                for (name, value) in more.as_object().unwrap() {
                    said[name] = value.clone();
                }
                Reply::Body(said.to_string())
            }
            "/keys" => Reply::Body(json!({ "keys": [key] }).to_string()),
            "/token" | "/device" | "/revoke" => Reply::Status(status, "", answer.to_string()),
            _ => Reply::Status(404, "", String::new()),
        });
    }

    fn id_token(&self, changes: &Value) -> String {
        let said = claims(&self.server.url(), &json!({"aud": "cli"}));
        let mut said = said;
        for (name, value) in changes.as_object().unwrap() {
            said[name] = value.clone();
        }
        token(&said, &By::Pair(&self.pair))
    }

    async fn begin(&self) -> (BrowserSignIn, HashMap<String, String>) {
        let begun = self.login.begin_in_browser(BACK, at(0)).await.unwrap();
        let (_, query) = begun.location.split_once('?').unwrap();
        let query = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        (begun, query)
    }

    fn form(&self, path: &str) -> HashMap<String, String> {
        let asked = self.server.asked(path);
        let last = asked.last().unwrap();
        form_urlencoded::parse(&last.body).into_owned().collect()
    }
}

#[tokio::test]
async fn a_browser_comes_back_with_a_code() {
    let play = Play::new();
    play.answer(
        &json!({"scopes_supported": ["openid", "offline_access"]}),
        500,
        json!({}),
    );
    let (begun, query) = play.begin().await;
    assert_eq!(query["scope"], "openid email offline_access");
    assert_eq!(query["prompt"], "consent");
    assert_eq!(
        (query["client_id"].as_str(), query["redirect_uri"].as_str()),
        ("cli", BACK)
    );
    assert_eq!(format!("{begun:?}"), "BrowserSignIn(secret)");
    let id_token = play.id_token(&json!({"nonce": query["nonce"]}));
    play.answer(
        &json!({}),
        200,
        json!({"id_token": id_token, "refresh_token": "again"}),
    );
    let back = format!("code=c&state={}", query["state"]);
    let tokens = play
        .login
        .finish_in_browser(&begun, &back, at(1))
        .await
        .unwrap();
    assert_eq!(tokens.refresh_token.as_deref(), Some("again"));
    assert_eq!(format!("{tokens:?}"), "Tokens(secret)");
    let form = play.form("/token");
    assert_eq!(
        encode(sha256(form["code_verifier"].as_bytes())),
        query["code_challenge"]
    );
    assert_eq!(
        (form["client_id"].as_str(), form["redirect_uri"].as_str()),
        ("cli", BACK)
    );
}

#[tokio::test]
async fn what_belongs_to_something_else_is_rejected() {
    let play = Play::new();
    let (begun, query) = play.begin().await;
    let state = &query["state"];
    let finish = async |back: String| {
        play.login
            .finish_in_browser(&begun, &back, at(1))
            .await
            .unwrap_err()
    };
    assert_eq!(
        finish("code=c&state=other".to_owned()).await,
        LoginError::WrongState
    );
    assert_eq!(finish("code=c".to_owned()).await, LoginError::WrongState);
    let denied = finish(format!("error=access_denied&state={state}")).await;
    assert_eq!(denied, LoginError::Refused("access_denied".to_owned()));
    let issuer = finish(format!("code=c&state={state}&iss=https%3A%2F%2Fevil")).await;
    assert_eq!(issuer, LoginError::WrongIssuer);
    for changes in [
        json!({"nonce": "other"}),
        json!({"nonce": query["nonce"], "aud": "other"}),
        json!({"nonce": query["nonce"], "iss": "https://evil.example"}),
        json!({"nonce": query["nonce"], "exp": 1}),
    ] {
        play.answer(
            &json!({}),
            200,
            json!({"id_token": play.id_token(&changes)}),
        );
        let error = finish(format!("code=c&state={state}")).await;
        assert!(
            matches!(error, LoginError::BadToken(_)),
            "{changes}: {error}"
        );
    }
    let forged = token(
        &claims(
            &play.server.url(),
            &json!({"aud": "cli", "nonce": query["nonce"]}),
        ),
        &By::Pair(&Pair::ec()),
    );
    play.answer(&json!({}), 200, json!({"id_token": forged}));
    let error = finish(format!("code=c&state={state}")).await;
    assert!(matches!(error, LoginError::BadToken(_)), "{error}");
    play.answer(&json!({}), 200, json!({"access_token": "opaque"}));
    let error = finish(format!("code=c&state={state}")).await;
    assert!(matches!(error, LoginError::BadAnswer(_)), "{error}");
}

fn device(play: &Play, more: &Value) -> Value {
    let mut answer = json!({
        "device_code": "secret code", "user_code": "ABCD-EFGH", "interval": 7, "expires_in": 300,
        "verification_uri": format!("{}/activate", play.server.url()),
    });
    for (name, value) in more.as_object().unwrap() {
        answer[name] = value.clone();
    }
    answer
}

#[tokio::test]
async fn a_device_waits_for_the_person() {
    let play = Play::new();
    assert!(play.login.has_devices(at(0)).await.unwrap());
    play.answer(&json!({}), 200, device(&play, &json!({})));
    let begun = play.login.begin_with_device(at(0)).await.unwrap();
    assert_eq!(
        (begun.user_code.as_str(), begun.interval.as_secs()),
        ("ABCD-EFGH", 7)
    );
    assert_eq!(play.form("/device")["scope"], "openid email");
    let poll = async || play.login.poll_device(&begun, at(1)).await;
    for (word, expected) in [
        ("authorization_pending", "Pending"),
        ("slow_down", "SlowDown"),
    ] {
        play.answer(&json!({}), 400, json!({"error": word}));
        assert_eq!(format!("{:?}", poll().await.unwrap()), expected);
    }
    assert_eq!(play.form("/token")["device_code"], "secret code");
    play.answer(&json!({}), 400, json!({"error": "expired_token"}));
    assert_eq!(poll().await.unwrap_err(), LoginError::TooLate);
    play.answer(&json!({}), 400, json!({"error": "access_denied"}));
    assert_eq!(
        poll().await.unwrap_err(),
        LoginError::Refused("access_denied".to_owned())
    );
    play.answer(
        &json!({}),
        200,
        json!({"id_token": play.id_token(&json!({}))}),
    );
    assert!(matches!(poll().await.unwrap(), DevicePoll::Done(_)));
}

#[tokio::test]
async fn hostile_answers_about_devices_are_rejected() {
    let play = Play::new();
    for more in [
        json!({"user_code": "\u{1b}[2J"}),
        json!({"user_code": "x".repeat(65)}),
        json!({"verification_uri": "javascript:alert(1)"}),
        json!({"verification_uri": "http://evil.example"}),
        json!({"verification_uri_complete": "file:///etc/passwd"}),
        json!({"device_code": 7}),
    ] {
        play.answer(&json!({}), 200, device(&play, &more));
        let error = play.login.begin_with_device(at(0)).await.unwrap_err();
        assert!(matches!(error, LoginError::BadAnswer(_)), "{more}: {error}");
    }
    play.answer(
        &json!({}),
        200,
        device(&play, &json!({"interval": 0, "expires_in": 99_999_999})),
    );
    let begun = play.login.begin_with_device(at(0)).await.unwrap();
    assert_eq!(
        (begun.interval.as_secs(), begun.expires_in.as_secs()),
        (1, 3600)
    );
}

#[tokio::test]
async fn tokens_are_renewed_and_revoked() {
    let play = Play::new();
    play.answer(
        &json!({}),
        200,
        json!({"id_token": play.id_token(&json!({}))}),
    );
    let tokens = play.login.renew("old", at(1)).await.unwrap();
    assert_eq!(tokens.refresh_token, "old");
    assert_eq!(play.form("/token")["refresh_token"], "old");
    play.answer(
        &json!({}),
        200,
        json!({"id_token": play.id_token(&json!({})), "refresh_token": "new"}),
    );
    let tokens = play.login.renew("old", at(1)).await.unwrap();
    assert_eq!(tokens.refresh_token, "new");
    play.answer(&json!({}), 400, json!({"error": "invalid_grant"}));
    let error = play.login.renew("old", at(1)).await.unwrap_err();
    assert_eq!(error, LoginError::Refused("invalid_grant".to_owned()));
    play.answer(&json!({}), 200, json!({}));
    assert!(play.login.revoke("new", at(1)).await.unwrap());
    assert_eq!(play.form("/revoke")["token"], "new");
    play.answer(&json!({}), 503, json!({}));
    assert!(play.login.revoke("new", at(1)).await.is_err());
}

#[tokio::test]
async fn a_renewal_need_not_repeat_the_identity() {
    let play = Play::new();
    let access = play.id_token(&json!({"aud": "portcullis"}));
    let answer = json!({"access_token": access, "refresh_token": "new"});
    play.answer(&json!({}), 200, answer);
    let renewed = play.login.renew("old", at(1)).await.unwrap();
    assert_eq!(renewed.refresh_token, "new");
    assert_eq!(
        renewed.for_audience(Some("portcullis")),
        Some(access.as_str())
    );
    // An access token is not sent to a server that wants the identity.
    assert_eq!(renewed.for_audience(None), None);
    assert_eq!(renewed.for_audience(Some("other")), None);
    assert_eq!(format!("{renewed:?}"), "Renewed(secret)");
    play.answer(&json!({}), 200, json!({"refresh_token": "new"}));
    assert!(play.login.renew("old", at(1)).await.is_err());
    let forged = token(
        &claims("https://other", &json!({"aud": "cli"})),
        &By::Pair(&play.pair),
    );
    play.answer(
        &json!({}),
        200,
        json!({"id_token": forged, "access_token": "a"}),
    );
    assert!(play.login.renew("old", at(1)).await.is_err());
}

#[test]
fn the_token_is_chosen_by_its_audience() {
    let pair = Pair::ec();
    let of = |audience: Value| token(&claims("i", &json!({"aud": audience})), &By::Pair(&pair));
    let tokens = Tokens {
        id_token: of(json!("cli")),
        access_token: Some(of(json!(["portcullis", "other"]))),
        refresh_token: None,
    };
    assert_eq!(tokens.for_audience(Some("cli")), tokens.id_token);
    assert_eq!(
        Some(tokens.for_audience(Some("portcullis"))),
        tokens.access_token.as_deref()
    );
    assert_eq!(tokens.for_audience(None), tokens.id_token);
    assert_eq!(tokens.for_audience(Some("unknown")), tokens.id_token);
    let facts = TokenFacts::of(&tokens.id_token).unwrap();
    assert_eq!(facts.subject.as_deref(), Some("bob"));
    assert_eq!(facts.expires, Some(at(600)));
    assert_eq!(TokenFacts::of("opaque"), None);
}
