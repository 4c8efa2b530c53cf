//! Who may read and write a file.
//!
//! The rules are those of OpenSSH: what is trusted belongs to the user of this process or to root,
//! and others can't write it. A group counts as others unless this process is in it: Kubernetes makes
//! volumes writable for the group of a pod, and some systems give every user a group of their own.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::{Gid, Uid, getegid, geteuid, getgroups};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// A key: no one else may read it.
    Key,
    /// Data that may be read by others if the administrator says so.
    Data,
}

/// Checks a file that the configuration names. Files of Kubernetes Secrets can be read by everybody in
/// their container, so that a key can be read is a warning only.
///
/// # Errors
///
/// When others can write it. A file that can't be looked at is not an error here but where it is read.
pub fn check_named(path: &Path, used: Use) -> Result<Option<String>, String> {
    match std::fs::metadata(path) {
        Ok(metadata) => named(Entry::of(&metadata), used, &FileIdentity::own()),
        Err(_) => Ok(None),
    }
}

/// Checks a file that this program keeps for itself, if it is there. What is odd but not rejected is
/// given back.
///
/// # Errors
///
/// When it belongs to another user, when others can write it, or, for a key, read it.
pub fn check_own(path: &Path, used: Use) -> Result<Option<String>, String> {
    let own = FileIdentity::own();
    let (Ok(link), Ok(metadata)) = (std::fs::symlink_metadata(path), std::fs::metadata(path))
    else {
        return Ok(None);
    };
    if link.is_symlink() {
        owned(Entry::of(&link), &own)?;
    }
    kept(Entry::of(&metadata), used, &own)
}

/// The user and groups of this process.
#[derive(Debug, Clone)]
pub(crate) struct FileIdentity {
    user: Uid,
    groups: Vec<Gid>,
}

impl FileIdentity {
    pub(crate) fn own() -> Self {
        let mut groups = getgroups().unwrap_or_default();
        groups.push(getegid());
        Self {
            user: geteuid(),
            groups,
        }
    }
}

/// What is known of a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) mode: u32,
}

/// Who else has a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    Owner,
    /// A group that this process is in.
    OwnGroup,
    Others,
}

impl Entry {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            owner: metadata.uid(),
            group: metadata.gid(),
            mode: metadata.mode() & 0o7777,
        }
    }

    /// Whether it belongs to this user or root.
    pub(crate) fn is_trusted(self, own: &FileIdentity) -> bool {
        let owner = Uid::from_raw(self.owner);
        owner.is_root() || owner == own.user
    }

    pub(crate) fn writers(self, own: &FileIdentity) -> Sharing {
        self.sharing(0o020, 0o002, own)
    }

    fn readers(self, own: &FileIdentity) -> Sharing {
        // Root and its group are one. A credential of systemd looks like this: the bits of the group are then the mask of
        // an access control list with the service's user in it.
        let group = match self.owner == 0 && self.group == 0 {
            true => 0,
            false => 0o040,
        };
        self.sharing(group, 0o004, own)
    }

    fn sharing(self, group: u32, others: u32, own: &FileIdentity) -> Sharing {
        let is_own = own.groups.contains(&Gid::from_raw(self.group));
        match (self.mode & group != 0, self.mode & others != 0) {
            (_, true) => Sharing::Others,
            (true, false) if is_own => Sharing::OwnGroup,
            (true, false) => Sharing::Others,
            (false, false) => Sharing::Owner,
        }
    }

    /// Owner and mode, as messages show them.
    pub(crate) fn shown(self) -> String {
        let Self { owner, group, mode } = self;
        format!("owner uid {owner}, gid {group}, mode {mode:04o}")
    }
}

/// A fault unless it belongs to this user or root.
pub(crate) fn owned(entry: Entry, own: &FileIdentity) -> Result<(), String> {
    if entry.is_trusted(own) {
        return Ok(());
    }
    let (user, shown) = (own.user, entry.shown());
    Err(format!(
        "it belongs to another user ({shown}): it must belong to uid {user} or root"
    ))
}

