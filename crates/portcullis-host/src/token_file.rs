//! Files that hold nothing but a token.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tokio::time::timeout_at;

/// The most bytes a token may have.
pub(crate) const LONGEST: usize = 16 << 10;

/// The token in a file, read now.
pub(crate) async fn read_until(path: PathBuf, deadline: Instant) -> Result<String, String> {
    let reading = tokio::task::spawn_blocking(move || read(&path));
    match timeout_at(deadline.into(), reading).await {
        Ok(Ok(result)) => result,
        _ => Err("the token can't be read".to_owned()),
    }
}

fn read(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(LONGEST as u64).read_to_string(&mut text))
        .map_err(|error| format!("the token can't be read: {}", error.kind()))?;
    let token = text.trim();
    if token.is_empty() {
        return Err("the file of the token is empty".to_owned());
    }
    Ok(token.to_owned())
}
