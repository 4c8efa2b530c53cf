//! What became of a server's decisions, by the server's own count.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::clock;
use crate::failure::{Failure, Result};
use crate::metrics;

/// Decisions that reached a sink.
const WRITTEN: &str = "portcullis_decision_log_written_total";
/// Decisions that did not, by reason.
const DROPPED: &str = "portcullis_decision_log_dropped_total";
/// The sink that is measured.
const STORE: &str = "sink=\"store\"";

/// How long the last decisions may take to be accounted for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the server is asked meanwhile: seldom, since it answers on the same processors.
const PAUSE: Duration = Duration::from_millis(20);

/// Decisions by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Kept in the store.
    pub(crate) written: u64,
    /// Not kept, for whatever reason.
    pub(crate) dropped: u64,
}

/// A server whose decisions are counted from now on.
#[derive(Debug)]
pub(crate) struct Ledger {
    address: SocketAddr,
    before: Counts,
}

impl Ledger {
    /// Begins to count. Every decision made before must be accounted for.
    pub(crate) fn begin(address: SocketAddr) -> Result<Self> {
        let before = counts(address)?;
        Ok(Self { address, before })
    }

    /// Waits until so many decisions are accounted for, and says how and when.
    pub(crate) fn settle(&self, decided: u64) -> Result<(Counts, Instant)> {
        let began = clock::now();
        loop {
            let now = counts(self.address)?;
            let found = Counts {
                written: now.written.saturating_sub(self.before.written),
                dropped: now.dropped.saturating_sub(self.before.dropped),
            };
            let Counts { written, dropped } = found;
            let at = clock::now();
            if written + dropped >= decided {
                return Ok((found, at));
            }
            if at.saturating_duration_since(began) > PATIENCE {
                return Err(Failure::new(format!(
                    "of {decided} decisions the server says that it kept {written} and dropped \
                     {dropped}; the others are not accounted for"
                )));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn counts(address: SocketAddr) -> Result<Counts> {
    Ok(counts_of(&metrics::page(address)?))
}

/// The counts in a page of metrics. A counter that is not there has not counted yet.
fn counts_of(page: &str) -> Counts {
    Counts {
        written: metrics::sum(page, WRITTEN, |labels| labels.contains(STORE)),
        dropped: metrics::sum(page, DROPPED, |labels| {
            labels.contains(STORE) || !labels.contains("sink=")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_store_got_and_did_not_get_is_counted() {
        let page = "# HELP portcullis_decision_log_written_total Decisions.\n\
            # TYPE portcullis_decision_log_written_total counter\n\
            portcullis_decision_log_written_total{sink=\"store\"} 120\n\
            portcullis_decision_log_written_total{sink=\"lines\"} 7\n\
            portcullis_decision_log_written_total_more{sink=\"store\"} 9\n\
            portcullis_decision_log_dropped_total{reason=\"full\"} 3\n\
            portcullis_decision_log_dropped_total{reason=\"masking\",sink=\"store\"} 1\n\
            portcullis_decision_log_dropped_total{reason=\"full\",sink=\"lines\"} 50\n\
            portcullis_requests_total 400\n";
        let expected = Counts {
            written: 120,
            dropped: 4,
        };
        assert_eq!(counts_of(page), expected);
        assert_eq!(
            counts_of("portcullis_requests_total 1\n"),
            Counts::default()
        );
    }
}
