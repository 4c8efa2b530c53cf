//! Certificates that the server makes and rotates itself, for the listeners that have them.
//!
//! A [`Keeper`] keeps one: a task reads the webhook configurations and the Secret again and again, and does what
//! `portcullis-certificates` says. What it serves is changed in place, so that no listener has to be set up again. A keeper
//! outlives reloads as long as its settings stay, and one with other settings for the same Secret
//! begins with what its predecessor serves.

mod cluster;
mod health;
mod keeper;
mod shown;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Weak};

use portcullis_config::ManagedCertificate;
use portcullis_core::sync::Mutex;

pub(crate) use health::ManagedHealth;
pub(crate) use keeper::{Keeper, OnServe};

/// All managed certificates in force.
#[derive(Debug, Default)]
pub(crate) struct ManagedCertificates {
    in_force: Mutex<Vec<Running>>,
    /// Keepers that have not begun yet: listeners with the same settings share one.
    made: Mutex<Vec<Weak<Keeper>>>,
}

/// A keeper at work; it stops when this is dropped.
#[derive(Debug)]
struct Running {
    keeper: Arc<Keeper>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ManagedCertificates {
    /// The keeper for these settings: the one in force, or one that has not begun yet.
    pub(crate) fn keeper(&self, settings: &ManagedCertificate) -> Arc<Keeper> {
        let in_force = self.in_force.lock();
        let mut keepers = in_force.iter().map(|running| &running.keeper);
        if let Some(same) = keepers.clone().find(|one| one.settings() == settings) {
            return Arc::clone(same);
        }
        let mut made = self.made.lock();
        made.retain(|one| one.strong_count() > 0);
        let mut waiting = made.iter().filter_map(Weak::upgrade);
        if let Some(same) = waiting.find(|one| one.settings() == settings) {
            return same;
        }
        let before = keepers.find(|one| one.settings().secret == settings.secret);
        let keeper = Arc::new(Keeper::new(settings.clone(), before.map(Arc::as_ref)));
        made.push(Arc::downgrade(&keeper));
        keeper
    }

    /// Begins with those that are new, and stops all others. Each is told with whom to talk about what it serves.
    pub(crate) fn put_in_force(&self, used: Vec<(Arc<Keeper>, OnServe)>) {
        let mut in_force = self.in_force.lock();
        let mut before = std::mem::take(&mut *in_force);
        used.iter().for_each(|(keeper, _)| keeper.tell_none());
        for (keeper, on_serve) in used {
            keeper.tell(on_serve);
            if in_force.iter().any(|one| Arc::ptr_eq(&one.keeper, &keeper)) {
                continue;
            }
            let place = before
                .iter()
                .position(|one| Arc::ptr_eq(&one.keeper, &keeper));
            in_force.push(match place {
                Some(place) => before.swap_remove(place),
                None => Running {
                    task: tokio::spawn(Arc::clone(&keeper).run()),
                    keeper,
                },
            });
        }
    }

    /// How all of them are; nothing if there are none.
    pub(crate) fn health(&self) -> Option<ManagedHealth> {
        let in_force = self.in_force.lock();
        let each = in_force.iter().map(|running| running.keeper.health());
        ManagedHealth::of_all(each)
    }
}
