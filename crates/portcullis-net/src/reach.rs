//! Which addresses a client connects to, whatever names resolve to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Host;

/// Which addresses a client connects to.
///
/// INVARIANT: it is asked about the very number that is connected to, after names were looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Reach {
    /// All; but a name for this machine leads to this machine only.
    #[default]
    Anywhere,
    /// Public ones: not this machine, not private networks.
    Public,
    /// Private ones too, but no link-local ones, where clouds keep their metadata, and none of groups.
    Private,
}

impl Reach {
    /// Whether this number may be connected to for this host.
    pub(crate) fn allows(self, host: &Host, ip: IpAddr) -> bool {
        match self {
            Self::Anywhere => !host.is_loopback() || ip.is_loopback(),
            Self::Public => is_public(ip),
            Self::Private => is_public(ip) || is_private(ip),
        }
    }
}

/// Whether a number belongs to this machine or to a private network.
fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            // Carrier-grade NAT is private as well.
            ip.is_private() || ip.is_loopback() || (a == 100 && (64..=127).contains(&b))
        }
        IpAddr::V6(ip) => ip.is_loopback() || (ip.is_unique_local() && ip != EC2_METADATA),
    }
}

/// The metadata service of EC2, which isn't link-local.
const EC2_METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Whether a number belongs to the public internet.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

/// All but what IANA keeps for special purposes.
fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_special = match (a, b, c) {
        // This network, private, loopback, multicast and reserved.
        (0 | 10 | 127 | 224..=255, ..) => true,
        // Carrier-grade NAT, benchmarks.
        (100, 64..=127, _) | (198, 18 | 19, _) => true,
        // Link-local (metadata services of clouds are there), private.
        (169, 254, _) | (172, 16..=31, _) | (192, 168, _) => true,
        // Protocols, documentation, 6to4 relays.
        (192, 0, 0 | 2) | (192, 88, 99) | (198, 51, 100) | (203, 0, 113) => true,
        _ => false,
    };
    !is_special
}

/// Global unicast but for special purposes, and IPv4 behind NAT64.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    if let Some(inner) = ip.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let number = u32::from(high) << 16 | u32::from(low);
            is_public_v4(Ipv4Addr::from_bits(number))
        }
        // Protocols and tunnels, documentation, 6to4.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_not_public() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::10.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b::7f00:1",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "198.20.0.1",
            "223.255.255.1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn private_networks_have_no_metadata_services() {
        let host = Host::parse("h.example").unwrap();
        let allows = |text: &str| Reach::Private.allows(&host, text.parse().unwrap());
        for allowed in [
            "8.8.8.8",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "::1",
            "::ffff:10.0.0.1",
            "fd12:3456::1",
        ] {
            assert!(allows(allowed), "{allowed}");
        }
        for refused in [
            "0.0.0.0",
            "169.254.169.254",
            "169.254.1.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!allows(refused), "{refused}");
        }
    }

    #[test]
    fn a_name_for_this_machine_is_not_elsewhere() {
        let number = |text: &str| text.parse::<IpAddr>().unwrap();
        let (here, there) = (
            Host::parse("localhost").unwrap(),
            Host::parse("h.example").unwrap(),
        );
        assert!(Reach::Anywhere.allows(&here, number("127.0.0.1")));
        assert!(Reach::Anywhere.allows(&here, number("::1")));
        assert!(!Reach::Anywhere.allows(&here, number("10.0.0.1")));
        assert!(Reach::Anywhere.allows(&there, number("10.0.0.1")));
        assert!(!Reach::Public.allows(&there, number("10.0.0.1")));
        assert!(!Reach::Public.allows(&here, number("127.0.0.1")));
        assert!(Reach::Public.allows(&there, number("8.8.8.8")));
    }
}
