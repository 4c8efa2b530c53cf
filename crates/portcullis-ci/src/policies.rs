//! Evaluating policies that are asked about jobs, one after the other, until somebody else is asked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use portcullis_store::WillChange;

use crate::engine::Question;
use crate::error::CiError;
use crate::inner::Inner;
use crate::judge::PolicyVerdict;

/// How much longer than its limit an evaluation may take before it is given up.
const GRACE: Duration = Duration::from_secs(5);
/// How often a verdict is stored that could not be.
const TRIES: u32 = 4;

impl Inner {
    /// Evaluates in the background.
    pub(crate) fn evaluate(self: &Arc<Self>, questions: Vec<Question>) {
        for question in questions {
            let inner = Arc::clone(self);
            self.spawn(async move { inner.evaluate_all(vec![question]).await });
        }
    }

    /// Evaluates these policies, and those that follow from them. What can't be stored is asked again later, by
    /// whichever server looks at the job next.
    pub(crate) async fn evaluate_all(&self, questions: Vec<Question>) {
        let mut left = VecDeque::from(questions);
        while let Some(question) = left.pop_front() {
            if self.is_stopping() {
                return;
            }
            let answer = self.judge_question(&question).await;
            match self.store_answer(question, answer).await {
                Ok(more) => left.extend(more),
                Err(error) => self.trouble(&error),
            }
        }
    }

    /// What a policy answers. It always ends.
    pub(crate) async fn judge_question(
        &self,
        question: &Question,
    ) -> Result<PolicyVerdict, String> {
        let asked = question.asked.clone();
        let limit = asked.within + GRACE;
        let judged = tokio::time::timeout(limit, self.judge().judge(asked)).await;
        let late = || Err(format!("the policy did not end within {limit:?}"));
        judged.unwrap_or_else(|_| late())
    }

    async fn store_answer(
        &self,
        question: Question,
        answer: Result<PolicyVerdict, String>,
    ) -> Result<Vec<Question>, CiError> {
        let mut tries = 1;
        loop {
            let (question, answer) = (question.clone(), answer.clone());
            let changes = WillChange::job(question.asked.job);
            let turn = self.turn_on(changes, move |turn| {
                turn.policy_answered(&question, &answer)
            });
            match turn.await {
                Ok(((), after)) => return Ok(self.settle(after)),
                // The job was deleted.
                Err(CiError::NotFound) => return Ok(Vec::new()),
                Err(CiError::Unavailable(_) | CiError::TooManyRequests { .. })
                    if tries < TRIES && !self.is_stopping() =>
                {
                    tokio::time::sleep(Duration::from_millis(50 << tries)).await;
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
