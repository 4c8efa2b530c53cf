//! Addresses that are accepted and rejected.

use proptest::prelude::*;

use super::*;

fn web(text: &str) -> Web {
    match Address::parse(text) {
        Ok(Address::Web(web)) => web,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn web_addresses_have_parts() {
    let a = web("HTTPS://Other.Example/v1/c:review?timeout=10s");
    assert_eq!(a.host, Host::Name("other.example".to_owned()));
    assert_eq!(
        (a.secure, a.port, a.path.as_str()),
        (true, 443, "/v1/c:review")
    );
    assert_eq!(a.query.as_deref(), Some("timeout=10s"));
    assert_eq!(a.path_and_query(), "/v1/c:review?timeout=10s");
    assert_eq!(a.url(), "https://other.example/v1/c:review?timeout=10s");
    assert_eq!(web("https://h:8443").path, "/");
    assert_eq!(web("https://[::1]:8443/x").authority(), "[::1]:8443");
    assert_eq!(web("http://127.0.0.1/").port, 80);
    assert_eq!(web("https://h?x=/../y").path, "/");
    assert_eq!(
        web("http://collector.example.:4318").host.to_string(),
        "collector.example."
    );
    assert_eq!(Web::parse("https://h/x"), Ok(web("https://h/x")));
    assert_eq!(
        Web::parse("unix:///run/x.sock"),
        Err(AddressError::WebScheme)
    );
}

#[test]
fn a_port_that_is_the_usual_one_is_not_repeated() {
    for (text, authority, shown) in [
        ("https://A.example/", "a.example", "https://a.example"),
        ("https://a:443/x/y/", "a", "https://a/x/y"),
        ("https://a:80", "a:80", "https://a:80"),
        ("http://[::1]:80", "[::1]", "http://[::1]"),
        ("http://10.0.0.1:80/?a", "10.0.0.1", "http://10.0.0.1"),
        ("unix:///run/a.sock", "localhost", "unix:///run/a.sock"),
    ] {
        let address = Address::parse(text).unwrap();
        assert_eq!(address.authority(), authority, "{text}");
        assert_eq!(address.to_string(), shown, "{text}");
    }
}

#[test]
fn only_the_server_and_its_path_are_shown() {
    let address = Address::parse("https://h:1/path?token=geheim").unwrap();
    assert_eq!(address.to_string(), "https://h:1/path");
    assert_eq!(address.origin(), "https://h:1");
}

#[test]
fn what_is_sent_is_confidential_with_tls_or_on_this_machine() {
    for yes in [
        "https://a.example",
        "http://127.0.0.1:8080",
        "http://[::1]",
        "http://localhost",
        "unix:///run/a.sock",
    ] {
        assert!(Address::parse(yes).unwrap().is_confidential(), "{yes}");
    }
    for no in [
        "http://a.example",
        "http://10.0.0.1",
        "http://localhost.",
        "http://localhost.example",
    ] {
        assert!(!Address::parse(no).unwrap().is_confidential(), "{no}");
        assert_eq!(
            web(no).check_confidential(),
            Err(AddressError::Plaintext),
            "{no}"
        );
    }
}

#[test]
fn sockets_are_absolute() {
    let socket = Address::Unix(PathBuf::from("/run/x.sock"));
    assert_eq!(Address::parse("unix:///run/x.sock"), Ok(socket.clone()));
    assert_eq!(Address::socket("/run/x.sock"), Ok(socket));
    for (bad, why) in [
        ("unix://run/x", AddressError::Socket),
        ("unix://", AddressError::Socket),
        ("unix:///", AddressError::Socket),
        ("unix:/run/x", AddressError::Scheme),
        ("/run/x", AddressError::Scheme),
        ("unix:///run/x\n", AddressError::Characters),
    ] {
        assert_eq!(Address::parse(bad), Err(why), "{bad}");
    }
}

#[test]
fn other_texts_are_refused_with_the_reason() {
    use AddressError::{Characters, Fragment, Host, Port, Scheme, UserInfo};
    for (bad, why) in [
        ("", Scheme),
        ("other.example/x", Scheme),
        ("other.example:80", Scheme),
        ("ftp://h/", Scheme),
        ("grpc://h:1", Scheme),
        ("file:///etc/passwd", Scheme),
        ("https:/h/", Scheme),
        (" https://h/", Scheme),
        ("https:///x", Host),
        ("https://", Host),
        ("https://:80", Host),
        ("https://user@h/", UserInfo),
        ("https://user:pass@h/", UserInfo),
        ("https://h\\@evil/", UserInfo),
        ("https://h\\evil/", Host),
        ("https://h x/", Host),
        ("https://é.example/", Host),
        ("https://h../", Host),
        ("https://h..x/", Host),
        ("https://127.1/", Host),
        ("https://127.0.0.1./", Host),
        ("https://0x7f.0.0.1/", Host),
        ("https://2130706433/", Host),
        ("https://[::1/", Host),
        ("https://[v1.x]/", Host),
        ("https://*.example/", Host),
        ("https://h:80:80/", Host),
        ("https://h:0/", Port),
        ("https://h:/", Port),
        ("https://h:x/", Port),
        ("https://h:+80/", Port),
        ("https://h:65536/", Port),
        ("https://h/#x", Fragment),
        ("https://h#x", Fragment),
        ("https://h/a\\b", Characters),
        ("https://h/a b", Characters),
        ("https://h/é", Characters),
        ("https://h/\r\nX: y", Characters),
    ] {
        assert_eq!(Address::parse(bad), Err(why), "{bad}");
        assert!(Web::parse(bad).is_err(), "{bad}");
    }
    let long = format!("https://h/{}", "a".repeat(LONGEST));
    assert_eq!(Address::parse(&long), Err(AddressError::TooLong));
}

#[test]
fn an_address_that_is_compared_with_a_list_has_one_reading() {
    for good in [
        "https://h/a-b/c.d/..e?x=%20y",
        "https://h/%20",
        "https://1.2.3.4",
    ] {
        assert_eq!(web(good).check_plain(), Ok(()), "{good}");
    }
    for (bad, why) in [
        ("https://h./", AddressError::Host),
        ("https://-h/", AddressError::Host),
        ("https://h-.x/", AddressError::Host),
        ("https://h/a/../b", AddressError::Path),
        ("https://h/a/./b", AddressError::Path),
        ("https://h/a/..", AddressError::Path),
        ("https://h/a/..;x/b", AddressError::Path),
        ("https://h/a/%2e%2E/b", AddressError::Path),
        ("https://h/a/.%2e/b", AddressError::Path),
        ("https://h/a%2fb", AddressError::Path),
        ("https://h/a%5Cb", AddressError::Path),
        ("https://h/a%252e", AddressError::Path),
        ("https://h/%00", AddressError::Path),
        ("https://h/%zz", AddressError::Characters),
        ("https://h/%a", AddressError::Characters),
        ("https://h/?x=%a", AddressError::Characters),
        ("https://h/{a}", AddressError::Characters),
    ] {
        assert_eq!(web(bad).check_plain(), Err(why), "{bad}");
    }
}

proptest! {
    /// No other reader finds another host, port, path or query in an address.
    #[test]
    fn others_read_the_same(rest in "(h|a\\.b|127\\.0\\.0\\.1|\\[::1\\])?[a-zA-Z0-9.:@/%?#*\\[\\]\\\\;~_-]{0,24}") {
        let text = format!("https://{rest}");
        if let Ok(Address::Web(web)) = Address::parse(&text) {
            let other: hyper::Uri = text.parse().unwrap();
            prop_assert_eq!(web.host.to_string(), other.host().unwrap().to_ascii_lowercase());
            prop_assert_eq!(web.port, other.port_u16().unwrap_or(443));
            prop_assert_eq!(web.path, other.path());
            prop_assert_eq!(web.query.as_deref(), other.query());
        }
    }

    #[test]
    fn anything_can_be_given(text in "\\PC{0,60}") {
        let _ = Address::parse(&text).map(|address| address.to_string());
    }
}
