//! Where the lines of a policy stand in the file that it is a part of.

use portcullis_document::{Position, Source};

/// From places in the text of a policy to places in a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lines {
    /// The text is the file.
    Same,
    /// The text is a block: so many lines and columns further on.
    Block { lines: u64, columns: u64 },
    /// The text is in one line of the file, so many columns further on.
    Line { line: u64, columns: u64 },
    /// The text is written otherwise than it reads, as with escapes: it begins here.
    Unknown(Position),
}

impl Lines {
    /// Finds the text of a policy, whose value is at `code` in the file.
    pub(super) fn of(file: &Source, code: Option<Position>, text: &str) -> Self {
        let Some(code) = code else {
            return Self::Same;
        };
        let block = || block(file.text(), code, text);
        block()
            .or_else(|| line(file.text(), code, text))
            .unwrap_or(Self::Unknown(code))
    }

    /// The place in the file.
    pub(super) fn place(self, line: u32, column: u32) -> Position {
        let (line, column) = (u64::from(line), u64::from(column));
        match self {
            Self::Same => Position { line, column },
            Self::Block { lines, columns } => Position {
                line: line + lines,
                column: column + columns,
            },
            Self::Line {
                line: first,
                columns,
            } => Position {
                line: first,
                column: column + columns,
            },
            Self::Unknown(code) => code,
        }
    }
}

/// The text as a block below its key, every line indented as far.
fn block(file: &str, code: Position, text: &str) -> Option<Lines> {
    let first = usize::try_from(code.line).ok()?.checked_sub(1)?;
    let wanted: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let below: Vec<&str> = file.lines().skip(first).take(wanted.len() + 1).collect();
    // The place of the value is that of its sign, or of its first line.
    [0, 1].into_iter().find_map(|offset| {
        let found = below.get(offset..offset + wanted.len())?;
        let pairs = || found.iter().zip(&wanted);
        let columns = pairs().find_map(|(line, text)| {
            (!text.trim().is_empty())
                .then(|| line.len().checked_sub(text.len()))
                .flatten()
        })?;
        let fits = |(line, text): (&&str, &&str)| {
            line.get(columns..) == Some(*text) || (text.trim().is_empty() && line.trim().is_empty())
        };
        let is_indent = found.iter().any(|line| {
            let before = line.get(..columns).unwrap_or_default();
            line.len() > columns && !before.is_empty() && before.bytes().all(|byte| byte == b' ')
        });
        (is_indent && pairs().all(fits)).then(|| Lines::Block {
            lines: u64::try_from(first + offset).unwrap_or_default(),
            columns: u64::try_from(columns).unwrap_or_default(),
        })
    })
}

/// The text in one line, behind its key.
fn line(file: &str, code: Position, text: &str) -> Option<Lines> {
    let text = text.trim_end_matches('\n');
    let first = usize::try_from(code.line).ok()?.checked_sub(1)?;
    let line = file.lines().nth(first)?;
    let skipped = usize::try_from(code.column).ok()?.checked_sub(1)?;
    let (start, _) = line.char_indices().nth(skipped)?;
    let rest = line.get(start..)?;
    let at = rest.find(text).filter(|_| !text.is_empty())?;
    let before = rest.get(..at)?.chars().count();
    Some(Lines::Line {
        line: code.line,
        columns: u64::try_from(skipped + before).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use portcullis_document::yaml;

    use super::*;

    /// Where a word of the code is found, in a list with this one policy.
    fn place_of(list: &str, word: &str) -> (u64, u64) {
        let source = Source::text_named("a.yaml", list);
        let document = yaml::parse_map(&source).unwrap();
        let code = document.root.at_path("policies[0].code").unwrap();
        let portcullis_document::Value::Str(text) = &code.value else {
            panic!("not a text");
        };
        let before = text.split_once(word).unwrap().0;
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        let lines = Lines::of(&source, Some(code.position), text);
        let place = lines.place(line.try_into().unwrap(), column.try_into().unwrap());
        (place.line, place.column)
    }

    #[test]
    fn places_in_yaml_are_found_however_the_code_is_written() {
        let block = "policies:\n- name: a\n  code: |\n    if (x)\n\n      return é + word\n";
        assert_eq!(place_of(block, "word"), (6, 18));
        let strip = "policies:\n- name: a\n  code: |-\n    word\n  mode: warn\n";
        assert_eq!(place_of(strip, "word"), (4, 5));
        let plain = "policies:\n- name: a\n  code: return word\n";
        assert_eq!(place_of(plain, "word"), (3, 16));
        let quoted = "policies: [{name: a, code: \"return word\"}]\n";
        assert_eq!(place_of(quoted, "word"), (1, 36));
    }

    #[test]
    fn what_is_escaped_is_found_where_it_begins() {
        let escaped = "policies:\n- code: \"return\\n word\"\n";
        assert_eq!(place_of(escaped, "word").0, 2);
        let folded = "policies:\n- code: >\n    return\n    word\n";
        assert!(place_of(folded, "word").0 <= 3);
    }
}
