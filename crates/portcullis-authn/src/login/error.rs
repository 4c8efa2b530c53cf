//! Why a sign-in failed.

/// Why a sign-in failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// There is no such realm.
    #[error("unknown realm")]
    UnknownRealm,
    /// Sign-in is not available there.
    #[error("sign-in is not available: no OpenID Connect provider with a client id is configured")]
    NoLogin,
    /// The provider can't be asked now.
    #[error("the provider is unavailable: {0}")]
    Unavailable(String),
    /// There is no cookie, or not one that was made here.
    #[error("sign-in was not started in this browser; please start again")]
    NotBegun,
    /// It took too long.
    #[error("sign-in took more than ten minutes; please start again")]
    TooLate,
    /// The answer belongs to another attempt.
    #[error("this answer belongs to another sign-in attempt; please start again")]
    WrongState,
    /// The answer is from another provider.
    #[error("this answer is from another provider")]
    WrongIssuer,
    /// The answer can't be understood.
    #[error("invalid answer from the provider: {0}")]
    BadAnswer(String),
    /// The provider said no; this is its word for it.
    #[error("{}", refusal(.0))]
    Refused(String),
    /// The provider's token is rejected.
    #[error("invalid token from the provider: {0}")]
    BadToken(String),
    /// Something failed here.
    #[error("sign-in failed; please try again")]
    Failed,
}

impl LoginError {
    /// The kind of problem, machine-readable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownRealm => "unknown_realm",
            Self::NoLogin => "no_login",
            Self::Unavailable(_) => "provider_unavailable",
            Self::NotBegun => "not_begun",
            Self::TooLate => "too_late",
            Self::WrongState => "wrong_state",
            Self::WrongIssuer => "wrong_issuer",
            Self::BadAnswer(_) => "bad_answer",
            Self::Refused(_) => "refused",
            Self::BadToken(_) => "bad_token",
            Self::Failed => "failed",
        }
    }

    /// A denial with the provider's word for it, if that is a word.
    pub(super) fn refused(word: &str) -> Self {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
        if !word.is_empty() && word.len() <= 64 && word.bytes().all(plain) {
            Self::Refused(word.to_owned())
        } else {
            Self::Refused("unknown".to_owned())
        }
    }
}

/// The human-readable message of a denial.
fn refusal(word: &str) -> String {
    match word {
        "access_denied" => "access was denied by the provider, or sign-in was cancelled".to_owned(),
        "login_required"
        | "interaction_required"
        | "consent_required"
        | "account_selection_required" => {
            "the provider requires you to sign in there first; please start again".to_owned()
        }
        "temporarily_unavailable" | "server_error" => {
            "the provider reported an error; please try again later".to_owned()
        }
        "invalid_scope" => "the provider rejected the requested scopes".to_owned(),
        "unauthorized_client" | "invalid_client" => {
            "the provider rejected the client id or secret (clientId, clientSecretFile)".to_owned()
        }
        "invalid_grant" => {
            "the sign-in code has expired or was already used; sign in again".to_owned()
        }
        word => format!("the provider reported `{word}`"),
    }
}
