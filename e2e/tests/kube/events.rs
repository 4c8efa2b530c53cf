//! `EventRateLimit`.

use portcullis_e2e::Phase;

use crate::manifests::{config_map, events};
use crate::suite::in_namespace;

const CONFIGURATION: &str = "\
admission:
  plugins:
  - name: EventRateLimit
    configuration:
      apiVersion: eventratelimit.admission.k8s.io/v1alpha1
      kind: Configuration
      limits: [{type: Namespace, qps: 1, burst: 10, cacheSize: 100}]
";

#[test]
fn events_beyond_the_burst_are_too_many_and_dry_runs_cost_nothing() {
    in_namespace("event-rate", |space| {
        let _gate = space.gate(Phase::Validating, CONFIGURATION);
        let kubectl = &space.kubectl;

        kubectl
            .dry_run(&events("trial", "event-rate", 40))
            .succeeds();
        kubectl
            .create(&events("first", "event-rate", 10))
            .succeeds();

        // One a second comes back, so a few of these pass, not all of them.
        let answer = kubectl.create(&events("second", "event-rate", 40)).fails();
        let refusal = space.refusal_of(
            Phase::Validating,
            "TooManyRequests",
            "Too many requests: limit reached on type Namespace for key event-rate",
        );
        let refused = answer
            .stderr
            .lines()
            .filter(|line| *line == refusal)
            .count();
        assert_eq!(
            refused,
            answer.stderr.lines().count(),
            "every refusal says the same: {answer:#?}"
        );
        let passed = answer.stdout.lines().count();
        assert_eq!(refused + passed, 40, "{answer:#?}");
        assert!(refused >= 20, "{passed} of 40 passed: {answer:#?}");

        kubectl.create(&config_map("no-event")).succeeds();
    });
}
