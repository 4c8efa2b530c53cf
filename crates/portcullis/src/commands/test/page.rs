//! Coverage as a page: one file, without scripts and without anything from elsewhere.

use std::fmt::Write;

use portcullis_gate::offline::{Coverage, FileCoverage};

use crate::commands::text::plain::counted;
use crate::commands::text::xml::escaped;

const STYLE: &str = include_str!("coverage.css");

/// The page: a table of the files, then the text of each.
pub(super) fn write(coverage: &Coverage) -> String {
    let lines: usize = coverage.files().map(FileCoverage::count).sum();
    let lines = counted(lines, "line", "lines");
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Coverage of policies</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Coverage of policies</h1>\n<p>{:.1} % of {lines} ran.</p>\n\
         <table>\n<thead><tr><th>File</th><th>Ran</th><th>Lines</th><th>Not run</th></tr></thead>\n<tbody>\n",
        coverage.percent()
    );
    for (number, file) in coverage.files().enumerate() {
        let (name, missed) = (escaped(&file.name), file.count() - file.run());
        let _ = writeln!(
            text,
            "<tr><td><a href=\"#file-{number}\">{name}</a></td><td>{:.1} %</td><td>{}</td><td>{missed}</td></tr>",
            file.percent(),
            file.count()
        );
    }
    text.push_str("</tbody>\n</table>\n");
    for (number, file) in coverage.files().enumerate() {
        of_file(&mut text, number, file);
    }
    text.push_str("</main>\n</body>\n</html>\n");
    text
}

fn of_file(text: &mut String, number: usize, file: &FileCoverage) {
    let name = escaped(&file.name);
    let _ = writeln!(
        text,
        "<section>\n<h2 id=\"file-{number}\">{name} <small>{:.1} %</small></h2>\n<table class=\"code\">\n\
         <thead><tr><th>Line</th><th>Reviews</th><th>Text</th></tr></thead>\n<tbody>",
        file.percent()
    );
    for (line, written, hits) in file.all_lines() {
        let (class, hits) = match hits {
            None => ("", String::new()),
            Some(0) => (" class=\"missed\"", "not run".to_owned()),
            Some(hits) => (" class=\"run\"", hits.to_string()),
        };
        let written = escaped(written);
        let _ = writeln!(
            text,
            "<tr{class}><td>{line}</td><td>{hits}</td><td><code>{written}</code></td></tr>"
        );
    }
    text.push_str("</tbody>\n</table>\n</section>\n");
}
