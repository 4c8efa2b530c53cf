//! Files for browsers: styles, the icon, and scripts if they were built. Their names have a digest in them, so that
//! browsers keep them forever.

use std::sync::LazyLock;

use crate::script::Script;

/// A file for browsers.
#[derive(Debug)]
pub struct Asset {
    /// Where it is.
    pub path: String,
    /// Its type.
    pub content_type: &'static str,
    /// How `body` is compressed, if it is. It is sent as it is: every browser understands it.
    pub encoding: Option<&'static str>,
    /// What is in it.
    pub body: &'static [u8],
}

impl Asset {
    fn new(name: &str, content_type: &'static str, body: &'static [u8]) -> Self {
        let digest = fnv(body);
        let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
        Self {
            path: format!("/assets/{stem}.{digest:016x}.{end}"),
            content_type,
            encoding: None,
            body,
        }
    }

    fn script(name: &str, compressed: &'static [u8]) -> Self {
        Self {
            encoding: Some("gzip"),
            ..Self::new(name, "text/javascript; charset=utf-8", compressed)
        }
    }
}

/// A digest that tells versions of our own files apart; nothing depends on its being hard to meet.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

pub(crate) static STYLES: LazyLock<Asset> = LazyLock::new(|| {
    let body = include_bytes!("../assets/portcullis.css");
    Asset::new("portcullis.css", "text/css; charset=utf-8", body)
});

pub(crate) static ICON: LazyLock<Asset> = LazyLock::new(|| {
    let body = include_bytes!("../assets/icon.svg");
    Asset::new("icon.svg", "image/svg+xml", body)
});

// `BUILT: &[(&str, &[u8])]`, by build.rs: the names of the scripts that were built, and their compressed text.
include!(concat!(env!("OUT_DIR"), "/built.rs"));

static SCRIPTS: LazyLock<Vec<(&'static str, Asset)>> = LazyLock::new(|| {
    let scripts = BUILT.iter();
    scripts
        .map(|(name, body)| (*name, Asset::script(name, body)))
        .collect()
});

/// Where a script is; nothing if this program was built without scripts.
pub(crate) fn script_path(script: Script) -> Option<&'static str> {
    let found = SCRIPTS.iter().find(|(name, _)| *name == script.file());
    found.map(|(_, asset)| asset.path.as_str())
}

/// The file at a path.
pub fn asset(path: &str) -> Option<&'static Asset> {
    let scripts = SCRIPTS.iter().map(|(_, asset)| asset);
    let mut all = [&*STYLES, &*ICON].into_iter().chain(scripts);
    all.find(|asset| asset.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_were_built_are_those_that_pages_name() {
        for (name, asset) in SCRIPTS.iter() {
            assert!(
                Script::ALL.iter().any(|script| script.file() == *name),
                "{name}"
            );
            assert!(asset.body.starts_with(&[0x1f, 0x8b]), "{name}");
            assert_eq!(asset.encoding, Some("gzip"));
        }
        // All of them, or no one.
        assert!(SCRIPTS.is_empty() || SCRIPTS.len() == Script::ALL.len());
    }

    #[test]
    fn what_pages_name_is_there() {
        let scripts = Script::ALL.iter().copied().filter_map(script_path);
        for path in scripts.chain([STYLES.path.as_str(), ICON.path.as_str()]) {
            assert_eq!(asset(path).map(|asset| asset.path.as_str()), Some(path));
        }
        assert!(asset("/assets/live.js").is_none());
    }

    #[test]
    fn other_content_has_another_path() {
        let one = Asset::script("a.js", b"1");
        assert_ne!(one.path, Asset::script("a.js", b"2").path);
        assert_eq!(one.path, Asset::script("a.js", b"1").path);
        assert!(one.path.starts_with("/assets/a.") && one.path.ends_with(".js"));
    }
}
