//! Digests of what decides, so that a decision records what made it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};

use portcullis_config::{AccessSettings, Loaded};
use portcullis_js::PolicyCode;

/// Takes in texts, each apart from the next.
struct Digest(Context);

impl Digest {
    fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    fn text(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    fn finish(self) -> Arc<str> {
        let mut text = "sha256:".to_owned();
        for byte in self.0.finish().as_ref() {
            let _ = write!(text, "{byte:02x}");
        }
        text.into()
    }
}

/// The digest of some bytes.
pub(crate) fn bytes(bytes: &[u8]) -> Arc<str> {
    let mut digest = Digest::new();
    digest.0.update(bytes);
    digest.finish()
}

/// The digest of each policy, by name: of its text and of what runs with it, the globals and, where
/// it is a module, all modules.
pub(crate) fn policies(loaded: &Loaded) -> BTreeMap<String, Arc<str>> {
    let all = &loaded.policies;
    let digest = |policy: &portcullis_config::Policy| {
        let mut digest = Digest::new();
        digest.text(all.globals.text());
        digest.text(policy.text.text());
        if let PolicyCode::JsPolicy(_) = policy.code {
            digest.text("jsPolicy");
        }
        if let PolicyCode::Module(_) = policy.code {
            for module in &all.modules {
                digest.text(&module.source.name);
                digest.text(module.text.text());
            }
        }
        (policy.name.clone(), digest.finish())
    };
    all.list.iter().map(digest).collect()
}

/// The digest of everything that judges: plug-ins and their configuration, policies, namespaces,
/// authorizers and their files, profiles of agents, kinds that policies look up. What is known of objects is not in it.
pub(crate) fn gate(loaded: &Loaded, policies: &BTreeMap<String, Arc<str>>) -> Arc<str> {
    let mut digest = Digest::new();
    for plugin in &loaded.plugins {
        let configuration = plugin.configuration.as_ref().map(ToString::to_string);
        digest.text(&plugin.name);
        digest.text(&format!("{:?} {:?}", plugin.failure, plugin.timeout));
        digest.text(&configuration.unwrap_or_default());
    }
    digest.text(&format!("{:?}", loaded.pending_mutation));
    for policy in &loaded.policies.list {
        digest.text(&policy.name);
        digest.text(policies.get(&policy.name).map_or("", AsRef::as_ref));
        digest.text(&format!("{:?} {:?}", policy.mode, policy.matcher));
    }
    digest.text(&format!("{:?}", loaded.policies.default_action));
    digest.text(&format!("{:?}", loaded.namespaces));
    digest.text(&format!("{:?}", loaded.limits));
    for authorizer in &loaded.authorizers {
        let file = authorizer
            .file
            .as_deref()
            .map(portcullis_config::read_source);
        digest.text(&authorizer.name);
        digest.text(&format!("{:?}", authorizer.driver));
        digest.text(
            file.and_then(Result::ok)
                .as_ref()
                .map_or("", |file| file.text()),
        );
    }
    for profile in &loaded.graphs {
        digest.text(&profile.name);
        digest.text(profile.text.text());
        digest.text(&format!("{:?} {:?}", profile.compat, profile.selectors));
    }
    digest.text(&format!("{:?}", loaded.chains));
    if let Some(kube) = &loaded.kube {
        digest.text(&format!("{:?}", kube.kinds));
    }
    digest.finish()
}

/// The digest of what decides about calls of the API: the tenants file and the authenticators. What faulty
/// tenants keep of an earlier file is not in it.
pub(crate) fn access(settings: &AccessSettings, tenants: &str) -> Arc<str> {
    let mut digest = Digest::new();
    digest.text(tenants);
    for one in &settings.authenticators {
        digest.text(&one.name);
        digest.text(one.driver.name());
        digest.text(&one.issuer);
        // Where keys are kept may differ from host to host.
        let tokens = one.tokens.as_ref().map(|tokens| tokens.map_files(|_| ()));
        digest.text(&format!("{tokens:?}"));
    }
    digest.finish()
}
