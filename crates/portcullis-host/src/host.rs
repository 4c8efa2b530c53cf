//! The host: takes a call on the thread of an evaluation, and runs it on a runtime of its own.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use portcullis_core::{HostFunction, clock};
use portcullis_document::{Fault, Faults, path};
use portcullis_js::{Host, HostRequest};
use portcullis_net::Trust;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout_at;

use crate::context::HostContext;
use crate::cosign::CosignVerify;
use crate::forward::Forward;
use crate::forward_rule::AllowedTargets;
use crate::google::Tokens;
use crate::origin::ComingFrom;
use crate::registry::Registries;
use crate::settings::HostSettings;
use crate::slsa::SlsaVerify;
use crate::tool::Tools;
use crate::verified::Verified;

/// How much earlier than the caller a call gives up, so that the caller still hears why and nothing
/// of the call is left when it goes on; at most a twentieth of the time.
const MARGIN: Duration = Duration::from_millis(50);

/// How long after its deadline a call is dropped, should it not have ended by itself.
const GRACE: Duration = Duration::from_secs(5);

/// How long a host that is dropped waits for programs to end.
const LEAVING: Duration = Duration::from_secs(1);

/// Most threads that wait for what can't be waited for otherwise, such as names being looked up.
const BLOCKING: usize = 64;

/// Answers the host calls of policies.
#[derive(Debug)]
pub struct ExternalHost {
    context: Arc<HostContext>,
    /// Started by the first call.
    runtime: OnceLock<Result<Runtime, String>>,
}

/// A call whose arguments are fine.
enum Call {
    Cosign(CosignVerify),
    Slsa(SlsaVerify),
    ComingFrom(ComingFrom),
    Forward(Box<Forward>),
}

impl ExternalHost {
    /// A host that may reach what these settings say.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the settings.
    pub fn new(settings: HostSettings) -> Result<Self, Faults> {
        settings.check().map_err(Faults)?;
        let one = |key: &str, fault: String| Faults::from(Fault::at(key, fault));
        let allowed = AllowedTargets::parse(&settings.forward_to).map_err(|faults| {
            let faults = faults.into_iter();
            let placed =
                faults.map(|(index, fault)| Fault::at(path::index("forwardTo", index), fault));
            Faults(placed.collect())
        })?;
        let service_trust = Trust::system();
        let forward_trust = match settings.forward_ca.as_deref() {
            None => service_trust.clone(),
            pem => Trust::new(pem).map_err(|error| one("forwardCA", error.to_string()))?,
        };
        let registries = Registries::new(&settings.registries, &service_trust)
            .map_err(|fault| one(&format!("registries.{}", fault.path), fault.message))?;
        let context = HostContext {
            allowed,
            registries,
            verified: Verified::default(),
            forward_trust,
            tools: Tools::new(settings.tool_limit),
            tokens: Tokens::new(settings.google_token.clone(), service_trust.clone()),
            service_trust,
            settings,
        };
        Ok(Self {
            context: Arc::new(context),
            runtime: OnceLock::new(),
        })
    }

    fn runtime(&self) -> Result<&Runtime, String> {
        let start = || {
            Builder::new_multi_thread()
                .worker_threads(1)
                .max_blocking_threads(BLOCKING)
                .thread_name("host-calls")
                .enable_all()
                .build()
                .map_err(|error| format!("host calls can't be made: {error}"))
        };
        self.runtime
            .get_or_init(start)
            .as_ref()
            .map_err(Clone::clone)
    }
}

impl Drop for ExternalHost {
    fn drop(&mut self) {
        if let Some(Ok(runtime)) = self.runtime.take() {
            // Calls whose callers no longer wait are dropped, and their programs with them.
            runtime.shutdown_background();
            self.context.tools.wait_for_all(LEAVING);
        }
    }
}

impl Host for ExternalHost {
    fn call(&self, request: &HostRequest<'_>) -> Result<Value, String> {
        let now = clock::monotonic();
        let longest = now.checked_add(self.context.settings.call_limit);
        let deadline = longest.map_or(request.deadline, |longest| request.deadline.min(longest));
        let late = || format!("no answer to {} before the deadline", request.function);
        if deadline <= now {
            return Err(late());
        }
        let margin = MARGIN.min(deadline.saturating_duration_since(now) / 20);
        let end = deadline.checked_sub(margin).unwrap_or(deadline);
        let call = Call::prepare(request, &self.context)?;
        let (answer, answered) = sync_channel(1);
        let context = Arc::clone(&self.context);
        self.runtime()?.spawn(async move {
            let last = end.checked_add(GRACE).unwrap_or(end);
            let running = Box::pin(call.run(&context, end));
            if let Ok(result) = timeout_at(last.into(), running).await {
                // If it came too late, the caller no longer waits.
                let _ = answer.try_send(result);
            }
        });
        let left = deadline.saturating_duration_since(clock::monotonic());
        let result = match answered.recv_timeout(left) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => Err(late()),
            Err(RecvTimeoutError::Disconnected) => {
                Err(format!("{} ended without an answer", request.function))
            }
        };
        // A call that ran out of the review's time waits for its end, so that no policy can catch the
        // error and go on.
        if result.is_err() && deadline == request.deadline && clock::monotonic() >= end {
            std::thread::sleep(deadline.saturating_duration_since(clock::monotonic()));
        }
        result
    }
}

impl Call {
    fn prepare(request: &HostRequest<'_>, context: &HostContext) -> Result<Self, String> {
        Ok(match request.function {
            HostFunction::CosignVerify => Self::Cosign(CosignVerify::prepare(request)?),
            HostFunction::SlsaVerify => Self::Slsa(SlsaVerify::prepare(request)?),
            HostFunction::SlsaEnsureComingFrom => Self::ComingFrom(ComingFrom::prepare(request)?),
            HostFunction::ForwardToAdmissionController => {
                Self::Forward(Box::new(Forward::prepare(request, context)?))
            }
            HostFunction::KubeGet | HostFunction::KubeList => {
                return Err(format!("{} is not available here", request.function));
            }
            HostFunction::Webhook | HostFunction::ImageReview => {
                return Err("only plug-ins can call it".to_owned());
            }
            HostFunction::Harness => return Err("only tests can call it".to_owned()),
        })
    }

    async fn run(self, context: &HostContext, deadline: Instant) -> Result<Value, String> {
        match self {
            Self::Cosign(call) => call.run(context, deadline).await,
            Self::Slsa(call) => call.run(context, deadline).await,
            Self::ComingFrom(call) => call.run(context, deadline).await,
            Self::Forward(call) => call.run(context, deadline).await,
        }
    }
}
