//! The process log: structured lines on standard error.

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Log, LogFormat};

/// Starts logging. Later calls change nothing. A panic is logged too, wherever it happens.
pub fn init(log: &Log) {
    let filter: Targets = log
        .filter
        .parse()
        .unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false);
    let lines = tracing_subscriber::registry().with(filter);
    let started = match log.format {
        LogFormat::Json => lines.with(layer.json().flatten_event(true)).try_init(),
        LogFormat::Text => {
            let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
            lines.with(layer.with_ansi(is_terminal)).try_init()
        }
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
