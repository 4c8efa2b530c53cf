//! Over TLS: whose certificates are trusted, and the client's own.

use std::sync::Arc;

use rcgen::CertifiedKey;
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{LIMITS, OK, serve};
use crate::client::{Client, HttpResponse, Protocol, Request};
use crate::{Address, Error, Trust, authorities, certificates, private_key, provider};

fn certified() -> CertifiedKey<rcgen::KeyPair> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    rcgen::generate_simple_self_signed(names).unwrap()
}

/// Asks a server with this certificate, which asks for certificates of `clients` if there are any.
async fn over_tls(
    server: &CertifiedKey<rcgen::KeyPair>,
    clients: Option<&str>,
    trust: &Trust,
) -> (Result<HttpResponse, Error>, String) {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let roots = Arc::new(authorities(pem.as_bytes()).unwrap());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let chain = certificates(server.cert.pem().as_bytes()).unwrap();
    let key = private_key(server.signing_key.serialize_pem().as_bytes()).unwrap();
    let config = builder.with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        match acceptor.accept(stream).await {
            Ok(stream) => serve(stream, OK).await,
            Err(_) => String::new(),
        }
    });
    let address = Address::parse(&format!("https://localhost:{port}")).unwrap();
    let client = Client::new(address, Protocol::Http1, trust).unwrap();
    let answer = client.exchange(&Request::get(), LIMITS).await;
    (answer, served.await.unwrap())
}

#[tokio::test]
async fn only_the_authorities_given_count() {
    let (server, other) = (certified(), certified());
    let trust = |one: &CertifiedKey<_>| Trust::new(Some(one.cert.pem().as_bytes())).unwrap();
    let (answer, _) = over_tls(&server, None, &trust(&server)).await;
    assert_eq!(answer.unwrap().body, "{}");
    let (answer, asked) = over_tls(&server, None, &trust(&other)).await;
    let error = answer.unwrap_err();
    assert!(error.to_string().starts_with("TLS failed: "), "{error}");
    assert!(!error.is_without_tls());
    assert_eq!(asked, "");
}

#[tokio::test]
async fn a_server_may_ask_for_our_certificate() {
    let (server, own) = (certified(), certified());
    let trust = Trust::new(Some(server.cert.pem().as_bytes())).unwrap();
    let (certificate, key) = (own.cert.pem(), own.signing_key.serialize_pem());
    let (answer, asked) = over_tls(&server, Some(&certificate), &trust).await;
    assert!(answer.is_err());
    assert_eq!(asked, "");
    let known = trust.with_identity(certificate.as_bytes(), key.as_bytes());
    let (answer, asked) = over_tls(&server, Some(&certificate), &known.unwrap()).await;
    assert_eq!(answer.unwrap().body, "{}");
    assert!(asked.starts_with("GET / HTTP/1.1\r\n"), "{asked}");
}

#[tokio::test]
async fn a_server_without_tls_is_recognized() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(OK.as_bytes()).await;
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    });
    let own = certified();
    let trust = Trust::new(Some(own.cert.pem().as_bytes())).unwrap();
    let address = Address::parse(&url).unwrap();
    let client = Client::new(address, Protocol::Http1, &trust).unwrap();
    let error = client.exchange(&Request::get(), LIMITS).await.unwrap_err();
    assert!(error.is_without_tls(), "{error}");
}
