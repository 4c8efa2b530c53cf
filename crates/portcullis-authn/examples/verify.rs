//! What verifying a token costs, cached and uncached, for each algorithm; and that caching many
//! tokens takes a bounded amount of memory.
//!
//! ```sh
//! cargo run --release -p portcullis-authn --example verify
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program for the terminal that ends at the first problem"
)]

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_authn::{
    Algorithm, AuthenticatorSettings, Authenticators, Keys, Mint, Secret, SessionKey, Sessions,
};
use portcullis_core::clock::{Stopwatch, wall};
use serde_json::json;

fn settings(name: &str, keys: Keys) -> AuthenticatorSettings {
    AuthenticatorSettings {
        audience: "portal".to_owned(),
        ..AuthenticatorSettings::new(name, keys)
    }
}

fn pair(
    name: &str,
    algorithm: Algorithm,
    public: String,
    private: String,
) -> AuthenticatorSettings {
    let keys = Keys::Pair {
        algorithm,
        public: public.into_bytes(),
        private: Some(Secret(private.into_bytes())),
    };
    settings(name, keys)
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

/// Nothing here ever waits.
fn now_or_never<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("keys from files are there already"),
    }
}

/// Nanoseconds each: the best of many short rounds, which others on this machine disturb least.
fn measure(rounds: u32, mut run: impl FnMut(u32)) -> f64 {
    const ROUND: u32 = 50;
    let mut best = f64::MAX;
    for round in 0..rounds {
        let watch = Stopwatch::start();
        for n in 0..ROUND {
            run(round * ROUND + n);
        }
        best = best.min(watch.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND));
    }
    best
}

/// Memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn all() -> Vec<AuthenticatorSettings> {
    let rsa = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let private = AsDer::<Pkcs8V1Der<'_>>::as_der(&rsa).unwrap();
    let public = AsDer::<PublicKeyX509Der<'_>>::as_der(rsa.public_key()).unwrap();
    let ec = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let ed = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    vec![
        settings("HS256", Keys::Shared(Secret(vec![7; 32]))),
        pair(
            "RS256",
            Algorithm::Rs256,
            pem("PUBLIC KEY", public.as_ref()),
            pem("PRIVATE KEY", private.as_ref()),
        ),
        pair(
            "ES256",
            Algorithm::Es256,
            ec.public_key_pem(),
            ec.serialize_pem(),
        ),
        pair(
            "EdDSA",
            Algorithm::EdDsa,
            ed.public_key_pem(),
            ed.serialize_pem(),
        ),
    ]
}

fn wish(number: u32) -> Mint {
    let claims = json!({
        "preferred_username": "alice", "email": "alice@example.com", "number": number,
        "groups": ["developers", "release-managers", "t1-admin"],
        "resource_access": { "account": { "roles": ["manage-account", "view-profile"] } },
    });
    Mint {
        subject: "248289761001".to_owned(),
        tenants: Vec::new(),
        claims: claims.as_object().cloned().unwrap_or_default(),
        expires_in: Duration::from_secs(3600),
    }
}

fn main() {
    let now: SystemTime = wall();
    let authenticators = Authenticators::new(all(), None).unwrap();
    println!("algorithm  bytes  anew ns  remembered ns  of which SHA-256 ns");
    for name in ["HS256", "RS256", "ES256", "EdDSA"] {
        let token = authenticators.mint(name, &wish(0), now).unwrap();
        let hash = measure(4_000, |_| {
            let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, token.as_bytes());
            black_box(digest);
        });
        let remembered = measure(4_000, |_| {
            black_box(now_or_never(authenticators.verify(&token, now)).unwrap());
        });
        // Each for the first time.
        let tokens: Vec<_> = (0..2_000)
            .map(|n| authenticators.mint(name, &wish(n), now).unwrap())
            .collect();
        let mut tokens = tokens.iter();
        let anew = measure(40, |_| {
            let token = tokens.next().unwrap();
            black_box(now_or_never(authenticators.verify(token, now)).unwrap());
        });
        println!(
            "{name:<9}  {:>5}  {anew:>7.0}  {remembered:>13.0}  {hash:>19.0}",
            token.len()
        );
    }

    println!("\ntokens believed  resident KiB");
    for n in 0..=100_000 {
        let token = authenticators.mint("HS256", &wish(n), now).unwrap();
        now_or_never(authenticators.verify(&token, now)).unwrap();
        if n % 20_000 == 0 {
            println!("{n:>15}  {:>12}", resident());
        }
    }

    let sessions = Sessions::new(SessionKey::random().unwrap(), Duration::from_secs(3600));
    let token = authenticators.mint("HS256", &wish(0), now).unwrap();
    let identity = now_or_never(authenticators.verify(&token, now)).unwrap();
    let cookie = sessions.seal(&identity, "HS256", now).unwrap();
    let open = measure(4_000, |_| {
        black_box(sessions.open(&cookie, now).unwrap());
    });
    let seal = measure(400, |_| {
        black_box(sessions.seal(&identity, "HS256", now).unwrap());
    });
    println!(
        "\nsession of {} bytes: opened in {open:.0} ns, sealed in {seal:.0} ns",
        cookie.len()
    );
    println!("\nsessions opened  resident KiB");
    for n in 0..=100_000 {
        let cookie = sessions.seal(&identity, "HS256", now).unwrap();
        black_box(sessions.open(&cookie, now).unwrap());
        if n % 20_000 == 0 {
            println!("{n:>15}  {:>12}", resident());
        }
    }
}