fn named(entry: Entry, used: Use, own: &FileIdentity) -> Result<Option<String>, String> {
    let shown = entry.shown();
    match (entry.writers(own), entry.readers(own)) {
        (Sharing::Others, _) => Err(format!("others can write it ({shown}): run `chmod go-w`")),
        _ if used == Use::Data => Ok(None),
        (_, Sharing::Others) => Ok(Some(format!("others can read it ({shown})"))),
        (Sharing::OwnGroup, _) => Ok(Some(format!("its group can write it ({shown})"))),
        _ if !entry.is_trusted(own) => Ok(Some(format!("it belongs to another user ({shown})"))),
        _ => Ok(None),
    }
}

fn kept(entry: Entry, used: Use, own: &FileIdentity) -> Result<Option<String>, String> {
    owned(entry, own)?;
    let shown = entry.shown();
    match (entry.writers(own), entry.readers(own)) {
        (Sharing::Others, _) => Err(format!("others can write it ({shown}): run `chmod go-w`")),
        (_, Sharing::Others) if used == Use::Key => {
            Err(format!("others can read it ({shown}): run `chmod 600`"))
        }
        (Sharing::OwnGroup, _) => Ok(Some(format!("its group can write it ({shown})"))),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alice() -> FileIdentity {
        FileIdentity {
            user: Uid::from_raw(1000),
            groups: vec![Gid::from_raw(1000), Gid::from_raw(2000)],
        }
    }

    fn entry(owner: u32, group: u32, mode: u32) -> Entry {
        Entry { owner, group, mode }
    }

    /// `Some(true)` is a warning, `Some(false)` an error.
    fn told(outcome: &Result<Option<String>, String>) -> Option<bool> {
        match outcome {
            Ok(None) => None,
            Ok(Some(_)) => Some(true),
            Err(_) => Some(false),
        }
    }

    #[test]
    fn key_files_of_a_configuration() {
        for (owner, group, mode, expected) in [
            (1000, 1000, 0o600, None),
            (0, 0, 0o600, None),
            (1000, 1000, 0o640, None),
            (0, 2000, 0o440, None),
            // A credential as systemd hands it to a service.
            (0, 0, 0o440, None),
            // A Secret as Kubernetes mounts it.
            (0, 0, 0o644, Some(true)),
            (1000, 5, 0o640, Some(true)),
            (1000, 2000, 0o660, Some(true)),
            (1001, 1001, 0o400, Some(true)),
            (1000, 5, 0o660, Some(false)),
            (1000, 1000, 0o602, Some(false)),
            (0, 0, 0o666, Some(false)),
        ] {
            let it = entry(owner, group, mode);
            let outcome = named(it, Use::Key, &alice());
            assert_eq!(told(&outcome), expected, "{it:?} {outcome:?}");
            // For files that are not secret, only write access by others counts.
            let as_data = named(it, Use::Data, &alice());
            assert_eq!(
                as_data.is_err(),
                expected == Some(false),
                "{it:?} {as_data:?}"
            );
        }
    }

    #[test]
    fn files_of_its_own() {
        for (owner, group, mode, key, data) in [
            (1000, 1000, 0o600, None, None),
            (0, 0, 0o600, None, None),
            (1000, 2000, 0o660, Some(true), Some(true)),
            (1000, 1000, 0o644, Some(false), None),
            (1000, 5, 0o640, Some(false), None),
            (1000, 1000, 0o622, Some(false), Some(false)),
            (1000, 5, 0o620, Some(false), Some(false)),
            (65534, 1000, 0o600, Some(false), Some(false)),
        ] {
            let it = entry(owner, group, mode);
            let (as_key, as_data) = (kept(it, Use::Key, &alice()), kept(it, Use::Data, &alice()));
            assert_eq!(told(&as_key), key, "{it:?} {as_key:?}");
            assert_eq!(told(&as_data), data, "{it:?} {as_data:?}");
        }
    }

    #[test]
    fn the_message_has_owner_and_mode() {
        let wrong = kept(entry(65534, 65534, 0o666), Use::Key, &alice()).unwrap_err();
        assert_eq!(
            wrong,
            "it belongs to another user (owner uid 65534, gid 65534, mode 0666): it must belong to \
             uid 1000 or root"
        );
    }

    #[test]
    fn what_a_link_leads_to_counts() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("key"), folder.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(check_own(&link, Use::Key), Ok(None));
        for (mode, expected) in [(0o600, None), (0o666, Some(false))] {
            std::fs::write(&file, "x").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(told(&check_own(&link, Use::Key)), expected);
            assert_eq!(told(&check_named(&link, Use::Key)), expected);
        }
    }
}
