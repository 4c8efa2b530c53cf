//! What pages are made of: the REST API, called for the person who looks.

use std::pin::Pin;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// An answer on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The methods of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Creates or does something.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

/// Who looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Their name.
    pub name: String,
    /// What forms carry to prove that they come from our own pages; empty where there is no session.
    pub csrf: String,
    /// Whether there is a session that can be ended.
    pub can_sign_out: bool,
}

/// Where a permission is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// At the root of the API.
    Root,
    /// At the root of the API or in any tenant.
    Anywhere,
    /// In this tenant.
    Tenant(&'a str),
    /// In a tenant that holds the project of this path.
    Project(&'a str),
    /// In a tenant that holds the whole group of this path.
    Group(&'a str),
    /// In a tenant that holds the project of this job, where roles may ask for a project, a ref and a name.
    Job {
        /// The path of its project.
        project: &'a str,
        /// The branch or tag it is for.
        git_ref: &'a str,
        /// Its name.
        name: &'a str,
    },
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, in the words of the API.
    pub message: String,
}

impl Problem {
    /// What was sent can't be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
        }
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self {
            status: 404,
            message: message.into(),
        }
    }

    /// Something went wrong that the person can do nothing about.
    pub fn internal() -> Self {
        Self {
            status: 500,
            message: "internal error".to_owned(),
        }
    }
}

/// The server as pages see it.
pub trait Backend: Send + Sync {
    /// Who looks.
    fn person(&self) -> &Person;

    /// Calls the API in their name. The path has its query.
    fn call<'a>(
        &'a self,
        verb: Verb,
        path: &'a str,
        body: Option<Value>,
    ) -> Pending<'a, Result<Value, Problem>>;

    /// Whether policies may be tried here, by those who have the permission.
    fn has_playground(&self) -> bool;

    /// Why they may not use a permission, on any condition; nothing if they may. For a job its conditions count.
    fn refusal(&self, permission: &str, place: Place<'_>) -> Option<String>;
}

impl dyn Backend + '_ {
    /// Reads something of the API.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Problem> {
        let answer = self.call(Verb::Get, path, None).await?;
        serde_json::from_value(answer).map_err(|_| Problem::internal())
    }

    /// The same for someone who has this permission there; nothing for others.
    pub(crate) async fn get_if_allowed<T: DeserializeOwned>(
        &self,
        (permission, place): (&str, Place<'_>),
        path: &str,
    ) -> Result<Option<T>, Problem> {
        match self.refusal(permission, place) {
            Some(_) => Ok(None),
            None => self.get(path).await.map(Some),
        }
    }
}
