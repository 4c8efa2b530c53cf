//! How many requests were sent, and what came of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::answer::{Came, Outcome};
use super::requests::ExampleDoor;
use crate::client::ClientError;
use crate::commands::text::columns;
use crate::commands::text::terminal::Terminal;
use crate::exit::Exit;

/// The numbers of one door.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    sent: u64,
    allowed: u64,
    denied: u64,
    mutated: u64,
    warned: u64,
    waiting: u64,
    errors: u64,
}

impl Counts {
    fn cells(&self) -> [u64; 7] {
        [
            self.sent,
            self.allowed,
            self.denied,
            self.mutated,
            self.warned,
            self.waiting,
            self.errors,
        ]
    }
}

const HEADER: &[&str] = &[
    "REQUESTS", "SENT", "ALLOWED", "DENIED", "MUTATED", "WARNED", "WAITING", "ERRORS",
];

/// The numbers of all doors.
#[derive(Debug, Default)]
pub(super) struct Tally {
    doors: BTreeMap<ExampleDoor, Counts>,
    /// The first error of each door.
    faults: BTreeMap<ExampleDoor, String>,
    is_refused: bool,
}

impl Tally {
    /// Counts a request.
    pub(super) fn add(&mut self, door: ExampleDoor, came: &Result<Came, ClientError>) {
        let counts = self.doors.entry(door).or_default();
        counts.sent += 1;
        match came {
            Ok(came) => {
                let place = match came.outcome {
                    Outcome::Allowed => &mut counts.allowed,
                    Outcome::Denied => &mut counts.denied,
                    Outcome::Waiting => &mut counts.waiting,
                };
                *place += 1;
                counts.mutated += u64::from(came.mutated);
                counts.warned += u64::from(came.warned);
            }
            Err(why) => {
                counts.errors += 1;
                self.is_refused |= matches!(why, ClientError::NotSignedIn(_));
                let fault = || format!("{}: {why}", door.word());
                self.faults.entry(door).or_insert_with(fault);
            }
        }
    }

    /// How many requests were answered.
    pub(super) fn answered(&self) -> u64 {
        let all = self.doors.values();
        all.map(|counts| counts.sent - counts.errors).sum()
    }

    /// The first error of each door that has one.
    pub(super) fn faults(&self) -> impl Iterator<Item = &str> {
        self.faults.values().map(String::as_str)
    }

    /// What the program ends with: denials are expected, errors aren't.
    pub(super) fn exit(&self) -> Exit {
        match (self.faults.is_empty(), self.is_refused) {
            (true, _) => Exit::Yes,
            (false, true) => Exit::NotSignedIn,
            (false, false) => Exit::Failed,
        }
    }

    /// The numbers of each door, for programs.
    pub(super) fn value(&self) -> Value {
        let names = [
            "sent", "allowed", "denied", "mutated", "warned", "waiting", "errors",
        ];
        let doors = self.doors.iter().map(|(door, counts)| {
            let counts = names.iter().zip(counts.cells());
            let counts = counts.map(|(name, count)| ((*name).to_owned(), Value::from(count)));
            let kind = ("kind".to_owned(), Value::from(door.word()));
            Value::Object(std::iter::once(kind).chain(counts).collect::<Map<_, _>>())
        });
        json!({"requests": doors.collect::<Vec<_>>()})
    }

    /// A row for each door, and one for all.
    pub(super) fn table(&self, terminal: Terminal) -> String {
        let row = |name: &str, cells: [u64; 7]| {
            let cells = cells.iter().map(ToString::to_string);
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        let mut all = [0; 7];
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (door, counts) in &self.doors {
            let cells = counts.cells();
            for (sum, cell) in all.iter_mut().zip(cells) {
                *sum += cell;
            }
            rows.push(row(door.word(), cells));
        }
        rows.push(row("total", all));
        columns::table(HEADER, &rows, terminal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(outcome: Outcome, mutated: bool) -> Result<Came, ClientError> {
        Ok(Came {
            outcome,
            mutated,
            warned: false,
            message: String::new(),
        })
    }

    #[test]
    fn rows_are_sums_of_what_came() {
        let mut tally = Tally::default();
        tally.add(ExampleDoor::Admission, &came(Outcome::Allowed, true));
        tally.add(ExampleDoor::Admission, &came(Outcome::Denied, false));
        tally.add(ExampleDoor::Job, &came(Outcome::Waiting, false));
        let table = tally.table(Terminal::default());
        let cells: Vec<Vec<&str>> = table
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(cells[1], ["admission", "2", "1", "1", "1", "0", "0", "0"]);
        assert_eq!(cells[2], ["jobs", "1", "0", "0", "0", "0", "1", "0"]);
        assert_eq!(cells[3], ["total", "3", "1", "1", "1", "0", "1", "0"]);
        assert_eq!((tally.exit(), tally.answered()), (Exit::Yes, 3));
    }

    #[test]
    fn an_error_is_told_once_for_each_door_and_is_not_success() {
        let mut tally = Tally::default();
        let full = || Err(ClientError::Unreachable("full".to_owned()));
        tally.add(ExampleDoor::Admission, &came(Outcome::Allowed, false));
        tally.add(ExampleDoor::Admission, &full());
        tally.add(ExampleDoor::Admission, &full());
        assert_eq!(tally.faults().collect::<Vec<_>>(), ["admission: full"]);
        assert_eq!((tally.exit(), tally.answered()), (Exit::Failed, 1));
        let who = Err(ClientError::NotSignedIn("who?".to_owned()));
        tally.add(ExampleDoor::Api, &who);
        assert_eq!(tally.exit(), Exit::NotSignedIn);
    }
}
