//! Submissions that are worked out in memory, and stored in one go.
//!
//! What happens to a new job up to the point where somebody outside has to answer needs nothing of the store but ids,
//! and what surrounds the job, which is known. So policies are evaluated before the job is stored, and it is stored
//! once, as it is then. If controllers, runners or exemptions were changed meanwhile, everything is done again with the
//! store. Nothing is acknowledged before it is stored.

use std::sync::Arc;
use std::time::Duration;

use portcullis_core::clock::Stopwatch;
use portcullis_jobs::{JobDefinition, JobDetails, PipelineDefinition};
use portcullis_store::{IdKind, JobsDraft};
use tokio::task::JoinSet;

use crate::details::PipelineDetails;
use crate::engine::{Aftermath, Question, Turn, World};
use crate::error::CiError;
use crate::inner::Inner;
use crate::judge::PolicyVerdict;
use crate::known::Surroundings;
use crate::view::{self, JobViewer};

/// How long a submission waits for policies. Those that take longer go on when the job is stored.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is submitted.
pub(crate) trait Submission: Clone + Send + Sync + 'static {
    /// What is said of it.
    type Details: Send + 'static;

    /// The path of its project.
    fn project(&self) -> &str;

    /// How many jobs it has, and whether it is a pipeline.
    fn size(&self) -> (usize, bool);

    /// Stores it; gives its number.
    fn submit(&self, turn: &mut Turn<'_, '_>) -> Result<u64, CiError>;

    /// What is said of it.
    fn details(
        turn: &mut Turn<'_, '_>,
        around: &Arc<Surroundings>,
        id: u64,
    ) -> Result<Self::Details, CiError>;
}

impl Submission for JobDefinition {
    type Details = JobDetails;

    fn project(&self) -> &str {
        &self.project
    }

    fn size(&self) -> (usize, bool) {
        (1, false)
    }

    fn submit(&self, turn: &mut Turn<'_, '_>) -> Result<u64, CiError> {
        turn.submit_job(self.clone())
    }

    fn details(
        turn: &mut Turn<'_, '_>,
        around: &Arc<Surroundings>,
        id: u64,
    ) -> Result<JobDetails, CiError> {
        let job = turn.store.job(id)?.ok_or(CiError::NotFound)?;
        let project = &job.definition.project;
        let world = turn.world;
        let viewer = JobViewer::new(Arc::clone(&world.gate), Arc::clone(&world.known));
        let mut viewer = viewer.knowing(project, around);
        viewer.show(turn.store, &job)
    }
}

impl Submission for PipelineDefinition {
    type Details = PipelineDetails;

    fn project(&self) -> &str {
        &self.origin.project
    }

    fn size(&self) -> (usize, bool) {
        (self.jobs.len(), true)
    }

    fn submit(&self, turn: &mut Turn<'_, '_>) -> Result<u64, CiError> {
        turn.submit_pipeline(self)
    }

    fn details(
        turn: &mut Turn<'_, '_>,
        _: &Arc<Surroundings>,
        id: u64,
    ) -> Result<PipelineDetails, CiError> {
        let pipeline = turn.store.pipeline_for_change(id)?;
        view::pipeline(turn.store, pipeline.ok_or(CiError::NotFound)?)
    }
}

/// A submission that is worked out.
struct Draft {
    world: World,
    project: String,
    around: Arc<Surroundings>,
    jobs: JobsDraft,
    after: Aftermath,
}

impl Draft {
    /// Goes on in memory.
    fn turn<T>(
        &mut self,
        work: impl FnOnce(&mut Turn<'_, '_>) -> Result<T, CiError>,
    ) -> Result<T, CiError> {
        let (world, project, around) = (&self.world, &self.project, &self.around);
        let (done, after) = self.jobs.run(|store| {
            let mut turn = Turn::assuming(store, world, project, around);
            let done = work(&mut turn)?;
            Ok::<_, CiError>((done, turn.finish()?))
        })?;
        self.after.merge(after);
        Ok(done)
    }
}

