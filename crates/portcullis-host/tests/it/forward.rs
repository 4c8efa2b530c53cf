//! `forwardToAdmissionController` to controllers that answer.

use std::sync::Arc;

use portcullis_core::HostFunction::ForwardToAdmissionController;
use portcullis_host::{ExternalHost, ForwardRule, GoogleToken, HostSettings};
use portcullis_js::{Host, HostRequest, Input};
use portcullis_testing::{Pki, Reply, Server};
use serde_json::{Value, json};

use crate::script::Folder;
use crate::support::{Asked, call, forwarding, later, pod, review, settings};

fn allow() -> Reply {
    review(&json!({"uid": "u1", "allowed": true, "patchType": "JSONPatch", "patch": "W10="}))
}

fn deny() -> Reply {
    review(&json!({"uid": "u1", "allowed": false, "status": {"message": "ext no"}}))
}

fn forward(host: &ExternalHost, address: &str) -> Result<Value, String> {
    call(
        host,
        ForwardToAdmissionController,
        &[json!(address)],
        &pod(&["a"]),
    )
}

fn with_authority(pki: &Pki, rule: ForwardRule) -> ExternalHost {
    ExternalHost::new(HostSettings {
        forward_to: rule,
        forward_ca: Some(pki.authority.certificate_pem.clone().into_bytes()),
        google_token: GoogleToken::File("/nonexistent".into()),
        ..settings()
    })
    .unwrap()
}

#[test]
fn over_tls() {
    let pki = Pki::new();
    let remote = Server::https(&pki.server, |seen| {
        if seen.target() == "/deny" {
            deny()
        } else {
            allow()
        }
    });
    let place = remote.place();
    let host = with_authority(&pki, ForwardRule::Only(vec![format!("https://{place}/*")]));
    assert_eq!(
        forward(&host, &format!("https://{place}/review?timeout=1s")),
        Ok(json!(true))
    );
    assert_eq!(
        forward(&host, &format!("https://{place}/deny")),
        Ok(json!("ext no"))
    );

    let seen = remote.requests().remove(0);
    assert_eq!(
        (seen.method(), seen.target()),
        ("POST", "/review?timeout=1s")
    );
    assert_eq!(seen.header("host"), Some(place.as_str()));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("application/json"));
    assert_eq!(seen.header("accept-encoding"), None);
    assert_eq!(seen.header("authorization"), None);
    let review = seen.json();
    assert_eq!(review["kind"], "AdmissionReview");
    assert_eq!(review["request"]["uid"], "u1");
    assert_eq!(review["request"]["object"], pod(&["a"]));
}

#[test]
fn over_a_unix_socket() {
    let folder = Folder::new();
    let path = folder.path("r.sock");
    let remote = Server::unix(&path, |_| deny());
    let path = path.to_str().unwrap();
    for entry in [path, &format!("unix://{path}")] {
        let host = forwarding(&[entry]);
        assert_eq!(forward(&host, path), Ok(json!("ext no")));
        assert_eq!(
            forward(&host, &format!("unix://{path}")),
            Ok(json!("ext no"))
        );
    }
    let seen = remote.requests().remove(0);
    assert_eq!((seen.method(), seen.target()), ("POST", "/"));
    assert_eq!(seen.header("host"), Some("unix"));
}

#[test]
fn anywhere_needs_no_list() {
    let folder = Folder::new();
    let path = folder.path("r.sock");
    let _remote = Server::unix(&path, |_| allow());
    let pki = Pki::new();
    let other = Server::https(&pki.server, |_| deny());
    let host = with_authority(&pki, ForwardRule::Anywhere);
    assert_eq!(forward(&host, path.to_str().unwrap()), Ok(json!(true)));
    assert_eq!(
        forward(&host, &format!("https://{}/x/y", other.place())),
        Ok(json!("ext no"))
    );
}

#[test]
fn plain_http_on_loopback() {
    let remote = Server::http(|_| allow());
    let port = remote.port();
    let host = forwarding(&[
        &format!("http://127.0.0.1:{port}/*"),
        &format!("http://localhost:{port}/*"),
    ]);
    assert_eq!(
        forward(&host, &format!("http://127.0.0.1:{port}/x")),
        Ok(json!(true))
    );
    assert_eq!(
        forward(&host, &format!("http://localhost:{port}/x")),
        Ok(json!(true))
    );
    let anywhere = ExternalHost::new(HostSettings {
        forward_to: ForwardRule::Anywhere,
        ..settings()
    })
    .unwrap();
    assert_eq!(
        forward(&anywhere, &format!("http://127.0.0.1:{port}/x")),
        Ok(json!(true))
    );
    let unlisted = forwarding(&["https://127.0.0.1/*"]);
    assert!(forward(&unlisted, &format!("http://127.0.0.1:{port}/x")).is_err());
    assert_eq!(remote.requests().len(), 3);
}

#[test]
fn the_original_object_or_the_current_one() {
    let remote = Server::http(|_| allow());
    let address = format!("http://{}/x", remote.place());
    let host = forwarding(&[&address]);
    let (original, current) = (pod(&["original"]), pod(&["current"]));
    let input = Input {
        subject: Arc::new(Asked),
        ..Input::new(&original)
    };
    let send = |arguments: &[Value]| {
        host.call(&HostRequest {
            function: ForwardToAdmissionController,
            arguments,
            object: &current,
            original: &input.object,
            subject: input.subject.as_ref(),
            deadline: later(),
        })
    };
    let address = json!(address);
    for (options, sent) in [
        (None, &original),
        (Some(json!(null)), &original),
        (Some(json!({})), &original),
        (Some(json!({"current": false})), &original),
        (Some(json!({"current": true})), &current),
    ] {
        let mut arguments = vec![address.clone()];
        arguments.extend(options);
        assert_eq!(send(&arguments), Ok(json!(true)));
        let seen = remote.requests().pop().unwrap();
        assert_eq!(&seen.json()["request"]["object"], sent);
    }
    for bad in [
        json!({"current": 1}),
        json!({"curent": true}),
        json!("current"),
        json!(true),
    ] {
        assert!(send(&[address.clone(), bad]).is_err());
    }
    assert_eq!(remote.requests().len(), 5);
}

#[test]
fn a_request_without_a_review_is_not_forwarded() {
    let remote = Server::http(|_| allow());
    let address = format!("http://{}/x", remote.place());
    let host = forwarding(&[&address]);
    let object = pod(&["a"]);
    let input = Input::new(&object);
    let message = host.call(&HostRequest {
        function: ForwardToAdmissionController,
        arguments: &[json!(address)],
        object: &object,
        original: &input.object,
        subject: input.subject.as_ref(),
        deadline: later(),
    });
    assert!(message.unwrap_err().contains("nothing to forward"));
    assert!(remote.requests().is_empty());
}
