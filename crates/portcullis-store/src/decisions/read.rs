//! Reading decisions: lists, single ones, and what was stored after a mark.

use portcullis_record::Summary;

use super::columns::{self, SELECT};
use super::{Decisions, Filter, Listed, Mark, Page};
use crate::database::{Database, Value, number, storable};
use crate::error::Failure;

/// What is given at once, at most.
const LIMIT: usize = 10_000;

impl Decisions {
    /// One page, newest first.
    pub(crate) fn list(
        &mut self,
        database: &mut dyn Database,
        filter: &Filter,
        page: &Page,
    ) -> Result<Listed, Failure> {
        let limit = page.limit.clamp(1, LIMIT);
        let mut conditions = filter.conditions();
        if let Some(after) = &page.after {
            conditions.text("id < ?", storable(after));
        }
        let mut items = Vec::new();
        // One more shows whether there is another page.
        let place = conditions.plain_number(number(limit + 1));
        let sql = format!(
            "{SELECT} {} ORDER BY id DESC LIMIT ?{place}",
            conditions.sql()
        );
        for row in database.query(&sql, &conditions.values())? {
            items.push(columns::summary(row)?.1);
        }
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more);
        Ok(Listed {
            next: last.map(|last| last.id.clone()),
            items,
        })
    }

    /// The whole line of one decision.
    pub(crate) fn get(
        &mut self,
        database: &mut dyn Database,
        id: &str,
    ) -> Result<Option<String>, Failure> {
        let sql = "SELECT d.number, b.first, b.raw_size, b.body FROM decisions AS d \
                   JOIN decision_batches AS b ON b.first = \
                   (SELECT MAX(first) FROM decision_batches WHERE first <= d.number) \
                   WHERE d.id = ?1";
        let id = storable(id);
        let Some(mut row) = database.query(sql, &[Value::Text(&id)])?.pop() else {
            return Ok(None);
        };
        let place = row.number()? - row.number()?;
        let raw_size = row.number()?;
        let lines = self.compressor.read(&row.blob()?, raw_size)?;
        let line = usize::try_from(place)
            .ok()
            .and_then(|place| lines.split_terminator('\n').nth(place))
            .ok_or_else(|| Failure::corrupt("the line of a decision is missing"))?;
        Ok(Some(line.to_owned()))
    }

    /// What was stored after this mark, oldest first, and the next mark.
    pub(crate) fn after(
        &mut self,
        database: &mut dyn Database,
        mark: Mark,
        filter: &Filter,
        limit: usize,
    ) -> Result<(Vec<Summary>, Mark), Failure> {
        // Everything up to this mark can be seen by what is asked next.
        let newest = self.newest(database)?;
        if newest <= mark {
            return Ok((Vec::new(), newest));
        }
        let limit = limit.clamp(1, LIMIT);
        let mut conditions = filter.conditions();
        conditions.number("d.number > ?", number(mark.0));
        conditions.number("d.number <= ?", number(newest.0));
        let mut found = Vec::new();
        let mut last = mark;
        let place = conditions.plain_number(number(limit));
        let sql = format!(
            "{SELECT} {} ORDER BY d.number LIMIT ?{place}",
            conditions.sql()
        );
        for row in database.query(&sql, &conditions.values())? {
            let (place, summary) = columns::summary(row)?;
            last = Mark(place);
            found.push(summary);
        }
        let mark = if found.len() < limit { newest } else { last };
        Ok((found, mark))
    }
}
