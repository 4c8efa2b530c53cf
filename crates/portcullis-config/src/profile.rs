//! Graph profiles: from a built-in name or a file to something that can be used.

use std::path::Path;
use std::sync::Arc;

use portcullis_graph::{Profile, ProfileSpec, built_in};

use portcullis_document::{Faults, Source, read, yaml};

/// A profile, and the text it was made from.
#[derive(Debug, Clone)]
pub struct ReadProfile {
    /// The profile.
    pub profile: Arc<Profile>,
    /// The text.
    pub text: Arc<Source>,
}

/// A built-in profile.
pub fn built_in(name: &str) -> Option<Result<ReadProfile, Faults>> {
    let text = built_in::find(name)?;
    Some(compile(Source::text_named(
        format!("built-in profile {name}"),
        text,
    )))
}

/// A profile of a file; the outer error says why the file can't be read.
pub fn of_file(path: &Path) -> Result<Result<ReadProfile, Faults>, String> {
    crate::read_source(path).map(compile)
}

/// The names of the profiles that ship inside.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    built_in::ALL.iter().map(|(name, _)| *name)
}

fn compile(text: Arc<Source>) -> Result<ReadProfile, Faults> {
    let document = yaml::parse_map(&text)?;
    let spec: ProfileSpec = read::typed(&text, &document.root)?;
    let profile = Profile::compile(&spec).map_err(|faults| Faults(document.locate_all(faults)))?;
    Ok(ReadProfile {
        profile: Arc::new(profile),
        text,
    })
}
