//! Comments that silence findings: `// portcullis-lint-ignore RULE: reason` on the line before.
//!
//! They are found by lines, so that they work in scripts and in YAML, where they begin with `#`.

use crate::rule::Rule;

const WORD: &str = "portcullis-lint-ignore";

/// A finding that is to be reported, or one about a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silenced {
    /// The finding at this place of the list is silenced.
    Finding(usize),
    /// A comment is invalid, or silences nothing.
    Comment {
        /// Line of the comment, from 1.
        line: u32,
        /// Column of the comment, from 1, in characters.
        column: u32,
        /// Which of both.
        rule: Rule,
        /// What is wrong.
        message: String,
        /// What to write instead.
        fix: String,
    },
}

/// One comment.
#[derive(Debug)]
struct Comment {
    line: u32,
    column: u32,
    /// The line it is about: the next one that is not a comment.
    about: u32,
    rules: Vec<Rule>,
    wrong: Option<(String, String)>,
}

/// What comments in a file say about findings in it, each given by its line and its rule.
pub fn silence(text: &str, findings: &[(u32, Rule)]) -> Vec<Silenced> {
    let mut result = Vec::new();
    for comment in comments(text) {
        let place = |rule, (message, fix)| Silenced::Comment {
            line: comment.line,
            column: comment.column,
            rule,
            message,
            fix,
        };
        if let Some(wrong) = comment.wrong {
            result.push(place(Rule::InvalidIgnore, wrong));
            continue;
        }
        for rule in &comment.rules {
            let is_meant = |(line, found): &(u32, Rule)| *line == comment.about && found == rule;
            let silenced = findings.iter().enumerate().filter(|(_, one)| is_meant(one));
            let before = result.len();
            result.extend(silenced.map(|(index, _)| Silenced::Finding(index)));
            if result.len() == before {
                let message = format!("{rule} finds nothing on the next line");
                result.push(place(Rule::UnusedIgnore, (message, "remove it".to_owned())));
            }
        }
    }
    result
}

fn comments(text: &str) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let mut open = 0;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let trimmed = line.trim_start();
        let comment = trimmed.strip_prefix("//").or(trimmed.strip_prefix('#'));
        match comment {
            Some(comment) => {
                if let Some(rest) = comment.trim_start().strip_prefix(WORD) {
                    let before = line.chars().count() - trimmed.chars().count();
                    found.push(read(rest, number, before));
                }
            }
            None if trimmed.is_empty() => {}
            None => {
                let waiting = found.iter_mut().skip(open);
                waiting.for_each(|comment| comment.about = number);
                open = found.len();
            }
        }
    }
    found
}

fn read(rest: &str, line: u32, before: usize) -> Comment {
    let (names, reason) = rest.split_once(':').unwrap_or((rest, ""));
    let words = names
        .split([',', ' ', '\t'])
        .filter(|word| !word.is_empty());
    let mut rules = Vec::new();
    let mut wrong = None;
    for word in words {
        match word.parse::<Rule>() {
            Ok(rule) => rules.push(rule),
            Err(_) => {
                let known = Rule::ALL.map(Rule::as_str);
                let fix = match portcullis_document::nearest(word, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "docs/lint.md lists the rules".to_owned(),
                };
                wrong = Some((format!("unknown rule `{word}`"), fix));
            }
        }
    }
    if wrong.is_none() && (rules.is_empty() || reason.trim().is_empty()) {
        let what = match rules.is_empty() {
            true => "the comment names no rule",
            false => "the comment gives no reason",
        };
        let form = format!("write `{WORD} RULE: why it is meant`");
        wrong = Some((what.to_owned(), form));
    }
    Comment {
        line,
        column: u32::try_from(before + 1).unwrap_or(u32::MAX),
        about: 0,
        rules,
        wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, findings: &[(u32, Rule)]) -> Vec<String> {
        let each = silence(text, findings).into_iter().map(|one| match one {
            Silenced::Finding(index) => format!("silenced {index}"),
            Silenced::Comment {
                line,
                column,
                rule,
                message,
                ..
            } => format!("{line}:{column} {rule}: {message}"),
        });
        each.collect()
    }

    #[test]
    fn a_comment_silences_the_rule_it_names_on_the_next_line_of_code() {
        let text = "// portcullis-lint-ignore no-effect: a test\n// more\n\nx\ny";
        let findings = [
            (4, Rule::NoEffect),
            (4, Rule::UnknownField),
            (5, Rule::NoEffect),
        ];
        assert_eq!(said(text, &findings), ["silenced 0"]);
        let yaml = "a:\n  # portcullis-lint-ignore unknown-kind: of a CRD\n  - Certificate";
        assert_eq!(said(yaml, &[(3, Rule::UnknownKind)]), ["silenced 0"]);
        let both = "// portcullis-lint-ignore no-effect, unknown-field: a test\nx";
        assert_eq!(
            said(both, &[(2, Rule::UnknownField), (2, Rule::NoEffect)]),
            ["silenced 1", "silenced 0"]
        );
    }

    #[test]
    fn comments_that_silence_nothing_are_findings() {
        for (text, wanted) in [
            (
                "  // portcullis-lint-ignore no-effect: why",
                "1:3 unused-ignore: no-effect finds nothing on the next line",
            ),
            (
                "// portcullis-lint-ignore no-effect\nx",
                "1:1 invalid-ignore: the comment gives no reason",
            ),
            (
                "// portcullis-lint-ignore no-effect: \nx",
                "1:1 invalid-ignore: the comment gives no reason",
            ),
            (
                "// portcullis-lint-ignore\nx",
                "1:1 invalid-ignore: the comment names no rule",
            ),
            (
                "// portcullis-lint-ignore no-efect: why\nx",
                "1:1 invalid-ignore: unknown rule `no-efect`",
            ),
        ] {
            assert_eq!(said(text, &[]), [wanted], "{text}");
        }
        let finding = [(2, Rule::NoEffect)];
        let text = "// portcullis-lint-ignore no-effect\nx";
        assert_eq!(
            said(text, &finding),
            ["1:1 invalid-ignore: the comment gives no reason"]
        );
    }
}
