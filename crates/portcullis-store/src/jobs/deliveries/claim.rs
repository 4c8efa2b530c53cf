//! Claiming deliveries that are due, fairly.
//!
//! A claim moves `next_at` to the end of the lease: a delivery whose claimant is never heard of again is due then,
//! without anyone looking for such. Projects take turns within a controller. They are found by skipping from one to
//! the next in an index, so a project with a million deliveries costs no more than one with a single one.
//!
//! Queries name the whole order of the index they mean: PostgreSQL has no statistics of a table that filled up just
//! now, and would read all of it by another one.

use std::collections::HashMap;

use portcullis_jobs::{ControllerId, JobId, Timestamp};

use super::{SELECT, column};
use crate::database::{Change, Database, EACH, Type, Value, number};
use crate::error::Failure;
use crate::jobs::error::JobsError;
use crate::jobs::record::Delivery;
use crate::jobs::transaction::{JobsReader, JobsTransaction};

static CLAIMED: Change = Change {
    name: "deliveries",
    keys: &[("root", Type::Text), ("id", Type::Number)],
    condition: "",
    sets: &[
        ("next_at", Type::Number),
        ("leased_until", Type::Number),
        ("leased_by", Type::Text),
    ],
};

/// Projects of one controller that are looked at with one query.
const SHORTEST_STEP: usize = 16;
const LONGEST_STEP: usize = 256;

/// Who claims, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimant<'a> {
    /// A name that no one else has.
    pub name: &'a str,
    /// What is due now is claimed.
    pub now: Timestamp,
    /// When it is due again, unless something is heard.
    pub until: Timestamp,
}

/// How much to claim for one controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryShare<'a> {
    /// The controller.
    pub controller: ControllerId,
    /// The most deliveries.
    pub most: usize,
    /// The project that had the last turn: the one after it is the first now. Empty to begin with.
    pub after: &'a str,
}

impl JobsReader<'_> {
    /// The controllers that deliveries wait for, with the time when the first of each is due: also those that are
    /// due later.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn due_controllers(&mut self) -> Result<Vec<(ControllerId, Timestamp)>, JobsError> {
        self.with(|database| first_of_each(database, "next_at"))
    }

    /// The time at which the oldest delivery that waits was made, for each controller that deliveries wait for.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn oldest_deliveries(&mut self) -> Result<Vec<(ControllerId, Timestamp)>, JobsError> {
        self.with(|database| first_of_each(database, "created_at"))
    }

    /// When the server has to look at a job next.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn next_deadline(&mut self) -> Result<Option<Timestamp>, JobsError> {
        let sql = "SELECT deadline FROM jobs WHERE deadline IS NOT NULL ORDER BY deadline LIMIT 1";
        self.with(|database| match database.query(sql, &[])?.pop() {
            Some(mut row) => column::read_time(&mut row).map(Some),
            None => Ok(None),
        })
    }
}

impl JobsTransaction<'_> {
    /// Claims deliveries that are due: at most `limit`, and of each controller at most its share. Within a controller
    /// projects take turns. No one else claims them before the lease ends.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn claim_deliveries(
        &mut self,
        shares: &[DeliveryShare<'_>],
        limit: usize,
        claimant: Claimant<'_>,
    ) -> Result<Vec<Delivery>, JobsError> {
        let claimed = self.with(|database| {
            let mut claimed = Vec::new();
            for share in shares {
                let most = share.most.min(limit.saturating_sub(claimed.len()));
                if most > 0 {
                    let share = DeliveryShare { most, ..*share };
                    claimed.extend(claim_share(database, &share, claimant)?);
                }
            }
            Ok(claimed)
        })?;
        self.gather(|unit| {
            for delivery in &claimed {
                unit.ahead.forget_delivery(delivery.id);
            }
        });
        Ok(claimed)
    }

    /// Claims jobs whose deadline passed: moves their deadlines to the end of the lease, so that no one else looks
    /// at them before. Their versions stay the same.
    ///
    /// # Errors
    ///
    /// When the database doesn't answer.
    pub fn claim_due_jobs(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<JobId>, JobsError> {
        let claimed = self.with(|database| {
            let lock = database.dialect().skip_locked;
            let sql = format!(
                "SELECT root, id FROM jobs WHERE deadline <= ?1 ORDER BY deadline, id LIMIT ?2{lock}"
            );
            let values = [column::time(now), Value::Number(number(limit))];
            let mut claimed = Vec::new();
            for mut row in database.query(&sql, &values)? {
                let (root, id) = (row.text()?, column::read_id(&mut row)?);
                let sql = "UPDATE jobs SET deadline = ?3 WHERE root = ?1 AND id = ?2";
                let values = [Value::Text(&root), column::id(id), column::time(until)];
                database.execute(sql, &values)?;
                claimed.push(id);
            }
            Ok(claimed)
        })?;
        self.gather(|unit| {
            for id in &claimed {
                unit.ahead.forget_job(*id);
            }
        });
        Ok(claimed)
    }
}

