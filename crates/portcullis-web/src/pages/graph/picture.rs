//! Small pictures of a part of a graph: boxes and the lines between them.

/// Boxes in a picture; more are counted.
const BUDGET: usize = 200;
/// Sizes, in the units of the picture.
const BOX_WIDTH: usize = 260;
const BOX_HEIGHT: usize = 28;
const ROW: usize = 40;
const COLUMN: usize = 340;
/// Characters that fit into a box.
const LONGEST: usize = 32;

/// A picture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) boxes: Vec<Vertex>,
    pub(super) lines: Vec<Line>,
    /// Vertices that are not drawn.
    pub(super) more: usize,
}

/// A box.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Vertex {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) name: String,
    pub(super) path: String,
    /// Whether it is what the picture is about.
    pub(super) is_marked: bool,
}

/// An edge.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) from: (usize, usize),
    pub(super) to: (usize, usize),
}

impl Vertex {
    /// The name as far as it fits.
    pub(super) fn text(&self) -> String {
        match self.name.chars().count() > LONGEST {
            false => self.name.clone(),
            true => {
                let start: String = self.name.chars().take(LONGEST - 1).collect();
                format!("{start}…")
            }
        }
    }

    pub(super) fn width(&self) -> usize {
        BOX_WIDTH
    }

    pub(super) fn height(&self) -> usize {
        BOX_HEIGHT
    }

    /// Where its text begins.
    pub(super) fn text_at(&self) -> (usize, usize) {
        (self.x + 10, self.y + 19)
    }
}

impl Picture {
    /// A vertex between what leads to it and what it leads to.
    pub(super) fn of_neighbors(
        vertex: &str,
        (incoming, outgoing): (&[String], &[String]),
        link: impl Fn(&str) -> String,
    ) -> Self {
        let (left, right) = shares(incoming.len(), outgoing.len(), BUDGET - 1);
        let rows = left.max(right).max(1);
        let mut picture = Self {
            width: 2 * COLUMN + BOX_WIDTH,
            height: rows * ROW,
            more: incoming.len() + outgoing.len() - left - right,
            ..Self::default()
        };
        let middle = (rows - 1) * ROW / 2;
        let mut add = |x, y, name: &str, is_marked| {
            picture.boxes.push(Vertex {
                x,
                y: y + (ROW - BOX_HEIGHT) / 2,
                name: name.to_owned(),
                path: link(name),
                is_marked,
            });
        };
        add(COLUMN, middle, vertex, true);
        let own = middle + ROW / 2;
        let top = |count: usize| (rows - count) * ROW / 2;
        for (row, name) in incoming.iter().take(left).enumerate() {
            let y = top(left) + row * ROW;
            add(0, y, name, false);
            picture.lines.push(Line {
                from: (BOX_WIDTH, y + ROW / 2),
                to: (COLUMN, own),
            });
        }
        for (row, name) in outgoing.iter().take(right).enumerate() {
            let y = top(right) + row * ROW;
            add(2 * COLUMN, y, name, false);
            picture.lines.push(Line {
                from: (COLUMN + BOX_WIDTH, own),
                to: (2 * COLUMN, y + ROW / 2),
            });
        }
        picture
    }

    /// A path from top to bottom.
    pub(super) fn of_path(path: &[String], link: impl Fn(&str) -> String) -> Self {
        let shown = path.len().min(BUDGET);
        let step = ROW + BOX_HEIGHT;
        let boxes = path.iter().take(shown).enumerate();
        let boxes = boxes.map(|(row, name)| Vertex {
            x: 1,
            y: row * step + 1,
            name: name.clone(),
            path: link(name),
            is_marked: true,
        });
        let lines = (1..shown).map(|row| Line {
            from: (BOX_WIDTH / 2, (row - 1) * step + BOX_HEIGHT + 1),
            to: (BOX_WIDTH / 2, row * step + 1),
        });
        Self {
            width: BOX_WIDTH + 2,
            height: shown.saturating_sub(1) * step + BOX_HEIGHT + 2,
            boxes: boxes.collect(),
            lines: lines.collect(),
            more: path.len() - shown,
        }
    }
}

/// How much of a budget each of two sides gets: half, and what the other one leaves.
fn shares(left: usize, right: usize, budget: usize) -> (usize, usize) {
    let half = budget / 2;
    let left_share = left.min(budget - right.min(half));
    (left_share, right.min(budget - left_share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("Pod:a/{i}")).collect()
    }

    #[test]
    fn a_picture_stays_within_its_budget_and_counts_the_rest() {
        for (left, right) in [(0, 0), (3, 2), (500, 1), (1, 500), (500, 700)] {
            let (incoming, outgoing) = (names(left), names(right));
            let picture = Picture::of_neighbors("Node:n", (&incoming, &outgoing), str::to_owned);
            assert!(picture.boxes.len() <= BUDGET, "{left} {right}");
            assert_eq!(picture.boxes.len() + picture.more, left + right + 1);
            assert_eq!(picture.lines.len() + 1, picture.boxes.len());
            let lowest = picture.boxes.iter().map(|one| one.y + BOX_HEIGHT).max();
            assert!(lowest <= Some(picture.height), "{left} {right}");
        }
        let path = Picture::of_path(&names(300), str::to_owned);
        assert_eq!((path.boxes.len(), path.more), (BUDGET, 100));
        assert_eq!(Picture::of_path(&[], str::to_owned).boxes, []);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let name = "Ä".repeat(40);
        let picture = Picture::of_path(&[name], str::to_owned);
        assert_eq!(picture.boxes[0].text(), format!("{}…", "Ä".repeat(31)));
    }
}
