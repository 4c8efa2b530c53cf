//! Unix sockets: created with their mode and owner before clients can connect.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};

use nix::unistd::{Group, User};
use tokio::net::UnixListener;

use portcullis_config::{Principal, UnixSocket};

/// A bound socket, whose file goes when this goes.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    pub(crate) listener: UnixListener,
    _file: SocketFile,
}

/// The file of a socket, removed when dropped if it is still the same.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    inode: u64,
}

/// Binds a temporary path, sets mode and owner, then renames it. A socket that a server still
/// answers on, or a file that is not a socket, is left alone.
pub(crate) fn bind(socket: &UnixSocket) -> io::Result<BoundSocket> {
    check_place(&socket.path)?;
    let aside = socket
        .path
        .with_extension(format!("new-{}", std::process::id()));
    let _ = std::fs::remove_file(&aside);
    let listener = UnixListener::bind(&aside)?;
    let placed = set_up(socket, &aside).and_then(|inode| {
        std::fs::rename(&aside, &socket.path)?;
        Ok(SocketFile {
            path: socket.path.clone(),
            inode,
        })
    });
    match placed {
        Ok(file) => Ok(BoundSocket {
            listener,
            _file: file,
        }),
        Err(e) => {
            let _ = std::fs::remove_file(&aside);
            Err(e)
        }
    }
}

fn check_place(path: &Path) -> io::Result<()> {
    let there = match std::fs::symlink_metadata(path) {
        Ok(there) => there,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    if !there.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the path exists and is not a socket",
        ));
    }
    match Probe::connect(path) {
        Ok(_) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another process is already listening there",
        )),
        Err(_) => Ok(()),
    }
}

/// Gives the socket that is there its mode and owner.
pub(crate) fn set_access(socket: &UnixSocket) -> io::Result<()> {
    set_up(socket, &socket.path).map(|_| ())
}

fn set_up(socket: &UnixSocket, file: &Path) -> io::Result<u64> {
    let owner = socket.owner.as_ref().map(user_id).transpose()?;
    let group = socket.group.as_ref().map(group_id).transpose()?;
    if owner.is_some() || group.is_some() {
        chown(file, owner, group)?;
    }
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(socket.mode))?;
    Ok(std::fs::metadata(file)?.ino())
}

fn user_id(who: &Principal) -> io::Result<u32> {
    match who {
        Principal::Id(id) => Ok(*id),
        Principal::Name(name) => match User::from_name(name)? {
            Some(user) => Ok(user.uid.as_raw()),
            None => Err(unknown("user", name)),
        },
    }
}

fn group_id(who: &Principal) -> io::Result<u32> {
    match who {
        Principal::Id(id) => Ok(*id),
        Principal::Name(name) => match Group::from_name(name)? {
            Some(group) => Ok(group.gid.as_raw()),
            None => Err(unknown("group", name)),
        },
    }
}

fn unknown(what: &str, name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("unknown {what} `{name}`"))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if std::fs::metadata(&self.path).is_ok_and(|there| there.ino() == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
