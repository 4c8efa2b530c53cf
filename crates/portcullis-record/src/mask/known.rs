//! The second pass over a review: what was masked in one place is masked wherever it occurs.

use super::found::Found;
use super::review::{self, Subject};
use crate::search::known::Known;

impl Found<'_> {
    /// Whether one of these may stand in what is not masked.
    fn may_have(&self, known: &Known<'_>, text: &str) -> bool {
        let mut from = 0;
        let ends = self.edits.iter().map(|edit| (edit.start, edit.end));
        for (start, end) in ends.chain([(text.len(), text.len())]) {
            let kept = text.get(from..start).unwrap_or_default();
            if known.may_be_in(kept.as_bytes()) {
                return true;
            }
            from = end;
        }
        false
    }

    /// Masks what is known to be a secret wherever it stands in the text. None if the text is not what it
    /// should be.
    pub(crate) fn mask_known(
        &mut self,
        subject: Subject<'_, '_>,
        prefix: &str,
        known: &Known<'_>,
    ) -> Option<()> {
        if known.is_empty() || !self.may_have(known, subject.text) {
            return Some(());
        }
        let again = review::find_known(subject, prefix, known)?;
        self.edits = again.edits;
        self.pointers = again.pointers;
        Some(())
    }
}
