//! Certificates: new ones while requests run, and those of the client.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use portcullis_e2e::{
    Answer, Authority, Kubectl, Phase, Portcullis, PortcullisConfig, Signal, until,
};
use serde_json::Value;

use crate::manifests::{config_map, list};
use crate::suite::{OnDrop, Space, in_namespace};

const ADMIT: &str = "admission: {order: [AlwaysAdmit]}\n";

#[test]
fn certificates_are_replaced_without_one_failed_request() {
    in_namespace("rotation", |space| {
        let old = &space.suite.authority;
        let new = Authority::new("portcullis-e2e-next");
        let both = old.certificate() + &new.certificate();
        let portcullis = space.portcullis("gate", ADMIT);
        let register = |authorities: String| {
            let mut webhook = space.webhook(Phase::Validating, &portcullis);
            webhook.authorities = authorities;
            space.webhooks(Phase::Validating, vec![webhook]).register();
        };
        register(both.clone());

        let direct_both = directly(space, "both.crt", &both);
        let direct_new = directly(space, "new.crt", &new.certificate());
        let ask = |kubectl: &Kubectl| {
            kubectl.run(&["--server", &portcullis.url(""), "get", "--raw", "/livez"])
        };
        ask(&direct_both).succeeds();
        let refused = ask(&direct_new).fails();
        assert!(refused.stderr.contains("certificate"), "{refused:#?}");

        let workload = many_config_maps(30).to_string();
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            // The API server's connection, kept open; and a new connection for every question.
            let through_server = scope.spawn(|| {
                repeat(&over, || {
                    space
                        .kubectl
                        .run_with_input(&["create", "--dry-run=server", "-f", "-"], &workload)
                })
            });
            let direct = scope.spawn(|| repeat(&over, || ask(&direct_both)));

            let _guard = OnDrop(&over);
            thread::sleep(Duration::from_millis(500));
            portcullis.replace_certificate(&new.server("portcullis"));
            until(
                "the new certificate, from the changed file alone",
                Duration::from_secs(15),
                || ask(&direct_new).is_success(),
            );
            // Now that the old authority is not trusted any more, the API server must see the new certificate.
            register(new.certificate());
            for _ in 0..3 {
                portcullis.replace_certificate(&new.server("portcullis"));
                portcullis.signal(Signal::Reload);
                thread::sleep(Duration::from_millis(500));
            }
            over.store(true, Ordering::Relaxed);

            for (what, thread) in [
                ("the API server", through_server),
                ("new connections", direct),
            ] {
                let answers = thread.join().unwrap();
                assert!(answers.len() >= 3, "{what}: only {} runs", answers.len());
                let failed: Vec<_> = answers
                    .iter()
                    .filter(|answer| !answer.is_success())
                    .collect();
                assert!(
                    failed.is_empty(),
                    "{what}: {} of {} failed: {failed:#?}",
                    failed.len(),
                    answers.len()
                );
                println!("{what}: {} runs, none failed", answers.len());
            }
        });
    });
}

#[test]
fn the_api_server_is_known_by_its_certificate() {
    in_namespace("mutual", |space| {
        let start = |name: &str, client_authority: &Authority| {
            Portcullis::start(PortcullisConfig {
                directory: &space.suite.directory.join("mutual").join(name),
                authority: &space.suite.authority,
                client_authority: Some(client_authority),
                configuration: ADMIT,
                files: &[],
            })
        };
        let open = start("open", &space.suite.authority);
        space
            .webhooks(
                Phase::Validating,
                vec![space.webhook(Phase::Validating, &open)],
            )
            .register();
        space.kubectl.create(&config_map("web")).succeeds();

        let authorities = space.suite.authority.certificate();
        let stranger = directly(space, "ca.crt", &authorities).without_http2();
        // More than once, because the reason must not be lost to a reset of the connection.
        for _ in 0..5 {
            let answer = stranger
                .run(&["--server", &open.url(""), "get", "--raw", "/livez"])
                .fails();
            assert!(
                answer.stderr.contains("certificate required"),
                "{answer:#?}"
            );
        }

        let closed = start("closed", &Authority::new("somebody else"));
        space
            .webhooks(
                Phase::Validating,
                vec![space.webhook(Phase::Validating, &closed)],
            )
            .put();
        until(
            "the webhook that knows other clients only",
            Duration::from_secs(10),
            || {
                space
                    .kubectl
                    .dry_run(&config_map("other"))
                    .stderr
                    .contains("failed calling webhook")
            },
        );
    });
}

/// A `kubectl` that knows no cluster and nobody, and trusts these authorities.
fn directly(space: &Space, file: &str, authorities: &str) -> Kubectl {
    let path = space.suite.directory.join(space.name).join(file);
    fs::write(&path, authorities).unwrap();
    space
        .suite
        .cluster
        .kubectl()
        .with("--kubeconfig=/dev/null")
        .with("--token=nobody")
        .with(&format!("--certificate-authority={}", path.display()))
}

fn repeat(over: &AtomicBool, mut run: impl FnMut() -> Answer) -> Vec<Answer> {
    let mut answers = Vec::new();
    while !over.load(Ordering::Relaxed) {
        answers.push(run());
    }
    answers
}

fn many_config_maps(count: usize) -> Value {
    let maps = (0..count).map(|number| config_map(&format!("map-{number}")));
    list(&maps.collect::<Vec<_>>())
}
