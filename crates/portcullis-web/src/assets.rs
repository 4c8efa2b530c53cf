//! Files for browsers: styles and the icon. Their names have a digest in them, so that
//! browsers keep them forever.

use std::sync::LazyLock;

/// A file for browsers.
#[derive(Debug)]
pub struct Asset {
    /// Where it is.
    pub path: String,
    /// Its type.
    pub content_type: &'static str,
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
            body,
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

/// The file at a path.
pub fn asset(path: &str) -> Option<&'static Asset> {
    let all = [&*STYLES, &*ICON];
    all.into_iter().find(|asset| asset.path == path)
}
