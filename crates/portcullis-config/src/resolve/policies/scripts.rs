//! Sources of policies on their way to the engine: types stripped, modules found and numbered.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use portcullis_js::{ModuleSource, PolicyCode};
use portcullis_script::{Import, ImportedName, Language, Script, ScriptFault};

use super::paths::{candidates, display_name, find, language, wanted};
use crate::{
    model::{MarkPlace, Module, PolicyMetadata},
    notes::Notes,
};
use portcullis_document::{Node, Position, Source, read};

/// A policy's own words about itself, and where they stand.
pub(super) type Metadata = (Option<Node>, PolicyMetadata);

/// A text on its way to a policy.
#[derive(Debug)]
enum Prepared {
    /// The body of a function.
    Body(PolicyCode, Metadata),
    /// A module, whose imports are yet to be found.
    Module(Script, Metadata),
}

/// The modules of a configuration so far.
#[derive(Debug)]
pub(super) struct Scripts {
    is_covered: bool,
    /// Nothing is read any more; what has the place of a module takes it over.
    is_closed: bool,
    marks: Vec<MarkPlace>,
    /// A place is taken before its module is complete: modules may import one another.
    modules: Vec<Option<Module>>,
    places: HashMap<PathBuf, usize>,
    exports: Vec<Vec<String>>,
}

impl Scripts {
    pub(super) fn new(is_covered: bool) -> Self {
        Self {
            is_covered,
            is_closed: false,
            marks: Vec::new(),
            modules: Vec::new(),
            places: HashMap::new(),
            exports: Vec::new(),
        }
    }

    /// Goes on from modules that are loaded, and reads no other ones.
    pub(super) fn resume(modules: &[Module]) -> Self {
        let mut scripts = Self {
            is_closed: true,
            ..Self::new(false)
        };
        for (place, module) in modules.iter().enumerate() {
            let path = module.text.path();
            let language = path.and_then(language).unwrap_or(Language::JavaScript);
            let script = portcullis_script::prepare(module.text.text(), language);
            // What can't be read again is not checked again.
            let unknown = |_| vec![PASSED_ON.to_owned()];
            scripts
                .exports
                .push(script.map_or_else(unknown, |script| exports(&script)));
            scripts.modules.push(Some(module.clone()));
            if let Some(path) = path {
                scripts.places.insert(path.to_owned(), place);
            }
        }
        scripts
    }

    /// The modules in their places, and where the marks are.
    pub(super) fn finish(self) -> (Vec<Module>, Vec<MarkPlace>) {
        (self.modules.into_iter().flatten().collect(), self.marks)
    }

    /// A policy inside a YAML file: a body as it stands, or a module without imports.
    pub(super) fn inline(&mut self, text: &Arc<Source>, notes: &mut Notes) -> Option<PolicyCode> {
        if !may_be_module(text.text()) {
            return Some(PolicyCode::Body(self.body(text)));
        }
        let script = prepare(text, Language::JavaScript, notes)?;
        if !script.is_module() {
            return Some(PolicyCode::Body(self.code(&script, text)));
        }
        has_no_import(&script, text, notes)?;
        Some(PolicyCode::Module(self.add(&script, text, |_| 0)))
    }

    /// A policy file, with everything it imports.
    pub(super) fn file(
        &mut self,
        folder: &Path,
        file: &Path,
        source: &Arc<Source>,
        notes: &mut Notes,
    ) -> Option<(PolicyCode, Metadata)> {
        match self.whole(source, language(file)?, notes)? {
            Prepared::Body(code, metadata) => Some((code, metadata)),
            Prepared::Module(script, metadata) => {
                let place = match self.places.get(file) {
                    Some(place) => *place,
                    None => self.module(folder, file, source, &script, notes)?,
                };
                Some((PolicyCode::Module(place), metadata))
            }
        }
    }

    /// Another text of a policy file. It may import what is loaded already; nothing is read.
    pub(super) fn another(
        &mut self,
        file: &Path,
        source: &Arc<Source>,
        notes: &mut Notes,
    ) -> Option<(PolicyCode, Metadata)> {
        match self.whole(source, language(file)?, notes)? {
            Prepared::Body(code, metadata) => Some((code, metadata)),
            Prepared::Module(script, metadata) => {
                let folder = file.parent().unwrap_or(file);
                let place = self.module(folder, file, source, &script, notes)?;
                Some((PolicyCode::Module(place), metadata))
            }
        }
    }

    /// A policy that is given as a text of its own, like a file without imports.
    pub(super) fn alone(
        &mut self,
        text: &Arc<Source>,
        language: Language,
        notes: &mut Notes,
    ) -> Option<(PolicyCode, Metadata)> {
        match self.whole(text, language, notes)? {
            Prepared::Body(code, metadata) => Some((code, metadata)),
            Prepared::Module(script, metadata) => {
                has_no_import(&script, text, notes)?;
                let place = self.add(&script, text, |_| 0);
                Some((PolicyCode::Module(place), metadata))
            }
        }
    }

