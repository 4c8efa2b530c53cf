//! Signing in with a provider that does what the test says.

use std::collections::HashMap;
use std::time::Duration;

use portcullis_core::AdminOf;
use serde_json::{Value, json};

use super::{LoggedIn, LoginBegun, LoginError, local};
use crate::authenticators::Authenticators;
use crate::encoding::{encode, sha256};
use crate::session::{SessionKey, Sessions};
use crate::settings::AuthenticatorSettings;
use crate::testing::{
    By, NOW, Pair, Reply, Server, at, claims, login, provider, shared, token, token_with,
};

const DESCRIPTION: &str = "/.well-known/openid-configuration";
const BACK: &str = "https://gate.example/api/auth/callback";

/// A provider, us, and a browser.
struct Play {
    server: Server,
    authenticators: Authenticators,
    sessions: Sessions,
    pair: Pair,
    /// How long the provider takes to redeem a code.
    takes: Duration,
}

impl Play {
    async fn new(client_secret: Option<&str>) -> Self {
        Self::described(client_secret, json!({})).await
    }

    /// Where the provider also says this of itself.
    async fn described(client_secret: Option<&str>, more: Value) -> Self {
        let server = Server::http(|_| Reply::Hang);
        let settings = AuthenticatorSettings {
            login: Some(login(client_secret)),
            ..provider(&server.url(), None)
        };
        let play = Self {
            authenticators: Authenticators::new(vec![shared("corp"), settings], None).unwrap(),
            sessions: Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(60)),
            pair: Pair::ec(),
            takes: Duration::ZERO,
            server,
        };
        play.answer(more, Reply::Status(500, "", String::new()));
        play
    }

    /// Lets the provider answer the code so.
    fn answer(&self, more: Value, reply: Reply) {
        let (base, key, takes) = (self.server.url(), self.pair.jwk("k"), self.takes);
        let reply = match reply {
            Reply::Body(body) => (200, body),
            Reply::Status(status, _, body) => (status, body),
            other => panic!("not here: {other:?}"),
        };
        self.server.answer(move |asked| match asked.target() {
            DESCRIPTION => {
                let mut said = json!({
                    "issuer": base,
                    "jwks_uri": format!("{base}/keys"),
                    "authorization_endpoint": format!("{base}/authorize?tenant=1"),
                    "token_endpoint": format!("{base}/token"),
                });
                for (name, value) in more.as_object().unwrap() {
                    said[name] = value.clone();
                }
                Reply::Body(said.to_string())
            }
            "/keys" => Reply::Body(json!({ "keys": [key] }).to_string()),
            "/token" => {
                std::thread::sleep(takes);
                Reply::Status(reply.0, "", reply.1.clone())
            }
            _ => Reply::Status(404, "", String::new()),
        });
    }

    async fn begin(&self, return_to: &str) -> (LoginBegun, HashMap<String, String>) {
        let begun = self
            .authenticators
            .begin_login(None, BACK, return_to, &self.sessions, at(0))
            .await;
        let begun = begun.unwrap();
        let (_, query) = begun.location.split_once('?').unwrap();
        let query = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        (begun, query)
    }

    async fn finish(&self, query: &str, cookie: &str, delta: i64) -> Result<LoggedIn, LoginError> {
        self.authenticators
            .finish_login(query, cookie, BACK, &self.sessions, at(delta))
            .await
    }

    /// An identity token for this attempt, with these changes.
    fn id_token(&self, nonce: &str, changes: &Value) -> Value {
        let mut said = claims(
            &self.server.url(),
            &json!({ "aud": "client one", "nonce": nonce }),
        );
        for (name, value) in changes.as_object().unwrap() {
            said[name] = value.clone();
            if value.is_null() {
                said.as_object_mut().unwrap().remove(name);
            }
        }
        said
    }

    /// Signs in with an identity token that has these changes.
    async fn sign_in(&self, changes: &Value) -> Result<LoggedIn, LoginError> {
        let (begun, query) = self.begin("/x").await;
        let said = self.id_token(&query["nonce"], changes);
        let token = token(&said, &By::Pair(&self.pair));
        self.answer(
            json!({}),
            Reply::Body(json!({ "id_token": token }).to_string()),
        );
        self.finish(
            &format!("code=c&state={}", query["state"]),
            &begun.cookie,
            1,
        )
        .await
    }
}

