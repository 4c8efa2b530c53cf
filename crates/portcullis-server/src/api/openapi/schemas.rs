//! The schemas of requests and responses, collected in `components.schemas`.
//!
//! One type may look different in a request, where what has a default can be left out, and in an answer,
//! where it is always present. Only those that do are described twice, `Name` and `NameRequest`.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use crate::api::endpoint::SchemaOf;

/// Where the schemas of answers are, and in the end all of them.
const GIVEN: &str = "#/components/schemas/";
/// Where those of requests seem to be until [`Schemas::finish`].
const TAKEN: &str = "#/components/taken/";

/// The schemas met so far.
pub(super) struct Schemas {
    taken: SchemaGenerator,
    given: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        Self {
            taken: generator(TAKEN, Contract::Deserialize),
            given: generator(GIVEN, Contract::Serialize),
        }
    }

    /// The schema of something in a request.
    pub(super) fn taken(&mut self, schema: SchemaOf) -> Value {
        schema(&mut self.taken).to_value()
    }

    /// The schema of something in an answer.
    pub(super) fn given(&mut self, schema: SchemaOf) -> Value {
        schema(&mut self.given).to_value()
    }

    /// What a schema of [`Self::taken`] refers to, or itself.
    pub(super) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let name = schema.get("$ref").and_then(Value::as_str);
        name.and_then(|name| name.strip_prefix(TAKEN))
            .and_then(|name| self.taken.definitions().get(name))
            .unwrap_or(schema)
    }

    /// Adds all schemas to the document and makes its references point to them.
    pub(super) fn finish(mut self, document: &mut Value) {
        let mut all = self.given.take_definitions(true);
        let mut taken = self.taken.take_definitions(true);
        let twice = described_twice(&all, &taken);
        let names: BTreeSet<String> = all.keys().chain(taken.keys()).cloned().collect();
        let in_the_end = |name: &str| match twice.contains(name) {
            true => free_name(name, &names),
            false => name.to_owned(),
        };
        for schema in taken.values_mut() {
            redirect(schema, &in_the_end);
        }
        redirect(document, &in_the_end);
        for (name, schema) in taken {
            all.insert(in_the_end(&name), schema);
        }
        if let Some(components) = document
            .get_mut("components")
            .and_then(Value::as_object_mut)
        {
            components.insert("schemas".to_owned(), Value::Object(all));
        }
    }
}

fn generator(path: &'static str, contract: Contract) -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = path.into();
            settings.contract = contract;
        })
        .into_generator()
}

/// The names that mean one thing in requests and another in answers.
fn described_twice(given: &Map<String, Value>, taken: &Map<String, Value>) -> BTreeSet<String> {
    let mut twice = BTreeSet::new();
    loop {
        let before = twice.len();
        for (name, schema) in taken {
            let mut schema = schema.clone();
            // A reference to something described twice is one to something else.
            redirect(&mut schema, &|name| match twice.contains(name) {
                true => String::new(),
                false => name.to_owned(),
            });
            if given.get(name).is_some_and(|given| *given != schema) {
                twice.insert(name.clone());
            }
        }
        if twice.len() == before {
            return twice;
        }
    }
}

/// What a schema for requests is called whose name is that of another for answers.
fn free_name(name: &str, names: &BTreeSet<String>) -> String {
    let mut free = format!("{name}Request");
    while names.contains(&free) {
        free.push('_');
    }
    free
}

/// Makes references to schemas of requests point to where those are in the end.
fn redirect(value: &mut Value, in_the_end: &dyn Fn(&str) -> String) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, in_the_end)),
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(target) if key == "$ref" => {
                        if let Some(name) = target.strip_prefix(TAKEN) {
                            *target = format!("{GIVEN}{}", in_the_end(name));
                        }
                    }
                    _ => redirect(member, in_the_end),
                }
            }
        }
        _ => {}
    }
}
