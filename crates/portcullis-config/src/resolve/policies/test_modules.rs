//! A test in JavaScript or TypeScript, with the modules it imports.

use std::{path::Path, sync::Arc};

use super::scripts::Scripts;
use crate::{
    model::{MarkPlace, Module},
    notes::Notes,
};
use portcullis_document::{Faults, Source};

/// A test file, ready for the engine.
#[derive(Debug)]
pub struct TestModules {
    /// The file and everything it imports.
    pub modules: Vec<Module>,
    /// The place of the file itself among them.
    pub main: usize,
    /// Where each mark of coverage stands; none unless coverage is wanted.
    pub marks: Vec<MarkPlace>,
}

/// Reads a test file. It may import what lies in `folder`.
pub fn test_modules(
    folder: &Path,
    file: &Path,
    source: &Arc<Source>,
    is_covered: bool,
) -> Result<TestModules, Faults> {
    let mut notes = Notes::default();
    let mut scripts = Scripts::new(is_covered);
    let main = scripts.test(folder, file, source, &mut notes);
    match (main, Faults::from_list(notes.faults)) {
        (Some(main), None) => {
            let (modules, marks) = scripts.finish();
            Ok(TestModules {
                modules,
                main,
                marks,
            })
        }
        (_, Some(faults)) => Err(faults),
        (None, None) => Err(source.fault(None, "", "not a script").into()),
    }
}
