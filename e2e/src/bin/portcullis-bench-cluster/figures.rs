//! What was measured, and the table.

use std::fmt::Write as _;
use std::time::Duration;

use crate::arguments::Arguments;
use crate::load::Outcome;

/// The figures of one way to guard a namespace, round by round.
pub(crate) struct Figures {
    name: &'static str,
    /// Median latency of one client.
    medians: Vec<f64>,
    /// All latencies of one client.
    latencies: Vec<f64>,
    /// Pods per second of all clients.
    rates: Vec<f64>,
    /// All latencies of all clients.
    loaded: Vec<f64>,
}

impl Figures {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            medians: Vec::new(),
            latencies: Vec::new(),
            rates: Vec::new(),
            loaded: Vec::new(),
        }
    }

    /// Adds a round.
    pub(crate) fn add(&mut self, alone: &Outcome, together: &Outcome) {
        let alone = milliseconds(&alone.latencies);
        self.medians.push(quantile(&alone, 0.5));
        self.latencies.extend(alone);
        let pods = together.latencies.len();
        self.rates
            .push(pods as f64 / together.elapsed.as_secs_f64());
        self.loaded.extend(milliseconds(&together.latencies));
    }

    /// What this one adds to another in the middle of the rounds, each compared with the same round of the other.
    fn added_to(&self, other: &Self) -> f64 {
        let pairs = self.medians.iter().zip(&other.medians);
        quantile(
            &pairs.map(|(own, other)| own - other).collect::<Vec<_>>(),
            0.5,
        )
    }
}

fn milliseconds(latencies: &[Duration]) -> Vec<f64> {
    latencies
        .iter()
        .map(|latency| latency.as_secs_f64() * 1000.0)
        .collect()
}

/// The value below which this part of all values is.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (part * sorted.len() as f64).ceil() as usize;
    let last = sorted.len().saturating_sub(1);
    sorted
        .get(place.saturating_sub(1).min(last))
        .copied()
        .unwrap_or(f64::NAN)
}

/// The table: the first one is what the others are compared with.
pub(crate) fn table(all: &[Figures], arguments: &Arguments) -> String {
    let Arguments {
        rounds,
        pods,
        clients,
    } = arguments;
    let mut text = format!(
        "{rounds} rounds of {pods} pods; latencies in milliseconds\n\n\
         {:14} {:>9} {:>9} {:>10} {:>12} {:>9} {:>9}\n",
        "",
        "p50",
        "p99",
        "added p50",
        format!("{clients} clients/s"),
        "p50",
        "p99"
    );
    let base = all.first();
    for one in all {
        let added = base.map_or(f64::NAN, |base| one.added_to(base));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:14} {:9.2} {:9.2} {:10.2} {:12.0} {:9.2} {:9.2}",
            one.name,
            quantile(&one.latencies, 0.5),
            quantile(&one.latencies, 0.99),
            added,
            quantile(&one.rates, 0.5),
            quantile(&one.loaded, 0.5),
            quantile(&one.loaded, 0.99),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&values, 0.5), 2.0);
        assert_eq!(quantile(&values, 0.99), 4.0);
        assert_eq!(quantile(&[7.0], 0.5), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