impl Inner {
    /// Submits something in one go. Nothing if that can't be: then nothing has happened.
    pub(crate) async fn submit_draft<S: Submission>(
        self: &Arc<Self>,
        submission: &S,
    ) -> Result<Option<(S::Details, Aftermath)>, CiError> {
        let project = submission.project().to_owned();
        let (version, around) = self.surroundings(&project).await?;
        let mut draft = Draft {
            world: self.world(),
            jobs: self.new_draft(submission, &around).await?,
            project,
            around,
            after: Aftermath::default(),
        };
        let details = match self.work_out(submission, &mut draft).await {
            Err(_) if draft.jobs.needs_database() => return Ok(None),
            other => other?,
        };
        let Draft { jobs, after, .. } = draft;
        let (prepared, unused) = jobs.prepare()?;
        for (kind, ids) in unused {
            self.ids.give_back(kind, ids);
        }
        let prepared = Arc::new(prepared);
        let commit = self.database.write(move |store| {
            let is_true = store.current_surroundings()? == Some(version);
            if is_true {
                store.adopt(&prepared);
            }
            Ok(is_true)
        });
        Ok(commit.await?.then_some((details, after)))
    }

    async fn new_draft<S: Submission>(
        &self,
        submission: &S,
        around: &Surroundings,
    ) -> Result<JobsDraft, CiError> {
        let (jobs, is_pipeline) = submission.size();
        let deliveries = if around.has_deliveries() { jobs } else { 0 };
        let mut ids = Vec::new();
        for (kind, count) in [
            (IdKind::Pipeline, usize::from(is_pipeline)),
            (IdKind::Job, jobs),
            (IdKind::Delivery, deliveries),
        ] {
            if count > 0 {
                ids.push((kind, self.ids.take(&self.database, kind, count).await?));
            }
        }
        Ok(JobsDraft::new(ids))
    }

    /// Evaluates policies until somebody else has to answer, or the patience ends: then what is left is still to be
    /// asked.
    async fn work_out<S: Submission>(
        self: &Arc<Self>,
        submission: &S,
        draft: &mut Draft,
    ) -> Result<S::Details, CiError> {
        let id = draft.turn(|turn| submission.submit(turn))?;
        let watch = Stopwatch::start();
        let mut late = Vec::new();
        while late.is_empty() && !draft.after.questions.is_empty() {
            let questions = std::mem::take(&mut draft.after.questions);
            let left = PATIENCE.saturating_sub(watch.elapsed());
            let answers = self.judge_all(&questions, left).await;
            draft.turn(|turn| {
                for (question, answer) in questions.into_iter().zip(answers) {
                    match answer {
                        Some(answer) => turn.policy_answered(&question, &answer)?,
                        None => late.push(question),
                    }
                }
                Ok(())
            })?;
        }
        draft.after.questions.extend(late);
        let around = Arc::clone(&draft.around);
        draft.turn(|turn| S::details(turn, &around, id))
    }

    /// What policies answer within this time, in the order of the questions.
    async fn judge_all(
        self: &Arc<Self>,
        questions: &[Question],
        within: Duration,
    ) -> Vec<Option<Result<PolicyVerdict, String>>> {
        // Usually it is one, which needs no task of its own.
        if let [question] = questions {
            let judging = tokio::time::timeout(within, self.judge_question(question));
            return vec![judging.await.ok()];
        }
        let mut answers: Vec<_> = questions.iter().map(|_| None).collect();
        let mut all = JoinSet::new();
        for (index, question) in questions.iter().cloned().enumerate() {
            let inner = Arc::clone(self);
            all.spawn(async move { (index, inner.judge_question(&question).await) });
        }
        let collect = async {
            while let Some(Ok((index, answer))) = all.join_next().await {
                if let Some(place) = answers.get_mut(index) {
                    *place = Some(answer);
                }
            }
        };
        // Those that take longer are evaluated again when the jobs are stored.
        let _ = tokio::time::timeout(within, collect).await;
        answers
    }
}
