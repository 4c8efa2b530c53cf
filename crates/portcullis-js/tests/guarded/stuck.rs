//! A policy that computes in natives that don't check the clock, for as long as the object says.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_js::{GlobalContext, Input, Limits, NoHost, PolicySet, Pool, PoolOptions, Subject};
use serde_json::{Map, Value, json};

use crate::support::set;

/// Writes a large integer in digits again and again: there is no call in it that could check the clock,
/// and the engine does so after some thousand rounds, however long they take.
pub(crate) const CODE: &str = "if (object.fine) return true;
    const n = 3n ** 60000n; for (let i = 0; i < object.rounds; i++) `${n}`;
    return true";

/// The most rounds without a look at the clock.
const MOST: u64 = 4000;

/// How many rounds keep the engine busy for about so long on this machine.
pub(crate) fn rounds(seconds: f64) -> u64 {
    static PER_SECOND: OnceLock<f64> = OnceLock::new();
    let per_second = PER_SECOND.get_or_init(|| {
        const TRIAL: u32 = 10;
        let options = PoolOptions {
            threads: 1,
            queue: 1,
        };
        let limits = Limits {
            deadline: Duration::from_secs(60),
            ..limits()
        };
        let context = GlobalContext::new(0);
        let pool = Pool::start(policies(), limits, options, context, Arc::new(NoHost)).unwrap();
        pool.evaluate(fine("trial")).unwrap();
        let watch = Stopwatch::start();
        pool.evaluate(busy("trial", TRIAL.into())).unwrap();
        f64::from(TRIAL) / watch.elapsed().as_secs_f64()
    });
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rough figure"
    )]
    let rounds = (per_second * seconds) as u64;
    rounds.min(MOST)
}

/// One policy that can be stuck, and one that can't.
pub(crate) fn policies() -> PolicySet {
    set("", &[("Stuck", CODE), ("After", "return true")])
}

/// Little time.
pub(crate) fn limits() -> Limits {
    Limits {
        deadline: Duration::from_secs(1),
        ..Limits::default()
    }
}

#[derive(Debug)]
struct Asker(&'static str);

impl Subject for Asker {
    fn req(&self) -> Value {
        Value::Object(Map::new())
    }

    fn ac(&self) -> Value {
        Value::Object(Map::new())
    }

    fn review(&self, _: &Value) -> Option<Value> {
        None
    }

    fn asker(&self) -> &str {
        self.0
    }
}

fn of(asker: &'static str, object: &Value) -> Input {
    Input {
        subject: Arc::new(Asker(asker)),
        ..Input::new(object)
    }
}

/// An object that is judged at once.
pub(crate) fn fine(asker: &'static str) -> Input {
    of(asker, &json!({"fine": true}))
}

/// An object that keeps the engine busy.
pub(crate) fn busy(asker: &'static str, rounds: u64) -> Input {
    of(asker, &json!({"rounds": rounds}))
}
