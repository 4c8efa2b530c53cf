//! Authentication: tokens, sessions, and signing in with OpenID Connect.
//!
//! [`Authenticators`] are made from settings at once, never changed, only replaced as a whole. They turn a
//! token into an [`Identity`](portcullis_core::Identity), make tokens, and let people sign in;
//! [`Sessions`] keep people signed in with a cookie. [`PublicKey`] verifies what others signed. Nothing here knows routes or roles. Files are read
//! by the caller, except the key of the sessions; the only network calls are those to OpenID Connect
//! providers.

mod authenticators;
mod cache;
mod claims;
mod encoding;
mod error;
mod identity;
mod key;
mod key_files;
mod login;
mod mint;
mod provider;
mod session;
mod settings;
#[cfg(test)]
mod testing;
mod token;
mod web;

pub use authenticators::{Authenticators, Realm};
pub use error::{Code, TokenError};
pub use key::PublicKey;
pub use login::{
    BrowserSignIn, DevicePoll, DeviceSignIn, LoginError, Renewed, TerminalLogin, TerminalSettings,
    TokenFacts, Tokens, local_path,
};
pub use mint::{Mint, MintError};
pub use session::{Session, SessionKey, Sessions};
pub use settings::{
    Algorithm, AuthenticatorSettings, Keys, LoginSettings, NamedFile, Secret, SettingsFault,
};