    /// A text that is a whole policy, up to what it imports.
    fn whole(
        &mut self,
        text: &Arc<Source>,
        language: Language,
        notes: &mut Notes,
    ) -> Option<Prepared> {
        if language == Language::JavaScript && !may_be_module(text.text()) {
            let nothing = (None, PolicyMetadata::default());
            let code = PolicyCode::Body(self.body(text));
            return Some(Prepared::Body(code, nothing));
        }
        let script = prepare(text, language, notes)?;
        let metadata = metadata(&script, text, notes)?;
        if !script.is_module() {
            let code = PolicyCode::Body(self.code(&script, text));
            return Some(Prepared::Body(code, metadata));
        }
        if !script.exports().iter().any(|name| name == "default") {
            let message = "a policy needs a default export: `export default function () { ... }`";
            notes.fault(text.fault(None, "", message));
            return None;
        }
        Some(Prepared::Module(script, metadata))
    }

    /// A test file, with everything it imports; gives its place. It needs no exports.
    pub(super) fn test(
        &mut self,
        folder: &Path,
        file: &Path,
        source: &Arc<Source>,
        notes: &mut Notes,
    ) -> Option<usize> {
        let script = prepare(source, language(file)?, notes)?;
        self.module(folder, file, source, &script, notes)
    }

    /// A module with everything it imports; gives its place.
    fn module(
        &mut self,
        folder: &Path,
        file: &Path,
        source: &Arc<Source>,
        script: &Script,
        notes: &mut Notes,
    ) -> Option<usize> {
        let known = self.places.get(file).copied();
        let name = known.and_then(|place| self.modules.get(place)?.as_ref());
        let name = name.map(|module| module.source.name.clone());
        let name = name.unwrap_or_else(|| display_name(folder, file));
        let place = self.put(known, None, script);
        self.places.insert(file.to_owned(), place);
        let mut imported = HashMap::new();
        let mut is_complete = true;
        for import in script.imports() {
            let at = position(import.line, import.column);
            match self.import(folder, file, &import.specifier, notes) {
                Ok(Some(other)) => {
                    imported.insert(import.specifier.clone(), other);
                    is_complete &= self.check_names(other, import, source, notes);
                }
                Ok(None) => is_complete = false,
                Err(message) => {
                    notes.fault(source.fault(at, "", message));
                    is_complete = false;
                }
            }
        }
        if !is_complete {
            return None;
        }
        let find = |specifier: &str| imported.get(specifier).copied().unwrap_or_default();
        let module = Module {
            source: ModuleSource {
                name,
                header: script.header(find),
                code: self.code(script, source),
                footer: script.footer(),
            },
            text: Arc::clone(source),
        };
        if let Some(slot) = self.modules.get_mut(place) {
            *slot = Some(module);
        }
        Some(place)
    }

    fn check_names(
        &self,
        place: usize,
        import: &Import,
        source: &Arc<Source>,
        notes: &mut Notes,
    ) -> bool {
        let exports = self.exports.get(place).map_or(&[][..], Vec::as_slice);
        // What a module passes on from others is known only when it runs.
        if exports.iter().any(|name| name == PASSED_ON) {
            return true;
        }
        let mut is_good = true;
        for ImportedName { name, line, column } in &import.names {
            if !exports.contains(name) {
                let message = format!("`{}` does not export `{name}`", import.specifier);
                let fault = source.fault(position(*line, *column), "", message);
                let known = exports.iter().map(String::as_str);
                notes.fault(fault.with_known("it exports", name, known));
                is_good = false;
            }
        }
        is_good
    }

    /// The place of an imported module; nothing if it has faults of its own.
    fn import(
        &mut self,
        folder: &Path,
        from: &Path,
        specifier: &str,
        notes: &mut Notes,
    ) -> Result<Option<usize>, String> {
        if self.is_closed {
            let wanted = wanted(folder, from, specifier)?;
            let mut files = candidates(&wanted).into_iter();
            let place = files.find_map(|file| self.places.get(&file));
            return place.copied().map(Some).ok_or_else(|| {
                format!("cannot import `{specifier}`: no policy in force imports it")
            });
        }
        let file = find(folder, from, specifier)?;
        if let Some(place) = self.places.get(&file) {
            return Ok(Some(*place));
        }
        notes.watch(&file);
        let source = crate::read_source(&file)
            .map_err(|reason| format!("cannot read `{}`: {reason}", file.display()))?;
        if source.is_blank() {
            return Err(format!("cannot read `{}`: it is empty", file.display()));
        }
        let language = language(&file)
            .ok_or_else(|| format!("`{specifier}` is neither JavaScript nor TypeScript"))?;
        let Some(script) = prepare(&source, language, notes) else {
            return Ok(None);
        };
        Ok(self.module(folder, &file, &source, &script, notes))
    }

