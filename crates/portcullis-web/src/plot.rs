//! Plots, drawn here as SVG: what happened over time, and shares of a whole.
//!
//! They need no script and no style of their own. Each has a title, the same in words, and a table with its numbers; nothing is said by
//! colour alone. Bars and lines are in a picture that is stretched to the width there is, texts beside it keep their size, so that a plot
//! can be read on a phone.

mod scale;
mod shares;
mod time_axis;

pub(crate) use scale::Scale;
pub(crate) use shares::{Share, counted, shares};
pub(crate) use time_axis::{Mark, marks};

/// The height of what is drawn in, in its own units; a part of the time is as wide as [`WIDTH`].
pub(crate) const HEIGHT: u64 = 1000;
pub(crate) const WIDTH: usize = 10;

/// A time that is drawn, in parts of equal length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    /// Where it begins, in seconds since 1970.
    pub(crate) since: u64,
    /// Where it ends.
    pub(crate) until: u64,
    /// How many parts there are.
    pub(crate) parts: usize,
}

/// Something that is drawn over time, in one look.
#[derive(Debug)]
pub(crate) struct Series {
    /// What it is, as the legend says it.
    pub(crate) name: &'static str,
    /// Its class.
    pub(crate) class: &'static str,
    /// Its shape, as the `d` of a path.
    pub(crate) path: String,
}

/// A plot over time.
#[derive(Debug)]
pub(crate) struct TimePlot {
    /// What tells its parts from those of others on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// The same in words.
    pub(crate) words: String,
    pub(crate) series: Vec<Series>,
    pub(crate) scale: Scale,
    pub(crate) marks: Vec<Mark>,
    /// How many parts there are.
    pub(crate) parts: usize,
}

impl TimePlot {
    /// The picture that is stretched.
    pub(crate) fn view(&self) -> String {
        format!("0 0 {} {HEIGHT}", self.parts.max(1) * WIDTH)
    }
}

/// Bars that stand on each other: for each series the values of all parts.
pub(crate) fn stacked(
    all: &[(&'static str, &'static str, Vec<u64>)],
    scale: &Scale,
) -> Vec<Series> {
    let mut below: Vec<u64> = Vec::new();
    let mut series = Vec::new();
    for (name, class, values) in all {
        let mut path = String::new();
        below.resize(values.len().max(below.len()), 0);
        for (place, (value, below)) in values.iter().zip(&mut below).enumerate() {
            let (bottom, top) = (scale.y(*below), scale.y(below.saturating_add(*value)));
            *below = below.saturating_add(*value);
            if *value > 0 {
                let (left, right) = (place * WIDTH + 1, (place + 1) * WIDTH);
                path.push_str(&format!("M{left} {bottom}V{top}H{right}V{bottom}Z"));
            }
        }
        series.push(Series { name, class, path });
    }
    series
}

/// A line of steps, with gaps where there is no value.
pub(crate) fn steps(
    name: &'static str,
    class: &'static str,
    values: &[Option<u64>],
    scale: &Scale,
) -> Series {
    let mut path = String::new();
    let mut is_drawing = false;
    for (place, value) in values.iter().enumerate() {
        if let Some(value) = value {
            let (left, right, y) = (place * WIDTH, (place + 1) * WIDTH, scale.y(*value));
            let begin = if is_drawing {
                format!("V{y}")
            } else {
                format!("M{left} {y}")
            };
            path.push_str(&format!("{begin}H{right}"));
        }
        is_drawing = value.is_some();
    }
    Series { name, class, path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_each_other_and_nothing_is_not_drawn() {
        let scale = Scale::up_to(10, u64::to_string);
        let both = [("a", "good", vec![4, 0]), ("b", "bad", vec![6, 5])];
        let series = stacked(&both, &scale);
        assert_eq!(series[0].path, "M1 1000V600H10V1000Z");
        assert_eq!(series[1].path, "M1 600V0H10V600ZM11 1000V500H20V1000Z");
    }

    #[test]
    fn a_line_has_gaps_where_nothing_is_known() {
        let scale = Scale::up_to(100, u64::to_string);
        let values = [Some(0), Some(100), None, Some(50)];
        let line = steps("p50", "half", &values, &scale);
        assert_eq!(line.path, "M0 1000H10V0H20M30 500H40");
    }
}
