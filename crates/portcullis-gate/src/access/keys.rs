//! Authenticators with their keys.

use portcullis_authn::{Authenticators, SettingsFault};
use portcullis_config::AccessSettings;
use portcullis_document::{Fault, Warning};

/// Reads all keys, and makes the authenticators of those that take tokens. Says what is odd about the files.
pub(super) fn authenticators(
    settings: &AccessSettings,
    previous: Option<&Authenticators>,
) -> Result<(Authenticators, Vec<Warning>), Vec<Fault>> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut warnings: Vec<Warning> = Vec::new();
    let mut made = Vec::new();
    let mut origins = Vec::new();
    for one in &settings.authenticators {
        let Some(tokens) = &one.tokens else {
            continue;
        };
        let mut odd = Vec::new();
        match tokens.read(&mut odd) {
            Ok(settings) => {
                made.push(settings);
                origins.push(&one.origin);
            }
            Err(wrong) => faults.push(one.origin.locate(*wrong)),
        }
        let odd = odd.into_iter().map(|note| one.origin.locate(note).into());
        warnings.extend(odd);
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let made = Authenticators::new(made, previous).map_err(|wrong| {
        let place = |(place, fault): SettingsFault| Some(origins.get(place)?.locate(fault));
        wrong.into_iter().filter_map(place).collect::<Vec<_>>()
    })?;
    Ok((made, warnings))
}
