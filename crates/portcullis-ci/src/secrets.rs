//! Secrets of controllers, tokens of callbacks and runners, and the signatures of webhooks.

use std::fmt;

use aws_lc_rs::{constant_time, digest, hmac, rand};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use portcullis_jobs::{ControllerId, JobId, Timestamp};
use portcullis_store::{ControllerSecret, JobRun};

use crate::error::CiError;

/// What the secret of a controller begins with.
const SECRET_PREFIX: &str = "whsec_";
/// What the token of a runner begins with.
const RUNNER_PREFIX: &str = "glrt-";
/// What the token of a job begins with.
const JOB_PREFIX: &str = "glcbt-";
/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;
/// Random bytes of an id or a runner's token.
const ID_BYTES: usize = 20;

/// Makes the tokens of callbacks and of jobs. All servers have the same key.
pub(crate) struct ServerKey(hmac::Key);

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerKey")
    }
}

impl ServerKey {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// The token with which a controller calls back about an attempt. Every try carries the same.
    pub(crate) fn callback_token(
        &self,
        job: JobId,
        attempt: u32,
        controller: ControllerId,
    ) -> String {
        let text = format!("callback.{job}.{attempt}.{controller}");
        URL_SAFE_NO_PAD.encode(hmac::sign(&self.0, text.as_bytes()))
    }

    /// The token with which the runner of a job reports on it. A job that is given to another runner has another one.
    pub(crate) fn job_token(&self, run: &JobRun) -> String {
        self.token_of("job", run)
    }

    /// The token with which other jobs of the pipeline download the artifacts of a job, and nothing else.
    pub(crate) fn artifact_token(&self, run: &JobRun) -> String {
        self.token_of("artifacts", run)
    }

    fn token_of(&self, purpose: &str, run: &JobRun) -> String {
        let (job, attempt) = (run.job, run.attempt);
        let text = format!("{purpose}.{job}.{attempt}.{}", run.started_at);
        let signature = hmac::sign(&self.0, text.as_bytes());
        format!("{JOB_PREFIX}{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Whether two tokens are the same, in a time that doesn't depend on where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    constant_time::verify_slices_are_equal(hash(one).as_bytes(), hash(other).as_bytes()).is_ok()
}

/// What is stored of a token.
pub(crate) fn hash(token: &str) -> String {
    digest_of(token.as_bytes())
}

/// A digest of bytes.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, bytes))
}

/// A new secret of a controller.
pub(crate) fn new_secret() -> Result<String, CiError> {
    let bytes: [u8; SECRET_BYTES] = random()?;
    Ok(format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes)))
}

/// A new token of a runner.
pub(crate) fn new_runner_token() -> Result<String, CiError> {
    let bytes: [u8; ID_BYTES] = random()?;
    Ok(format!("{RUNNER_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// A text that nobody else has.
pub(crate) fn unique(prefix: &str) -> Result<String, CiError> {
    let bytes: [u8; ID_BYTES] = random()?;
    Ok(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

fn random<const N: usize>() -> Result<[u8; N], CiError> {
    let mut bytes = [0; N];
    let failed = |_| CiError::Unavailable("the system has no random numbers".to_owned());
    rand::fill(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// A number to spread retries.
pub(crate) fn random_number() -> u64 {
    random().map(u64::from_le_bytes).unwrap_or_default()
}

/// The secrets that count now.
pub(crate) fn live(
    secrets: &[ControllerSecret],
    now: Timestamp,
) -> impl Iterator<Item = &ControllerSecret> {
    let is_live = move |secret: &&ControllerSecret| secret.expires_at.is_none_or(|at| now < at);
    secrets.iter().filter(is_live)
}

/// Whether this is one of the secrets, in a time that doesn't depend on where it differs.
pub(crate) fn is_secret(given: &str, secrets: &[ControllerSecret], now: Timestamp) -> bool {
    live(secrets, now).fold(false, |is_found, secret| {
        is_found | is_same(given, &secret.secret)
    })
}

/// The header `webhook-signature`: one signature for each secret that counts.
pub(crate) fn signatures(
    secrets: &[ControllerSecret],
    webhook_id: &str,
    seconds: u64,
    body: &str,
    now: Timestamp,
) -> String {
    let text = format!("{webhook_id}.{seconds}.{body}");
    let signature = |secret: &ControllerSecret| {
        let encoded = secret.secret.strip_prefix(SECRET_PREFIX);
        let decoded = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
        let bytes = decoded.unwrap_or_else(|| secret.secret.as_bytes().to_vec());
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        format!("v1,{}", STANDARD.encode(hmac::sign(&key, text.as_bytes())))
    };
    let all: Vec<String> = live(secrets, now).map(signature).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(secret: &str, expires_at: Option<u64>) -> ControllerSecret {
        ControllerSecret {
            secret: secret.to_owned(),
            expires_at: expires_at.map(Timestamp::from_millis),
        }
    }

    #[test]
    fn signatures_are_those_of_standard_webhooks() {
        // The example of the specification's libraries.
        let secrets = [secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None)];
        let now = Timestamp::from_millis(0);
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signed = signatures(&secrets, id, 1_614_265_330, r#"{"test": 2432232314}"#, now);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_counts_until_it_expires() {
        let secrets = [secret("whsec_bmV3", None), secret("whsec_b2xk", Some(10))];
        let at = Timestamp::from_millis;
        assert!(is_secret("whsec_b2xk", &secrets, at(9)));
        assert!(!is_secret("whsec_b2xk", &secrets, at(10)));
        assert!(is_secret("whsec_bmV3", &secrets, at(10)));
        assert!(!is_secret("", &secrets, at(0)));
        let count = |now| signatures(&secrets, "m", 0, "", at(now)).split(' ').count();
        assert_eq!((count(9), count(10)), (2, 1));
    }

    #[test]
    fn tokens_differ_by_job_attempt_and_controller() {
        let key = ServerKey::new(&[7; 32]);
        let all = [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (11, 1, 1)];
        let tokens: std::collections::BTreeSet<String> = all
            .map(|(job, attempt, controller)| key.callback_token(job, attempt, controller))
            .into();
        assert_eq!(tokens.len(), all.len());
        assert!(tokens.contains(&key.callback_token(1, 1, 1)));
    }

    #[test]
    fn tokens_of_jobs_differ_by_run_and_purpose() {
        let key = ServerKey::new(&[7; 32]);
        let run = |job, attempt, at| JobRun {
            project: "g/p".to_owned(),
            job,
            attempt,
            started_at: Timestamp::from_millis(at),
        };
        let all = [run(1, 1, 5), run(1, 1, 6), run(1, 2, 5), run(11, 1, 5)];
        let tokens = all
            .iter()
            .flat_map(|run| [key.job_token(run), key.artifact_token(run)]);
        let tokens: std::collections::BTreeSet<String> = tokens.collect();
        assert_eq!(tokens.len(), 8);
        assert!(tokens.iter().all(|token| token.starts_with("glcbt-")));
        assert!(is_same(
            &key.job_token(&run(1, 1, 5)),
            &key.job_token(&all[0])
        ));
    }
}
