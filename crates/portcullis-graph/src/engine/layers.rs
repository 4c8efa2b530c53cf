//! Which kinds lead to which, to notice a cycle that doesn't pass the target kind.

use crate::vertex::KindId;

/// The kinds that edges were seen between, those at the target kind left out.
#[derive(Debug)]
pub(super) struct Layers {
    target: u16,
    /// By kind: the kinds that its edges end at.
    to: Vec<Vec<u16>>,
}

impl Layers {
    pub(super) fn new(target: KindId) -> Self {
        Self {
            target: target.0,
            to: Vec::new(),
        }
    }

    /// An edge between these kinds is coming. Whether kinds still form no cycle but through the target.
    pub(super) fn admit(&mut self, from: u16, to: u16) -> bool {
        if from == self.target || to == self.target || self.after(from).contains(&to) {
            return true;
        }
        if self.leads(to, from) {
            return false;
        }
        if self.to.len() <= usize::from(from) {
            self.to.resize(usize::from(from) + 1, Vec::new());
        }
        if let Some(after) = self.to.get_mut(usize::from(from)) {
            after.push(to);
        }
        true
    }

    fn after(&self, kind: u16) -> &[u16] {
        self.to.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }

    fn leads(&self, from: u16, to: u16) -> bool {
        let (mut seen, mut next) = (vec![from], 0);
        while let Some(kind) = seen.get(next).copied() {
            next += 1;
            if kind == to {
                return true;
            }
            for after in self.after(kind) {
                if !seen.contains(after) {
                    seen.push(*after);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_cycle_beside_the_target_is_refused() {
        let mut layers = Layers::new(KindId(0));
        for (from, to, fine) in [
            (1, 2, true),
            (2, 0, true),
            (0, 1, true),
            (2, 3, true),
            (1, 3, true),
            (3, 1, false),
            (3, 3, false),
            (0, 0, true),
            (1, 2, true),
        ] {
            assert_eq!(layers.admit(from, to), fine, "{from} {to}");
        }
    }
}
