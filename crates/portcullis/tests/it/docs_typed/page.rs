//! A page: its blocks of commands, and what it shows of their output.

use std::collections::HashSet;

use crate::harness::repository;

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    name: String,
    lines: Vec<String>,
    pub(super) blocks: Vec<Block>,
}

/// A fenced block of commands.
#[derive(Debug)]
pub(super) struct Block {
    /// What it needs besides what ships; mostly nothing.
    pub(super) needs: String,
    /// The paragraph before it.
    pub(super) before: String,
    pub(super) commands: Vec<Command>,
}

/// A command.
#[derive(Debug)]
pub(super) struct Command {
    /// Its first line, and the one behind its output.
    pub(super) line: usize,
    pub(super) end: usize,
    pub(super) text: String,
    /// What the page shows of its output, where it shows that at all.
    pub(super) shown: Option<Vec<String>>,
}

impl Page {
    /// Reads a page of the repository.
    pub(super) fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(repository().join(name));
        let text = text.unwrap_or_else(|e| panic!("{name}: {e}"));
        Self {
            name: name.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            blocks: blocks(name, &text),
        }
    }

    /// Writes other output into the page: between these lines, the command itself excepted.
    pub(super) fn rewrite(&mut self, outputs: Vec<(usize, usize, Vec<String>)>) {
        if outputs.is_empty() {
            return;
        }
        for (line, end, output) in outputs.into_iter().rev() {
            let mut start = line;
            while self.lines[start - 1].ends_with('\\') || self.lines[start].starts_with("> ") {
                start += 1;
            }
            self.lines.splice(start..end - 1, output);
        }
        let text = self.lines.join("\n") + "\n";
        std::fs::write(repository().join(&self.name), text).unwrap();
    }
}

fn blocks(name: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut before, mut is_over) = (String::new(), false);
    let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
    while let Some((_, line)) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let Some(info) = line.trim_start().strip_prefix("```") else {
            // A list that leads to a block is one paragraph with it.
            if line.is_empty() {
                is_over = true;
            } else {
                if is_over {
                    before.clear();
                }
                is_over = false;
                before += line;
                before.push(' ');
            }
            continue;
        };
        let inner = lines.by_ref().take_while(|(_, line)| line.trim() != "```");
        let inner: Vec<(usize, &str)> = inner
            .map(|(n, line)| (n, line.get(indent..).unwrap_or_default()))
            .collect();
        let (language, needs) = info.split_once(' ').unwrap_or((info, ""));
        let commands = match language {
            "console" => shown(name, &inner),
            "sh" | "bash" | "shell" => plain(&inner),
            _ => continue,
        };
        found.push(Block {
            needs: needs.to_owned(),
            before: before.clone(),
            commands,
        });
    }
    found
}

/// Commands behind prompts, with what they print.
fn shown(name: &str, lines: &[(usize, &str)]) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    for (line, text) in lines {
        if let Some(text) = text.strip_prefix("$ ") {
            found.push(Command {
                line: *line,
                end: line + 1,
                text: text.to_owned(),
                shown: Some(Vec::new()),
            });
            continue;
        }
        let command = found.last_mut();
        let command = command.unwrap_or_else(|| panic!("{name}:{line}: output before any command"));
        command.end = line + 1;
        let output = command.shown.get_or_insert_default();
        let more = text.strip_prefix("> ").filter(|_| output.is_empty());
        let more = more.or(command.text.ends_with('\\').then_some(*text));
        match more {
            Some(more) => command.text += &format!("\n{more}"),
            None => output.push((*text).to_owned()),
        }
    }
    found
}

/// Commands alone, comments left out.
fn plain(lines: &[(usize, &str)]) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    for (line, text) in lines {
        match found.last_mut() {
            Some(command) if command.text.ends_with('\\') => {
                command.text += &format!("\n{text}");
                command.end = line + 1;
            }
            _ if text.trim().is_empty() || text.starts_with('#') => {}
            _ => found.push(Command {
                line: *line,
                end: line + 1,
                text: (*text).to_owned(),
                shown: None,
            }),
        }
    }
    found
}

/// The anchors of the headings of a page, as GitHub makes them.
pub(super) fn headings(text: &str) -> HashSet<String> {
    let titles = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    titles.map(anchor).collect()
}

#[test]
fn commands_and_output_are_told_apart() {
    let text = "With a cluster:\n\n```console cluster\n$ a \\\n  b\nx\n\n$ cat <<E\n> 1\n> E\n1\n```\n\n  ```sh\n  # c\n  d \\\n    e\n  f\n  ```\n```yaml\n$ no\n```\n";
    let found = blocks("page", text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (found[0].needs.as_str(), found[0].before.trim()),
        ("cluster", "With a cluster:")
    );
    let of = |block: &Block| {
        let commands = block.commands.iter();
        commands
            .map(|c| (c.line, c.end, c.text.clone(), c.shown.clone()))
            .collect::<Vec<_>>()
    };
    let lines = |lines: &[&str]| Some(lines.iter().map(|l| (*l).to_owned()).collect());
    assert_eq!(
        of(&found[0]),
        [
            (4, 8, "a \\\n  b".to_owned(), lines(&["x", ""])),
            (8, 12, "cat <<E\n1\nE".to_owned(), lines(&["1"])),
        ]
    );
    assert_eq!(
        of(&found[1]),
        [
            (16, 18, "d \\\n  e".to_owned(), None),
            (18, 19, "f".to_owned(), None),
        ]
    );
}

#[test]
fn anchors_are_those_of_github() {
    let found = headings("# `ac.GlobalContext`\n## Where, and how\n");
    assert!(found.contains("acglobalcontext") && found.contains("where-and-how"));
}
