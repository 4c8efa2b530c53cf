//! The environment variables of OpenTelemetry exporters, read and checked.
//!
//! A variable that is empty is not set. One for a single signal, such as
//! `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, takes precedence over the one for all. An unsupported value is an
//! error, so that missing spans are noticed.

#[cfg(test)]
mod tests;

use portcullis_core::percent;
use portcullis_net::header::{HeaderName, HeaderValue};
use portcullis_net::{Address, Client, Trust, TrustError, Web};
use std::borrow::Cow;
use std::time::Duration;

use crate::otlp::Signal;
use crate::sampler::Sampler;

/// Whom to ask for a variable.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A variable whose value can't be followed. The value itself is not repeated: it may be secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {problem}")]
pub struct SettingsError {
    variable: String,
    problem: String,
}

/// How to speak to a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    Grpc,
}

/// How to export one signal.
#[derive(Debug)]
pub(crate) struct SignalSettings {
    pub(crate) client: Client,
    pub(crate) protocol: Protocol,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// For one attempt.
    pub(crate) timeout: Duration,
    /// The most that wait.
    pub(crate) queue: usize,
    /// The most that are sent at once.
    pub(crate) batch: usize,
    /// How long a batch that isn't full waits.
    pub(crate) delay: Duration,
}

/// What is exported, and where to.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) traces: Option<SignalSettings>,
    pub(crate) logs: Option<SignalSettings>,
    pub(crate) sampler: Sampler,
    pub(crate) resource: Vec<(String, String)>,
}

impl Settings {
    /// Reads the variables; none where nothing is to be exported.
    ///
    /// # Errors
    ///
    /// The first variable that can't be followed.
    pub(crate) fn read(
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, SettingsError> {
        let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let variables = Variables(&lookup);
        let disabled = variables.get("OTEL_SDK_DISABLED");
        if disabled.is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let traces = variables.signal(Signal::Traces)?;
        let logs = variables.signal(Signal::Logs)?;
        if traces.is_none() && logs.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            traces,
            logs,
            sampler: variables.sampler()?,
            resource: variables.resource()?,
        }))
    }
}

struct Variables<'a>(Lookup<'a>);

/// A variable, and what it says.
struct Variable {
    name: String,
    value: String,
}

impl Variable {
    fn wrong(self, problem: impl Into<String>) -> SettingsError {
        SettingsError {
            variable: self.name,
            problem: problem.into(),
        }
    }

    /// What is in the file it names.
    fn file(&self) -> Result<Vec<u8>, SettingsError> {
        std::fs::read(&self.value).map_err(|error| self.unusable(&error))
    }

    /// The file it names can't be used.
    fn unusable(&self, problem: &dyn std::error::Error) -> SettingsError {
        SettingsError {
            variable: self.name.clone(),
            problem: format!("{}: {problem}", self.value),
        }
    }

    /// A whole number of at least this.
    fn number(self, least: u64) -> Result<u64, SettingsError> {
        match self.value.trim().parse() {
            Ok(number) if number >= least => Ok(number),
            _ => Err(self.wrong(format!("must be a whole number, at least {least}"))),
        }
    }
}

