//! What the system allows this process and its servers.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::output;

/// Lets this process and its servers hold that many connections, as far as the system allows.
pub(crate) fn raise_open_files(connections: u64) {
    let wanted = connections + 512;
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < wanted
        && setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard).is_err()
    {
        output::tell(&format!("only {soft} files can be open at once"));
    }
}
