//! The server's handle: places of requests in traces, and the queue for decisions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_core::{Access, AccessVerdict, Attributes, TraceContext, Verdict};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use crate::decision::Decision;
use crate::exporter::{Complaints, Exporter};
use crate::layer;
use crate::otlp::{self, Signal};
use crate::queue::Queue;
use crate::sampler::Sampler;
use crate::settings::{Settings, SettingsError, SignalSettings};
use crate::transport::Transport;

/// Takes spans and logs. Copies share everything.
#[derive(Debug, Clone)]
pub struct Telemetry {
    traces: Option<Arc<Queue>>,
    logs: Option<Arc<Queue>>,
    sampler: Sampler,
}

/// Running exporters, until they are stopped.
#[derive(Debug)]
pub struct Running {
    telemetry: Telemetry,
    exporters: JoinSet<()>,
    end: watch::Sender<Option<()>>,
}

impl Telemetry {
    /// What the environment asks for; none where it asks for nothing.
    ///
    /// # Errors
    ///
    /// The first variable that can't be followed.
    pub fn from_environment() -> Result<Option<(Self, Unstarted)>, SettingsError> {
        let settings = Settings::read(|name| std::env::var(name).ok())?;
        Ok(settings.map(Self::new))
    }

    /// Takes what these settings want. It waits until what is returned beside it is started.
    pub(crate) fn new(settings: Settings) -> (Self, Unstarted) {
        let resource: Arc<[u8]> = otlp::resource(&settings.resource).into();
        let mut exporters = Vec::new();
        let mut open = |signal, settings: Option<SignalSettings>| {
            let settings = settings?;
            let queue = Queue::new(settings.queue, settings.batch, settings.delay);
            let queue = Arc::new(queue);
            exporters.push(Exporter {
                signal,
                queue: Arc::clone(&queue),
                transport: Transport::new(settings),
                resource: Arc::clone(&resource),
                complaints: Complaints::default(),
            });
            Some(queue)
        };
        let telemetry = Self {
            traces: open(Signal::Traces, settings.traces),
            logs: open(Signal::Logs, settings.logs),
            sampler: settings.sampler,
        };
        let unstarted = Unstarted {
            telemetry: telemetry.clone(),
            exporters,
        };
        (telemetry, unstarted)
    }

    /// The place of a request in the caller's trace, or in a new one. Where no traces are exported
    /// it is the caller's own, so that what is asked for in turn still belongs to it.
    pub fn begin(&self, caller: Option<TraceContext>) -> Option<TraceContext> {
        if self.traces.is_none() {
            return caller;
        }
        let span_id = not_zero();
        Some(match caller {
            Some(caller) => {
                let was = Some(caller.is_sampled());
                let is_sampled = self.sampler.samples(&caller.trace_id, was);
                caller.child(span_id, is_sampled)
            }
            None => {
                let trace_id = not_zero();
                TraceContext {
                    flags: self.sampler.samples(&trace_id, None).into(),
                    trace_id,
                    span_id,
                    parent_id: None,
                    state: None,
                }
            }
        })
    }

    /// A review was answered with this status.
    pub fn admission(&self, attributes: &Attributes, verdict: &Verdict, status: u16) {
        self.decided(&Decision::admission(attributes, verdict, status));
    }

    /// A question for access, come at this time, was answered with this status.
    pub fn access(&self, access: &Access, verdict: &AccessVerdict, received: Instant, status: u16) {
        self.decided(&Decision::access(access, verdict, received, status));
    }

    fn decided(&self, decision: &Decision<'_>) {
        let trace = decision.context.trace.as_ref();
        if let Some(queue) = &self.traces
            && let Some(trace) = trace.filter(|trace| trace.is_sampled())
        {
            let (spans, omitted) = decision.spans(trace);
            queue.push(spans.into_iter());
            queue.count_dropped(omitted);
        }
        if let Some(queue) = &self.logs {
            queue.push(std::iter::once(decision.log(trace)));
        }
    }

    /// A layer that exports what the server itself logs.
    pub fn layer<S>(&self) -> Option<impl Layer<S> + use<S>>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        self.logs.clone().map(layer::exporting)
    }

    /// How many spans and log records were lost so far, by signal.
    pub fn dropped(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = [(Signal::Traces, &self.traces), (Signal::Logs, &self.logs)];
        let open = all.map(|(signal, queue)| {
            let queue = queue.as_ref();
            queue.map(|queue| (signal.as_str(), queue.dropped()))
        });
        open.into_iter().flatten()
    }

    fn waiting(&self) -> usize {
        let queues = [&self.traces, &self.logs];
        queues.into_iter().flatten().map(|queue| queue.len()).sum()
    }
}

/// Exporters that were not started yet.
#[derive(Debug)]
pub struct Unstarted {
    telemetry: Telemetry,
    exporters: Vec<Exporter>,
}

impl Unstarted {
    /// Begins to send, on the runtime this is called in.
    pub fn start(self) -> Running {
        let (end, ending) = watch::channel(None);
        let mut exporters = JoinSet::new();
        for exporter in self.exporters {
            exporters.spawn(exporter.run(ending.clone()));
        }
        Running {
            telemetry: self.telemetry,
            exporters,
            end,
        }
    }
}

impl Running {
    /// Sends what is left, for no longer than this.
    pub async fn finish(mut self, limit: Duration) {
        self.end.send_replace(Some(()));
        let all = async { while self.exporters.join_next().await.is_some() {} };
        if timeout(limit, all).await.is_err() {
            let waiting = self.telemetry.waiting();
            tracing::warn!(waiting, "some telemetry was not delivered in time");
        }
    }
}

/// Random bytes, not all of them zero.
fn not_zero<const N: usize>() -> [u8; N] {
    loop {
        let mut made = [0; N];
        rand::fill(&mut made);
        if made != [0; N] {
            return made;
        }
    }
}
