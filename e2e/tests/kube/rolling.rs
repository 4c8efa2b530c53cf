//! Replacing all servers, one after the other, while the API server asks them.

use std::thread;
use std::time::Duration;

use portcullis_e2e::{Balancer, Phase, Portcullis, PortcullisConfig, Signal};

use crate::load::under_load;
use crate::suite::{Space, in_namespace};

/// As a Deployment has it with `maxSurge: 1`, `maxUnavailable: 0`.
const REPLICAS: usize = 3;
/// What it takes until proxies know that an endpoint is going: less than `shutdown.delay`.
const PROPAGATION: Duration = Duration::from_millis(500);

const CONFIGURATION: &str = "\
admission: {order: [AlwaysAdmit]}
shutdown: {delay: 1500ms, grace: 10s}
";

#[test]
fn a_rolling_update_fails_no_request() {
    in_namespace("rolling", |space| {
        let balancer = Balancer::start();
        let mut servers: Vec<Portcullis> = (0..REPLICAS)
            .map(|number| start(space, &format!("old-{number}")))
            .collect();
        balancer.set_endpoints(ports(&servers));
        let mut webhook = space.webhook(Phase::Validating, &servers[0]);
        webhook.url = balancer.url("/validate");
        webhook.timeout_seconds = 30;
        space.webhooks(Phase::Validating, vec![webhook]).register();

        let outcomes = under_load(space, |load| {
            for number in 0..REPLICAS {
                load.wait_for_more();
                servers.push(start(space, &format!("new-{number}")));
                let mut old = servers.remove(0);
                balancer.set_endpoints(ports([&[&old][..], &refs(&servers)].concat()));
                load.wait_for_more();
                // The proxies hear of it while the server still takes connections.
                old.signal(Signal::Terminate);
                thread::sleep(PROPAGATION);
                balancer.set_endpoints(ports(&servers));
                old.wait();
            }
            load.wait_for_more();
        });
        let all: usize = outcomes.values().sum();
        println!("rolling update of {REPLICAS} servers: {all} requests, {outcomes:?}");
        assert_eq!(outcomes.keys().collect::<Vec<_>>(), ["201"], "{outcomes:?}");
    });
}

fn start(space: &Space, name: &str) -> Portcullis {
    Portcullis::start(PortcullisConfig {
        directory: &space.suite.directory.join(space.name).join(name),
        authority: &space.suite.authority,
        client_authority: None,
        configuration: CONFIGURATION,
        files: &[],
    })
}

fn refs(servers: &[Portcullis]) -> Vec<&Portcullis> {
    servers.iter().collect()
}

fn ports<'a>(servers: impl IntoIterator<Item = &'a Portcullis>) -> Vec<u16> {
    servers.into_iter().map(Portcullis::port).collect()
}