#[tokio::test]
async fn the_whole_way() {
    for secret in [None, Some("s:e c/r+et")] {
        let play = Play::new(secret).await;
        let (begun, query) = play.begin("/t/one?x=1#y").await;
        let endpoint = format!("{}/authorize?tenant=1&", play.server.url());
        assert!(begun.location.starts_with(&endpoint), "{}", begun.location);
        for (name, value) in [
            ("response_type", "code"),
            ("client_id", "client one"),
            ("redirect_uri", BACK),
            ("scope", "openid profile"),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(query[name], value, "{name}");
        }
        assert!(begun.cookie.len() < 3800);
        assert!(!format!("{begun:?}").contains(&query["state"]));

        let said = play.id_token(
            &query["nonce"],
            &json!({ "groups": ["a"], "zuul": { "admin": ["*"] } }),
        );
        let id_token = token(&said, &By::Pair(&play.pair));
        play.answer(
            json!({}),
            Reply::Body(json!({ "id_token": id_token, "access_token": "x" }).to_string()),
        );
        let back = format!("code=the%2Fcode&state={}&session_state=1", query["state"]);
        let logged_in = play.finish(&back, &begun.cookie, 599).await.unwrap();
        assert_eq!(
            (logged_in.realm.as_str(), logged_in.return_to.as_str()),
            ("realm-sso", "/t/one?x=1#y")
        );
        assert_eq!(
            (logged_in.identity.uid.as_str(), &logged_in.identity.admin),
            ("bob", &AdminOf::Nothing)
        );
        assert_eq!(logged_in.identity.claims["groups"], json!(["a"]));
        assert!(!logged_in.identity.claims.contains_key("zuul"));

        let asked = &play.server.asked("/token")[0];
        assert!(asked.head.starts_with("POST "), "{}", asked.head);
        let form: HashMap<_, _> = form_urlencoded::parse(&asked.body).into_owned().collect();
        assert_eq!(form["grant_type"], "authorization_code");
        assert_eq!(form["code"], "the/code");
        assert_eq!(form["redirect_uri"], BACK);
        assert_eq!(
            encode(sha256(form["code_verifier"].as_bytes())),
            query["code_challenge"]
        );
        assert!((43..=128).contains(&form["code_verifier"].len()));
        let basic = asked
            .head
            .to_ascii_lowercase()
            .contains("authorization: basic");
        assert_eq!(
            (basic, form.contains_key("client_id")),
            (secret.is_some(), secret.is_none())
        );
        if secret.is_some() {
            use base64::Engine as _;
            let wanted =
                base64::engine::general_purpose::STANDARD.encode("client+one:s%3Ae+c%2Fr%2Bet");
            assert!(asked.head.contains(&wanted), "{}", asked.head);
        }
    }
}

#[tokio::test]
async fn attempts_have_nothing_in_common() {
    let play = Play::new(None).await;
    let (one, first) = play.begin("/").await;
    let (two, second) = play.begin("/").await;
    assert_ne!(one.cookie, two.cookie);
    for name in ["state", "nonce", "code_challenge"] {
        assert_ne!(first[name], second[name]);
        assert_eq!(first[name].len(), 43);
    }
    assert_eq!(play.server.count(DESCRIPTION), 1);
    for (query, cookie) in [(&first, &two.cookie), (&second, &one.cookie)] {
        let back = format!("code=c&state={}", query["state"]);
        assert_eq!(
            play.finish(&back, cookie, 0).await,
            Err(LoginError::WrongState)
        );
    }
    assert_eq!(play.server.count("/token"), 0);
}