    fn add(&mut self, script: &Script, text: &Arc<Source>, find: impl Fn(&str) -> usize) -> usize {
        let module = Module {
            source: ModuleSource {
                name: text.label().to_owned(),
                header: script.header(&find),
                code: self.code(script, text),
                footer: script.footer(),
            },
            text: Arc::clone(text),
        };
        let is_it = |known: &Option<Module>| {
            known
                .as_ref()
                .is_some_and(|known| known.source.name == text.label())
        };
        let before = self.modules.iter().position(is_it);
        self.put(before.filter(|_| self.is_closed), Some(module), script)
    }

    /// Puts a module in its place, or in a new one.
    fn put(&mut self, place: Option<usize>, module: Option<Module>, script: &Script) -> usize {
        let place = place.unwrap_or(self.modules.len());
        if place >= self.modules.len() {
            self.modules.push(None);
            self.exports.push(Vec::new());
        }
        if let Some(slot) = self.modules.get_mut(place) {
            *slot = module;
        }
        if let Some(names) = self.exports.get_mut(place) {
            *names = exports(script);
        }
        place
    }

    /// A body in JavaScript as it stands. The engine itself says what is wrong with it.
    fn body(&mut self, text: &Arc<Source>) -> String {
        match self
            .is_covered
            .then(|| portcullis_script::prepare(text.text(), Language::JavaScript))
        {
            Some(Ok(script)) if !script.is_module() => self.code(&script, text),
            _ => text.text().to_owned(),
        }
    }

    /// The text for the engine, with marks if coverage is requested.
    fn code(&mut self, script: &Script, text: &Arc<Source>) -> String {
        if !self.is_covered {
            return script.code().to_owned();
        }
        let first = u32::try_from(self.marks.len()).unwrap_or(u32::MAX);
        let (code, marks) = script.with_marks(first);
        self.marks.extend(marks.into_iter().map(|mark| MarkPlace {
            text: Arc::clone(text),
            line: mark.line,
        }));
        code
    }
}

/// Faults the imports of a text that is in no folder.
fn has_no_import(script: &Script, text: &Source, notes: &mut Notes) -> Option<()> {
    let Some(import) = script.imports().first() else {
        return Some(());
    };
    let message = "only a policy in a file of its own can import";
    notes.fault(text.fault(position(import.line, import.column), "", message));
    None
}

/// Stands for names that a module passes on from others.
const PASSED_ON: &str = "*";

fn exports(script: &Script) -> Vec<String> {
    let passes_on = script.imports().iter().any(|import| import.star);
    let own = script.exports().iter().cloned();
    own.chain(passes_on.then(|| PASSED_ON.to_owned())).collect()
}

/// Whether a line begins as only lines of modules do.
fn may_be_module(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let rest = line
            .strip_prefix("import")
            .or_else(|| line.strip_prefix("export"));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

fn prepare(source: &Arc<Source>, language: Language, notes: &mut Notes) -> Option<Script> {
    match portcullis_script::prepare(source.text(), language) {
        Ok(script) => Some(script),
        Err(faults) => {
            for ScriptFault {
                line,
                column,
                message,
            } in faults
            {
                notes.fault(source.fault(position(line, column), "", message));
            }
            None
        }
    }
}

/// What a policy says of itself.
fn metadata(script: &Script, source: &Arc<Source>, notes: &mut Notes) -> Option<Metadata> {
    let Some(found) = script.metadata() else {
        return Some((None, PolicyMetadata::default()));
    };
    let place = |pointer: &str| {
        let position = |(line, column): (u32, u32)| Position {
            line: line.into(),
            column: column.into(),
        };
        let place = found.places.get(pointer)?;
        Some([position(place.key), position(place.value)])
    };
    let node = Node::from_json(&found.value, &place);
    let metadata = notes.keep(read::typed(source, &node))?;
    Some((Some(node), metadata))
}

fn position(line: u32, column: u32) -> Option<Position> {
    Some(Position {
        line: line.into(),
        column: column.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_known_by_their_lines() {
        for text in [
            "import a from './a.js'",
            "  export default 1",
            "x\nexport{a}",
            "import'./a'",
        ] {
            assert!(may_be_module(text), "{text}");
        }
        for text in [
            "return 'import me'",
            "importantly()",
            "// export\nreturn",
            "exported = 1",
        ] {
            assert!(!may_be_module(text), "{text}");
        }
    }
}
