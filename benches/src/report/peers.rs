//! Portcullis next to other programs that were given the same policies.

use serde::Serialize;

use super::{beside, cost_ratio, rate_ratio};
use crate::run::Series;
use crate::statistics::Summary;
use crate::transport::Transport;

/// One scenario of a peer, and ours.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Comparison {
    /// The peer's scenario.
    pub(super) peer: &'static str,
    /// Ours.
    pub(super) own: &'static str,
    /// The way.
    pub(super) transport: Transport,
    /// Requests under way.
    pub(super) connections: usize,
    /// Our requests per second, as a multiple of the peer's.
    pub(super) rate: Summary,
    /// Our p99, as a part of the peer's.
    pub(super) p99: Summary,
    /// Our processor time for a request, as a part of the peer's.
    pub(super) cpu: Summary,
}

/// Every scenario of a peer that ours was measured beside.
pub(super) fn all(series: &[Series]) -> Vec<Comparison> {
    let of_one = |peer: &Series| -> Option<Comparison> {
        let own = beside(series, peer, peer.compared.own?)?;
        Some(Comparison {
            peer: peer.scenario,
            own: own.scenario,
            transport: peer.transport,
            connections: peer.connections,
            rate: rate_ratio(own, peer),
            p99: cost_ratio(own, peer, |s| s.p99_us),
            cpu: cost_ratio(own, peer, |s| s.cpu_us),
        })
    };
    series.iter().filter_map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::series;
    use super::*;
    use crate::scenario::Compared;

    #[test]
    fn ratios_are_ours_by_the_peers() {
        let own = series("validating", &[(1_000.0, 50.0)]);
        let mut peer = series("acjs", &[(100.0, 1_000.0)]);
        peer.compared = Compared {
            own: Some("validating"),
            ..peer.compared
        };
        let found = all(&[own, peer]);
        assert_eq!((found.len(), found[0].peer), (1, "acjs"));
        assert!((found[0].rate.median - 10.0).abs() < 1e-9);
        assert!((found[0].p99.median - 0.1).abs() < 1e-9);
        assert!((found[0].cpu.best - 0.05).abs() < 1e-9);
    }
}