#[tokio::test]
async fn answers_that_are_not_taken() {
    let play = Play::new(None).await;
    let (begun, query) = play.begin("/").await;
    let (state, cookie) = (&query["state"], begun.cookie.as_str());
    let code = |query: String, cookie: &str, delta: i64| {
        let (play, cookie) = (&play, cookie.to_owned());
        async move {
            play.finish(&query, &cookie, delta)
                .await
                .unwrap_err()
                .code()
        }
    };
    assert_eq!(
        code(format!("code=c&state={state}"), "", 0).await,
        "not_begun"
    );
    assert_eq!(
        code(
            format!("code=c&state={state}"),
            &cookie.replacen("v1", "v2", 1),
            0
        )
        .await,
        "not_begun"
    );
    assert_eq!(
        code(format!("code=c&state={state}"), &"x".repeat(1 << 20), 0).await,
        "not_begun"
    );
    assert_eq!(
        code(format!("code=c&state={state}"), cookie, 600).await,
        "too_late"
    );
    assert_eq!(code("code=c".to_owned(), cookie, 0).await, "wrong_state");
    assert_eq!(
        code("code=c&state=".to_owned(), cookie, 0).await,
        "wrong_state"
    );
    assert_eq!(
        code(format!("code=c&state={state}x"), cookie, 0).await,
        "wrong_state"
    );
    assert_eq!(
        code(format!("code=c&state={state}&state={state}"), cookie, 0).await,
        "bad_answer"
    );
    assert_eq!(
        code(format!("code=c&code=d&state={state}"), cookie, 0).await,
        "bad_answer"
    );
    assert_eq!(
        code(format!("state={state}"), cookie, 0).await,
        "bad_answer"
    );
    assert_eq!(
        code(format!("code=&state={state}"), cookie, 0).await,
        "bad_answer"
    );
    assert_eq!(
        code(
            format!("code={}&state={state}", "c".repeat(20_000)),
            cookie,
            0
        )
        .await,
        "bad_answer"
    );
    assert_eq!(
        code(
            format!("code=c&state={state}&iss=https%3A%2F%2Fevil.example"),
            cookie,
            0
        )
        .await,
        "wrong_issuer"
    );
    // A session can't be used as an attempt, nor an attempt as a session.
    let who = portcullis_core::Identity {
        claims: serde_json::Map::new(),
        uid: "x".to_owned(),
        admin: AdminOf::Nothing,
    };
    let session = play.sessions.seal(&who, "r", at(0)).unwrap();
    assert_eq!(
        code(format!("code=c&state={state}"), &session, 0).await,
        "not_begun"
    );
    assert!(play.sessions.open(cookie, at(0)).is_none());
    assert_eq!(play.server.count("/token"), 0);
}

#[tokio::test]
async fn a_provider_that_says_who_it_is() {
    let more = json!({ "authorization_response_iss_parameter_supported": true });
    let play = Play::described(None, more).await;
    let (begun, query) = play.begin("/").await;
    let back = format!("code=c&state={}", query["state"]);
    assert_eq!(
        play.finish(&back, &begun.cookie, 0).await,
        Err(LoginError::WrongIssuer)
    );
    let named = form_urlencoded::Serializer::new(back)
        .append_pair("iss", &play.server.url())
        .finish();
    let error = play.finish(&named, &begun.cookie, 0).await.unwrap_err();
    assert_eq!(error.code(), "provider_unavailable", "{error}");
    assert_eq!(play.server.count("/token"), 1);
}

#[tokio::test]
async fn refusals_are_told_in_words() {
    let play = Play::new(None).await;
    let (begun, query) = play.begin("/").await;
    for (word, text) in [
        ("access_denied", "access was denied"),
        ("login_required", "sign in there first"),
        ("server_error", "reported an error"),
        ("odd_word", "reported `odd_word`"),
        ("%3Cscript%3E", "reported `unknown`"),
        ("", "reported `unknown`"),
    ] {
        let back = format!(
            "error={word}&error_description=secret&state={}",
            query["state"]
        );
        let error = play.finish(&back, &begun.cookie, 0).await.unwrap_err();
        assert_eq!(error.code(), "refused");
        assert!(
            error.to_string().contains(text) && !error.to_string().contains("secret"),
            "{error}"
        );
    }
    // Only for the attempt that was begun.
    let error = play
        .finish("error=access_denied&state=x", &begun.cookie, 0)
        .await;
    assert_eq!(error, Err(LoginError::WrongState));
}

