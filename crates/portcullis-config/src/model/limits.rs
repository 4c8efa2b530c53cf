//! The `limits` key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Duration, Size};

/// What an engine takes before the first policy.
const LEAST_MEMORY: u64 = 2 << 20;
const LEAST_STACK: u64 = 64 << 10;
/// More than any policy needs, and well below what a thread can have.
const MOST_STACK: u64 = 16 << 20;

/// Limits on requests, connections and policies. All must be more than zero.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// How long the policies may take for one review.
    pub deadline: Duration,
    /// Memory that one evaluation of a policy may use.
    pub memory: Size,
    /// Stack that one evaluation of a policy may use.
    pub stack: Size,
    /// The largest body of a request.
    pub body: Size,
    /// The largest head of a request: request line and headers.
    pub headers: Size,
    /// The maximum number of connections of all listeners; more wait. Half of them are divided evenly: no
    /// listener can use the share of another.
    #[schemars(range(min = 1))]
    pub connections: u32,
    /// The maximum number of connections from one address on one TCP listener; more are rejected with 429.
    #[schemars(range(min = 1))]
    pub connections_per_address: u32,
    /// The age at which a connection is closed gracefully, plus or minus 10 %.
    pub max_connection_age: Duration,
    /// Memory that all requests in progress may use: bodies until they are evaluated, answers until they are
    /// written. Beyond that, new ones are rejected with 503.
    pub request_memory: Size,
    /// Memory that policies may keep between reviews.
    pub global_context: Size,
    /// How long a client may take to send the head of a request.
    pub header_timeout: Duration,
    /// How long a client may take to send the body of a request.
    pub body_timeout: Duration,
    /// How long a client may take to read an answer; large ones have a second more for every 256 KiB.
    pub write_timeout: Duration,
    /// How long a connection may stay without a request.
    pub idle_timeout: Duration,
    /// The maximum time to answer a request, once it has arrived.
    pub request_deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(2),
            memory: Size::from_bytes(32 << 20),
            stack: Size::from_bytes(256 << 10),
            body: Size::from_bytes(3 << 20),
            headers: Size::from_bytes(64 << 10),
            connections: 4096,
            connections_per_address: 1024,
            max_connection_age: Duration::from_secs(3600),
            request_memory: Size::from_bytes(512 << 20),
            global_context: Size::from_bytes(16 << 20),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            request_deadline: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// The keys of the limits that no engine could work with, and why.
    pub(crate) fn out_of_bounds(&self) -> Vec<(&'static str, &'static str)> {
        let mut found = Vec::new();
        let memory = self.memory.bytes();
        if memory > 0 && memory < LEAST_MEMORY {
            found.push(("memory", "policies need at least 2Mi"));
        }
        let stack = self.stack.bytes();
        if stack > 0 && stack < LEAST_STACK {
            found.push(("stack", "policies need at least 64Ki"));
        }
        if stack > MOST_STACK {
            found.push(("stack", "at most 16Mi"));
        }
        let memory = self.request_memory.bytes();
        if memory > 0 && memory < self.body.bytes().saturating_mul(3) {
            found.push(("requestMemory", "must be at least three times `body`"));
        }
        found
    }

    /// The keys of the limits that are zero.
    pub(crate) fn zeros(&self) -> Vec<&'static str> {
        let Self {
            deadline,
            memory,
            stack,
            body,
            headers,
            connections,
            connections_per_address,
            max_connection_age,
            request_memory,
            global_context,
            header_timeout,
            body_timeout,
            write_timeout,
            idle_timeout,
            request_deadline,
        } = self;
        [
            ("deadline", deadline.is_zero()),
            ("memory", memory.bytes() == 0),
            ("stack", stack.bytes() == 0),
            ("body", body.bytes() == 0),
            ("headers", headers.bytes() == 0),
            ("connections", *connections == 0),
            ("connectionsPerAddress", *connections_per_address == 0),
            ("maxConnectionAge", max_connection_age.is_zero()),
            ("requestMemory", request_memory.bytes() == 0),
            ("globalContext", global_context.bytes() == 0),
            ("headerTimeout", header_timeout.is_zero()),
            ("bodyTimeout", body_timeout.is_zero()),
            ("writeTimeout", write_timeout.is_zero()),
            ("idleTimeout", idle_timeout.is_zero()),
            ("requestDeadline", request_deadline.is_zero()),
        ]
        .into_iter()
        .filter_map(|(key, zero)| zero.then_some(key))
        .collect()
    }
}
