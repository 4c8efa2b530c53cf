//! The positions of crates and arrows in the picture. Levels are rows, the highest on top; the
//! dependencies decide the order in a row. Arrows go around the crates between their ends.

use std::collections::{BTreeMap, BTreeSet};

/// A crate as it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Crate {
    pub(crate) level: u8,
    pub(crate) description: String,
    pub(crate) uses: BTreeSet<String>,
}

pub(crate) const WIDTH: f64 = 1320.0;
pub(crate) const BOX: (f64, f64) = (184.0, 92.0);
const GAP: f64 = 20.0;
const ROW: f64 = 156.0;
pub(crate) const TOP: f64 = 56.0;
const IN_A_ROW: usize = 6;

/// What is drawn where: the top left corner of each crate, the points of each arrow.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) boxes: BTreeMap<String, (f64, f64)>,
    pub(crate) arrows: Vec<Vec<(f64, f64)>>,
    /// The level of each row, from the top, and where the row begins.
    pub(crate) rows: Vec<(u8, f64)>,
    pub(crate) bottom: f64,
}

/// Arrows that say something new: not those to what a used crate uses anyway.
pub(crate) fn needed(crates: &BTreeMap<String, Crate>) -> Vec<(String, String)> {
    fn reaches(crates: &BTreeMap<String, Crate>, from: &str, to: &str) -> bool {
        crates.get(from).is_some_and(|found| {
            found.uses.contains(to) || found.uses.iter().any(|next| reaches(crates, next, to))
        })
    }
    let mut arrows = Vec::new();
    for (name, found) in crates {
        for used in found.uses.iter().filter(|used| crates.contains_key(*used)) {
            let mut others = found.uses.iter().filter(|other| *other != used);
            if !others.any(|other| reaches(crates, other, used)) {
                arrows.push((name.clone(), used.clone()));
            }
        }
    }
    arrows
}

pub(crate) fn lay_out(crates: &BTreeMap<String, Crate>) -> Layout {
    let arrows = needed(crates);
    let mut rows = in_rows(crates);
    // A row is ordered by the middle of what its crates are tied to in the others, which moves them in turn.
    for _ in 0..8 {
        for at in 0..rows.len() {
            let places = places(&rows);
            let middle = |name: &String| {
                let tied = arrows.iter().filter_map(|(from, to)| {
                    if from == name {
                        places.get(to)
                    } else if to == name {
                        places.get(from)
                    } else {
                        None
                    }
                });
                let tied: Vec<f64> = tied.map(|(x, _)| *x).collect();
                tied.iter().sum::<f64>() / (tied.len().max(1) as f64)
            };
            let mut row: Vec<(f64, String)> = rows[at]
                .1
                .iter()
                .map(|name| (middle(name), name.clone()))
                .collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
            rows[at].1 = row.into_iter().map(|(_, name)| name).collect();
        }
    }
    let boxes = places(&rows);
    Layout {
        arrows: routes(&rows, &boxes, &arrows),
        rows: (0..)
            .zip(&rows)
            .map(|(at, (level, _))| (*level, top(at)))
            .collect(),
        bottom: top(rows.len()),
        boxes,
    }
}

fn top(row: usize) -> f64 {
    TOP + row as f64 * ROW
}

/// The crates of each level, the highest first; a level with many takes several rows.
fn in_rows(crates: &BTreeMap<String, Crate>) -> Vec<(u8, Vec<String>)> {
    let levels: BTreeSet<u8> = crates.values().map(|found| found.level).collect();
    let mut rows = Vec::new();
    for level in levels.into_iter().rev() {
        let names: Vec<String> = crates
            .iter()
            .filter(|(_, found)| found.level == level)
            .map(|(name, _)| name.clone())
            .collect();
        let parts = names.len().div_ceil(IN_A_ROW);
        for part in names.chunks(names.len().div_ceil(parts)) {
            rows.push((level, part.to_vec()));
        }
    }
    rows
}

fn places(rows: &[(u8, Vec<String>)]) -> BTreeMap<String, (f64, f64)> {
    let mut places = BTreeMap::new();
    for (at, (_, row)) in rows.iter().enumerate() {
        let count = row.len() as f64;
        let left = (WIDTH - count * BOX.0 - (count - 1.0) * GAP) / 2.0;
        for (column, name) in row.iter().enumerate() {
            places.insert(
                name.clone(),
                (left + column as f64 * (BOX.0 + GAP), top(at)),
            );
        }
    }
    places
}

/// The points of each arrow: from a lower edge to an upper one, through gaps in the rows between.
fn routes(
    rows: &[(u8, Vec<String>)],
    boxes: &BTreeMap<String, (f64, f64)>,
    arrows: &[(String, String)],
) -> Vec<Vec<(f64, f64)>> {
    let row_of = |name: &str| {
        rows.iter()
            .position(|(_, row)| row.iter().any(|n| n == name))
    };
    // How many arrows go through a gap already.
    let mut through: BTreeMap<(usize, i64), usize> = BTreeMap::new();
    arrows
        .iter()
        .map(|(from, to)| {
            let (start, end) = (
                port(boxes, arrows, from, to, true),
                port(boxes, arrows, to, from, false),
            );
            let mut points = vec![start];
            let between = row_of(from).unwrap() + 1..row_of(to).unwrap();
            let steps = between.len() as f64 + 1.0;
            for (step, row) in (1..).zip(between) {
                let straight = start.0 + (end.0 - start.0) * f64::from(step) / steps;
                let mut gaps = gaps(&rows[row].1, boxes);
                gaps.sort_by(|a, b| (a - straight).abs().total_cmp(&(b - straight).abs()));
                let gap = gaps[0];
                let taken = through.entry((row, gap as i64)).or_default();
                *taken += 1;
                // Beside each other, in turn to the right and to the left.
                let aside =
                    6.0 * (*taken / 2) as f64 * if taken.is_multiple_of(2) { 1.0 } else { -1.0 };
                points.push((gap + aside, top(row) - 8.0));
                points.push((gap + aside, top(row) + BOX.1 + 8.0));
            }
            points.push(end);
            points
        })
        .collect()
}

/// The middles of the gaps between the crates of a row, and places beside them.
fn gaps(row: &[String], boxes: &BTreeMap<String, (f64, f64)>) -> Vec<f64> {
    let lefts: Vec<f64> = row.iter().map(|name| boxes[name].0).collect();
    let after = lefts.iter().map(|left| left + BOX.0 + GAP / 2.0);
    std::iter::once(lefts[0] - GAP / 2.0).chain(after).collect()
}

/// Where an arrow touches a crate: all on one edge, in the order of their other ends.
fn port(
    boxes: &BTreeMap<String, (f64, f64)>,
    arrows: &[(String, String)],
    name: &str,
    other: &str,
    lower: bool,
) -> (f64, f64) {
    let mut others: Vec<&String> = arrows
        .iter()
        .filter_map(|(from, to)| match lower {
            true => (from == name).then_some(to),
            false => (to == name).then_some(from),
        })
        .collect();
    others.sort_by(|a, b| boxes[*a].0.total_cmp(&boxes[*b].0).then_with(|| a.cmp(b)));
    let at = others.iter().position(|found| *found == other).unwrap_or(0);
    let (x, y) = boxes[name];
    let along = BOX.0 * (at as f64 + 1.0) / (others.len() as f64 + 1.0);
    (x + along, if lower { y + BOX.1 } else { y })
}
