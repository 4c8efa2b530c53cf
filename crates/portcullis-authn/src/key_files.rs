//! The files that settings name: read once, when an authenticator is created.

use std::path::{Path, PathBuf};

use portcullis_document::Fault;
use portcullis_files::Use;

use crate::settings::{AuthenticatorSettings, Keys, NamedFile};

/// Larger files are not keys.
const LARGEST_KEY: u64 = 1 << 20;

impl AuthenticatorSettings<PathBuf> {
    /// Reads the files. What is odd about them, but not wrong, goes to `odd`.
    ///
    /// # Errors
    ///
    /// With the first file that can't be read, is empty, or can be written by others, at the key that names it. It
    /// never says what the file holds.
    pub fn read(&self, odd: &mut Vec<Fault>) -> Result<AuthenticatorSettings, Box<Fault>> {
        let mut settings = self.with_files(|NamedFile { key, used, file }| {
            let note = |message: String| Fault::at(key, message);
            let (bytes, remark) = read(file, used).map_err(|why| Box::new(note(why)))?;
            odd.extend(remark.map(note));
            Ok::<_, Box<Fault>>(bytes)
        })?;
        if let Keys::Shared(secret) = &mut settings.keys {
            secret.drop_newline();
        }
        let login = settings.login.as_mut();
        if let Some(secret) = login.and_then(|login| login.client_secret.as_mut()) {
            secret.drop_newline();
        }
        Ok(settings)
    }
}

/// What is in a file, and what is odd about it.
fn read(file: &Path, used: Use) -> Result<(Vec<u8>, Option<String>), String> {
    let shown = file.display();
    let cannot_read = |reason: &str| format!("cannot read `{shown}`: {reason}");
    let bytes = portcullis_files::read(file, LARGEST_KEY).map_err(|why| cannot_read(&why))?;
    if bytes.trim_ascii().is_empty() {
        return Err(cannot_read("it is empty"));
    }
    match portcullis_files::check_named(file, used) {
        Ok(odd) => Ok((bytes, odd.map(|odd| format!("`{shown}`: {odd}")))),
        Err(reason) => Err(format!("`{shown}`: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::settings::{LoginSettings, Secret};

    fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    #[test]
    fn secrets_lose_one_newline_and_keys_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| written(folder.path(), name, text);
        let shared = Keys::Shared(Secret(file("secret", "hidden\n\r\n")));
        let settings = AuthenticatorSettings {
            login: Some(LoginSettings {
                client_id: "gate".to_owned(),
                client_secret: Some(Secret(file("client", "known\n"))),
                scopes: Vec::new(),
            }),
            ca: Some(file("ca", "authority\n")),
            ..AuthenticatorSettings::new("corp", shared)
        };
        let mut odd = Vec::new();
        let read = settings.read(&mut odd).unwrap();
        let Keys::Shared(Secret(secret)) = read.keys else {
            panic!("{:?}", read.keys);
        };
        assert_eq!(secret, b"hidden\n");
        assert_eq!(read.login.unwrap().client_secret.unwrap().0, b"known");
        assert_eq!(read.ca.unwrap(), b"authority\n");
        assert_eq!(odd, []);
    }

    #[test]
    fn a_file_that_is_missing_or_empty_is_named_by_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let keys = |public| Keys::Pair {
            algorithm: crate::Algorithm::EdDsa,
            public,
            private: Some(Secret(folder.path().join("none"))),
        };
        for (public, key) in [
            (written(folder.path(), "blank", " \n"), "publicKeyFile"),
            (written(folder.path(), "public", "key"), "privateKeyFile"),
        ] {
            let settings = AuthenticatorSettings::new("corp", keys(public));
            let wrong = settings.read(&mut Vec::new()).unwrap_err();
            assert_eq!(wrong.path, key);
            assert!(wrong.message.starts_with("cannot read `"), "{wrong:?}");
        }
    }

    #[test]
    fn a_secret_that_others_can_read_is_odd() {
        let folder = tempfile::tempdir().unwrap();
        let file = written(folder.path(), "secret", "hidden");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let settings = AuthenticatorSettings::new("corp", Keys::Shared(Secret(file)));
        let mut odd = Vec::new();
        settings.read(&mut odd).unwrap();
        assert_eq!(odd.len(), 1);
        assert_eq!(odd[0].path, "secretFile");
    }
}
