//! Which URLs may be called. Whoever may register a controller must not reach with it what only the server reaches.

use portcullis_net::{Address, Client, Error, Protocol, Trust, Web};

use crate::settings::WebhookSettings;

/// A client for a webhook, which connects to allowed addresses only.
pub(crate) fn client(url: &str, settings: &WebhookSettings) -> Result<Client, String> {
    let web = Web::parse(url).map_err(|error| error.to_string())?;
    let is_listed = settings.is_listed(&web);
    if !web.secure && !settings.allow_http && !is_listed {
        return Err("http:// is not allowed: use https://".to_owned());
    }
    let client = Client::new(Address::Web(web), Protocol::Http1, &Trust::system())
        .map_err(|error| error.to_string())?;
    Ok(if is_listed {
        client
    } else if settings.allow_private_networks {
        client.without_metadata()
    } else {
        client.public_only()
    })
}

/// Whether a URL may be called, as far as can be told now. A name that can't be resolved may get an allowed address
/// later; every connection is checked again.
pub(crate) async fn check(url: &str, settings: &WebhookSettings) -> Result<(), String> {
    match client(url, settings)?.check_reach().await {
        Err(error @ (Error::NotPublic | Error::LinkLocal)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str, settings: &WebhookSettings) -> Option<String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(check(url, settings)).err()
    }

    #[test]
    fn only_public_addresses_may_be_called() {
        // Case 59.
        let settings = WebhookSettings::default();
        for url in [
            "https://127.0.0.1/",
            "https://localhost:9000/hook",
            "https://10.0.0.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://[::ffff:192.168.0.1]/",
            "https://[fe80::1]/",
            "https://0.0.0.0/",
            "https://224.0.0.1/",
            "http://8.8.8.8/",
        ] {
            assert!(refusal(url, &settings).is_some(), "{url}");
        }
        assert_eq!(refusal("https://8.8.8.8/hook", &settings), None);
        assert_eq!(refusal("https://not-resolved.invalid/", &settings), None);
    }

    #[test]
    fn settings_allow_more() {
        let private = WebhookSettings {
            allow_private_networks: true,
            ..WebhookSettings::default()
        };
        assert_eq!(refusal("https://10.0.0.1/", &private), None);
        assert!(refusal("http://10.0.0.1/", &private).is_some());
        assert!(refusal("https://169.254.169.254/", &private).is_some());
        let listed = WebhookSettings {
            allow: vec!["127.0.0.1:9000".to_owned(), "[::1]:9000".to_owned()],
            ..WebhookSettings::default()
        };
        assert_eq!(refusal("http://127.0.0.1:9000/hook", &listed), None);
        assert_eq!(refusal("https://[::1]:9000/", &listed), None);
        assert!(refusal("http://127.0.0.1:9001/hook", &listed).is_some());
        assert!(refusal("http://127.0.0.2:9000/", &listed).is_some());
        let plain = WebhookSettings {
            allow_http: true,
            ..WebhookSettings::default()
        };
        assert_eq!(refusal("http://8.8.8.8/", &plain), None);
        assert!(refusal("http://127.0.0.1/", &plain).is_some());
    }
}
