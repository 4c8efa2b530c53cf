//! Sources of policies on their way to the engine: types stripped, modules found and numbered.

use std::{
    collections::HashMap,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use portcullis_js::{ModuleSource, PolicyCode};
use portcullis_script::{Import, ImportedName, Language, Script, ScriptFault};

use crate::{
    model::{MarkPlace, Module, PolicyMetadata},
    notes::Notes,
};
use portcullis_document::{Node, Position, Source, read};

/// A policy's own words about itself, and where they stand.
pub(super) type Metadata = (Option<Node>, PolicyMetadata);

/// The modules of a configuration so far.
#[derive(Debug)]
pub(super) struct Scripts {
    is_covered: bool,
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
            marks: Vec::new(),
            modules: Vec::new(),
            places: HashMap::new(),
            exports: Vec::new(),
        }
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
        if let Some(import) = script.imports().first() {
            let message = "only a policy in a file of its own can import";
            notes.fault(text.fault(position(import.line, import.column), "", message));
            return None;
        }
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
        let language = language(file)?;
        if language == Language::JavaScript && !may_be_module(source.text()) {
            let nothing = (None, PolicyMetadata::default());
            return Some((PolicyCode::Body(self.body(source)), nothing));
        }
        let script = prepare(source, language, notes)?;
        let metadata = metadata(&script, source, notes)?;
        if !script.is_module() {
            return Some((PolicyCode::Body(self.code(&script, source)), metadata));
        }
        if !script.exports().iter().any(|name| name == "default") {
            let message = "a policy needs a default export: `export default function () { ... }`";
            notes.fault(source.fault(None, "", message));
            return None;
        }
        let place = match self.places.get(file) {
            Some(place) => *place,
            None => self.module(folder, file, source, &script, notes)?,
        };
        Some((PolicyCode::Module(place), metadata))
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
        let place = self.modules.len();
        self.places.insert(file.to_owned(), place);
        self.modules.push(None);
        self.exports.push(exports(script));
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
                name: display_name(folder, file),
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
        self.modules.push(Some(module));
        self.exports.push(exports(script));
        self.modules.len() - 1
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

fn language(file: &Path) -> Option<Language> {
    Language::of_ending(file.extension()?.to_str()?)
}

/// The file that an import means. It must lie in the folder of policies, links followed.
fn find(folder: &Path, from: &Path, specifier: &str) -> Result<PathBuf, String> {
    if !specifier.starts_with("./") && !specifier.starts_with("../") {
        return Err(format!(
            "cannot import `{specifier}`: only files of the policy folder can be imported, like `./lib/images.js`"
        ));
    }
    let wanted = normal(&from.parent().unwrap_or(folder).join(specifier));
    let found = candidates(&wanted).into_iter().find(|file| file.is_file());
    let Some(file) = found else {
        return Err(format!(
            "cannot import `{specifier}`: `{}` not found",
            wanted.display()
        ));
    };
    let real = |path: &Path| path.canonicalize().map_err(|e| e.to_string());
    if !real(&file)?.starts_with(real(folder)?) {
        return Err(format!(
            "cannot import `{specifier}`: it is outside the policy folder"
        ));
    }
    Ok(file)
}

/// As written; with an extension; the TypeScript file that a `.js` import stands for.
fn candidates(wanted: &Path) -> Vec<PathBuf> {
    let mut all = vec![wanted.to_owned()];
    let with = |end: &str| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    all.extend([".ts", ".js", ".mts", ".mjs"].map(with));
    match wanted.extension().and_then(|e| e.to_str()) {
        Some("js") => all.push(wanted.with_extension("ts")),
        Some("mjs") => all.push(wanted.with_extension("mts")),
        _ => {}
    }
    all
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(made.components().next_back(), Some(Component::Normal(_))) =>
            {
                made.pop();
            }
            other => made.push(other),
        }
    }
    made
}

/// The name of a module in messages: relative to the folder.
fn display_name(folder: &Path, file: &Path) -> String {
    file.strip_prefix(folder)
        .unwrap_or(file)
        .display()
        .to_string()
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

    #[test]
    fn paths_lose_their_dots() {
        for (written, wanted) in [
            ("a/./b/../c.js", "a/c.js"),
            ("../a/b.js", "../a/b.js"),
            ("/a/../b.js", "/b.js"),
            ("a/../../b.js", "../b.js"),
        ] {
            assert_eq!(normal(Path::new(written)), Path::new(wanted), "{written}");
        }
    }
}
