//! Free ports, each given out once.
//!
//! They lie below the range from which the kernel picks ports for outgoing connections, so that no
//! client takes one between here and the start of a server.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST: u16 = 10_000;
const COUNT: u16 = 22_000;

static GIVEN: AtomicU16 = AtomicU16::new(0);

/// A port on loopback that nothing listens on.
#[must_use]
pub fn free_port() -> u16 {
    let start = u16::try_from(std::process::id() * 61 % u32::from(COUNT)).unwrap();
    (0..COUNT)
        .map(|_| FIRST + (start + GIVEN.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("no port is free")
}

/// Several, all different.
#[must_use]
pub fn free_ports<const N: usize>() -> [u16; N] {
    [(); N].map(|()| free_port())
}
