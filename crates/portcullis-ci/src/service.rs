//! The service: what the API and the program call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use portcullis_jobs::{
    ControllerDefinition, ControllerId, Eligibility, Exemption, ExemptionBody, ExemptionId,
    JobDefinition, JobId, PayloadEntry, PipelineDefinition, PipelineId, Runner, RunnerId,
};
use portcullis_store::Location;
use serde_json::Value;

use crate::details::{
    ClaimRequest, ControllerDetails, CreatedController, CreatedRunner, DeliveryDetails,
    DeliveryFilter, JobDetails, JobFilter, NewRunner, Page, PageRequest, PipelineDetails,
    TestResult,
};
use crate::error::{CiError, OpenError};
use crate::judge::PolicyJudge;
use crate::recorder::Recorder;
use crate::settings::Settings;

/// What became of a verdict that a controller sent by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackOutcome {
    /// It counts.
    Recorded(JobId),
    /// The same one came before; nothing changed.
    Repeated(JobId),
}

/// CI jobs and everything that happens to them. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    _inner: Arc<()>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

fn unavailable<T>() -> Result<T, CiError> {
    Err(CiError::Unavailable("not available yet".to_owned()))
}

#[expect(
    clippy::unused_async,
    clippy::missing_errors_doc,
    unused_variables,
    missing_docs,
    reason = "only the signatures are there"
)]
impl Service {
    pub async fn open(
        location: &Location,
        settings: Settings,
        judge: Arc<dyn PolicyJudge>,
        recorder: Arc<dyn Recorder>,
    ) -> Result<Self, OpenError> {
        Err(OpenError::Other("not available yet".to_owned()))
    }
    pub fn change(&self, settings: Settings) {}
    pub fn set_judge(&self, judge: Arc<dyn PolicyJudge>) {}
    pub async fn shut_down(&self, within: Duration) {}

    pub async fn submit_job(&self, definition: JobDefinition) -> Result<JobDetails, CiError> {
        unavailable()
    }
    pub async fn submit_pipeline(
        &self,
        definition: PipelineDefinition,
    ) -> Result<PipelineDetails, CiError> {
        unavailable()
    }
    pub async fn job(&self, id: JobId) -> Result<JobDetails, CiError> {
        unavailable()
    }
    pub async fn jobs(
        &self,
        filter: JobFilter,
        page: PageRequest,
    ) -> Result<Page<JobDetails>, CiError> {
        unavailable()
    }
    pub async fn pipeline(&self, id: PipelineId) -> Result<PipelineDetails, CiError> {
        unavailable()
    }
    pub async fn retry(&self, id: JobId) -> Result<JobDetails, CiError> {
        unavailable()
    }
    pub async fn cancel(&self, id: JobId) -> Result<JobDetails, CiError> {
        unavailable()
    }
    pub async fn runners_of_job(&self, id: JobId) -> Result<Vec<Eligibility>, CiError> {
        unavailable()
    }

    pub async fn add_controller(
        &self,
        definition: ControllerDefinition,
    ) -> Result<CreatedController, CiError> {
        unavailable()
    }
    pub async fn controllers(&self, page: PageRequest) -> Result<Page<ControllerDetails>, CiError> {
        unavailable()
    }
    pub async fn controller(&self, id: ControllerId) -> Result<ControllerDetails, CiError> {
        unavailable()
    }
    pub async fn change_controller(
        &self,
        id: ControllerId,
        patch: Value,
    ) -> Result<ControllerDetails, CiError> {
        unavailable()
    }
    pub async fn delete_controller(&self, id: ControllerId) -> Result<(), CiError> {
        unavailable()
    }
    pub async fn rotate_secret(&self, id: ControllerId) -> Result<String, CiError> {
        unavailable()
    }
    pub async fn test_controller(&self, id: ControllerId) -> Result<TestResult, CiError> {
        unavailable()
    }
    pub async fn claim(
        &self,
        id: ControllerId,
        secret: &str,
        request: ClaimRequest,
    ) -> Result<Vec<PayloadEntry>, CiError> {
        unavailable()
    }

    pub async fn deliveries(
        &self,
        filter: DeliveryFilter,
        page: PageRequest,
    ) -> Result<Page<DeliveryDetails>, CiError> {
        unavailable()
    }
    pub async fn delivery(&self, id: u64) -> Result<DeliveryDetails, CiError> {
        unavailable()
    }
    pub async fn redeliver(&self, id: u64) -> Result<DeliveryDetails, CiError> {
        unavailable()
    }
    pub async fn callback(&self, token: &str, body: &[u8]) -> Result<CallbackOutcome, CiError> {
        unavailable()
    }

    pub async fn add_exemption(&self, body: ExemptionBody) -> Result<Exemption, CiError> {
        unavailable()
    }
    pub async fn exemptions(&self, page: PageRequest) -> Result<Page<Exemption>, CiError> {
        unavailable()
    }
    pub async fn delete_exemption(&self, id: ExemptionId) -> Result<(), CiError> {
        unavailable()
    }

    pub async fn add_runner(&self, new: NewRunner) -> Result<CreatedRunner, CiError> {
        unavailable()
    }
    pub async fn runners(&self, page: PageRequest) -> Result<Page<Runner>, CiError> {
        unavailable()
    }
    pub async fn runner(&self, id: RunnerId) -> Result<Runner, CiError> {
        unavailable()
    }
    pub async fn change_runner(&self, id: RunnerId, patch: Value) -> Result<Runner, CiError> {
        unavailable()
    }
    pub async fn delete_runner(&self, id: RunnerId) -> Result<(), CiError> {
        unavailable()
    }
    pub async fn verify_runner(&self, token: &str) -> Result<Option<Runner>, CiError> {
        unavailable()
    }
}
