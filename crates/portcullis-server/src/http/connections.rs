//! How many connections may be open at once: over all listeners, at each of them, and from one address;
//! limits may change while connections are open.
//!
//! Half of the limit is reserved: each listener has a part of it that no other can use. The other half
//! is first come, first served.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use portcullis_config::Limits;
use portcullis_core::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// The limits, shared by all accept loops.
#[derive(Debug, Clone)]
pub(crate) struct Connections(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    /// There may be room, or it is over.
    changed: Notify,
}

/// How many connections there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionCounts {
    /// Over all listeners.
    pub(crate) total: u32,
    /// From one address at one listener.
    pub(crate) per_address: u32,
}

impl From<&Limits> for ConnectionCounts {
    fn from(limits: &Limits) -> Self {
        Self {
            total: limits.connections,
            per_address: limits.connections_per_address,
        }
    }
}

/// The connections of one listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RoomId(u64);

#[derive(Debug)]
struct State {
    counts: ConnectionCounts,
    next: u64,
    rooms: BTreeMap<RoomId, Room>,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Room {
    /// What no other listener can use.
    reserved: usize,
    /// The most it may have.
    most: usize,
    open: usize,
    addresses: HashMap<IpAddr, usize>,
    /// Its listener is gone: it goes with its last connection.
    is_gone: bool,
}

/// Whether a connection may be open.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may.
    Admitted(Admitted),
    /// Its address has too many already.
    TooMany,
    /// The server has ended.
    Closed,
}

/// One of the connections that may be open.
#[derive(Debug)]
pub(crate) struct Admitted {
    connections: Connections,
    room: RoomId,
    address: Option<IpAddr>,
}

impl Connections {
    pub(crate) fn new(counts: ConnectionCounts) -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State {
                counts,
                next: 0,
                rooms: BTreeMap::new(),
                is_closed: false,
            }),
            changed: Notify::new(),
        }))
    }

    /// Room for a new listener. It has none until [`Connections::share_out`] gives it some.
    pub(crate) fn room(&self) -> RoomId {
        let mut state = self.lock();
        let id = RoomId(state.next);
        state.next += 1;
        state.rooms.insert(id, Room::default());
        id
    }

    /// Changes the limits: these are all listeners, with the most connections that each may have.
    /// Connections beyond smaller limits stay, and make no room when they end.
    pub(crate) fn share_out(&self, counts: ConnectionCounts, listeners: &[(RoomId, Option<u32>)]) {
        let mut state = self.lock();
        state.counts = counts;
        let total = counts.total as usize;
        let each = match listeners.len() {
            count if count > total => 0,
            count => (total / 2).checked_div(count).unwrap_or_default().max(1),
        };
        for room in state.rooms.values_mut() {
            (room.reserved, room.is_gone) = (0, true);
        }
        for (id, most) in listeners {
            if let Some(room) = state.rooms.get_mut(id) {
                room.most = most.map_or(total, |most| most as usize);
                room.reserved = each.min(room.most);
                room.is_gone = false;
            }
        }
        state.rooms.retain(|_, room| !room.is_gone || room.open > 0);
        drop(state);
        self.0.changed.notify_waiters();
    }

    /// Waits until one more may be open at a listener. An address that has too many is not waited for.
    pub(crate) async fn admit(&self, room: RoomId, address: Option<IpAddr>) -> Admission {
        let address = address.map(counted);
        loop {
            let changed = self.0.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            let taken = self.lock().take(room, address);
            match taken {
                Some(Taken::Room) => {
                    return Admission::Admitted(Admitted {
                        connections: self.clone(),
                        room,
                        address,
                    });
                }
                Some(Taken::TooMany) => return Admission::TooMany,
                Some(Taken::Closed) => return Admission::Closed,
                None => changed.await,
            }
        }
    }

    /// Waits until none is open. No more are admitted from now on.
    pub(crate) async fn finish(&self) {
        self.lock().is_closed = true;
        self.0.changed.notify_waiters();
        loop {
            let changed = self.0.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            if self.lock().rooms.values().all(|room| room.open == 0) {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

/// What came of asking for room.
enum Taken {
    Room,
    TooMany,
    Closed,
}

impl State {
    /// Takes room, or says why there will be none; nothing if there may be some later.
    fn take(&mut self, id: RoomId, address: Option<IpAddr>) -> Option<Taken> {
        if self.is_closed {
            return Some(Taken::Closed);
        }
        let reserved: usize = self.rooms.values().map(|room| room.reserved).sum();
        let common = (self.counts.total as usize).saturating_sub(reserved);
        let beyond = |room: &Room| room.open.saturating_sub(room.reserved);
        let used: usize = self.rooms.values().map(beyond).sum();
        let Some(room) = self.rooms.get_mut(&id) else {
            return Some(Taken::Closed);
        };
        if let Some(address) = &address
            && let Some(open) = room.addresses.get(address)
            && *open >= self.counts.per_address as usize
        {
            return Some(Taken::TooMany);
        }
        let has_own = room.open < room.reserved;
        if room.open >= room.most || !(has_own || used < common) {
            return None;
        }
        room.open += 1;
        if let Some(address) = address {
            *room.addresses.entry(address).or_default() += 1;
        }
        Some(Taken::Room)
    }

    fn give_back(&mut self, id: RoomId, address: Option<IpAddr>) {
        let Some(room) = self.rooms.get_mut(&id) else {
            return;
        };
        room.open = room.open.saturating_sub(1);
        if let Some(address) = address
            && let Some(open) = room.addresses.get_mut(&address)
        {
            *open -= 1;
            if *open == 0 {
                room.addresses.remove(&address);
            }
        }
        if room.is_gone && room.open == 0 {
            self.rooms.remove(&id);
        }
    }
}

/// What counts as one address: in IPv6 everybody has a whole network of 64 bits.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.connections.lock().give_back(self.room, self.address);
        self.connections.0.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
