//! Why somebody could not sign in.

/// Why somebody could not sign in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// There is no such realm.
    #[error("there is no such realm to sign in with")]
    UnknownRealm,
    /// Nobody can sign in there.
    #[error("nobody can sign in there: no OpenID Connect provider with a client id is configured")]
    NoLogin,
    /// The provider can't be asked now.
    #[error("the provider can't be asked now: {0}")]
    Unavailable(String),
    /// There is no cookie, or not one of ours.
    #[error("signing in was not begun in this browser; please begin again")]
    NotBegun,
    /// It took too long.
    #[error("signing in took more than ten minutes; please begin again")]
    TooLate,
    /// The answer belongs to another attempt.
    #[error("this answer belongs to another attempt to sign in; please begin again")]
    WrongState,
    /// The answer is by somebody else.
    #[error("this answer is not by the provider that was asked")]
    WrongIssuer,
    /// The answer can't be understood.
    #[error("the provider's answer can't be understood: {0}")]
    BadAnswer(String),
    /// The provider said no; this is its word for it.
    #[error("{}", refusal(.0))]
    Refused(String),
    /// The provider's token is not to be believed.
    #[error("the provider's token is not to be believed: {0}")]
    BadToken(String),
    /// Something failed here.
    #[error("signing in failed here; please try again")]
    Failed,
}

impl LoginError {
    /// The kind of problem, for programs.
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

    /// A refusal with the provider's word for it, if that is a word.
    pub(super) fn refused(word: &str) -> Self {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
        if !word.is_empty() && word.len() <= 64 && word.bytes().all(plain) {
            Self::Refused(word.to_owned())
        } else {
            Self::Refused("unknown".to_owned())
        }
    }
}

/// A refusal in words for people.
fn refusal(word: &str) -> String {
    match word {
        "access_denied" => {
            "the provider says that access was denied, or signing in was cancelled".to_owned()
        }
        "login_required"
        | "interaction_required"
        | "consent_required"
        | "account_selection_required" => {
            "the provider wants you to sign in with it first; please begin again".to_owned()
        }
        "temporarily_unavailable" | "server_error" => {
            "the provider has a problem of its own now; please try again later".to_owned()
        }
        "invalid_scope" => "the provider doesn't give what is asked for (scopes)".to_owned(),
        "unauthorized_client" | "invalid_client" => {
            "the provider doesn't know this service, or not its secret (clientId, clientSecretFile)"
                .to_owned()
        }
        "invalid_grant" => {
            "the provider doesn't take the code any more; please begin again".to_owned()
        }
        word => format!("the provider refused: {word}"),
    }
}
