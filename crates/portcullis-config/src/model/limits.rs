//! The `limits` key.
//!
//! A limit is one entry of the table below: its description, type, default and, where not every value above
//! zero is valid, its range. Struct, defaults, schema and checks are generated from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use portcullis_document::{Duration, Size};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn kib(kibibytes: u64) -> Size {
    Size::from_bytes(kibibytes << 10)
}

const fn mib(mebibytes: u64) -> Size {
    kib(mebibytes << 10)
}

/// Makes [`Limits`] of a table: `name: type = default`, then perhaps `least VALUE => message` and
/// `most VALUE => message`.
macro_rules! limits {
    ($(
        $(#[$meta:meta])*
        $name:ident: $kind:ty = $default:expr
        $(, least $least:expr => $too_small:literal)?
        $(, most $most:expr => $too_large:literal)?;
    )*) => {
        /// Limits on requests, connections and policies. All must be more than zero.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        pub struct Limits {
            $($(#[$meta])* pub $name: $kind,)*
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl Limits {
            /// The keys of the limits that are zero.
            fn zeros(&self) -> Vec<String> {
                let all = [$((stringify!($name), self.$name.is_nothing()),)*];
                let zeros = all.into_iter().filter(|(_, is_zero)| *is_zero);
                zeros.map(|(name, _)| key(name)).collect()
            }

            /// The keys of the limits that are not zero, but out of their range, and why.
            fn out_of_range(&self) -> Vec<(String, &'static str)> {
                let all = [
                    $($((stringify!($name), self.$name < $least, $too_small),)?)*
                    $($((stringify!($name), self.$name > $most, $too_large),)?)*
                ];
                let zeros = self.zeros();
                let wrong = all.into_iter().filter(|(_, is_wrong, _)| *is_wrong);
                let wrong = wrong.map(|(name, _, why)| (key(name), why));
                wrong.filter(|(key, _)| !zeros.contains(key)).collect()
            }
        }
    };
}

limits! {
    /// How long the policies may take for one review.
    deadline: Duration = secs(2);
    /// Memory that one evaluation of a policy may use.
    // What an engine takes before the first policy.
    memory: Size = mib(32), least mib(2) => "policies need at least 2Mi";
    /// Stack that one evaluation of a policy may use.
    // The most is more than any policy needs, and well below what a thread can have.
    stack: Size = kib(256), least kib(64) => "policies need at least 64Ki", most mib(16) => "at most 16Mi";
    /// The largest body of a request.
    body: Size = mib(3);
    /// The largest head of a request: request line and headers.
    headers: Size = kib(64);
    /// The maximum number of connections of all listeners; more wait. Half of them are divided evenly: no
    /// listener can use the share of another.
    #[schemars(range(min = 1))]
    connections: u32 = 4096;
    /// The maximum number of connections from one address on one TCP listener; more are rejected with 429.
    #[schemars(range(min = 1))]
    connections_per_address: u32 = 1024;
    /// The age at which a connection is closed gracefully, plus or minus 10 %.
    max_connection_age: Duration = secs(3600);
    /// Memory that all requests in progress may use: bodies until they are evaluated, answers until they are
    /// written. Beyond that, new ones are rejected with 503.
    request_memory: Size = mib(512);
    /// Memory that policies may keep between reviews.
    global_context: Size = mib(16);
    /// How long a client may take to send the head of a request.
    header_timeout: Duration = secs(10);
    /// How long a client may take to send the body of a request.
    body_timeout: Duration = secs(30);
    /// How long a client may take to read an answer; large ones have a second more for every 256 KiB.
    write_timeout: Duration = secs(30);
    /// How long a connection may stay without a request.
    idle_timeout: Duration = secs(120);
    /// The maximum time to answer a request, once it has arrived.
    request_deadline: Duration = secs(10);
}

impl Limits {
    /// The keys of the limits that nothing could work with, and why.
    pub(crate) fn faults(&self) -> Vec<(String, &'static str)> {
        let zeros = self.zeros().into_iter();
        let mut faults: Vec<_> = zeros.map(|key| (key, "must be more than zero")).collect();
        faults.extend(self.out_of_range());
        let memory = self.request_memory.bytes();
        if memory > 0 && memory < self.body.bytes().saturating_mul(3) {
            let message = "must be at least three times `body`";
            faults.push(("requestMemory".to_owned(), message));
        }
        faults
    }
}

/// What one evaluation may use.
impl From<&Limits> for portcullis_js::Limits {
    fn from(limits: &Limits) -> Self {
        Self {
            deadline: limits.deadline.into(),
            memory: limits.memory.as_usize(),
            stack: limits.stack.as_usize(),
            ..Self::default()
        }
    }
}

/// The key of a field: `max_connection_age` is `maxConnectionAge`.
fn key(field: &str) -> String {
    let mut key = String::with_capacity(field.len());
    let mut begins = false;
    for letter in field.chars() {
        match letter {
            '_' => begins = true,
            letter if begins => {
                begins = false;
                key.push(letter.to_ascii_uppercase());
            }
            letter => key.push(letter),
        }
    }
    key
}

/// What can be nothing at all.
trait Amount {
    fn is_nothing(&self) -> bool;
}

impl Amount for Duration {
    fn is_nothing(&self) -> bool {
        self.is_zero()
    }
}

impl Amount for Size {
    fn is_nothing(&self) -> bool {
        self.bytes() == 0
    }
}

impl Amount for u32 {
    fn is_nothing(&self) -> bool {
        *self == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(limits: &Limits) -> Vec<String> {
        limits.faults().into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn the_defaults_are_within_their_ranges() {
        assert_eq!(Limits::default().faults(), []);
    }

    #[test]
    fn every_limit_is_faulted_by_its_key_when_it_is_zero() {
        let written = serde_json::to_value(Limits::default()).unwrap();
        for (key, default) in written.as_object().unwrap() {
            let zero = match default {
                serde_json::Value::String(text) if text.ends_with('i') => "0Mi".into(),
                serde_json::Value::String(_) => "0s".into(),
                _ => serde_json::Value::from(0),
            };
            let limits = serde_json::from_value(serde_json::json!({key: zero})).unwrap();
            // A body of nothing fits into any memory.
            assert_eq!(keys_of(&limits), [key.as_str()]);
        }
    }

    #[test]
    fn values_out_of_their_range_are_faulted_after_zeros() {
        let limits = Limits {
            memory: mib(1),
            stack: mib(17),
            request_memory: mib(8),
            idle_timeout: secs(0),
            ..Limits::default()
        };
        let keys = ["idleTimeout", "memory", "stack", "requestMemory"];
        assert_eq!(keys_of(&limits), keys);
        let small = Limits {
            stack: kib(63),
            ..Limits::default()
        };
        let message = "policies need at least 64Ki";
        assert_eq!(small.faults(), [("stack".to_owned(), message)]);
    }
}
