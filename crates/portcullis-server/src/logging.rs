//! The process log: structured lines on standard error, and to a telemetry receiver if there is one.

use portcullis_telemetry::Telemetry;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use portcullis_config::{Log, LogFormat};

/// Starts logging. Later calls change nothing. A panic is logged too, wherever it happens.
pub fn init(log: &Log) {
    init_with(log, false, None);
}

/// The same, with colours if requested, and exports what is logged. The filter is for standard
/// error only.
pub(crate) fn init_with(log: &Log, colours: bool, telemetry: Option<&Telemetry>) {
    let filter: Targets = log
        .filter
        .parse()
        .unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false)
        // What can't be written to standard error can't be reported there either.
        .log_internal_errors(false);
    let layer = match log.format {
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
        LogFormat::Text => layer.with_ansi(colours).boxed(),
    };
    let exported = telemetry.and_then(Telemetry::layer);
    let started = match exported {
        Some(exported) => tracing_subscriber::registry()
            .with(layer.with_filter(filter))
            .with(exported)
            .try_init(),
        None => tracing_subscriber::registry()
            .with(layer.with_filter(filter))
            .try_init(),
    };
    if started.is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic
                .location()
                .map(ToString::to_string)
                .unwrap_or_default();
            tracing::error!(place, "panic");
        }));
    }
}
