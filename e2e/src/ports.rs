//! Free ports on loopback.

use std::net::{Ipv4Addr, TcpListener};

/// `N` different ports that nothing listens on at this moment.
///
/// They are taken together and given back together, so they differ from each
/// other; that nobody else takes one before its use is likely, not certain.
#[must_use]
pub fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on 127.0.0.1 can be bound")
    });
    listeners.map(|listener| {
        listener
            .local_addr()
            .expect("a bound listener has an address")
            .port()
    })
}
