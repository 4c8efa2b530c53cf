//! Passwords that are not in the address: `PGPASSWORD`, or the file `.pgpass`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use postgres::Config;
use postgres::config::Host;

/// The password for this server, if one is kept where other programs look as well.
pub(super) fn find(config: &Config) -> Option<String> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Some(password);
    }
    let path = match std::env::var_os("PGPASSFILE") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"),
    };
    let metadata = fs::metadata(&path).ok()?;
    // Like others do, a file that everybody can read is passed over.
    if !metadata.is_file() || metadata.permissions().mode() & 0o077 != 0 {
        return None;
    }
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.clone(),
        Host::Unix(_) => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user()?;
    let database = config.get_dbname().unwrap_or(user);
    let wanted = [host.as_str(), &port.to_string(), database, user];
    in_file(&fs::read_to_string(path).ok()?, wanted)
}

/// The password of the first line that fits: `host:port:database:user:password`.
fn in_file(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().find_map(|line| {
        if line.starts_with('#') {
            return None;
        }
        let fields = fields(line);
        let (password, place) = fields.split_last()?;
        let fits = place.len() == wanted.len()
            && place
                .iter()
                .zip(wanted)
                .all(|(field, wanted)| field == "*" || field == wanted);
        fits.then(|| password.clone())
    })
}

/// The fields of a line: up to four colons part them; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let parted = fields.len() == 5;
        let Some(field) = fields.last_mut() else {
            break;
        };
        match character {
            '\\' => field.extend(characters.next()),
            ':' if !parted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let file =
            "# h:1:d:u:comment\nother:5432:d:u:no\nh:5432:*:u:it:is\\\\\\:this\n*:*:*:*:last\n";
        let find = |wanted| in_file(file, wanted);
        assert_eq!(
            find(["h", "5432", "d", "u"]).as_deref(),
            Some("it:is\\:this")
        );
        assert_eq!(find(["x", "1", "d", "u"]).as_deref(), Some("last"));
        assert_eq!(in_file("h:1:d:u\n", ["h", "1", "d", "u"]), None);
    }
}