#[tokio::test]
async fn codes_that_are_not_redeemed() {
    let play = Play::new(None).await;
    let (begun, query) = play.begin("/").await;
    let back = format!("code=c&state={}", query["state"]);
    let big = format!(r#"{{"id_token": "x"}}{}"#, " ".repeat(300 << 10));
    for (reply, code, text) in [
        (
            Reply::Status(
                400,
                "",
                r#"{"error":"invalid_grant","error_description":"hunter2"}"#.to_owned(),
            ),
            "refused",
            "code",
        ),
        (
            Reply::Status(401, "", r#"{"error":"invalid_client"}"#.to_owned()),
            "refused",
            "clientSecretFile",
        ),
        (
            Reply::Status(400, "", "hunter2".to_owned()),
            "provider_unavailable",
            "400",
        ),
        (
            Reply::Status(500, "", r#"{"error":"x"}"#.to_owned()),
            "provider_unavailable",
            "500",
        ),
        (
            Reply::Status(302, "", String::new()),
            "provider_unavailable",
            "302",
        ),
        (Reply::Body("{}".to_owned()), "bad_answer", "no `id_token`"),
        (
            Reply::Body(r#"{"id_token": 7}"#.to_owned()),
            "bad_answer",
            "no `id_token`",
        ),
        (Reply::Body("[]".to_owned()), "bad_answer", "no `id_token`"),
        (Reply::Body(big), "provider_unavailable", "262144 bytes"),
        (
            Reply::Body(r#"{"id_token": "x.y.z"}"#.to_owned()),
            "bad_token",
            "base64url",
        ),
    ] {
        play.answer(json!({}), reply);
        let error = play.finish(&back, &begun.cookie, 0).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(
            error.to_string().contains(text) && !error.to_string().contains("hunter2"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn identity_tokens_that_are_not_believed() {
    let play = Play::new(None).await;
    play.sign_in(&json!({})).await.unwrap();
    play.sign_in(&json!({ "aud": ["client one"] }))
        .await
        .unwrap();
    play.sign_in(&json!({ "azp": "client one" })).await.unwrap();
    play.sign_in(&json!({ "aud": ["client one", "x"], "azp": "client one" }))
        .await
        .unwrap();
    for (changes, text) in [
        (json!({ "aud": "portal" }), "audience"),
        (json!({ "aud": ["client one", "x"] }), "`azp`"),
        (json!({ "aud": ["client one", "x"], "azp": "x" }), "`azp`"),
        (json!({ "azp": "x" }), "`azp`"),
        (json!({ "azp": 7 }), "`azp`"),
        (json!({ "nonce": null }), "`nonce`"),
        (json!({ "nonce": "x" }), "`nonce`"),
        (json!({ "nonce": 7 }), "`nonce`"),
        (json!({ "iss": "corp" }), "another issuer"),
        (json!({ "iss": null }), "another issuer"),
        (json!({ "exp": NOW }), "expired"),
        (json!({ "sub": null }), "`sub`"),
        (json!({ "iat": NOW + 100 }), "issued"),
    ] {
        let error = play.sign_in(&changes).await.unwrap_err();
        assert_eq!(error.code(), "bad_token", "{changes}: {error}");
        assert!(error.to_string().contains(text), "{changes}: {error}");
    }
}

#[tokio::test]
async fn a_token_that_was_issued_while_it_was_waited_for_is_not_from_the_future() {
    let mut play = Play::new(None).await;
    // The code comes back one second after the beginning.
    let issued = json!({ "iat": NOW + 2 });
    assert!(play.sign_in(&issued).await.is_err());
    play.takes = Duration::from_millis(1100);
    play.sign_in(&issued).await.unwrap();
}

#[tokio::test]
async fn identity_tokens_that_are_forged() {
    let play = Play::new(None).await;
    let (begun, query) = play.begin("/").await;
    let said = play.id_token(&query["nonce"], &json!({}));
    let other = Pair::ec();
    for forged in [
        token(&said, &By::Nobody),
        token(&said, &By::Shared(play.pair.public_pem().as_bytes())),
        token(&said, &By::Pair(&other)),
        token_with(
            &json!({ "alg": "ES256", "kid": "x", "jwk": other.jwk("x") }),
            &said,
            &By::Pair(&other),
        ),
    ] {
        play.answer(
            json!({}),
            Reply::Body(json!({ "id_token": forged }).to_string()),
        );
        let back = format!("code=c&state={}", query["state"]);
        let error = play.finish(&back, &begun.cookie, 1).await.unwrap_err();
        assert_eq!(error.code(), "bad_token", "{error}");
    }
}

#[tokio::test]
async fn realms_to_sign_in_with() {
    let play = Play::new(None).await;
    let begin = |realm| {
        play.authenticators
            .begin_login(realm, BACK, "/", &play.sessions, at(0))
    };
    begin(None).await.unwrap();
    begin(Some("realm-sso")).await.unwrap();
    assert_eq!(begin(Some("realm-corp")).await, Err(LoginError::NoLogin));
    assert_eq!(begin(Some("nosuch")).await, Err(LoginError::UnknownRealm));
    let nobody = Authenticators::new(vec![shared("corp")], None).unwrap();
    let error = nobody
        .begin_login(None, BACK, "/", &play.sessions, at(0))
        .await;
    assert_eq!(error, Err(LoginError::NoLogin));
    // A provider that was removed from the settings in between is not asked any more.
    let (begun, query) = play.begin("/").await;
    let back = format!("code=c&state={}", query["state"]);
    let error = nobody
        .finish_login(&back, &begun.cookie, BACK, &play.sessions, at(0))
        .await;
    assert_eq!(error, Err(LoginError::NoLogin));
}

#[tokio::test]
async fn a_provider_that_is_away() {
    let play = Play::new(None).await;
    play.server
        .answer(|_| Reply::Status(502, "", String::new()));
    let begun = play
        .authenticators
        .begin_login(None, BACK, "/", &play.sessions, at(0))
        .await;
    assert_eq!(begun.unwrap_err().code(), "provider_unavailable");
    // Not asked again for every click.
    for _ in 0..20 {
        let begun = play
            .authenticators
            .begin_login(None, BACK, "/", &play.sessions, at(0))
            .await;
        assert_eq!(begun.unwrap_err().code(), "provider_unavailable");
    }
    assert_eq!(play.server.count(DESCRIPTION), 1);
    play.answer(json!({}), Reply::Body(String::new()));
    let begun = play
        .authenticators
        .begin_login(None, BACK, "/", &play.sessions, at(1))
        .await;
    begun.unwrap();
    let more = json!({ "authorization_endpoint": null });
    let play = Play::described(None, more).await;
    let begun = play
        .authenticators
        .begin_login(None, BACK, "/", &play.sessions, at(0))
        .await;
    assert_eq!(begun.unwrap_err().code(), "provider_unavailable");
}

#[tokio::test]
async fn scopes_as_configured() {
    let server = Server::http(|_| Reply::Hang);
    let mut sso = provider(&server.url(), None);
    sso.login = Some(login(None));
    sso.login.as_mut().unwrap().scopes = vec!["email".to_owned(), "groups".to_owned()];
    let base = server.url();
    server.answer(move |_| {
        let at = |path: &str| format!("{base}{path}");
        Reply::Body(
            json!({ "issuer": base, "jwks_uri": at("/k"), "authorization_endpoint": at("/a") })
                .to_string(),
        )
    });
    let authenticators = Authenticators::new(vec![sso], None).unwrap();
    let sessions = Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(60));
    let begun = authenticators
        .begin_login(None, BACK, "/", &sessions, at(0))
        .await
        .unwrap();
    assert!(begun.location.starts_with(&format!("{}/a?", server.url())));
    assert!(
        begun.location.contains("scope=openid+email+groups"),
        "{}",
        begun.location
    );
}

#[test]
fn only_local_places() {
    for path in ["/", "/t/one", "/t/one?x=1&y=//z", "/a//b", "/é"] {
        assert_eq!(local(path), path);
    }
    let long = format!("/{}", "x".repeat(2000));
    for path in [
        "",
        "//",
        "//evil.example",
        "///x",
        "/\\evil.example",
        "\\",
        "https://evil.example",
        "evil",
        "/x\\y",
        "/x\r\nA: b",
        "/\t/evil.example",
        "/\u{7f}",
        "/\u{85}",
        "javascript:alert(1)",
        " /x",
        &long,
    ] {
        assert_eq!(local(path), "/", "{path:?}");
    }
}
