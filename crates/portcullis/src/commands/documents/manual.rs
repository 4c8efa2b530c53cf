//! The manual: one page for the program, then one for each command.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;

use crate::{examples, groups};

/// A page of the manual.
#[derive(Debug)]
pub(in crate::commands) struct Page {
    /// `portcullis`, or the words of the command with dashes between them.
    pub(in crate::commands) title: String,
    /// As roff.
    pub(in crate::commands) text: Vec<u8>,
}

/// All pages: that of the program, then one for each command.
pub(in crate::commands) fn pages(mut program: Command) -> io::Result<Vec<Page>> {
    program.build();
    let mut pages = vec![(String::new(), &program)];
    let mut next = 0;
    while let Some((above, page)) = pages.get(next).cloned() {
        let below = page
            .get_subcommands()
            .filter(|c| c.get_name() != groups::HELP);
        pages.extend(below.map(|inner| {
            let name = format!("{above} {}", inner.get_name());
            (name.trim_start().to_owned(), inner)
        }));
        next += 1;
    }
    let pages = pages.iter();
    pages.map(|(name, page)| written(name, page)).collect()
}

fn written(name: &str, command: &Command) -> io::Result<Page> {
    let title = command
        .get_display_name()
        .unwrap_or("portcullis")
        .to_owned();
    let mut text = Vec::new();
    write(&mut text, name, &title, command)?;
    Ok(Page { title, text })
}

fn write(out: &mut Vec<u8>, name: &str, title: &str, command: &Command) -> io::Result<()> {
    let page = Man::new(command.clone().display_name(title.to_owned()));
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    match name {
        "" => commands(out, command)?,
        _ if command.has_subcommands() => page.render_subcommands_section(out)?,
        _ => {}
    }
    out.write_all(b".SH EXAMPLES\n")?;
    for (about, line) in examples::of(name) {
        writeln!(
            out,
            ".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE",
            escaped(about),
            escaped(line)
        )?;
    }
    let after = command.get_after_help().map(ToString::to_string);
    if let Some((_, codes)) = after
        .as_deref()
        .and_then(|text| text.split_once("Exit codes: "))
    {
        writeln!(out, ".SH EXIT STATUS\n{}", escaped(codes))?;
    }
    if name.is_empty() {
        page.render_version_section(out)?;
    }
    Ok(())
}

/// The commands of the program, in groups.
fn commands(out: &mut Vec<u8>, program: &Command) -> io::Result<()> {
    out.write_all(b".SH COMMANDS\n")?;
    for (group, names) in groups::GROUPS {
        writeln!(out, ".SS {}", escaped(group))?;
        for name in *names {
            let about = groups::about(program, name).unwrap_or_default();
            writeln!(out, ".TP\n\\fB{}\\fR\n{}", escaped(name), escaped(&about))?;
        }
    }
    Ok(())
}

/// Text for roff: no line is a request, and dashes stay what is typed.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_a_request() {
        assert_eq!(escaped(".nf a-b\\c"), "\\&.nf a\\-b\\ec");
    }
}
