//! The door of CI: opens the service of jobs with the policies, the decision log and the tenants of this server.
//!
//! The service is opened at the start where a listener serves `ci`, and otherwise by the first call.

mod gate;
mod judge;
mod record;

use std::sync::Arc;
use std::time::Duration;

use portcullis_ci::{OpenError, Service};

use crate::ci::Collaborators;
use crate::server::Server;
use gate::TenantGate;
use judge::GateJudge;
use record::DecisionRecorder;

pub(crate) use gate::first_holder;
pub(crate) use record::Ci;

/// A store that does not answer at the start is tried again after this time.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// The service; opened now if it isn't open.
///
/// # Errors
///
/// When the store can't be opened.
pub(crate) async fn service(server: &Arc<Server>) -> Result<Service, OpenError> {
    server.ci.service(collaborators(server)).await
}

/// The service where it is served, or open for another reason.
///
/// # Errors
///
/// When the store can't be opened.
pub(crate) async fn service_if_served(server: &Arc<Server>) -> Result<Option<Service>, OpenError> {
    match server.ci.is_served() {
        true => service(server).await.map(Some),
        false => Ok(server.ci.opened().await),
    }
}

async fn collaborators(server: &Arc<Server>) -> Collaborators {
    Collaborators {
        judge: Arc::new(GateJudge::new(server)),
        recorder: Arc::new(DecisionRecorder::new(server, &server.ci.location())),
        gate: TenantGate::begin(server).await,
    }
}

/// Opens the service where it is served. A store that does not answer yet is tried again.
///
/// # Errors
///
/// When it will not get better by itself.
pub(crate) async fn begin(server: &Arc<Server>, is_served: bool) -> Result<(), OpenError> {
    if !is_served {
        return Ok(());
    }
    match service(server).await {
        Ok(_) => Ok(()),
        Err(OpenError::Store(error)) if error.is_temporary() => {
            tracing::warn!("the store of CI jobs does not answer yet: {error}");
            let server = Arc::clone(server);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(RETRY_AFTER).await;
                    if service(&server).await.is_ok() {
                        return;
                    }
                }
            });
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Makes what is open what is wanted after a reload.
pub(crate) async fn follow(server: &Arc<Server>, is_served: bool) {
    let is_open = server.ci.follow().await;
    if let Err(error) = begin(server, is_served || is_open).await {
        tracing::error!("CI jobs can't be served: {error}");
    }
}
