//! Runs prepared files in an engine.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "it helps tests"
)]

use portcullis_script::{Language, Script, prepare};
use rquickjs::{CatchResultExt, Context, Runtime};

/// The script of a JavaScript text.
pub(crate) fn js(text: &str) -> Script {
    prepare(text, Language::JavaScript).unwrap_or_else(|f| panic!("{text}\n{f:?}"))
}

/// The script of a TypeScript text.
pub(crate) fn ts(text: &str) -> Script {
    prepare(text, Language::TypeScript).unwrap_or_else(|f| panic!("{text}\n{f:?}"))
}

/// The value of an expression, as a string. What is thrown is a value as well.
pub(crate) fn evaluate(expression: &str) -> String {
    let runtime = Runtime::new().unwrap();
    let context = Context::full(&runtime).unwrap();
    context.with(|ctx| {
        ctx.eval::<(), _>("var result = '';").unwrap();
        let program = format!(
            "Promise.resolve((async () => ({expression}))())\
             .then(v => result = JSON.stringify(v) ?? 'undefined', e => result = 'thrown ' + e)"
        );
        if let Err(error) = ctx.eval::<(), _>(program.as_str()).catch(&ctx) {
            return format!("refused {error}");
        }
        while ctx.execute_pending_job() {}
        ctx.eval::<String, _>("result").unwrap()
    })
}

/// Files that import each other, the first of them the main one.
pub(crate) fn program(files: &[(&str, &str)], code: impl Fn(&Script) -> String) -> String {
    let place = |specifier: &str| {
        let name = specifier.trim_start_matches("./");
        files.iter().position(|(file, _)| *file == name).unwrap()
    };
    let mut bodies = String::new();
    for (name, text) in files {
        let (_, ending) = name.rsplit_once('.').unwrap();
        let language = Language::of_ending(ending).unwrap();
        let script = prepare(text, language).unwrap_or_else(|f| panic!("{text}\n{f:?}"));
        let (header, code, footer) = (script.header(place), code(&script), script.footer());
        for line in [&header, &footer] {
            assert!(!line.contains('\n'), "{line}");
        }
        bodies.push_str(&format!("function() {{{header}\n{code}\n{footer}\n}},\n"));
    }
    format!(
        "(() => {{ const seen = []; const log = x => {{ seen.push(x); return x }}; const done = []; \
         const $cover = () => {{}}; \
         const $module = i => done[i] ??= bodies[i].call(undefined); const bodies = [\n{bodies}]; \
         const main = $module(0); return RESULT }})()"
    )
}

/// What an expression about `main`, the exports of the first file, and `seen`, what was given to
/// `log`, is in the end.
pub(crate) fn run(files: &[(&str, &str)], result: &str) -> String {
    let program = program(files, |script| script.code().to_owned());
    let marked = self::program(files, |script| script.with_marks(0).0);
    let value = evaluate(&program.replace("RESULT", result));
    assert_eq!(
        evaluate(&marked.replace("RESULT", result)),
        value,
        "{marked}"
    );
    value
}
