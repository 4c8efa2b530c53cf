//! Where values begin and end in a text of YAML.

use crate::position::Position;

/// The byte of a position.
pub(super) fn offset(text: &str, position: Position) -> Option<usize> {
    let line = usize::try_from(position.line).ok()?.checked_sub(1)?;
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    let start = match line {
        0 => 0,
        line => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let rest = text.get(start..)?;
    let mut characters = rest.char_indices().map(|(at, _)| at);
    let at = characters.nth(column).unwrap_or(rest.len());
    Some(start + at)
}

/// How many characters stand before a byte in its line.
pub(super) fn column(text: &str, at: usize) -> usize {
    line_before(text, at).chars().count()
}

/// Whether nothing but space stands before a byte in its line.
pub(super) fn is_first(text: &str, at: usize) -> bool {
    line_before(text, at).trim().is_empty()
}

fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default()
}

/// Whether a value in flow style begins here.
pub(super) fn opens(text: &str, at: usize) -> bool {
    text.get(at..)
        .is_some_and(|rest| rest.starts_with(['{', '[']))
}

/// The first byte that is neither space nor comment.
pub(super) fn content(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let is_marker = trimmed.starts_with("---") && column(text, at) == 0;
        if !trimmed.starts_with('#') && !is_marker {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

/// Where the value of the key at this byte begins.
pub(super) fn after_key(text: &str, key: usize) -> Option<usize> {
    let rest = text.get(key..)?;
    let length = match rest.chars().next()? {
        '"' | '\'' => quoted(rest)?,
        '?' | '&' | '*' | '!' => return None,
        _ => {
            let ends = |(at, _): &(usize, &str)| {
                let next = rest.get(at + 1..).and_then(|rest| rest.chars().next());
                next.is_none_or(char::is_whitespace)
            };
            rest.match_indices(':').find(ends)?.0
        }
    };
    let behind = rest.get(length..)?;
    let colon = behind
        .find(':')
        .filter(|at| behind.get(..*at).is_some_and(|b| b.trim().is_empty()))?;
    Some(content(text, key + length + colon + 1))
}

/// How long a quoted text is.
fn quoted(rest: &str) -> Option<usize> {
    let mut characters = rest.char_indices();
    let (_, quote) = characters.next()?;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' if quote == '"' => drop(characters.next()),
            c if c == quote => {
                let next = rest.get(at + 1..).and_then(|rest| rest.chars().next());
                if quote == '\'' && next == Some('\'') {
                    characters.next();
                } else {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the value that begins at a byte ends. `indent` is the column of its key or item.
pub(super) fn end(
    text: &str,
    start: usize,
    is_flow: bool,
    indent: usize,
    is_container: bool,
) -> Option<usize> {
    let rest = text.get(start..)?;
    let length = match rest.chars().next()? {
        '&' | '*' | '!' => return None,
        '{' | '[' => bracketed(rest)?,
        '"' | '\'' => quoted(rest)?,
        '|' | '>' if !is_flow => lines(rest, |line| indented(line) > indent),
        _ if is_container && !is_flow => {
            let own = column(text, start);
            let is_list = rest.starts_with('-');
            lines(rest, |line| {
                let inner = indented(line);
                inner > own || (inner == own && (!is_list || line.trim_start().starts_with('-')))
            })
        }
        _ => plain(rest, is_flow, indent),
    };
    Some(start + length)
}

/// How long a value in brackets is.
fn bracketed(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    let mut before = ' ';
    // A quote begins a text only where a value may begin.
    let mut last = '[';
    while let Some(c) = rest.get(at..)?.chars().next() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            '"' | '\'' if matches!(last, '{' | '[' | ',' | ':') => {
                at += quoted(rest.get(at..)?)?;
                (before, last) = ('"', '"');
                continue;
            }
            '#' if before.is_whitespace() => {
                at += rest.get(at..)?.find('\n')?;
                continue;
            }
            _ => {}
        }
        before = c;
        if !c.is_whitespace() {
            last = c;
        }
        at += c.len_utf8();
    }
    None
}

/// How long the first line is with those below that belong to it; empty lines and comments at the end don't.
fn lines(rest: &str, belongs: impl Fn(&str) -> bool) -> usize {
    let mut end = 0;
    let mut at = 0;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        let text = line.trim_end();
        let is_content = !text.trim().is_empty() && !text.trim_start().starts_with('#');
        if number > 0 && is_content && !belongs(text) {
            break;
        }
        if number == 0 || is_content {
            end = at + text.len();
        }
        at += line.len();
    }
    end
}

fn indented(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// How long a text without quotes is.
fn plain(rest: &str, is_flow: bool, indent: usize) -> usize {
    let mut end = 0;
    let mut at = 0;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        let text = line.trim_end();
        let is_more = !text.trim().is_empty() && !text.trim_start().starts_with('#');
        if number > 0 && (is_flow || !is_more || indented(text) <= indent) {
            break;
        }
        let comment = text.find(" #").unwrap_or(text.len());
        let stop = match is_flow {
            true => text.find([',', '}', ']']).unwrap_or(comment).min(comment),
            false => comment,
        };
        end = at + text.get(..stop).unwrap_or_default().trim_end().len();
        if stop < text.len() {
            break;
        }
        at += line.len();
    }
    end
}
