//! Names for parts of a user, like `{name}`, and what one user has there.
//!
//! Names are numbered once for a whole profile, so that templates of rules fit every subject.

/// How many names a profile may have.
const MOST: usize = 8;

/// What a subject stands for always has these.
pub(super) const NAME: u8 = 0;
pub(super) const NAMESPACE: u8 = 1;

/// The names of a profile. The first two are there from the beginning.
#[derive(Debug, Clone)]
pub(super) struct CaptureNames(Vec<Box<str>>);

impl Default for CaptureNames {
    fn default() -> Self {
        Self(vec!["name".into(), "namespace".into()])
    }
}

impl CaptureNames {
    /// The number of a name.
    pub(super) fn find(&self, name: &str) -> Option<u8> {
        let at = self.0.iter().position(|known| &**known == name)?;
        u8::try_from(at).ok()
    }

    /// The number of a name that may be new; none if there are too many.
    pub(super) fn add(&mut self, name: &str) -> Option<u8> {
        if let Some(number) = self.find(name) {
            return Some(number);
        }
        if self.0.len() >= MOST {
            return None;
        }
        self.0.push(name.into());
        self.find(name)
    }

    /// The name of a number.
    pub(super) fn name(&self, number: u8) -> &str {
        self.0.get(usize::from(number)).map_or("", |name| name)
    }

    /// All names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }
}

/// What templates are filled with.
pub(super) trait Values {
    /// What stands for the name of this number.
    fn value(&self, number: u8) -> &str;
}

/// Parts of one user.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Captured<'a> {
    parts: [Option<&'a str>; MOST],
}

impl<'a> Captured<'a> {
    pub(super) fn set(&mut self, number: u8, part: &'a str) {
        if let Some(place) = self.parts.get_mut(usize::from(number)) {
            *place = Some(part);
        }
    }

    pub(super) fn get(&self, number: u8) -> Option<&'a str> {
        self.parts.get(usize::from(number)).copied().flatten()
    }
}

impl Values for Captured<'_> {
    fn value(&self, number: u8) -> &str {
        self.get(number).unwrap_or("")
    }
}