impl Variables<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name)
    }

    fn find(&self, name: &str) -> Option<Variable> {
        let value = self.get(name)?;
        let name = name.to_owned();
        Some(Variable { name, value })
    }

    /// The variable for this signal, or else the one for all.
    fn of_signal(&self, signal: Signal, what: &str) -> Option<Variable> {
        let signal = signal.as_str().to_ascii_uppercase();
        self.find(&format!("OTEL_EXPORTER_OTLP_{signal}_{what}"))
            .or_else(|| self.find(&format!("OTEL_EXPORTER_OTLP_{what}")))
    }

    fn number(&self, name: &str, least: u64, usual: u64) -> Result<u64, SettingsError> {
        self.find(name)
            .map_or(Ok(usual), |found| found.number(least))
    }

    fn signal(&self, signal: Signal) -> Result<Option<SignalSettings>, SettingsError> {
        let upper = signal.as_str().to_ascii_uppercase();
        if let Some(found) = self.find(&format!("OTEL_{upper}_EXPORTER")) {
            match found.value.trim() {
                "otlp" => {}
                "none" => return Ok(None),
                _ => return Err(found.wrong("expected otlp or none")),
            }
        }
        let protocol = self.protocol(signal)?;
        let Some(endpoint) = self.endpoint(signal, protocol)? else {
            return Ok(None);
        };
        if let Some(found) = self.of_signal(signal, "COMPRESSION")
            && found.value.trim() != "none"
        {
            return Err(found.wrong("unsupported: expected none"));
        }
        let timeout = self.of_signal(signal, "TIMEOUT");
        let timeout = timeout.map_or(Ok(10_000), |found| found.number(1))?;
        // The names that the batch processors of spans and of log records have there.
        let (processor, delay) = match signal {
            Signal::Traces => ("OTEL_BSP", 5000),
            Signal::Logs => ("OTEL_BLRP", 1000),
        };
        let size = |what: &str, usual| self.number(&format!("{processor}_{what}"), 1, usual);
        let (queue, batch) = (
            size("MAX_QUEUE_SIZE", 2048)?,
            size("MAX_EXPORT_BATCH_SIZE", 512)?,
        );
        let delay = self.number(&format!("{processor}_SCHEDULE_DELAY"), 0, delay)?;
        Ok(Some(SignalSettings {
            headers: self.headers(signal)?,
            client: self.client(signal, endpoint, protocol)?,
            protocol,
            timeout: Duration::from_millis(timeout),
            queue: usize::try_from(queue.min(1 << 20)).unwrap_or(2048),
            batch: usize::try_from(batch.min(4096)).unwrap_or(512),
            delay: Duration::from_millis(delay),
        }))
    }

    fn protocol(&self, signal: Signal) -> Result<Protocol, SettingsError> {
        let Some(found) = self.of_signal(signal, "PROTOCOL") else {
            return Ok(Protocol::Http);
        };
        match found.value.trim() {
            "http/protobuf" => Ok(Protocol::Http),
            "grpc" => Ok(Protocol::Grpc),
            _ => Err(found.wrong("expected http/protobuf or grpc")),
        }
    }

    fn endpoint(&self, signal: Signal, protocol: Protocol) -> Result<Option<Web>, SettingsError> {
        let parse = |found: Variable| {
            Web::parse(found.value.trim()).map_err(|problem| found.wrong(problem.to_string()))
        };
        let upper = signal.as_str().to_ascii_uppercase();
        let own = self.find(&format!("OTEL_EXPORTER_OTLP_{upper}_ENDPOINT"));
        let endpoint = match (own, self.find("OTEL_EXPORTER_OTLP_ENDPOINT")) {
            (Some(own), _) => parse(own)?,
            (None, Some(base)) => {
                let base = parse(base)?;
                let root = base.path.trim_end_matches('/');
                base.with_path(format!("{root}/v1/{}", signal.as_str()), None)
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(match protocol {
            Protocol::Http => endpoint,
            Protocol::Grpc => endpoint.with_path(signal.method().to_owned(), None),
        }))
    }

    fn client(
        &self,
        signal: Signal,
        endpoint: Web,
        protocol: Protocol,
    ) -> Result<Client, SettingsError> {
        let authorities = self.of_signal(signal, "CERTIFICATE");
        let trust = match endpoint.secure {
            true => self.trust(signal, authorities.as_ref())?,
            // Files that nothing needs are not read.
            false => Trust::system(),
        };
        let protocol = match protocol {
            Protocol::Http => portcullis_net::Protocol::Http1,
            Protocol::Grpc => portcullis_net::Protocol::Http2,
        };
        Client::new(Address::Web(endpoint), protocol, &trust).map_err(|problem| SettingsError {
            variable: authorities.map_or_else(
                || "OTEL_EXPORTER_OTLP_CERTIFICATE".to_owned(),
                |found| found.name,
            ),
            problem: problem.to_string(),
        })
    }

    fn trust(
        &self,
        signal: Signal,
        authorities: Option<&Variable>,
    ) -> Result<Trust, SettingsError> {
        let trust = match authorities {
            None => Trust::system(),
            Some(found) => {
                let pem = found.file()?;
                Trust::new(Some(&pem)).map_err(|problem| found.unusable(&problem))?
            }
        };
        let certificate = self.of_signal(signal, "CLIENT_CERTIFICATE");
        match (certificate, self.of_signal(signal, "CLIENT_KEY")) {
            (None, None) => Ok(trust),
            (Some(certificate), Some(key)) => {
                let own = trust.with_identity(&certificate.file()?, &key.file()?);
                own.map_err(|problem| match problem {
                    TrustError::PrivateKey(_) => key.unusable(&problem),
                    other => certificate.unusable(&other),
                })
            }
            (Some(one), None) | (None, Some(one)) => {
                Err(one.wrong("certificate and key must be given together"))
            }
        }
    }

    fn headers(&self, signal: Signal) -> Result<Vec<(HeaderName, HeaderValue)>, SettingsError> {
        let Some(found) = self.of_signal(signal, "HEADERS") else {
            return Ok(Vec::new());
        };
        let header = |(name, value): (String, String)| {
            let name = HeaderName::try_from(name).ok()?;
            let mut value = HeaderValue::try_from(value).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        let read = pairs(&found.value).and_then(|pairs| pairs.into_iter().map(header).collect());
        read.ok_or_else(|| found.wrong("must be pairs like key=value, with commas between"))
    }

    fn sampler(&self) -> Result<Sampler, SettingsError> {
        let Some(found) = self.find("OTEL_TRACES_SAMPLER") else {
            return Ok(Sampler::default());
        };
        let argument = self.get("OTEL_TRACES_SAMPLER_ARG");
        let argument = argument.as_deref().map(str::trim);
        Sampler::new(found.value.trim(), argument).map_err(|problem| found.wrong(problem))
    }

    /// The resource. The variables override the built-in attributes.
    fn resource(&self) -> Result<Vec<(String, String)>, SettingsError> {
        let version = env!("CARGO_PKG_VERSION");
        let mut resource: Vec<(String, String)> = [
            ("service.name", "portcullis"),
            ("service.version", version),
            ("telemetry.sdk.name", "portcullis"),
            ("telemetry.sdk.language", "rust"),
            ("telemetry.sdk.version", version),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        let mut set =
            |key: String, value: String| match resource.iter_mut().find(|(known, _)| *known == key)
            {
                Some((_, known)) => *known = value,
                None => resource.push((key, value)),
            };
        if let Some(found) = self.find("OTEL_RESOURCE_ATTRIBUTES") {
            let Some(pairs) = pairs(&found.value) else {
                return Err(found.wrong("must be pairs like key=value, with commas between"));
            };
            pairs.into_iter().for_each(|(key, value)| set(key, value));
        }
        if let Some(name) = self.get("OTEL_SERVICE_NAME") {
            set("service.name".to_owned(), name.trim().to_owned());
        }
        Ok(resource)
    }
}

/// `a=1,b=x%20y`, as W3C's "Baggage" has it.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty());
    parts
        .map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let (key, value) = (key.trim(), value.trim());
            (!key.is_empty()).then_some((decoded(key)?, decoded(value)?))
        })
        .collect()
}

/// A text without percent signs.
fn decoded(text: &str) -> Option<String> {
    percent::decoded(text).map(Cow::into_owned)
}