/// The smallest value of a column among the waiting deliveries of each controller.
fn first_of_each(
    database: &mut dyn Database,
    of: &str,
) -> Result<Vec<(ControllerId, Timestamp)>, Failure> {
    let first = |what: &str, which: &str| {
        format!(
            "(SELECT {what} FROM deliveries WHERE state = 'waiting'{which} \
             ORDER BY controller, {of} LIMIT 1)"
        )
    };
    let sql = format!(
        "WITH RECURSIVE turns (controller) AS (SELECT {} UNION ALL SELECT {} \
         FROM turns WHERE turns.controller IS NOT NULL) \
         SELECT controller, {} FROM turns WHERE controller IS NOT NULL ORDER BY controller",
        first("controller", ""),
        first("controller", " AND controller > turns.controller"),
        first(of, " AND controller = turns.controller"),
    );
    let mut found = Vec::new();
    for mut row in database.query(&sql, &[])? {
        let controller = column::read_id(&mut row)?;
        // The last one may be claimed in between.
        if let Some(first) = column::read_optional_time(&mut row)? {
            found.push((controller, first));
        }
    }
    Ok(found)
}

fn claim_share(
    database: &mut dyn Database,
    share: &DeliveryShare<'_>,
    claimant: Claimant<'_>,
) -> Result<Vec<Delivery>, Failure> {
    let mut projects = due_projects(database, share, claimant.now)?;
    let mut claimed: Vec<Delivery> = Vec::new();
    while !projects.is_empty() && claimed.len() < share.most {
        let room = share.most - claimed.len();
        // Each gets the same; what some don't use goes to the others in the next round.
        let each = (room / projects.len()).max(1);
        projects.truncate(room);
        let found = claim_of_each(database, share.controller, &projects, each, claimant)?;
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for delivery in &found {
            *counts.entry(&delivery.project).or_default() += 1;
        }
        projects.retain(|project| counts.get(project.as_str()) == Some(&each));
        claimed.extend(found);
    }
    Ok(claimed)
}

/// Projects with a delivery that is due, beginning with the one whose turn it is: at least as many as can get one,
/// if there are so many.
fn due_projects(
    database: &mut dyn Database,
    share: &DeliveryShare<'_>,
    now: Timestamp,
) -> Result<Vec<String>, Failure> {
    let step = share.most.clamp(SHORTEST_STEP, LONGEST_STEP);
    let mut due = Vec::new();
    // From the one after the last turn to the end, then from the beginning to that one.
    for (from, end) in [(share.after, None), ("", Some(share.after))] {
        let mut from = from.to_owned();
        while due.len() < share.most && end.is_none_or(|end| from.as_str() < end) {
            let found = projects_after(database, share.controller, &from, step)?;
            let is_last = found.len() < step;
            for (project, first) in found {
                from.clone_from(&project);
                let is_before_end = end.is_none_or(|end| project.as_str() <= end);
                if is_before_end && first <= now {
                    due.push(project);
                }
            }
            if is_last {
                break;
            }
        }
    }
    Ok(due)
}

/// The next projects of a controller with deliveries that wait, each with the time when its first is due.
fn projects_after(
    database: &mut dyn Database,
    controller: ControllerId,
    after: &str,
    most: usize,
) -> Result<Vec<(String, Timestamp)>, Failure> {
    let first = |what: &str, which: &str| {
        format!(
            "(SELECT {what} FROM deliveries WHERE state = 'waiting' AND controller = ?1 \
             AND project {which} ORDER BY controller, project, next_at, id LIMIT 1)"
        )
    };
    let sql = format!(
        "WITH RECURSIVE turns (project, step) AS (SELECT {}, 1 UNION ALL SELECT {}, step + 1 \
         FROM turns WHERE turns.project IS NOT NULL AND step < ?3) \
         SELECT project, {} FROM turns WHERE project IS NOT NULL ORDER BY step",
        first("project", "> ?2"),
        first("project", "> turns.project"),
        first("next_at", "= turns.project"),
    );
    let values = [
        column::id(controller),
        Value::Text(after),
        Value::Number(number(most)),
    ];
    let mut found = Vec::new();
    for mut row in database.query(&sql, &values)? {
        let project = row.text()?;
        if let Some(first) = column::read_optional_time(&mut row)? {
            found.push((project, first));
        }
    }
    Ok(found)
}

/// Claims at most so many deliveries of each of these projects, in their order.
fn claim_of_each(
    database: &mut dyn Database,
    controller: ControllerId,
    projects: &[String],
    most: usize,
    claimant: Claimant<'_>,
) -> Result<Vec<Delivery>, Failure> {
    let lock = database.dialect().skip_locked;
    let sql = format!(
        "{SELECT} WHERE state = 'waiting' AND controller = ?1 AND project = {EACH} AND next_at <= ?2 \
         ORDER BY controller, project, next_at, id LIMIT ?3{lock}"
    );
    let values = [
        column::id(controller),
        column::time(claimant.now),
        Value::Number(number(most)),
    ];
    let projects: Vec<&str> = projects.iter().map(String::as_str).collect();
    let rows = database.query_each(&sql, &values, &projects)?.into_iter();
    let mut claimed = rows.map(Delivery::read).collect::<Result<Vec<_>, _>>()?;
    for delivery in &mut claimed {
        delivery.next_at = claimant.until;
        delivery.leased_until = Some(claimant.until);
        delivery.leased_by = Some(claimant.name.to_owned());
    }
    let until = column::time(claimant.until);
    let changes = claimed.iter().flat_map(|delivery| {
        [
            Value::Text(column::root(&delivery.project)),
            column::id(delivery.id),
            until,
            until,
            Value::Text(claimant.name),
        ]
    });
    let changes: Vec<Value<'_>> = changes.collect();
    if !changes.is_empty() {
        database.change(&CLAIMED, &changes)?;
    }
    Ok(claimed)
}
