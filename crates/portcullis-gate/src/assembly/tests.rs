use portcullis_config::{self as config, ConfigSource, Listening, LoadOptions};

use super::*;
use crate::registry;

#[test]
fn what_is_built_does_not_run_before_it_is_started() {
    let registry = registry::registry();
    let known = registry.names();
    let text = "policies: [{name: P, code: 'return true'}]";
    let options = LoadOptions {
        source: ConfigSource::BuiltIn(text),
        admission_control: None,
        admission_control_config_file: None,
        known_plugins: &known,
        listeners: Listening::Optional,
        objects: None,
        coverage: false,
        env: &|_| None,
    };
    let loaded = config::load(&options).unwrap();
    let context = GlobalContext::new(0);
    let gate = build(&loaded, None, &context, Before::default(), &mut Vec::new()).unwrap();
    let engine = &gate.engine;
    assert_eq!(engine.threads(), 0);
    engine.start().unwrap();
    assert!(engine.threads() > 0);
    assert_eq!(engine.fault(), None);
}
