//! Signing in with a code that is typed into a browser on any machine (RFC 8628).

use std::time::Duration;

use portcullis_authn::{DevicePoll, LoginError, TerminalLogin, Tokens};
use portcullis_core::clock::{Stopwatch, wall};

use super::refused::failed;
use crate::commands::failure::Failure;
use crate::commands::text::plain::{printable, span};
use crate::exit::Exit;
use crate::output;

/// What `slow_down` adds to the time between two questions.
const SLOWER: Duration = Duration::from_secs(5);
/// So many questions in a row may fail on their way.
const TRIES: u32 = 5;

/// Shows the code, and waits until the person has typed it.
pub(super) async fn sign_in(
    client: &TerminalLogin,
    opens_browser: bool,
) -> Result<Tokens, Failure> {
    let begun = client
        .begin_with_device(wall())
        .await
        .map_err(|error| failed(&error))?;
    // Without it nobody could sign in, so that --quiet doesn't leave it out.
    output::tell(&format!(
        "To sign in, open this address in a browser on any machine:\n\n    {}\n\nand enter the code:\n\n    {}\n\n\
         It is valid for {}. Only enter a code that you asked for yourself.",
        printable(&begun.verification_uri),
        printable(&begun.user_code),
        span(begun.expires_in.as_secs()),
    ));
    if opens_browser {
        let address = begun.verification_uri_complete.as_ref();
        let opened = crate::browser::open(address.unwrap_or(&begun.verification_uri));
        if let Err(why) = opened {
            output::detail(|| format!("cannot open a browser: {why}"));
        }
    }
    let watch = Stopwatch::start();
    let (mut interval, mut lost) = (begun.interval, 0);
    loop {
        tokio::time::sleep(interval).await;
        if watch.elapsed() >= begun.expires_in {
            let message = "the code expired before it was entered: sign in again";
            return Err(Failure::new(Exit::NotSignedIn, message));
        }
        match client.poll_device(&begun, wall()).await {
            Ok(DevicePoll::Done(tokens)) => return Ok(*tokens),
            Ok(DevicePoll::Pending) => lost = 0,
            Ok(DevicePoll::SlowDown) => interval += SLOWER,
            Err(LoginError::Unavailable(_)) if lost < TRIES => {
                lost += 1;
                // As the specification has it for connections that time out.
                interval *= 2;
            }
            Err(LoginError::TooLate) => {
                let message = "the code expired before it was entered: sign in again";
                return Err(Failure::new(Exit::NotSignedIn, message));
            }
            Err(error) => return Err(failed(&error)),
        }
    }
}
