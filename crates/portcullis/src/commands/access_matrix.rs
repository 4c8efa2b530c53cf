//! `portcullis access-matrix`: which rule has which permissions. The table lists rules and
//! permissions, and below it everything that is too long for a cell.

use clap::Args;
use portcullis_roles::{Matrix, MatrixRow, Permission, Permitted};

use super::access::phrases::when;
use super::access::scope::ScopeFlags;
use super::access::{scope, value};
use super::failure::ended;
use super::text::columns::{self, Cell};
use super::text::data;
use super::text::data::Output;
use super::text::plain::printable;
use super::text::terminal::Terminal;
use super::text::wrap::hanging;
use crate::arguments::Configuration;
use crate::exit::Exit;
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct AccessMatrix {
    #[command(flatten)]
    place: ScopeFlags,
    #[command(flatten)]
    configuration: Configuration,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// Shows which rule has which permissions.
pub(super) fn run(asked: &AccessMatrix) -> Exit {
    ended(
        scope::read(&asked.configuration.file(), &asked.place).map(|place| {
            let resolved = place.resolved();
            let matrix = resolved.scope.matrix();
            let terminal = Terminal::of_output();
            output::data(&data::write(
                &value::matrix(&resolved, &matrix),
                asked.output,
                || text(&matrix, terminal),
            ));
            Exit::Yes
        }),
    )
}

/// What stands between two columns.
const SPACE: usize = 2;

/// The table, in as many parts as the width needs; then conditions, and what rules ask.
fn text(matrix: &Matrix, terminal: Terminal) -> String {
    let mut notes: Vec<String> = Vec::new();
    let cells: Vec<Vec<(Permission, String)>> = matrix
        .rows
        .iter()
        .map(|row| marked(row, &mut notes))
        .collect();
    let wide = |permission: &Permission| {
        let marks = cells.iter().flatten().filter(|(p, _)| p == permission);
        let widest = marks.map(|(_, mark)| mark.len()).max()?;
        Some((*permission, widest.max(permission.name().len())))
    };
    let had: Vec<(Permission, usize)> = Permission::ALL.iter().filter_map(wide).collect();
    let mut text = String::new();
    let rules = matrix.rows.iter().map(|row| row.rule.chars().count());
    let first = rules.max().unwrap_or(0).max("RULE".len());
    for part in parts(&had, first, terminal.width) {
        let header: Vec<&str> = std::iter::once("RULE")
            .chain(part.iter().map(|permission| permission.name()))
            .collect();
        let rows: Vec<Vec<Cell>> = matrix
            .rows
            .iter()
            .zip(&cells)
            .map(|(row, cells)| {
                let mut line = vec![Cell::from(row.rule.as_str())];
                line.extend(part.iter().map(|permission| {
                    let found = cells.iter().find(|(p, _)| p == permission);
                    Cell::state(found.map_or("-", |(_, mark)| mark))
                }));
                line
            })
            .collect();
        text.push_str(&columns::table(&header, &rows, terminal));
        text.push('\n');
    }
    for note in &notes {
        text.push_str(&hanging(&printable(note), 4, terminal.width));
        text.push('\n');
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    for row in &matrix.rows {
        let line = format!("rule {} ({}): {}", row.rule, row.roles.join(", "), row.asks);
        text.push_str(&hanging(&printable(&line), 4, terminal.width));
        text.push('\n');
    }
    text.push_str(match (matrix.anonymous_read, matrix.rows.is_empty()) {
        (true, false) => "anyone may read without signing in\n",
        (false, false) => "reading requires signing in\n",
        (true, true) => "no rule has a role here; anyone may read without signing in\n",
        (false, true) => "no rule has a role here; reading requires signing in\n",
    });
    text
}

/// What stands in the cells of a rule: `yes`, or the numbers of notes that say when.
fn marked(row: &MatrixRow, notes: &mut Vec<String>) -> Vec<(Permission, String)> {
    let mark = |(permission, permitted): &(Permission, Permitted)| {
        let mark = match permitted {
            Permitted::Always => "yes".to_owned(),
            Permitted::When(grants) => {
                let mut numbers = Vec::new();
                for grant in grants {
                    let number = notes.len() + 1;
                    notes.push(format!(
                        "[{number}] rule {}, role {}: {permission} when {}",
                        grant.rule,
                        grant.role,
                        when(&grant.conditions)
                    ));
                    numbers.push(format!("[{number}]"));
                }
                format!("when {}", numbers.join(" "))
            }
        };
        (*permission, mark)
    };
    row.permissions.iter().map(mark).collect()
}

/// The permissions, each with the width of its column, in groups that fit beside the names of the rules.
fn parts(all: &[(Permission, usize)], first: usize, width: Option<usize>) -> Vec<Vec<Permission>> {
    let width = width.unwrap_or(usize::MAX);
    let mut parts: Vec<Vec<Permission>> = Vec::new();
    let mut used = 0;
    for (permission, wide) in all {
        let wide = SPACE + wide;
        match parts.last_mut() {
            Some(part) if wide <= width.saturating_sub(used) => {
                part.push(*permission);
                used += wide;
            }
            _ => {
                parts.push(vec![*permission]);
                used = first + wide;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::access::sample;

    fn matrix() -> Matrix {
        let row = |rule: &str, asks: &str, roles: &[&str], permissions| MatrixRow {
            rule: rule.to_owned(),
            asks: asks.to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            permissions,
        };
        let always = |all: &[Permission]| -> Vec<(Permission, Permitted)> {
            all.iter().map(|p| (*p, Permitted::Always)).collect()
        };
        Matrix {
            rows: vec![
                row(
                    "everyone",
                    "iss is `our-institution`",
                    &["read", "autohold"],
                    always(&[Permission::Read, Permission::Autohold]),
                ),
                row(
                    "alice",
                    "preferred_username is `alice`",
                    &["enqueue-post"],
                    vec![(
                        Permission::Enqueue,
                        Permitted::When(vec![sample::grant(), sample::grant()]),
                    )],
                ),
            ],
            anonymous_read: false,
        }
    }

    #[test]
    fn conditions_stand_below_the_table() {
        assert_eq!(
            text(&matrix(), Terminal::default()),
            "\
RULE      read  autohold  enqueue
everyone  yes   yes       -
alice     -     -         when [1] [2]

[1] rule alice, role enqueue-post: enqueue when project is foo and pipeline is post or gate
[2] rule alice, role enqueue-post: enqueue when project is foo and pipeline is post or gate

rule everyone (read, autohold): iss is `our-institution`
rule alice (enqueue-post): preferred_username is `alice`
reading requires signing in
"
        );
    }

    #[test]
    fn a_wide_table_comes_in_parts() {
        let mut all = matrix();
        all.rows[0].permissions = Permission::ALL
            .iter()
            .map(|p| (*p, Permitted::Always))
            .collect();
        let wide = Terminal {
            width: Some(80),
            has_colours: false,
        };
        let told = text(&all, wide);
        let table: Vec<&str> = told.lines().take_while(|l| !l.starts_with('[')).collect();
        assert!(
            table.iter().all(|line| line.chars().count() <= 80),
            "{told}"
        );
        assert!(
            table.iter().filter(|l| l.starts_with("RULE")).count() > 1,
            "{told}"
        );
        for permission in Permission::ALL {
            assert!(told.contains(permission.name()), "{permission}");
        }
    }

    #[test]
    fn a_place_without_rules_is_told() {
        let empty = Matrix {
            rows: Vec::new(),
            anonymous_read: true,
        };
        assert_eq!(
            text(&empty, Terminal::default()),
            "no rule has a role here; anyone may read without signing in\n"
        );
    }
}
