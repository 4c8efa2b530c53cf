//! `sslmode`, against servers with and without TLS.

use std::path::Path;
use std::process::Command;

use portcullis_store::{Location, Mode, Store, StoreError};

use crate::server::{Server, shared};

/// Makes a certificate that vouches for itself; gives certificate and key.
fn certificate(folder: &Path, name: &str, alternative: &str) -> (Vec<u8>, Vec<u8>) {
    let (certificate, key) = (
        folder.join(format!("{name}.crt")),
        folder.join(format!("{name}.key")),
    );
    let output = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
        ])
        .args(["-nodes", "-days", "2", "-subj", "/CN=test", "-addext"])
        .arg(format!("subjectAltName={alternative}"))
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (
        std::fs::read(certificate).unwrap(),
        std::fs::read(key).unwrap(),
    )
}

fn open(url: &str, folder: &Path) -> Result<(), StoreError> {
    let location = Location::parse(url, folder).unwrap();
    Store::open(&location, Mode::ReadWrite).and_then(|mut store| store.check())
}

#[test]
fn each_mode_asks_for_what_it_says() {
    let folder = tempfile::TempDir::new().unwrap();
    let (certificate_of_host, key) = certificate(folder.path(), "host", "IP:127.0.0.1");
    certificate(folder.path(), "stranger", "IP:127.0.0.1");
    let files: [(&str, &[u8]); 2] = [("server.crt", &certificate_of_host), ("server.key", &key)];
    let server = Server::start_with(&["ssl = on"], &files);
    let url = |query: &str| format!("{}?{query}", server.url("postgres"));
    for good in [
        "sslmode=disable",
        "sslmode=prefer",
        "sslmode=require",
        "sslmode=verify-ca&sslrootcert=host.crt",
        "sslmode=verify-full&sslrootcert=host.crt",
    ] {
        open(&url(good), folder.path()).unwrap_or_else(|error| panic!("{good}: {error}"));
    }
    for bad in [
        "sslmode=require&sslrootcert=stranger.crt",
        "sslmode=verify-ca&sslrootcert=stranger.crt",
        "sslmode=verify-full&sslrootcert=stranger.crt",
        "sslmode=verify-full",
        "sslmode=verify-full&sslrootcert=missing.crt",
    ] {
        let error = open(&url(bad), folder.path()).expect_err(bad);
        assert!(matches!(error, StoreError::Other { .. }), "{bad}: {error}");
    }
    // The certificate is for the address, not for the name.
    let by_name = |mode: &str| {
        let url = url(&format!("sslmode={mode}&sslrootcert=host.crt"));
        url.replace("127.0.0.1", "localhost")
    };
    open(&by_name("verify-ca"), folder.path()).unwrap();
    let error = open(&by_name("verify-full"), folder.path()).unwrap_err();
    assert!(error.to_string().contains("TLS"), "{error}");
}

#[test]
fn a_server_without_tls_is_enough_only_if_it_need_not_have_it() {
    let server = shared();
    let url = |mode: &str| format!("{}?sslmode={mode}", server.url(&server.database()));
    let base = Path::new("/");
    open(&url("disable"), base).unwrap();
    open(&url("prefer"), base).unwrap();
    for mode in ["require", "verify-ca", "verify-full"] {
        let error = open(&url(mode), base).expect_err(mode);
        assert!(matches!(error, StoreError::Other { .. }), "{error}");
    }
}
