//! Addresses that policies and lists name: parsed so strictly that there is nothing left to normalise.

use portcullis_net::{Address, Web};

/// Reads an address: an absolute path or `unix:///path`, `https://…` or `http://…`.
pub(crate) fn parse(text: &str) -> Result<Address, String> {
    let read = match text.starts_with('/') {
        true => Address::socket(text),
        false => Address::parse(text),
    };
    let address = read.map_err(|error| error.to_string())?;
    match &address {
        Address::Web(web) => web.check_plain().map_err(|error| error.to_string())?,
        Address::Unix(path) => {
            let parts = path.to_str().unwrap_or_default().split('/').skip(1);
            let mut parts = parts.map(|part| matches!(part, "" | "." | ".."));
            if parts.any(|is_odd| is_odd) {
                return Err("invalid socket: empty parts, `.` and `..` are not allowed".to_owned());
            }
        }
    }
    Ok(address)
}

/// Reads a web address.
pub(crate) fn web(text: &str) -> Result<Web, String> {
    match parse(text)? {
        Address::Web(web) => Ok(web),
        Address::Unix(_) => Err("must be a URL".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_have_one_reading() {
        let socket = Address::socket("/run/x.sock").unwrap();
        assert_eq!(parse("/run/x.sock"), Ok(socket.clone()));
        assert_eq!(parse("unix:///run/x.sock"), Ok(socket));
        for bad in [
            "unix://run/x",
            "unix:/run/x",
            "/run/../x",
            "/run//x",
            "/",
            "/run/./x",
            "/run/",
            "/run/x\n",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn web_addresses_have_one_reading() {
        assert!(web("https://h/a?x=/../y").is_ok());
        for bad in [
            "https://h./",
            "https://h/a/../b",
            "https://h/a%2fb",
            "https://h/%zz",
            "https://u@h/",
            "/run/x.sock",
        ] {
            assert!(web(bad).is_err(), "{bad}");
        }
    }
}
