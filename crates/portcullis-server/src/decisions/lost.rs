//! Decisions that could not be recorded before the server ended: counted, named, and logged.

use super::queue::{Item, NAMED};

/// Decisions that are lost.
#[derive(Debug, Default)]
pub(super) struct Lost {
    count: usize,
    /// How many of them were written as lines of JSON.
    in_lines: usize,
    ids: Vec<String>,
}

impl Lost {
    /// These are lost; those that `are_in_lines` are only not in the store.
    pub(super) fn add(&mut self, items: &[Item], are_in_lines: bool) {
        let ids = items.iter().map(|item| item.written.summary.id.clone());
        self.add_ids(items.len(), ids);
        if are_in_lines {
            self.in_lines += items.len();
        }
    }

    /// So many more are lost; the ids of the first are known.
    pub(super) fn add_ids(&mut self, count: usize, ids: impl IntoIterator<Item = String>) {
        self.count += count;
        let room = NAMED.saturating_sub(self.ids.len());
        self.ids.extend(ids.into_iter().take(room));
    }

    /// What to say of them, if there are any.
    fn text(&self) -> Option<String> {
        let decisions = |count: usize| match count {
            1 => "1 decision".to_owned(),
            count => format!("{count} decisions"),
        };
        if self.count == 0 {
            return None;
        }
        let mut text = format!(
            "{} could not be stored before the server ended",
            decisions(self.count)
        );
        text.push_str(&match self.in_lines {
            0 => ", lost".to_owned(),
            lines if lines == self.count => ", kept in decisions.jsonLines only".to_owned(),
            lines => format!(
                ", {lines} kept in decisions.jsonLines only, {} lost",
                self.count - lines
            ),
        });
        text.push_str(": ");
        text.push_str(&self.ids.join(", "));
        match self.count - self.ids.len() {
            0 => {}
            more => text.push_str(&format!(" and {more} more")),
        }
        Some(text)
    }

    /// Says it.
    pub(super) fn tell(&self) {
        if let Some(text) = self.text() {
            tracing::error!(count = self.count, "{text}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::tests::item;
    use super::*;

    fn items(count: usize) -> Vec<Item> {
        (0..count).map(|_| item(1)).collect()
    }

    #[test]
    fn what_is_lost_is_counted_and_named() {
        let mut lost = Lost::default();
        assert_eq!(lost.text(), None);
        lost.add(&items(1), false);
        let text = lost.text().unwrap();
        let said = "1 decision could not be stored before the server ended, lost: ";
        assert!(text.starts_with(said), "{text}");
        lost.add(&items(30), true);
        let text = lost.text().unwrap();
        assert!(text.contains("31 decisions"), "{text}");
        assert!(
            text.contains("30 kept in decisions.jsonLines only, 1 lost"),
            "{text}"
        );
        assert!(text.ends_with(" and 11 more"), "{text}");
    }
}
